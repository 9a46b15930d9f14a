/* l2norm.h - every head of every row divided by its length: y = x inv, inv = 1 / sqrt(sum x^2 + eps).
 *
 * The q and k sections lie side by side, so one launch with H = 2 HK heads does both. y may be x, dx may be dy.
 */
#pragma once
#include "kernels/ops/op.h"

struct l2norm_fwd_args {
    const float *x; /* [T][H][d], ldx */
    float *y;       /* [T][H][d], ldy */
    float *inv;     /* [T][H], dense; kept for backward */
    int64_t ldx, ldy;
    int32_t T, H, d;
    float eps;
};
OP_DECLARE(l2norm_fwd);

/* dx = inv (dy - y (y . dy)) */
struct l2norm_bwd_args {
    const float *y, *inv, *dy; /* [T][H][d] ldy, [T][H], [T][H][d] lddy */
    float *dx;                 /* [T][H][d], lddx; overwritten */
    int64_t ldy, lddy, lddx;
    int32_t T, H, d;
};
OP_DECLARE(l2norm_bwd);
