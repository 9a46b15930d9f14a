/* layer.h - a case of gdn_layer.json: a whole Gated DeltaNet layer with its parameters, what goes in and what must come out.
 *
 * For the form that runs it on one device and for those that run it through the modes.
 */
#pragma once
#include "kernels/vectors/vectors.h"

enum { VEC_LAYER_PARAMS = 6 };

/* In this order: w_in, w_conv, A_log, dt_bias, w_norm, w_out. */
struct vec_param {
    const char *name;
    int64_t rows, cols; /* row major */
    float *value;
    double *grad; /* wanted */
};

struct vec_layer {
    const char *name;
    int64_t *cu; /* nseg + 1 */
    int nseg;
    int64_t T, hidden, HK, HV, dk, dv, conv;
    double l2_eps, norm_eps;
    struct vec_param param[VEC_LAYER_PARAMS];
    float *x, *dy;    /* [T][hidden] */
    double *out, *dx; /* wanted */
};

/* Reads one case; memory in the arena. false: not of this form, with the key. */
bool vec_layer_read(const struct jtree *kase, struct arena *a, struct vec_layer *l, struct err *e);

/* Adds rows "PREFIXout", "PREFIXdx" and "PREFIXgrad NAME" for every parameter; grads[i] as in param[i]. */
void vec_layer_compare(const struct vec_out *o, const char *prefix, const struct vec_layer *l, const float *out, const float *dx,
                       float *const grads[VEC_LAYER_PARAMS]);
