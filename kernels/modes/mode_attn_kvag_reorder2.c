/* mode_attn_kvag_reorder2.c - full reorder and restore, a design that seeds/003 rejected (spec E.2).
 *
 *   K, V as gathered 0 3 1 2 -> 0 1 2 3; queries -> first chunks | second chunks; two calls; outputs back in local order
 */
#include "kernels/modes/attn_kvag.h"

static const struct attn_form form = {
    .split = SPLIT_REORDER2, .forward = attn_kvag_forward, .backward = attn_kvag_backward, .exchange = attn_kvag_exchange};

static bool check(const struct cp_shape *s, struct err *e)
{
    return attn_check(&form, s, e);
}

ATTN_MODE(mode_attn_kvag_reorder2, "attn.kvag.reorder2", LAYOUT_ZIGZAG, form, check,
          "gather K and V, bring all of them into time order, two attention calls, restore the outputs");
