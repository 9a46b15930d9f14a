/* l2norm_body.h - a row is one head of one token. */
#pragma once
#include "kernels/ops/l2norm.h"
#include "kernels/ops/single.h"

SINGLE_ROWS2(l2norm_fwd, l2norm_fwd_args, a->T, a->H)
{
    int64_t t = outer, h = inner;
    const float *x = a->x + t * a->ldx + h * a->d;
    float *y = a->y + t * a->ldy + h * a->d;
    float inv = (float)(1 / sqrt(row_dot(x, x, a->d) + (double)a->eps));
    if (ROW_ONCE)
        a->inv[t * a->H + h] = inv;
    ROW_EACH (i, a->d)
        y[i] = x[i] * inv;
}

SINGLE_ROWS2(l2norm_bwd, l2norm_bwd_args, a->T, a->H)
{
    int64_t t = outer, h = inner;
    const float *y = a->y + t * a->ldy + h * a->d, *dy = a->dy + t * a->lddy + h * a->d;
    float *dx = a->dx + t * a->lddx + h * a->d;
    float inv = a->inv[t * a->H + h], along = (float)row_dot(y, dy, a->d);
    ROW_EACH (i, a->d)
        dx[i] = inv * (dy[i] - y[i] * along);
}
