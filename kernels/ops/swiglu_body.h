/* swiglu_body.h - one element each. */
#pragma once
#include "kernels/ops/single.h"
#include "kernels/ops/swiglu.h"

SINGLE_EACH(swiglu_fwd, swiglu_fwd_args, a->n)
{
    a->y[i] = a->u[i] * sigmoid_f(a->u[i]) * a->v[i];
}

SINGLE_EACH(swiglu_bwd, swiglu_bwd_args, a->n)
{
    float u = a->u[i], v = a->v[i], dy = a->dy[i], s = sigmoid_f(u);
    a->du[i] = dy * v * (s * (1 + u * (1 - s)));
    a->dv[i] = dy * u * s;
}

SINGLE_EACH(sigmoid_gate_fwd, sigmoid_gate_fwd_args, a->n)
{
    a->y[i] = a->x[i] * sigmoid_f(a->g[i]);
}

SINGLE_EACH(sigmoid_gate_bwd, sigmoid_gate_bwd_args, a->n)
{
    float s = sigmoid_f(a->g[i]), dy = a->dy[i], x = a->x[i];
    a->dx[i] = dy * s;
    a->dg[i] = dy * x * (s * (1 - s));
}
