/* attn_heads.h - a group of ranks trades rows for heads: Ulysses, alone or under a ring (spec E.5, E.6).
 *
 *   rank 0  rows 0 1, all heads                   rank 0  rows 0 1 2 3, first half of the heads
 *   rank 1  rows 2 3, all heads   --all-to-all--> rank 1  rows 0 1 2 3, second half
 *
 * q, k, v there, o back; backward the same the other way. With fewer key heads than ranks a key head goes to several ranks
 * and its gradients are added. Where the plan has an index, the group's rows are brought into its order.
 */
#pragma once
#include "kernels/modes/attn_layer.h"

/* The group: `ranks` consecutive ranks, the whole CP group or a part of it. */
typedef void attn_heads_fn(struct attn_core *heads);

/* `inner` works on all rows of the group with this rank's heads; a group of one exchanges nothing, its rows lie in order. */
void attn_heads_forward(struct attn_core *c, int ranks, attn_heads_fn *inner);
void attn_heads_backward(struct attn_core *c, int ranks, attn_heads_fn *inner);
void attn_heads_exchange(const struct cp_shape *s, int ranks, int64_t times, struct expect *x);
/* Query heads divide over the ranks, key heads too or the ranks over them. `option` names where `ranks` comes from. */
bool attn_heads_check(const struct cp_shape *s, int ranks, const char *option, struct err *e);
/* Key heads on one rank. */
int64_t attn_heads_kv(int64_t kvheads, int ranks);
