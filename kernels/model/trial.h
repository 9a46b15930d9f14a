/* trial.h - a mode on some ranks against one rank: random layers, and how far apart the two are. */
#pragma once
#include "kernels/model/layer_run.h"

/* A layer for the mode and shape (its packs are set to `pack`, which outlives it): parameters, inputs and output gradients
 * from the seed, the same for every mode of the operator and every cp size. Lives in `a`. */
struct layer_case trial_make(const struct cp_mode *mode, const struct cp_shape *shape, const struct packing *pack, struct param_init init,
                             uint64_t seed, struct arena *a);

struct agreement {
    struct distance out, dx;
    struct distance param;                  /* of each measure the worst over parameters and ranks */
    double grad_norm;                       /* |n - n'| / n' over input and parameter gradients, worst over ranks */
    double least_param_abs, least_param_l2; /* smallest parameter gradient of `want`: largest element, length */
};
struct agreement trial_compare(const struct layer_case *c, const struct layer_result *got, const struct layer_result *want);
