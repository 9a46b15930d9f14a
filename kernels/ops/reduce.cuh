/* reduce.cuh - sums over a whole grid that are repeatable: each block writes its part, one more launch adds the parts in
 * their order. No atomics; the number of parts depends on sizes only. */
#pragma once
#include "kernels/device/cuda_kernel.h"

namespace gpu
{
/* The sum of x over the block's threads (a power of two), on all of them; no thread may be missing. */
template <int THREADS> static __device__ double block_sum(double x)
{
    __shared__ double part[THREADS];
    part[threadIdx.x] = x;
    __syncthreads();
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    return part[0];
}

/* out[i] += sum of parts[p][i], p ascending. */
static __global__ void add_parts(float *out, const double *parts, int64_t n, int64_t count)
{
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double sum = 0;
    for (int64_t p = 0; p < count; p++)
        sum += parts[p * n + i];
    out[i] += (float)sum;
}
} // namespace gpu

static inline void cuda_add_parts(struct cuda_call *c, float *out, const double *parts, int64_t n, int64_t count)
{
    CUDA_LAUNCH(gpu::add_parts, (unsigned)((n + 127) / 128), 128, 0, c, out, parts, n, count);
}
