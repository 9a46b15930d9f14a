/* rotary.c - the cost; the formula is in rotary_body.h. */
#include "kernels/ops/rotary_body.h"

struct cost rotary_cost(const struct rotary_args *a)
{
    double n = (double)a->rows * a->heads * a->turned;
    return (struct cost){3 * n, 8 * n + 8.0 * (double)a->rows};
}

OP_DEFINE(rotary);
