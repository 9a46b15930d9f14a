/* single.h - kernels written once: a loop on the cpu backend, a grid of threads on cuda.
 *
 *   X.h       struct NAME_args
 *   X_body.h  SINGLE_EACH(NAME, NAME_args, count) { ... a ... i ... }      the body, for both
 *   X.c       includes X_body.h   ->  void NAME_cpu(const struct NAME_args *a)
 *   X.cu      includes X_body.h   ->  cuda_NAME(), and names it in its CUDA_TABLE (kernels/device/cuda_kernel.h)
 *
 * A body is C and C++ at once (no compound literals, no designated initialisers, casts from void *), calls only the functions
 * of hot.h and this file, and sees `a`, the arguments (a copy: its address is nobody else's). `count` is an expression in
 * `a`, of host values.
 *
 *   | form                          | cpu                     | cuda                 | the body sees                   |
 *   | SINGLE_EACH(NAME, ARGS, n)    | for i < n               | a thread per i       | a, i; order of i must not matter |
 *   | SINGLE_ROWS(NAME, ARGS, n)    | for row < n             | a warp per row       | a, row; inside: the ROW_ words  |
 *   | SINGLE_ROWS2(NAME, ARGS, m, n) | for outer < m, inner < n | a warp per row     | a, outer, inner; the ROW_ words |
 *   | SINGLE_WHOLE(NAME, ARGS)      | once                    | one thread           | a; for tiny plans only          |
 *
 * Inside a row the lanes of the warp run the body together, so all of them see the same `row` and sums:
 *   ROW_EACH(i, n) statement   i = 0 .. n-1, any order        row_dot(x, y, n), row_sum(x, n)   in double, on every lane
 *   if (ROW_ONCE) statement    by one lane                    ROW_SYNC                          what was written is seen by all
 *   row_copy(to, from, n)      n floats, not overlapping      row_total(x)                      the lanes' x summed (double, int64)
 *   row_largest(x)            the largest of the lanes' x
 * A sum has a fixed order on each of the two, not the same one: results agree to rounding.
 */
#pragma once
#include "kernels/ops/hot.h"

#ifndef __CUDACC__

#define SINGLE_LOOP(NAME, ARGS, INDEX, COUNT)                                                                                                        \
    HOT_INLINE void NAME##_at(const struct ARGS *a, int64_t INDEX);                                                                                  \
    void NAME##_cpu(const struct ARGS *args);                                                                                                        \
    HOT void NAME##_cpu(const struct ARGS *args)                                                                                                     \
    {                                                                                                                                                \
        const struct ARGS copy = *args, *a = &copy;                                                                                                  \
        const int64_t count = (COUNT);                                                                                                               \
        for (int64_t INDEX = 0; INDEX < count; INDEX++)                                                                                              \
            NAME##_at(a, INDEX);                                                                                                                     \
    }                                                                                                                                                \
    HOT_INLINE void NAME##_at(const struct ARGS *a, int64_t INDEX)
#define SINGLE_EACH(NAME, ARGS, COUNT) SINGLE_LOOP(NAME, ARGS, i, COUNT)
#define SINGLE_ROWS(NAME, ARGS, COUNT) SINGLE_LOOP(NAME, ARGS, row, COUNT)
#define SINGLE_ROWS2(NAME, ARGS, OUTER, INNER)                                                                                                       \
    HOT_INLINE void NAME##_at(const struct ARGS *a, int64_t outer, int64_t inner);                                                                   \
    void NAME##_cpu(const struct ARGS *args);                                                                                                        \
    HOT void NAME##_cpu(const struct ARGS *args)                                                                                                     \
    {                                                                                                                                                \
        const struct ARGS copy = *args, *a = &copy;                                                                                                  \
        const int64_t outers = (OUTER), inners = (INNER);                                                                                            \
        for (int64_t outer = 0; outer < outers; outer++)                                                                                             \
            for (int64_t inner = 0; inner < inners; inner++)                                                                                         \
                NAME##_at(a, outer, inner);                                                                                                          \
    }                                                                                                                                                \
    HOT_INLINE void NAME##_at(const struct ARGS *a, int64_t outer, int64_t inner)
#define SINGLE_WHOLE(NAME, ARGS)                                                                                                                     \
    void NAME##_cpu(const struct ARGS *a);                                                                                                           \
    HOT void NAME##_cpu(const struct ARGS *a)

#define ROW_EACH(I, N) for (int64_t I = 0, I##_end = (N); I < I##_end; I++)
#define ROW_ONCE 1
#define ROW_SYNC ((void)0)
#define row_dot dot_f
#define row_sum sum_f
#define row_total(X) (X)
#define row_largest(X) (X)

HOT_INLINE void row_copy(float *to, const float *from, int64_t n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

#else
#include "kernels/device/cuda_kernel.h"

enum { SINGLE_THREADS = 256, SINGLE_WARP = 32 };

#define SINGLE_GRID(NAME, ARGS, INDEX, COUNT, LANES)                                                                                                 \
    static __device__ __forceinline__ void NAME##_at(const struct ARGS *a, int64_t INDEX);                                                           \
    namespace gpu                                                                                                                                    \
    {                                                                                                                                                \
    static __global__ void NAME(const __grid_constant__ struct ARGS args, int64_t count)                                                             \
    {                                                                                                                                                \
        int64_t step = (int64_t)gridDim.x * (blockDim.x / (LANES));                                                                                  \
        for (int64_t INDEX = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / (LANES); INDEX < count; INDEX += step)                               \
            NAME##_at(&args, INDEX);                                                                                                                 \
    }                                                                                                                                                \
    }                                                                                                                                                \
    static void cuda_##NAME(struct cuda_call *c, const void *args)                                                                                   \
    {                                                                                                                                                \
        const struct ARGS *a = (const struct ARGS *)args;                                                                                            \
        const int64_t count = (COUNT);                                                                                                               \
        if (count > 0)                                                                                                                               \
            CUDA_LAUNCH(gpu::NAME, cuda_blocks(count, SINGLE_THREADS / (LANES)), SINGLE_THREADS, 0, c, *a, count);                                   \
    }                                                                                                                                                \
    static __device__ __forceinline__ void NAME##_at(const struct ARGS *a, int64_t INDEX)
#define SINGLE_EACH(NAME, ARGS, COUNT) SINGLE_GRID(NAME, ARGS, i, COUNT, 1)
#define SINGLE_ROWS(NAME, ARGS, COUNT) SINGLE_GRID(NAME, ARGS, row, COUNT, SINGLE_WARP)
#define SINGLE_ROWS2(NAME, ARGS, OUTER, INNER)                                                                                                       \
    static __device__ __forceinline__ void NAME##_pair(const struct ARGS *a, int64_t outer, int64_t inner);                                          \
    SINGLE_ROWS(NAME, ARGS, (int64_t)(OUTER) * (INNER))                                                                                              \
    {                                                                                                                                                \
        NAME##_pair(a, row / (INNER), row % (INNER));                                                                                                \
    }                                                                                                                                                \
    static __device__ __forceinline__ void NAME##_pair(const struct ARGS *a, int64_t outer, int64_t inner)
#define SINGLE_WHOLE(NAME, ARGS)                                                                                                                     \
    static __device__ void NAME##_whole(const struct ARGS *a);                                                                                       \
    namespace gpu                                                                                                                                    \
    {                                                                                                                                                \
    static __global__ void NAME(const __grid_constant__ struct ARGS args)                                                                            \
    {                                                                                                                                                \
        NAME##_whole(&args);                                                                                                                         \
    }                                                                                                                                                \
    }                                                                                                                                                \
    static void cuda_##NAME(struct cuda_call *c, const void *args)                                                                                   \
    {                                                                                                                                                \
        CUDA_LAUNCH(gpu::NAME, 1, 1, 0, c, *(const struct ARGS *)args);                                                                              \
    }                                                                                                                                                \
    static __device__ void NAME##_whole(const struct ARGS *a)

#define ROW_LANE ((int)(threadIdx.x % SINGLE_WARP))
#define ROW_EACH(I, N) for (int64_t I = ROW_LANE, I##_end = (N); I < I##_end; I += SINGLE_WARP)
#define ROW_ONCE (ROW_LANE == 0)
#define ROW_SYNC __syncwarp()

/* The sum over the lanes, on every lane. */
template <typename NUMBER> static __device__ __forceinline__ NUMBER row_total(NUMBER x)
{
    for (int other = SINGLE_WARP / 2; other > 0; other /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, other);
    return x;
}

/* The largest over the lanes, on every lane. */
static __device__ __forceinline__ float row_largest(float x)
{
    for (int other = SINGLE_WARP / 2; other > 0; other /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, other));
    return x;
}

static __device__ __forceinline__ void row_copy(float *to, const float *from, int64_t n)
{
    ROW_EACH (i, n)
        to[i] = from[i];
}

static __device__ __forceinline__ double row_dot(const float *x, const float *y, int64_t n)
{
    double part = 0;
    ROW_EACH (i, n)
        part += (double)x[i] * y[i];
    return row_total(part);
}

static __device__ __forceinline__ double row_sum(const float *x, int64_t n)
{
    double part = 0;
    ROW_EACH (i, n)
        part += x[i];
    return row_total(part);
}
#endif
