/* add.cu - sums over the buffers of several ranks, in the order of the ranks, so that all of them get the same bits. */
#include "kernels/device/cuda/gpu.h"

namespace gpu
{
template <typename NUMBER> static __global__ void sum_of_ranks(NUMBER *to, const __grid_constant__ struct cuda_parts parts, int64_t n)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        NUMBER sum = ((const NUMBER *)parts.part[0])[i];
        for (int r = 1; r < parts.n; r++)
            sum += ((const NUMBER *)parts.part[r])[i];
        to[i] = sum;
    }
}
}

extern "C" void cuda_add(struct cuda_call *c, bool f64, void *to, const struct cuda_parts *parts, int64_t n)
{
    enum { THREADS = 256 };
    if (f64)
        CUDA_LAUNCH(gpu::sum_of_ranks<double>, cuda_blocks(n, THREADS), THREADS, 0, c, (double *)to, *parts, n);
    else
        CUDA_LAUNCH(gpu::sum_of_ranks<float>, cuda_blocks(n, THREADS), THREADS, 0, c, (float *)to, *parts, n);
}
