/* mode_attn_kvag_direct2.c - the rank-major index with two calls, a design that seeds/003 rejected (spec E.2).
 *
 *   call 0: first chunks of all sequences, each against its prefix; call 1: the second chunks
 */
#include "kernels/modes/attn_kvag.h"

static const struct attn_form form = {
    .split = SPLIT_DIRECT2, .forward = attn_kvag_forward, .backward = attn_kvag_backward, .exchange = attn_kvag_exchange};

static bool check(const struct cp_shape *s, struct err *e)
{
    return attn_check(&form, s, e);
}

ATTN_MODE(mode_attn_kvag_direct2, "attn.kvag.direct2", LAYOUT_ZIGZAG, form, check,
          "as direct1 with a call for the first chunks and one for the second");
