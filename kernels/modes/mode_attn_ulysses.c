/* mode_attn_ulysses.c - all tokens, a share of the heads (spec E.5).
 *
 *   q, k, v   3 all-to-alls: own rows, all heads -> all rows, own heads      o   1 all-to-all back
 *
 * Rows lie in time order when they arrive, for the entry layout is the even cut.
 */
#include "kernels/modes/attn_heads.h"

static void heads_forward(struct attn_core *c)
{
    attn_heads_forward(c, c->r->shape->cp, attn_local_forward);
}

static void heads_backward(struct attn_core *c)
{
    attn_heads_backward(c, c->r->shape->cp, attn_local_backward);
}

static void exchange(const struct cp_shape *s, bool back, int64_t times, struct expect *x)
{
    (void)back; /* the same in both directions */
    attn_heads_exchange(s, s->cp, times, x);
}

static int64_t own_heads(const struct cp_shape *s)
{
    return s->qheads / s->cp;
}

static const struct attn_form form = {
    .split = SPLIT_WHOLE, .forward = heads_forward, .backward = heads_backward, .exchange = exchange, .own_heads = own_heads};

static bool check(const struct cp_shape *s, struct err *e)
{
    return attn_check(&form, s, e) && attn_heads_check(s, s->cp, "--cp", e);
}

ATTN_MODE(mode_attn_ulysses, "attn.ulysses", LAYOUT_CONTIGUOUS, form, check,
          "trade rows for heads: three all-to-alls, whole sequences with a share of the heads, one back");
