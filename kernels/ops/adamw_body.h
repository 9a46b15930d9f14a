/* adamw_body.h - one parameter at a time. */
#pragma once
#include "kernels/ops/adamw.h"
#include "kernels/ops/single.h"

SINGLE_EACH(adamw, adamw_args, a->n)
{
    float g = a->g[i], m = a->b1 * a->m[i] + (1 - a->b1) * g, v = a->b2 * a->v[i] + (1 - a->b2) * (g * g), w = a->w[i];
    a->m[i] = m;
    a->v[i] = v;
    a->w[i] = w - a->rate * (m * a->fix1 / (sqrtf(v * a->fix2) + a->eps) + a->decay * w);
}
