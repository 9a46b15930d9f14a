/* gates.c - one number a head and token: scalar code in double, the cost is nothing. */
#include "kernels/ops/gates.h"

#include <math.h>

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double softplus(double x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

void gate_fwd_cpu(const struct gate_fwd_args *a)
{
    for (int h = 0; h < a->HV; h++) {
        double rate = exp((double)a->A_log[h]), bias = a->dt_bias[h];
        for (int64_t t = 0; t < a->T; t++) {
            a->beta[t * a->HV + h] = (float)sigmoid(a->b[t * a->ldb + h]);
            a->g[t * a->HV + h] = (float)(-rate * softplus(a->a[t * a->lda + h] + bias));
        }
    }
}

struct cost gate_fwd_cost(const struct gate_fwd_args *a)
{
    double n = (double)a->T * a->HV;
    return (struct cost){8 * n, 16 * n + 8.0 * a->HV};
}

void gate_bwd_cpu(const struct gate_bwd_args *a)
{
    for (int h = 0; h < a->HV; h++) {
        double rate = exp((double)a->A_log[h]), bias = a->dt_bias[h], drate = 0, dbias = 0;
        for (int64_t t = 0; t < a->T; t++) {
            int64_t i = t * a->HV + h;
            double beta = a->beta[i], dg = a->dg[i], da = dg * -rate * sigmoid(a->a[t * a->lda + h] + bias);
            a->db[t * a->lddb + h] = (float)(a->dbeta[i] * beta * (1 - beta));
            a->da[t * a->ldda + h] = (float)da;
            dbias += da;
            drate += dg * a->g[i];
        }
        a->dA_log[h] += (float)drate;
        a->ddt_bias[h] += (float)dbias;
    }
}

struct cost gate_bwd_cost(const struct gate_bwd_args *a)
{
    double n = (double)a->T * a->HV;
    return (struct cost){12 * n, 28 * n + 24.0 * a->HV};
}

OP_DEFINE(gate_fwd);
OP_DEFINE(gate_bwd);
