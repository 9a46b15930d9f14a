/* l2norm.c - heads of unit length, and back: the bodies are in l2norm_body.h. */
#include "kernels/ops/l2norm_body.h"

struct cost l2norm_fwd_cost(const struct l2norm_fwd_args *a)
{
    double n = (double)a->T * a->H * a->d;
    return (struct cost){3 * n, 8 * n + 4.0 * a->T * a->H};
}

struct cost l2norm_bwd_cost(const struct l2norm_bwd_args *a)
{
    double n = (double)a->T * a->H * a->d;
    return (struct cost){5 * n, 12 * n + 4.0 * a->T * a->H};
}

OP_DEFINE(l2norm_fwd);
OP_DEFINE(l2norm_bwd);
