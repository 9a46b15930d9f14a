/* params.h - the parameters of a stack of layers, and their gradients: one flat buffer each, sliced into tensors.
 *
 *   flat   | layer 0: w_in | w_conv | A_log | ... | layer 1: w_in | ... |     float32, on the device
 *
 * Values come from the seed alone: they are the same on every rank and for every cp size. Gradients have the same shape,
 * so that one reduction serves all of them.
 */
#pragma once
#include "kernels/device/device.h"
#include "kernels/modes/mode.h"

#include <stdint.h>

/* Sizes and offsets (in floats) of the tensors of one layer; the same for every layer. */
struct param_layout {
    struct param_tensor {
        const char *name;
        int64_t rows, cols, offset;
    } t[PARAM_MAX];
    int n;
    int64_t layer_floats, floats; /* of one layer; of the stack */
};

/* The range of A in the decay exp(-A softplus): log A is drawn from A uniform in it. Slow decay keeps memory long. */
struct param_init {
    double a_low, a_high;
};
#define PARAM_INIT_DEFAULT ((struct param_init){1, 16})

void param_layout(struct param_layout *out, const struct cp_shape *shape);
/* Fills host[floats]; the second one layer of them. `shape` has all heads (tp 1). */
void param_draw(float *host, const struct param_layout *l, const struct cp_shape *shape, struct param_init init, uint64_t seed);
void param_draw_layer(float *host, const struct param_layout *l, const struct cp_shape *shape, struct param_init init, uint64_t seed, int64_t layer);
/* The tensors of one layer of a flat buffer. */
struct layer_tensors param_layer(const struct param_layout *l, float *flat, int64_t layer);
