/* gdn_summary.cu - a shard as an affine map: the scan of [0 | I] over its last segment, the sweep of D over its first, and the
 * fold over ranks. */
#include "kernels/ops/gdn_fold.cuh"
#include "kernels/ops/gdn_scan.cuh"
#include "kernels/ops/gdn_sweep.cuh"

namespace gpu
{
/* The second part of [dSx | M^T]; sm NULL: zero. */
static __global__ void gdn_summary_turn(float *dsm, const float *sm, int HV, int dk, int dv)
{
    int64_t n = (int64_t)HV * dk * dk, E = dv + dk;
    for (int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; at < n; at += (int64_t)gridDim.x * blockDim.x) {
        int64_t h = at / dk / dk, i = at / dk % dk, j = at % dk;
        dsm[(h * dk + i) * E + dv + j] = sm ? sm[(h * dk + j) * E + dv + i] : 0;
    }
}
} // namespace gpu

static void cuda_gdn_summary_fwd(struct cuda_call *c, const void *args)
{
    const struct gdn_summary_fwd_args *a = (const struct gdn_summary_fwd_args *)args;
    struct gdn_scan s = {};
    s.in = a->in, s.E = a->in.dv + a->in.dk, s.h_out = a->sm, s.states = a->states, s.reach = GDN_CLOSING, s.affine = !a->reset;
    if (gdn_fits(c, &a->in))
        gdn_scan_launch(c, &s);
}

static void cuda_gdn_summary_bwd(struct cuda_call *c, const void *args)
{
    const struct gdn_summary_bwd_args *a = (const struct gdn_summary_bwd_args *)args;
    const struct gdn_inputs *in = &a->in;
    struct gdn_sweep s = {};
    s.in = *in, s.E = in->dv, s.d_o = a->d_o, s.lddo = a->lddo, s.out = a->dsm, s.ldout = in->dv + in->dk, s.reach = GDN_OPENING;
    if (!gdn_fits(c, in))
        return;
    gdn_sweep_launch(c, &s);
    CUDA_LAUNCH(gpu::gdn_summary_turn, cuda_blocks((int64_t)in->HV * in->dk * in->dk, 256), 256, 0, c, a->dsm, a->sm, in->HV, in->dk, in->dv);
}

static void cuda_gdn_summary_merge(struct cuda_call *c, const void *args)
{
    const struct gdn_summary_merge_args *a = (const struct gdn_summary_merge_args *)args;
    struct gdn_fold f = {};
    f.all = a->all, f.x0 = a->x0, f.x = a->x, f.HV = a->HV, f.dk = a->dk, f.dv = a->dv, f.first = a->first, f.count = a->count, f.step = a->step;
    gdn_fold_launch(c, &f);
}

CUDA_TABLE(gdn_summary) = {CUDA_ROW(gdn_summary_fwd), CUDA_ROW(gdn_summary_bwd), CUDA_ROW(gdn_summary_merge), {0}};
