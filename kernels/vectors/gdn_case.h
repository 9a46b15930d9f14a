/* gdn_case.h - what gdn_core.json and gdn_cp.json have in common: one run of the delta rule with everything wanted of it. */
#pragma once
#include "kernels/ops/gdn.h"
#include "kernels/vectors/vectors.h"

struct gdn_case {
    struct gdn_inputs in;                                           /* whole sequence, dense; tm ready to be filled, C set by the caller */
    float *d_o;                                                     /* [T][HV][dv] */
    size_t nqk, nv, ng, state;                                      /* sizes of q, v, g, and of [HV][dk][dv] */
    double *out, *dq, *dk, *dv, *dg, *dbeta;                        /* wanted */
    float *got_out, *got_dq, *got_dk, *got_dv, *got_dg, *got_dbeta; /* room for ours */
};

/* `chunk`: largest chunk that will be asked for. */
bool gdn_case_read(const struct jtree *one, int chunk, struct arena *a, struct gdn_case *c, struct err *e);
/* Rows out, dq, dk_grad, dv_grad, dg, dbeta, each with `suffix` behind it. */
void gdn_case_compare(const struct vec_out *o, const struct gdn_case *c, const char *suffix);
/* Scratch of an op, 64-byte aligned. */
void *gdn_case_work(struct arena *a, size_t bytes);
