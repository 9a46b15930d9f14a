/* stack.h - the layers of a model: which mode each has, and where its parameters lie.
 *
 *   one operator     mode mode mode mode ...
 *   hybrid           mode mode mode attn | mode mode mode attn | ...     every fourth layer is attention (spec A.1)
 *
 * Parameters are one flat buffer, as gradients are. With a TP group every rank holds a part of each tensor: its heads' rows
 * or columns; only w_norm, which all heads share, is whole everywhere, and its gradients are summed over the group.
 */
#pragma once
#include "kernels/model/config.h"
#include "kernels/model/params.h"

enum { STACK_PERIOD = 4 }; /* layers of a block of a hybrid stack */

struct stack {
    const struct cp_mode *mode, *attn;                   /* attn NULL: all layers are of `mode` */
    struct cp_shape shape, all;                          /* of a TP rank; with all heads. layers: of the stack */
    struct param_layout part[OP_COUNT], whole[OP_COUNT]; /* of one layer: a rank's, all heads' */
    int64_t *index[OP_COUNT];                            /* [floats of part]: where they are in whole */
    int tp_rank;
    int64_t floats; /* of this rank, all layers */
};

/* Lives in `a`. Without `places` the index is left out: nothing is drawn, hashed or saved then. */
void stack_init(struct stack *s, const struct run_config *c, int tp_rank, bool places, struct arena *a);

const struct cp_mode *stack_mode(const struct stack *s, int64_t layer);
int64_t stack_offset(const struct stack *s, int64_t layer); /* floats of the layers before it */
struct layer_tensors stack_layer(const struct stack *s, float *flat, int64_t layer);

/* Fills host[floats] from the seed, rounded to the storage type: every part of what one rank alone would have. */
void stack_draw(float *host, const struct stack *s, uint64_t seed);
/* Hash of floats[floats] by value and place in the whole stack: the ranks of a TP group add theirs up, each tensor that all
 * of them hold counts once, and the sum is that of one rank alone. */
uint64_t stack_hash(const struct stack *s, const float *floats);
/* Is float i of a layer's part this rank's to count, or another TP rank's too that comes first? */
bool stack_counts(const struct stack *s, enum cp_op op, int64_t i);
/* A float at a place of the whole, well mixed: what stack_hash() adds up. */
uint64_t stack_mix(float v, int64_t place);
/* The shared tensor of a layer (floats, length); length 0: the layer has none, or there is no TP group. */
float *stack_shared(const struct stack *s, float *flat, int64_t layer, int64_t *length);
