/* gdn_summary_grad.cu - backward of the scan of [S | M] of the last segment, as gdn_bwd.cu without outputs. States that the
 * forward pass has kept spare the scan: then all chunks find their Vn at once. */
#include "kernels/ops/gdn_grad.cuh"
#include "kernels/ops/gdn_scan.cuh"
#include "kernels/ops/gdn_state.h"
#include "kernels/ops/gdn_sweep.cuh"

static void cuda_gdn_summary_grad(struct cuda_call *c, const void *args)
{
    const struct gdn_summary_grad_args *a = (const struct gdn_summary_grad_args *)args;
    const struct gdn_inputs *in = &a->in;
    int E = in->dv + in->dk;
    int64_t chunks = in->T / in->C + 1, states = chunks * in->HV * in->dk * E, values = (int64_t)in->T * in->HV * E;
    float *kept = gdn_fits(c, in) ? (float *)cuda_scratch(c, sizeof(float) * (size_t)(2 * (states + values))) : NULL;
    if (!kept || in->HK <= 0)
        return;
    struct gdn_scan scan = {};
    scan.in = *in, scan.E = E, scan.reach = GDN_CLOSING, scan.affine = !a->reset, scan.given = a->states != NULL;
    scan.states = a->states ? (float *)a->states : kept, scan.values = kept + 2 * states;
    gdn_scan_launch(c, &scan);
    struct gdn_sweep sweep = {};
    sweep.in = *in, sweep.E = E, sweep.reach = GDN_CLOSING, sweep.dh = a->dsm, sweep.after = kept + states, sweep.db = scan.values + values;
    gdn_sweep_launch(c, &sweep);
    struct gdn_grad grad = {};
    grad.in = *in, grad.E = E, grad.reach = GDN_CLOSING, grad.states = scan.states, grad.after = sweep.after, grad.values = scan.values;
    grad.db = sweep.db, grad.dk = a->dk, grad.dv = a->dv, grad.lddqk = a->lddqk, grad.lddv = a->lddv, grad.dg = a->dg, grad.dbeta = a->dbeta;
    CUDA_LAUNCH(gpu::gdn_grad<false>, dim3((unsigned)chunks, (unsigned)in->HK), TILE_THREADS, 0, c, grad);
}

CUDA_TABLE(gdn_summary_grad) = {CUDA_ROW(gdn_summary_grad), {0}};
