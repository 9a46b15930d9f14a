/* rmsnorm.c - costs; the formulas are in rmsnorm_body.h. */
#include "kernels/ops/rmsnorm_body.h"

struct cost rmsnorm_fwd_cost(const struct rmsnorm_fwd_args *a)
{
    double n = (double)a->rows * (double)a->width;
    return (struct cost){4 * n, 8 * n + 4.0 * (double)(a->width + a->rows)};
}

struct cost rmsnorm_bwd_cost(const struct rmsnorm_bwd_args *a)
{
    double n = (double)a->rows * (double)a->width;
    return (struct cost){8 * n, 12 * n + 4.0 * (double)(a->width + a->rows)};
}

struct cost rmsnorm_dw_cost(const struct rmsnorm_dw_args *a)
{
    double n = (double)a->rows * (double)a->width;
    return (struct cost){3 * n, 8 * n + 8.0 * (double)a->width + 4.0 * (double)a->rows};
}

OP_DEFINE(rmsnorm_fwd);
OP_DEFINE(rmsnorm_bwd);
OP_DEFINE(rmsnorm_dw);
