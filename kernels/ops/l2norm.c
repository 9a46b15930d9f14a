/* l2norm.c - heads of unit length, and back. */
#include "kernels/ops/l2norm.h"
#include "kernels/ops/hot.h"

HOT void l2norm_fwd_cpu(const struct l2norm_fwd_args *a)
{
    for (int64_t t = 0; t < a->T; t++)
        for (int h = 0; h < a->H; h++) {
            const float *x = a->x + t * a->ldx + (int64_t)h * a->d;
            float *y = a->y + t * a->ldy + (int64_t)h * a->d;
            float inv = (float)(1 / sqrt(dot_f(x, x, a->d) + (double)a->eps));
            a->inv[t * a->H + h] = inv;
            for (int i = 0; i < a->d; i++)
                y[i] = x[i] * inv;
        }
}

struct cost l2norm_fwd_cost(const struct l2norm_fwd_args *a)
{
    double n = (double)a->T * a->H * a->d;
    return (struct cost){3 * n, 8 * n + 4.0 * a->T * a->H};
}

HOT void l2norm_bwd_cpu(const struct l2norm_bwd_args *a)
{
    for (int64_t t = 0; t < a->T; t++)
        for (int h = 0; h < a->H; h++) {
            const float *y = a->y + t * a->ldy + (int64_t)h * a->d, *dy = a->dy + t * a->lddy + (int64_t)h * a->d;
            float *dx = a->dx + t * a->lddx + (int64_t)h * a->d;
            float inv = a->inv[t * a->H + h], along = (float)dot_f(y, dy, a->d);
            for (int i = 0; i < a->d; i++)
                dx[i] = inv * (dy[i] - y[i] * along);
        }
}

struct cost l2norm_bwd_cost(const struct l2norm_bwd_args *a)
{
    double n = (double)a->T * a->H * a->d;
    return (struct cost){5 * n, 12 * n + 4.0 * a->T * a->H};
}

OP_DEFINE(l2norm_fwd);
OP_DEFINE(l2norm_bwd);
