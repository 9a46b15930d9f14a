/* gates_body.h - one number a head and token, scalar code in double, the cost is nothing. A row is a head, or a run of its tokens
 * where they do not meet. */
#pragma once
#include "kernels/ops/gates.h"
#include "kernels/ops/single.h"

HOT_INLINE double gate_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

HOT_INLINE double gate_softplus(double x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

enum { GATE_RUN = 256 };

SINGLE_ROWS2(gate_fwd, gate_fwd_args, a->HV, (a->T + GATE_RUN - 1) / GATE_RUN)
{
    double rate = exp((double)a->A_log[outer]), bias = a->dt_bias[outer];
    int64_t from = inner * GATE_RUN;
    ROW_EACH (i, a->T - from < GATE_RUN ? a->T - from : (int64_t)GATE_RUN) {
        int64_t t = from + i;
        a->beta[t * a->HV + outer] = (float)gate_sigmoid(a->b[t * a->ldb + outer]);
        a->g[t * a->HV + outer] = (float)(-rate * gate_softplus(a->a[t * a->lda + outer] + bias));
    }
}

SINGLE_ROWS(gate_bwd, gate_bwd_args, a->HV)
{
    double rate = exp((double)a->A_log[row]), bias = a->dt_bias[row], drate = 0, dbias = 0;
    ROW_EACH (t, a->T) {
        int64_t i = t * a->HV + row;
        double beta = a->beta[i], dg = a->dg[i], da = dg * -rate * gate_sigmoid(a->a[t * a->lda + row] + bias);
        a->db[t * a->lddb + row] = (float)(a->dbeta[i] * beta * (1 - beta));
        a->da[t * a->ldda + row] = (float)da;
        dbias += da;
        drate += dg * a->g[i];
    }
    drate = row_total(drate);
    dbias = row_total(dbias);
    if (ROW_ONCE) {
        a->dA_log[row] += (float)drate;
        a->ddt_bias[row] += (float)dbias;
    }
}
