/* mode_attn_ring_contiguous.c - a ring of plain shards (spec E.3): not balanced.
 *
 *   rank 0 [0]           uses 0                 keys of ranks behind me are handed on, nothing is computed with them
 *   rank 2 [2]           uses 2, 1, 0
 */
#include "kernels/modes/attn_ring.h"

static const struct attn_form form = {
    .split = SPLIT_RING_CONTIGUOUS, .forward = attn_ring_all_forward, .backward = attn_ring_all_backward, .exchange = attn_ring_all_exchange};

static bool check(const struct cp_shape *s, struct err *e)
{
    return attn_check(&form, s, e);
}

ATTN_MODE(mode_attn_ring_contiguous, "attn.ring.contiguous", LAYOUT_CONTIGUOUS, form, check,
          "pass K and V around a ring of plain shards: the last rank computes all steps, the first one");
