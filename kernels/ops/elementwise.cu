/* elementwise.cu - elementwise_body.h on a GPU, and the sum of squares. */
#include "kernels/ops/elementwise_body.h"
#include "kernels/ops/reduce.cuh"

enum { SUM_THREADS = 256, SUM_BLOCKS = 1024 };

namespace gpu
{
static __global__ void elementwise_sumsq(const __grid_constant__ struct elementwise_sumsq_args a, double *parts)
{
    float slope = (float)(2 * a.factor);
    double part = 0;
    for (int64_t i = blockIdx.x * (int64_t)SUM_THREADS + threadIdx.x; i < a.n; i += (int64_t)gridDim.x * SUM_THREADS) {
        float x = a.x[i];
        part += (double)x * x;
        if (a.dx)
            a.dx[i] = slope * x;
    }
    part = block_sum<SUM_THREADS>(part);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = part;
}

static __global__ void elementwise_sumsq_total(double *sum, const double *parts, int64_t count, double factor)
{
    double part = 0;
    for (int64_t i = threadIdx.x; i < count; i += SUM_THREADS)
        part += parts[i];
    part = block_sum<SUM_THREADS>(part);
    if (threadIdx.x == 0)
        *sum += factor * part;
}
} // namespace gpu

static void cuda_elementwise_sumsq(struct cuda_call *c, const void *args)
{
    const struct elementwise_sumsq_args *a = (const struct elementwise_sumsq_args *)args;
    unsigned wanted = cuda_blocks(a->n, SUM_THREADS * 4), blocks = wanted < SUM_BLOCKS ? wanted : (unsigned)SUM_BLOCKS;
    double *parts = (double *)cuda_scratch(c, SUM_BLOCKS * sizeof *parts);
    if (!parts || blocks == 0)
        return;
    CUDA_LAUNCH(gpu::elementwise_sumsq, blocks, SUM_THREADS, 0, c, *a, parts);
    CUDA_LAUNCH(gpu::elementwise_sumsq_total, 1, SUM_THREADS, 0, c, a->sum, parts, (int64_t)blocks, a->factor);
}

CUDA_TABLE(elementwise) = {CUDA_ROW(elementwise_add), CUDA_ROW(elementwise_axpy), CUDA_ROW(elementwise_fill), CUDA_ROW(elementwise_sumsq), {0}};
