/* gates.h - write strength and log decay of every value head and token.
 *
 *   beta = sigmoid(b),  g = -exp(A_log) softplus(a + dt_bias)    (g <= 0)
 */
#pragma once
#include "kernels/ops/op.h"

struct gate_fwd_args {
    const float *b, *a;           /* [T][HV], ldb, lda */
    const float *A_log, *dt_bias; /* [HV] */
    float *beta, *g;              /* [T][HV], dense */
    int64_t ldb, lda;
    int32_t T, HV;
};
OP_DECLARE(gate_fwd);

struct gate_bwd_args {
    const float *beta, *g, *dbeta, *dg; /* [T][HV], dense */
    const float *a;                     /* [T][HV], lda */
    const float *A_log, *dt_bias;       /* [HV] */
    float *db, *da;                     /* [T][HV], lddb, ldda; overwritten */
    float *dA_log, *ddt_bias;           /* [HV], += */
    int64_t lda, lddb, ldda;
    int32_t T, HV;
};
OP_DECLARE(gate_bwd);
