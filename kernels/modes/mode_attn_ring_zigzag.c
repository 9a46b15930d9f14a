/* mode_attn_ring_zigzag.c - a ring of balanced shards (spec E.3).
 *
 *   keys of      me: all against all, causal     a rank before me: all queries, its first chunks
 *                                                a rank behind me: my second chunks, all its keys
 *
 * Every step has the same number of pairs on every rank.
 */
#include "kernels/modes/attn_ring.h"

static struct attn_ring ring_of(const struct attn_core *c)
{
    return (struct attn_ring){.n = c->r->shape->cp, .me = c->r->rank, .window = c->r->shape->cp, .first = 0, .stride = 1};
}

static void ring_forward(struct attn_core *c)
{
    struct attn_ring ring = ring_of(c);
    attn_ring_forward(c, &ring);
}

static void ring_backward(struct attn_core *c)
{
    struct attn_ring ring = ring_of(c);
    attn_ring_backward(c, &ring);
}

static void exchange(const struct cp_shape *s, bool back, int64_t times, struct expect *x)
{
    attn_ring_exchange(s->cp, attn_kv_floats(s), s->dtype, back, times, x);
}

static const struct attn_form form = {.split = SPLIT_RING_ZIGZAG, .forward = ring_forward, .backward = ring_backward, .exchange = exchange};

static bool check(const struct cp_shape *s, struct err *e)
{
    return attn_check(&form, s, e);
}

ATTN_MODE(mode_attn_ring_zigzag, "attn.ring.zigzag", LAYOUT_ZIGZAG, form, check,
          "pass K and V around a ring, chunks r and 2cp-1-r on every rank: balanced");
