/* swiglu.h - products with a gate: y = silu(u) v (SwiGLU), and y = x sigmoid(g) (the output gate of attention). Dense, n
 * floats each. */
#pragma once
#include "kernels/ops/op.h"

struct swiglu_fwd_args {
    const float *u, *v;
    float *y;
    int64_t n;
};
OP_DECLARE(swiglu_fwd);

struct swiglu_bwd_args {
    const float *dy, *u, *v;
    float *du, *dv; /* overwritten; may be dy */
    int64_t n;
};
OP_DECLARE(swiglu_bwd);

struct sigmoid_gate_fwd_args {
    const float *x, *g;
    float *y; /* may be x */
    int64_t n;
};
OP_DECLARE(sigmoid_gate_fwd);

struct sigmoid_gate_bwd_args {
    const float *dy, *x, *g;
    float *dx, *dg; /* overwritten; may be dy */
    int64_t n;
};
OP_DECLARE(sigmoid_gate_bwd);
