/* tile.cuh - products of 64-row tiles by a block of 256 threads, in single precision.
 *
 *   acc[i][j] += sum_k a[i][k] b[j][k]        i < 64, j < 16 N; thread (ty, tx) of 16 x 16 has rows ty + 16 x, columns tx + 16 y
 *
 * Operands are read from shared memory, k fastest, as float4: with rows 4 floats more than a multiple of 32 apart, eight
 * neighbouring rows lie in different banks. An operand may be ready there or be brought there from device memory, 32
 * values of k at a time; what lies outside of it counts as zero.
 *
 *   TILE_ROWS     a[i][k] = p[i ld + k]        TILE_COLUMNS   a[i][k] = p[k ld + i]        (times weight[token])
 *   TILE_READY    in shared memory, a[i][k] = p[i ld + k], ld and p multiples of 4 floats, rows to the tile's end allocated
 *                 and k up to the next multiple of 4 zero
 *
 * A weight belongs to a token: the row of TILE_ROWS, the k of TILE_COLUMNS. The sum over k is in ascending order.
 */
#pragma once
#include "kernels/device/cuda_kernel.h"

enum { TILE = 64, TILE_THREADS = 256, TILE_K = 32, TILE_LD = TILE_K + 4, TILE_SQUARE_LD = TILE + 4 };
enum { TILE_STAGE = TILE * TILE_LD, TILE_SQUARE = TILE * TILE_SQUARE_LD }; /* floats: a staging buffer, a ready 64 x 64 matrix */
enum tile_kind { TILE_ROWS, TILE_COLUMNS, TILE_READY };

namespace gpu
{
struct operand {
    const float *p;
    int64_t ld;
    int rows;            /* those that exist */
    const float *weight; /* NULL: 1 */
};

static __device__ __forceinline__ struct operand operand_of(const float *p, int64_t ld, int rows, const float *weight)
{
    struct operand x = {p, ld, rows, weight};
    return x;
}

static __device__ __forceinline__ int tile_x(void)
{
    return (int)(threadIdx.x % 16);
}

static __device__ __forceinline__ int tile_y(void)
{
    return (int)(threadIdx.x / 16);
}

template <int N> static __device__ __forceinline__ void tile_clear(float (&acc)[4][N])
{
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < N; y++)
            acc[x][y] = 0;
}

/* Up to TILE_K values of k of R rows on their way from device memory: a thread's share waits in registers while the block
 * still multiplies what it has. An operand that is ready needs none of it. */
template <int KIND, int R> struct on_the_way {
    enum { SHARE = R * TILE_K / TILE_THREADS, STEP = TILE_THREADS / (KIND == TILE_ROWS ? (int)TILE_K : R) };
    float share[SHARE];

    static __device__ __forceinline__ int row(int i)
    {
        int at = (int)threadIdx.x + i * TILE_THREADS;
        return KIND == TILE_ROWS ? at / TILE_K : at % R;
    }

    static __device__ __forceinline__ int column(int i)
    {
        int at = (int)threadIdx.x + i * TILE_THREADS;
        return KIND == TILE_ROWS ? at % TILE_K : at / R;
    }

    /* k from `from` on; `size` of them in all. */
    __device__ __forceinline__ void fetch(const struct operand &x, int from, int size)
    {
        int r = row(0), k = from + column(0);
        const float *p = x.p + (KIND == TILE_ROWS ? r * x.ld + k : k * x.ld + r);
        for (int i = 0; i < SHARE; i++, p += STEP * x.ld) {
            bool there = r + (KIND == TILE_ROWS ? i * STEP : 0) < x.rows && k + (KIND == TILE_ROWS ? 0 : i * STEP) < size;
            share[i] = there ? *p : 0;
            if (x.weight && there)
                share[i] *= x.weight[(KIND == TILE_ROWS ? r : k) + i * STEP];
        }
    }

    __device__ __forceinline__ const float *put(float *stage, const struct operand &, int, int *ld)
    {
        for (int i = 0; i < SHARE; i++)
            stage[row(i) * TILE_LD + column(i)] = share[i];
        *ld = TILE_LD;
        return stage;
    }
};

template <int R> struct on_the_way<TILE_READY, R> {
    __device__ __forceinline__ void fetch(const struct operand &, int, int)
    {
    }

    __device__ __forceinline__ const float *put(float *, const struct operand &x, int from, int *ld)
    {
        *ld = (int)x.ld;
        return x.p + from;
    }
};

template <int N> static __device__ __forceinline__ void tile_multiply(float (&acc)[4][N], const float *a, int lda, const float *b, int ldb, int size)
{
    a += tile_y() * lda;
    b += tile_x() * ldb;
    for (int k = 0; k < size; k += 4) {
        float4 u[4], v[N];
        for (int x = 0; x < 4; x++)
            u[x] = *(const float4 *)(const void *)(a + 16 * x * lda + k);
        for (int y = 0; y < N; y++)
            v[y] = *(const float4 *)(const void *)(b + 16 * y * ldb + k);
        for (int x = 0; x < 4; x++)
            for (int y = 0; y < N; y++) {
                acc[x][y] += u[x].x * v[y].x;
                acc[x][y] += u[x].y * v[y].y;
                acc[x][y] += u[x].z * v[y].z;
                acc[x][y] += u[x].w * v[y].w;
            }
    }
}

/* acc += a b^T over `size` values of k. stage: 2 TILE_STAGE floats. Begins with a barrier, so that what the caller has written to
 * shared memory is seen; the caller needs one before it writes to what was read here. */
template <int KA, int KB, int N>
static __device__ __forceinline__ void tile_product(float (&acc)[4][N], float *stage, const struct operand &a, const struct operand &b, int size)
{
    on_the_way<KA, TILE> next_a;
    on_the_way<KB, 16 * N> next_b;
    next_a.fetch(a, 0, size);
    next_b.fetch(b, 0, size);
    for (int from = 0; from < size; from += TILE_K) {
        int lda, ldb, left = size - from < TILE_K ? size - from : TILE_K;
        __syncthreads();
        const float *sa = next_a.put(stage, a, from, &lda), *sb = next_b.put(stage + TILE_STAGE, b, from, &ldb);
        __syncthreads();
        next_a.fetch(a, from + TILE_K, size);
        next_b.fetch(b, from + TILE_K, size);
        tile_multiply(acc, sa, lda, sb, ldb, (left + 3) / 4 * 4);
    }
}

/* The sum over the 16 threads of a tile's row, on all of them. */
static __device__ __forceinline__ double tile_row_sum(double x)
{
    for (int other = 8; other > 0; other /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, other);
    return x;
}
} // namespace gpu
