/* adamw.h - one update of AdamW (Loshchilov, Hutter 2019): decay apart from the gradient's moments.
 *
 *   m <- b1 m + (1 - b1) g     v <- b2 v + (1 - b2) g^2
 *   w <- w - rate (m fix1 / (sqrt(v fix2) + eps) + decay w)      fix_k = 1 / (1 - b_k^t), t the update's number from 1
 */
#pragma once
#include "kernels/ops/op.h"

struct adamw_args {
    const float *g;
    float *w, *m, *v;
    int64_t n;
    float rate, b1, b2, eps, decay, fix1, fix2;
};
OP_DECLARE(adamw);
