/* model_impl.h - a model's insides, shared by its files only: model.c (its life), pass.c (one micro-batch), values.c. */
#pragma once
#include "kernels/layout/kv_cache.h"
#include "kernels/model/batch.h"
#include "kernels/model/model.h"

enum { SUM_LOSS, SUM_INPUT_GRADS, SUM_PARAM_GRADS, SUMS };

struct model {
    const struct run_config *config;
    const struct cp_shape *shape; /* of the config */
    struct cp_rank rank;
    struct kv_cache plans;
    struct comm *grad; /* gradients, loss, norm; NULL with cp 1 */
    struct param_layout layout;
    float *params, *grads; /* flat, device */
    double *sums;          /* device, SUMS */
    /* (microbatches, rows, hidden), device; outputs and input gradients stay until the next step, to be looked at */
    float *inputs, *outputs, *dinputs;
    struct dev_event **marks; /* two a micro-batch: its forward phase begins, ends */
    struct packing *packs;    /* of the step */
    struct arena arena;       /* of the step */
};

static inline int64_t model_floats(const struct model *m) /* of x of one micro-batch */
{
    return shape_rows(m->shape) * m->shape->hidden;
}

/* Forward, loss and backward of micro-batch b. */
bool model_pass(struct model *m, int64_t b, struct err *e);
