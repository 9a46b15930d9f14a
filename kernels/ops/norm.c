/* norm.c - gated RMSNorm: the formulas are in norm_body.h. Backward computes rs again from o: one dot product a head is
 * cheaper than keeping it. */
#include "kernels/ops/norm_body.h"

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
            struct norm_head x = norm_head_of(a, t, h);
            float rs = norm_rms_inverse(x.o, a->dv, a->eps);
            for (int i = 0; i < n; i++)
                sum[i] += norm_dw(&x, from + i, rs);
        }
    for (int i = 0; i < n; i++)
        a->dw[from + i] += (float)sum[i];
}

HOT static void head_bwd(const struct norm_bwd_args *a, const struct norm_head *x)
{
    float rs = norm_rms_inverse(x->o, a->dv, a->eps);
    double along = 0;
    for (int from = 0; from < a->dv; from += BLOCK) {
        float dn[BLOCK];
        int n = a->dv - from < BLOCK ? a->dv - from : BLOCK;
        for (int i = 0; i < n; i++)
            dn[i] = norm_dn(x, from + i);
        along += dot_f(dn, x->o + from, n);
    }
    float mean = (float)(along * rs / a->dv);
    for (int i = 0; i < a->dv; i++)
        norm_back(x, i, rs, mean);
}

void norm_bwd_cpu(const struct norm_bwd_args *a)
{
    for (int from = 0; from < a->dv; from += BLOCK)
        add_dw(a, from, a->dv - from < BLOCK ? a->dv - from : BLOCK);
    for (int64_t t = 0; t < a->T; t++)
        for (int h = 0; h < a->HV; h++) {
            struct norm_head x = norm_head_of(a, t, h);
            head_bwd(a, &x);
        }
}

struct cost norm_bwd_cost(const struct norm_bwd_args *a)
{
    double n = (double)a->T * a->HV * a->dv;
    return (struct cost){30 * n, 20 * n + 8.0 * a->dv};
}

OP_DEFINE(norm_fwd);
OP_DEFINE(norm_bwd);
