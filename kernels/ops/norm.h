/* norm.h - gated RMSNorm of every head: m = o rs w silu(z), rs = 1 / sqrt(mean o^2 + eps); w is shared by the heads. */
#pragma once
#include "kernels/ops/op.h"

struct norm_fwd_args {
    const float *o, *z, *w; /* [T][HV][dv] ldo, [T][HV][dv] ldz, [dv] */
    float *m;               /* [T][HV][dv], ldm; may be o */
    int64_t ldo, ldz, ldm;
    int32_t T, HV, dv;
    float eps;
};
OP_DECLARE(norm_fwd);

struct norm_bwd_args {
    const float *dm, *o, *z, *w; /* [T][HV][dv] lddm, ldo, ldz; [dv] */
    float *d_o, *dz;             /* [T][HV][dv] lddo, lddz; overwritten; d_o may be dm */
    float *dw;                   /* [dv], += */
    int64_t lddm, ldo, ldz, lddo, lddz;
    int32_t T, HV, dv;
    float eps;
};
OP_DECLARE(norm_bwd);
