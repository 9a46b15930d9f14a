/* narrow.cu - comm/narrow.h on a GPU. */
#include "kernels/comm/narrow.h"
#include "kernels/comm/nccl/narrow_launch.h"
#include "kernels/device/cuda_kernel.h"

enum { THREADS = 256 };

namespace gpu
{
static __global__ void narrow(enum dtype t, uint16_t *to, const float *from, int64_t n)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
        to[i] = narrow_of(t, from[i]);
}

static __global__ void widen(enum dtype t, float *to, const uint16_t *from, int64_t n, int parts)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        float sum = widen_of(t, from[i]);
        for (int r = 1; r < parts; r++)
            sum += widen_of(t, from[r * n + i]);
        to[i] = sum;
    }
}
}

void narrow_launch(cudaStream_t stream, enum dtype t, uint16_t *to, const float *from, int64_t n)
{
    struct cuda_call call = {stream, NULL, NULL, NULL}, *c = &call;
    if (n > 0)
        CUDA_LAUNCH(gpu::narrow, cuda_blocks(n, THREADS), THREADS, 0, c, t, to, from, n);
}

void widen_launch(cudaStream_t stream, enum dtype t, float *to, const uint16_t *from, int64_t n, int parts)
{
    struct cuda_call call = {stream, NULL, NULL, NULL}, *c = &call;
    if (n > 0)
        CUDA_LAUNCH(gpu::widen, cuda_blocks(n, THREADS), THREADS, 0, c, t, to, from, n, parts);
}
