/* norm.cu - norm_body.h on a GPU; backward sums dw on the way, a part a block.
 *
 *   block   warp 0: rows 0, 64, ...  -> its sums of dw, a double a column
 *           warp 1: rows 1, 65, ...  -> ...                                   added warp by warp -> parts[block][dv]
 */
#include "kernels/ops/norm_body.h"
#include "kernels/ops/reduce.cuh"

enum { NORM_WARPS = 8, NORM_BLOCKS = 512 };

namespace gpu
{
static __global__ void norm_bwd(const __grid_constant__ struct norm_bwd_args a, double *parts)
{
    CUDA_SHARED(double, dw);
    int warp = (int)(threadIdx.x / SINGLE_WARP);
    double *mine = dw + warp * a.dv;
    ROW_EACH (i, a.dv)
        mine[i] = 0;
    for (int64_t row = blockIdx.x * (int64_t)NORM_WARPS + warp; row < (int64_t)a.T * a.HV; row += (int64_t)gridDim.x * NORM_WARPS) {
        struct norm_head x = norm_head_of(&a, row / a.HV, row % a.HV);
        float rs = norm_rms_inverse(x.o, a.dv, a.eps);
        double along = 0;
        ROW_EACH (i, a.dv)
            along += (double)norm_dn(&x, i) * x.o[i];
        float mean = (float)(row_total(along) * rs / a.dv);
        ROW_EACH (i, a.dv) {
            mine[i] += norm_dw(&x, i, rs);
            norm_back(&x, i, rs, mean);
        }
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < a.dv; i += NORM_WARPS * SINGLE_WARP) {
        double sum = 0;
        for (int w = 0; w < NORM_WARPS; w++)
            sum += dw[w * a.dv + i];
        parts[(int64_t)blockIdx.x * a.dv + i] = sum;
    }
}
} // namespace gpu

static void cuda_norm_bwd(struct cuda_call *c, const void *args)
{
    const struct norm_bwd_args *a = (const struct norm_bwd_args *)args;
    size_t shared = sizeof(double) * NORM_WARPS * (size_t)a->dv;
    unsigned wanted = cuda_blocks((int64_t)a->T * a->HV, NORM_WARPS), blocks = wanted < NORM_BLOCKS ? wanted : (unsigned)NORM_BLOCKS;
    double *parts = (double *)cuda_scratch(c, sizeof *parts * NORM_BLOCKS * (size_t)a->dv);
    if (!parts || blocks == 0)
        return;
    CUDA_LAUNCH_LARGE(gpu::norm_bwd, blocks, NORM_WARPS * SINGLE_WARP, shared, c, *a, parts);
    cuda_add_parts(c, a->dw, parts, a->dv, blocks);
}

CUDA_TABLE(norm) = {CUDA_ROW(norm_fwd), CUDA_ROW(norm_bwd), {0}};
