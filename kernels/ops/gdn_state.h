/* gdn_state.h - what lets states, and their gradients, travel between ranks: maps [S | M] put together, turned round and
 * differentiated.
 *
 *   H_out = M H_in + S          a map is [HV][dk][dv+dk], a state [HV][dk][dv]
 *
 * Backward as the summary's own derivative (spec B.4, form 2): from the gradient dH_out of the state that leaves a shard
 *
 *   dS = dH_out,  dM = dH_out H_in^T,  gradient of H_in: M^T dH_out + dSx
 *
 * and (dS, dM) go on to k, v, g and beta through the scan of [S | M], chunk by chunk in reverse (gdn_summary_grad).
 */
#pragma once
#include "kernels/ops/gdn.h"

/* out = later o earlier: first the earlier map, then the later: [M2 S1 + S2 | M2 M1]. out must not overlap. */
struct gdn_map_compose_args {
    const float *later, *earlier;
    float *out;
    int32_t HV, dk, dv;
};
OP_DECLARE(gdn_map_compose);

/* out = [s | M^T] with M of `map`; s NULL: zeros. */
struct gdn_map_turn_args {
    const float *s, *map;
    float *out;
    int32_t HV, dk, dv;
};
OP_DECLARE(gdn_map_turn);

/* out = [dh | dh h^T]; h NULL: the state is zero, and so is the second part. */
struct gdn_map_outer_args {
    const float *dh, *h;
    float *out;
    int32_t HV, dk, dv;
};
OP_DECLARE(gdn_map_outer);

/* Derivative of gdn_summary_merge from zero over blocks first .. first+count-1, ascending: dall (blocks as all; those of
 * the fold are overwritten, the others left alone) from dx, the gradient of its result. */
struct gdn_merge_grad_args {
    const float *all, *dx;
    float *dall;
    void *work;
    int32_t HV, dk, dv, first, count;
};
OP_DECLARE(gdn_merge_grad);
size_t gdn_merge_grad_work(const struct gdn_merge_grad_args *a);

/* Adds to dk, dv, dg, dbeta (laid out as in gdn_scan_bwd_args) what the map of the last segment gives to them; dsm is the
 * gradient of [S | M]. states as gdn_summary_fwd kept them; NULL: the scan is run again. */
struct gdn_summary_grad_args {
    struct gdn_inputs in;
    const float *dsm, *states;
    float *dk, *dv, *dg, *dbeta;
    void *work;
    int64_t lddqk, lddv;
    int32_t reset; /* as it was in gdn_summary_fwd */
};
OP_DECLARE(gdn_summary_grad);
size_t gdn_summary_grad_work(const struct gdn_summary_grad_args *a);
