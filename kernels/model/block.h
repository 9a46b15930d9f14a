/* block.h - one layer of the stack with what stands around it, forward and backward, enqueued.
 *
 *   layers only    out = x + layer(x)
 *   a net          mid = x + layer(norm(x));   out = mid + MLP(norm(mid))
 *
 * Tensors are (own rows, hidden) on the device. With a TP group the MLP gathers its rows and adds up its columns' parts as
 * layers do (tensor.h).
 */
#pragma once
#include "kernels/model/model_impl.h"

struct block_state {
    struct layer_state layer;
    struct devpool pool;              /* of what follows: kept for backward; layers only: nothing */
    float *normed, *rs;               /* the layer's input */
    float *mid, *mlp_normed, *mlp_rs; /* the MLP's */
    float *gate, *up, *product;       /* (rows of the TP group, ffn) */
};

bool block_forward(struct model *m, int64_t l, const float *x, float *out, struct block_state *st, bool for_backward, struct err *e);
/* d: gradient of out becomes that of x; parameter gradients are added up. */
bool block_backward(struct model *m, int64_t l, const float *x, float *d, struct block_state *st, struct err *e);
void block_free(struct block_state *st); /* twice is fine */
