/* xent.c - costs; the formulas are in xent_body.h. */
#include "kernels/ops/xent_body.h"

struct cost xent_cost(const struct xent_args *a)
{
    double n = (double)a->rows * (double)a->classes;
    return (struct cost){6 * n, 8 * n + 16.0 * (double)a->rows};
}

struct cost xent_total_cost(const struct xent_total_args *a)
{
    return (struct cost){(double)a->n, 8.0 * (double)a->n + 16};
}

OP_DEFINE(xent);
OP_DEFINE(xent_total);
