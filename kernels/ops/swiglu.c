/* swiglu.c - costs; the formulas are in swiglu_body.h. */
#include "kernels/ops/swiglu_body.h"

struct cost swiglu_fwd_cost(const struct swiglu_fwd_args *a)
{
    return (struct cost){6.0 * (double)a->n, 12.0 * (double)a->n};
}

struct cost swiglu_bwd_cost(const struct swiglu_bwd_args *a)
{
    return (struct cost){12.0 * (double)a->n, 20.0 * (double)a->n};
}

struct cost sigmoid_gate_fwd_cost(const struct sigmoid_gate_fwd_args *a)
{
    return (struct cost){5.0 * (double)a->n, 12.0 * (double)a->n};
}

struct cost sigmoid_gate_bwd_cost(const struct sigmoid_gate_bwd_args *a)
{
    return (struct cost){9.0 * (double)a->n, 20.0 * (double)a->n};
}

OP_DEFINE(swiglu_fwd);
OP_DEFINE(swiglu_bwd);
OP_DEFINE(sigmoid_gate_fwd);
OP_DEFINE(sigmoid_gate_bwd);
