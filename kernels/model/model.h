/* model.h - a stack of layers on one rank, and one training step of it (without an update of the parameters).
 *
 *   x_{l+1} = x_l + layer_l(x_l)        loss = mean of x_L^2 / 2 over all tokens and columns of all micro-batches
 *
 *   step#N
 *     microbatch#B
 *       forward     layer#0 ... layer#L-1      keeps the layers' inputs, and all they need unless it is recomputed
 *       recompute   layer#l                    with full recompute, before each layer's backward
 *       backward    layer#l, L-1 ... 0
 *     gradients and loss summed over the ranks (group "grad")
 *
 * Layers, their modes and parameters: stack.h. Who works on which micro-batch: groups.h. Rows between layers are a rank's
 * share of its TP group's. Padding counts in no loss and no gradient.
 */
#pragma once
#include "kernels/model/config.h"
#include "kernels/model/stack.h"

struct model;

/* One rank's model: device, communicators of the world, parameters from the seed. NULL on failure. `w` may be NULL when the
 * run has one rank. */
struct model *model_open(const struct run_config *c, struct comm_world *w, int rank, struct err *e);
void model_close(struct model *m); /* NULL is fine */

struct step_times {
    int64_t step_ns, fwd_ns, pass_ns; /* of this rank: the whole step; the stream's time in forward phases, and in all of the micro-batches */
    int64_t peak_bytes;
};

/* The step's micro-batches, then the reductions, then a wait for the device; `range`#`index` is its range. The inputs of
 * `step` are made and uploaded before the clock starts; the ranks start together. Collective. */
bool model_step(struct model *m, int64_t step, const char *range, int64_t index, struct step_times *out, struct err *e);

/* What the last step computed; sums are over all ranks. Nothing where bulk tensors have no storage: NAN, hashes 0. */
struct step_values {
    double loss, grad_norm;     /* norm over input and parameter gradients */
    uint64_t param_hash;        /* stack_hash(): equal on ranks of one TP number, to be summed over these */
    uint64_t out_rows, dx_rows; /* of this rank: see rows_hash(); summed over the ranks they cover all tokens */
    uint64_t grad_hash;         /* of the parameter gradients, as param_hash */
};
void model_values(struct model *m, struct step_values *out);

/* Copies of the last step's tensors on the host, for tests: outputs and input gradients (microbatches, rows, hidden),
 * parameter gradients (of the whole stack). NULL: not wanted. */
void model_read(struct model *m, float *outputs, float *dinputs, float *grads);

/* Sum over rows of the hash of each row's bytes, seeded by its number: the same whatever order the rows come in. */
uint64_t rows_hash(const float *rows, const int64_t *numbers, int64_t n, int64_t width);
