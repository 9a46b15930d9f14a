/* cuda_kernel.h - how the kernels of a .cu file are found and launched by the cuda device.
 *
 *   kernels/ops/X.c    struct kernel {"name", cpu body, cost}          in cpbench
 *   kernels/ops/X.cu   cuda_table_X[] = {{"name", launcher} ...}       in lib/cpscope/device_cuda.so; found by the name
 *
 * Every .cu of kernels/{ops,layout,modes,device} defines one table, named as its file; the Makefile writes the list of
 * them. A launcher gets the arguments that dev_launch() was given (host memory, valid during the call; the pointers in
 * them are device memory) and enqueues on c->stream whatever computes the same as the cpu body: one __global__ function,
 * several, or calls of cuBLAS. It never waits, allocates nothing but cuda_scratch(), and reads no device memory.
 *
 * Kernels that are loops over elements or rows are written once for both (kernels/ops/single.h) and need only their row
 * in the table. __global__ functions stand in namespace gpu under the name that the trace shall show.
 */
#pragma once
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

struct cuda_call {
    cudaStream_t stream;
    cublasHandle_t blas; /* enqueues on `stream`, takes host scalars; fp32 math is fp32 (no TF32) unless the launcher sets it, and sets it back */
    const char *error;   /* a launcher that fails says why: static text. Launch errors themselves are looked at by the caller */
    void *lane;          /* the device's */
};

struct cuda_kernel {
    const char *name; /* of the struct kernel */
    void (*launch)(struct cuda_call *c, const void *args);
};

#ifdef __cplusplus
extern "C" {
#endif
/* Device memory for this launch only: valid until the next launch on the stream begins. One call a launch; 256-byte
 * aligned, not cleared. NULL, with c->error set: out of memory; the launcher returns. */
void *cuda_scratch(struct cuda_call *c, size_t bytes);
#ifdef __cplusplus
}
#endif

#ifdef __cplusplus
/* CUDA_TABLE(elementwise) = {CUDA_ROW(elementwise_add), ..., {0}};   CUDA_ROW(NAME) names the launcher cuda_NAME. */
#define CUDA_TABLE(FILE)                                                                                                                             \
    extern "C" const struct cuda_kernel cuda_table_##FILE[];                                                                                         \
    const struct cuda_kernel cuda_table_##FILE[]
#define CUDA_ROW(NAME)                                                                                                                               \
    {                                                                                                                                                \
#NAME, cuda_##NAME                                                                                                                           \
    }

/* Every .cu is also compiled by a plain C++ compiler against the stand-in tests/fake/cuda (CUDA_STANDIN is defined), which runs
 * grids thread by thread so that tests need no GPU. It knows threadIdx and the like, __shared__, __syncthreads, __syncwarp,
 * shuffles, ballots, atomicAdd, the math functions, sgemm; not PTX, wmma or cooperative groups: code with these stands
 * beside a plain version, under #ifndef CUDA_STANDIN. The two macros below exist for its sake and are the only way to
 * launch and to get dynamic shared memory. */
#ifndef CUDA_STANDIN
/* CUDA_LAUNCH(gpu::f, grid, block, bytes of dynamic shared memory, c, args ...) */
#define CUDA_LAUNCH(FUNCTION, GRID, BLOCK, SHARED, CALL, ...) FUNCTION<<<(GRID), (BLOCK), (SHARED), (CALL)->stream>>>(__VA_ARGS__)
/* In a kernel: TYPE *NAME is the block's dynamic shared memory, 128-byte aligned. */
#define CUDA_SHARED(TYPE, NAME)                                                                                                                      \
    extern __shared__ __align__(128) unsigned char cuda_shared_bytes[];                                                                              \
    TYPE *NAME = (TYPE *)(void *)cuda_shared_bytes
#endif
/* The same for more than 48 KiB of dynamic shared memory (an H100's or A100's kernels may have 227 or 163 KiB). */
#define CUDA_LAUNCH_LARGE(FUNCTION, GRID, BLOCK, SHARED, CALL, ...)                                                                                  \
    do {                                                                                                                                             \
        cudaFuncSetAttribute(FUNCTION, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)(SHARED));                                                  \
        CUDA_LAUNCH(FUNCTION, GRID, BLOCK, SHARED, CALL, __VA_ARGS__);                                                                               \
    } while (0)

/* Blocks of `threads` for n elements; never more than a grid may have, for kernels walk with the grid's stride. */
static inline unsigned cuda_blocks(int64_t n, int threads)
{
    int64_t blocks = (n + threads - 1) / threads, most = 1 << 20;
    return (unsigned)(blocks < most ? blocks : most);
}
#endif
