/* hostread.cu - counting and collecting what a mask selects: one block, tile by tile, so that the output is in order.
 *
 *   tile   | w0 | w1 | ... | w31 |      a warp's ballot gives each thread its place in the warp, the warps' counts their places
 *   out    |  before the tile  | w0 | w1 | ...
 */
#include "kernels/device/hostread_args.h"
#include "kernels/device/cuda_kernel.h"

enum { THREADS = 1024, WARP = 32 };

namespace gpu
{
/* Set elements of the tile in warps before this thread's, and in the whole tile. */
struct tile_counts {
    int before, all;
};

static __device__ struct tile_counts count_tile(bool set, unsigned *ballot)
{
    __shared__ int counts[THREADS / WARP];
    int warp = threadIdx.x / WARP;
    *ballot = __ballot_sync(0xffffffffu, set);
    if (threadIdx.x % WARP == 0)
        counts[warp] = __popc(*ballot);
    __syncthreads();
    struct tile_counts c = {0, 0};
    for (int i = 0; i < THREADS / WARP; i++) {
        c.before += i < warp ? counts[i] : 0;
        c.all += counts[i];
    }
    __syncthreads();
    return c;
}

static __global__ void nonzero_count(const __grid_constant__ struct hostread_count_args a)
{
    int64_t total = 0;
    unsigned ballot;
    for (int64_t at = 0; at < a.n; at += THREADS) {
        int64_t i = at + threadIdx.x;
        total += count_tile(i < a.n && a.mask[i], &ballot).all;
    }
    if (threadIdx.x == 0)
        *a.count = total;
}

static __global__ void nonzero_write(const __grid_constant__ struct hostread_write_args a)
{
    int64_t written = 0;
    for (int64_t at = 0; at < a.n; at += THREADS) {
        int64_t i = at + threadIdx.x;
        bool set = i < a.n && a.mask[i];
        unsigned ballot, lanes_before = (1u << (threadIdx.x % WARP)) - 1;
        struct tile_counts c = count_tile(set, &ballot);
        if (set)
            a.out[written + c.before + __popc(ballot & lanes_before)] = a.values ? a.values[i] : i;
        written += c.all;
    }
}
}

static void cuda_nonzero_count(struct cuda_call *c, const void *args)
{
    CUDA_LAUNCH(gpu::nonzero_count, 1, THREADS, 0, c, *(const struct hostread_count_args *)args);
}

static void cuda_nonzero_write(struct cuda_call *c, const void *args)
{
    CUDA_LAUNCH(gpu::nonzero_write, 1, THREADS, 0, c, *(const struct hostread_write_args *)args);
}

CUDA_TABLE(hostread) = {CUDA_ROW(nonzero_count), CUDA_ROW(nonzero_write), {"index_mask_write", cuda_nonzero_write}, {0}};
