/* mode_attn_ring_zigzag.c - a ring of balanced shards (spec E.3).
 *
 *   keys of      me: all against all, causal     a rank before me: all queries, its first chunks
 *                                                a rank behind me: my second chunks, all its keys
 *
 * Every step has the same number of pairs on every rank.
 */
#include "kernels/modes/attn_ring.h"

static const struct attn_form form = {
    .split = SPLIT_RING_ZIGZAG, .forward = attn_ring_all_forward, .backward = attn_ring_all_backward, .exchange = attn_ring_all_exchange};

static bool check(const struct cp_shape *s, struct err *e)
{
    return attn_check(&form, s, e);
}

ATTN_MODE(mode_attn_ring_zigzag, "attn.ring.zigzag", LAYOUT_ZIGZAG, form, check,
          "pass K and V around a ring, chunks r and 2cp-1-r on every rank: balanced");
