/* mode_attn_double_ring.c - a ring inside windows of ranks, and one from window to window (LoongTrain; spec E.6).
 *
 *   cp 4, windows of 2    rank 0 uses the keys of 0 1 | 2 3    the transfer to the next window begins as a window is entered
 */
#include "kernels/modes/attn_ring.h"

#include <inttypes.h>

static struct attn_ring ring_of(const struct attn_core *c)
{
    return (struct attn_ring){.n = c->r->shape->cp, .me = c->r->rank, .window = (int)c->r->shape->window, .first = 0, .stride = 1};
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

static const struct attn_form form = {
    .split = SPLIT_RING_ZIGZAG, .forward = ring_forward, .backward = ring_backward, .exchange = attn_ring_all_exchange};

static bool check(const struct cp_shape *s, struct err *e)
{
    if (s->cp > 1 && (s->window < 1 || s->cp % s->window))
        return fail(e, ERR_USAGE, "--window %" PRId64 " does not divide --cp %d", s->window, s->cp);
    return attn_check(&form, s, e);
}

ATTN_MODE(mode_attn_double_ring, "attn.double_ring", LAYOUT_ZIGZAG, form, check,
          "pass K and V around rings of --window ranks, and from window to window: balanced");
