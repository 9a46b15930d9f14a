/* pack.cu - pack_body.h on a GPU, and sums into rows that may be named twice. */
#include "kernels/ops/pack_body.h"

/* A row of dst belongs to one block of every column section (by its number's remainder), which takes the rows of src in
 * order: no sum is shared and all sums are repeatable. */
enum { ADD_THREADS = 128, ADD_OWNERS = 64 };

namespace gpu
{
static __global__ void rows_scatter_add(const __grid_constant__ struct rows_args a)
{
    int64_t k = blockIdx.x * (int64_t)ADD_THREADS + threadIdx.x;
    for (int64_t i = 0; i < a.n && k < a.width; i++)
        if (a.index[i] % ADD_OWNERS == blockIdx.y)
            a.dst[a.index[i] * a.width + k] += a.src[i * a.width + k];
}
} // namespace gpu

static void cuda_rows_scatter_add(struct cuda_call *c, const void *args)
{
    const struct rows_args *a = (const struct rows_args *)args;
    CUDA_LAUNCH(gpu::rows_scatter_add, dim3(cuda_blocks(a->width, ADD_THREADS), ADD_OWNERS), ADD_THREADS, 0, c, *a);
}

CUDA_TABLE(pack) = {
    CUDA_ROW(rows_gather), CUDA_ROW(rows_scatter), CUDA_ROW(rows_scatter_add), CUDA_ROW(rows_copy), CUDA_ROW(rows_add), CUDA_ROW(rows_concat), {0}};
