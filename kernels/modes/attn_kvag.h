/* attn_kvag.h - attention over gathered keys and values (spec E.2): what the four modes of that kind share.
 *
 *   forward   all-gather K, V -> rows by the plan's index (none: as they lie) -> calls
 *   backward  the same again, then gradients back by the index and reduce-scatter
 *
 * Where the plan brings queries into an order of its own (q_index), its two calls run on two streams, and the outputs are
 * brought back.
 */
#pragma once
#include "kernels/modes/attn_layer.h"

void attn_kvag_forward(struct attn_core *c);
void attn_kvag_backward(struct attn_core *c);
void attn_kvag_exchange(const struct cp_shape *s, bool backward, int64_t times, struct expect *x);
