/* gdn_bwd.cu - backward of the scan in three launches: the states and Vn again (gdn_scan.cuh), D and dB from the end
 * (gdn_sweep.cuh), and with all four kept, the gradients of every chunk at once (gdn_grad.cuh). */
#include "kernels/ops/gdn_grad.cuh"
#include "kernels/ops/gdn_scan.cuh"
#include "kernels/ops/gdn_sweep.cuh"

static void cuda_gdn_scan_bwd(struct cuda_call *c, const void *args)
{
    const struct gdn_scan_bwd_args *a = (const struct gdn_scan_bwd_args *)args;
    const struct gdn_inputs *in = &a->in;
    int64_t states = gdn_numbers(in) * in->HV * in->dk * in->dv, values = (int64_t)in->T * in->HV * in->dv;
    float *kept = gdn_fits(c, in) ? (float *)cuda_scratch(c, sizeof(float) * (size_t)(2 * (states + values))) : NULL;
    dim3 grid((unsigned)gdn_numbers(in), (unsigned)in->HK);
    if (!kept || grid.x == 0 || grid.y == 0)
        return;
    struct gdn_scan scan = {};
    scan.in = *in, scan.E = in->dv, scan.h_in = a->h_in, scan.states = kept, scan.values = kept + 2 * states;
    gdn_scan_launch(c, &scan);
    struct gdn_sweep sweep = {};
    sweep.in = *in, sweep.E = in->dv, sweep.d_o = a->d_o, sweep.lddo = a->lddo, sweep.dh = a->dh_out, sweep.out = a->dh_in, sweep.ldout = in->dv;
    sweep.after = kept + states, sweep.db = scan.values + values;
    gdn_sweep_launch(c, &sweep);
    struct gdn_grad grad = {};
    grad.in = *in, grad.E = in->dv, grad.d_o = a->d_o, grad.lddo = a->lddo, grad.states = scan.states, grad.after = sweep.after;
    grad.values = scan.values, grad.db = sweep.db, grad.dq = a->dq, grad.dk = a->dk, grad.dv = a->dv, grad.lddqk = a->lddqk, grad.lddv = a->lddv;
    grad.dg = a->dg, grad.dbeta = a->dbeta;
    CUDA_LAUNCH(gpu::gdn_grad<true>, grid, TILE_THREADS, 0, c, grad);
}

CUDA_TABLE(gdn_bwd) = {CUDA_ROW(gdn_scan_bwd), {0}};
