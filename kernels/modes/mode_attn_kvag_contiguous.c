/* mode_attn_kvag_contiguous.c - the path that seeds/003 starts from: cut evenly, not balanced (spec E.2, baseline b).
 *
 *   rank 0 [...]  rank 1 [...]  rank 2 [...]   each against everything from the start of its sequences to its own end
 */
#include "kernels/modes/attn_kvag.h"

static const struct attn_form form = {
    .split = SPLIT_CONTIGUOUS, .forward = attn_kvag_forward, .backward = attn_kvag_backward, .exchange = attn_kvag_exchange};

static bool check(const struct cp_shape *s, struct err *e)
{
    return attn_check(&form, s, e);
}

ATTN_MODE(mode_attn_kvag_contiguous, "attn.kvag.contiguous", LAYOUT_CONTIGUOUS, form, check,
          "gather K and V, plain even split: later ranks have more keys");
