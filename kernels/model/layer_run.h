/* layer_run.h - one layer of a mode on real ranks, from and to whole host tensors: what verification and tests are made of.
 *
 *   x, dy, out, dx (tokens, hidden) in global token order --rows of the entry layout--> ranks --> back in global order
 */
#pragma once
#include "kernels/model/params.h"

/* Parameters and gradients are flat as in params.h. */
struct layer_case {
    const struct cp_mode *mode;
    struct cp_shape shape; /* layers 1, microbatches 1 */
    struct packing pack;   /* may hold empty slots */
    const float *params, *x, *dy;
    const char *device, *comm; /* backends; NULL: cpu, threads */
};

struct layer_result {
    float *out, *dx;
    float **grads; /* [cp]: after the sum over the ranks, as each rank holds them */
};

/* Forward (twice with recompute, as a model does), backward, sum of the gradients, on `cp` ranks, threads of this process. *result lives in `a`.
 * False when the mode fails on a rank. */
bool layer_try(const struct layer_case *c, struct layer_result *result, struct arena *a, struct err *e);

/* How far `got` is from `want`. Of two equal ones all 0; a value that is not finite makes them infinite. */
struct distance {
    double max_abs, max_rel_ref, rel_l2; /* largest difference; that by the largest element of want; by length */
};
struct distance distance_of(const float *got, const float *want, int64_t n);
