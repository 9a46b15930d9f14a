/* mode_attn_kvag_direct1.c - what seeds/003 adopted: one call over both local chunks of every sequence (spec E.2).
 *
 *   K, V as gathered, rank-major | r0: 0 3 | r1: 1 2 |   rank 0 picks 0 (for chunk 0) and 0 1 2 3 (for chunk 3)
 */
#include "kernels/modes/attn_kvag.h"

static const struct attn_form form = {
    .split = SPLIT_DIRECT1, .forward = attn_kvag_forward, .backward = attn_kvag_backward, .exchange = attn_kvag_exchange};

static bool check(const struct cp_shape *s, struct err *e)
{
    return attn_check(&form, s, e);
}

ATTN_MODE(mode_attn_kvag_direct1, "attn.kvag.direct1", LAYOUT_ZIGZAG, form, check,
          "gather K and V, pick causal prefixes by a rank-major index, one attention call");
