/* gates.c - the gates of every head and token: the bodies are in gates_body.h. */
#include "kernels/ops/gates_body.h"

struct cost gate_fwd_cost(const struct gate_fwd_args *a)
{
    double n = (double)a->T * a->HV;
    return (struct cost){8 * n, 16 * n + 8.0 * a->HV};
}

struct cost gate_bwd_cost(const struct gate_bwd_args *a)
{
    double n = (double)a->T * a->HV;
    return (struct cost){12 * n, 28 * n + 24.0 * a->HV};
}

OP_DEFINE(gate_fwd);
OP_DEFINE(gate_bwd);
