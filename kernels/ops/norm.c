/* norm.c - gated RMSNorm. Backward computes rs again from o: one dot product a head is cheaper than keeping it.
 *
 *   n = o rs;  m = n w silu(z)
 *   dn = dm w silu(z);  d_o = rs (dn - n mean(dn n));  dz = dm n w silu'(z);  dw += dm n silu(z)
 */
#include "kernels/ops/norm.h"
#include "kernels/ops/hot.h"

HOT_INLINE float rms_inverse(const float *o, int dv, float eps)
{
    return (float)(1 / sqrt(dot_f(o, o, dv) / dv + (double)eps));
}

HOT void norm_fwd_cpu(const struct norm_fwd_args *a)
{
    for (int64_t t = 0; t < a->T; t++)
        for (int h = 0; h < a->HV; h++) {
            int64_t head = (int64_t)h * a->dv;
            const float *o = a->o + t * a->ldo + head, *z = a->z + t * a->ldz + head;
            float *m = a->m + t * a->ldm + head, rs = rms_inverse(o, a->dv, a->eps);
            for (int i = 0; i < a->dv; i++)
                m[i] = o[i] * rs * a->w[i] * (z[i] * sigmoid_f(z[i]));
        }
}

struct cost norm_fwd_cost(const struct norm_fwd_args *a)
{
    double n = (double)a->T * a->HV * a->dv;
    return (struct cost){10 * n, 12 * n + 4.0 * a->dv};
}

enum { BLOCK = 128 }; /* columns that a sum of dw is kept for at once */

/* Sum over all tokens and heads of dm n silu(z), columns from .. from + n - 1. */
HOT static void add_dw(const struct norm_bwd_args *a, int from, int n)
{
    double sum[BLOCK] = {0};
    for (int64_t t = 0; t < a->T; t++)
        for (int h = 0; h < a->HV; h++) {
            int64_t head = (int64_t)h * a->dv;
            const float *o = a->o + t * a->ldo + head, *z = a->z + t * a->ldz + head, *dm = a->dm + t * a->lddm + head;
            float rs = rms_inverse(o, a->dv, a->eps);
            for (int i = 0; i < n; i++)
                sum[i] += (double)(dm[from + i] * (o[from + i] * rs) * (z[from + i] * sigmoid_f(z[from + i])));
        }
    for (int i = 0; i < n; i++)
        a->dw[from + i] += (float)sum[i];
}

HOT static void head_bwd(const struct norm_bwd_args *a, const float *dm, const float *o, const float *z, float *d_o, float *dz)
{
    float rs = rms_inverse(o, a->dv, a->eps);
    double along = 0;
    for (int from = 0; from < a->dv; from += BLOCK) {
        float dn[BLOCK];
        int n = a->dv - from < BLOCK ? a->dv - from : BLOCK;
        for (int i = 0; i < n; i++)
            dn[i] = dm[from + i] * a->w[from + i] * (z[from + i] * sigmoid_f(z[from + i]));
        along += dot_f(dn, o + from, n);
    }
    float mean = (float)(along * rs / a->dv);
    for (int i = 0; i < a->dv; i++) {
        float s = sigmoid_f(z[i]), n = o[i] * rs, dn = dm[i] * a->w[i] * (z[i] * s);
        dz[i] = dm[i] * n * a->w[i] * (s * (1 + z[i] * (1 - s)));
        d_o[i] = rs * (dn - n * mean);
    }
}

void norm_bwd_cpu(const struct norm_bwd_args *a)
{
    for (int from = 0; from < a->dv; from += BLOCK)
        add_dw(a, from, a->dv - from < BLOCK ? a->dv - from : BLOCK);
    for (int64_t t = 0; t < a->T; t++)
        for (int h = 0; h < a->HV; h++) {
            int64_t head = (int64_t)h * a->dv;
            head_bwd(a, a->dm + t * a->lddm + head, a->o + t * a->ldo + head, a->z + t * a->ldz + head, a->d_o + t * a->lddo + head,
                     a->dz + t * a->lddz + head);
        }
}

struct cost norm_bwd_cost(const struct norm_bwd_args *a)
{
    double n = (double)a->T * a->HV * a->dv;
    return (struct cost){30 * n, 20 * n + 8.0 * a->dv};
}

OP_DEFINE(norm_fwd);
OP_DEFINE(norm_bwd);
