/* norm_body.h - what one head of one token does, and one element of its gradient.
 *
 *   n = o rs;  m = n w silu(z)
 *   dn = dm w silu(z);  d_o = rs (dn - n mean(dn n));  dz = dm n w silu'(z);  dw += dm n silu(z)
 */
#pragma once
#include "kernels/ops/norm.h"
#include "kernels/ops/single.h"

HOT_INLINE float norm_rms_inverse(const float *o, int dv, float eps)
{
    return (float)(1 / sqrt(row_dot(o, o, dv) / dv + (double)eps));
}

SINGLE_ROWS2(norm_fwd, norm_fwd_args, a->T, a->HV)
{
    int64_t t = outer, head = inner * a->dv;
    const float *o = a->o + t * a->ldo + head, *z = a->z + t * a->ldz + head;
    float *m = a->m + t * a->ldm + head, rs = norm_rms_inverse(o, a->dv, a->eps);
    ROW_EACH (i, a->dv)
        m[i] = o[i] * rs * a->w[i] * (z[i] * sigmoid_f(z[i]));
}

/* One head of one token. */
struct norm_head {
    const float *dm, *o, *z, *w;
    float *d_o, *dz;
};

HOT_INLINE struct norm_head norm_head_of(const struct norm_bwd_args *a, int64_t t, int64_t h)
{
    int64_t head = h * a->dv;
    struct norm_head x;
    x.dm = a->dm + t * a->lddm + head;
    x.o = a->o + t * a->ldo + head;
    x.z = a->z + t * a->ldz + head;
    x.w = a->w;
    x.d_o = a->d_o + t * a->lddo + head;
    x.dz = a->dz + t * a->lddz + head;
    return x;
}

HOT_INLINE float norm_dn(const struct norm_head *x, int64_t i)
{
    return x->dm[i] * x->w[i] * (x->z[i] * sigmoid_f(x->z[i]));
}

HOT_INLINE double norm_dw(const struct norm_head *x, int64_t i, float rs)
{
    return (double)(x->dm[i] * (x->o[i] * rs) * (x->z[i] * sigmoid_f(x->z[i])));
}

/* mean: of dn n. */
HOT_INLINE void norm_back(const struct norm_head *x, int64_t i, float rs, float mean)
{
    float s = sigmoid_f(x->z[i]), n = x->o[i] * rs, dm = x->dm[i], dn = dm * x->w[i] * (x->z[i] * s);
    x->dz[i] = dm * n * x->w[i] * (s * (1 + x->z[i] * (1 - s)));
    x->d_o[i] = rs * (dn - n * mean);
}
