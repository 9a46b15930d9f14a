/* mode_attn_usp.c - Ulysses inside groups of ranks, a ring of the groups (USP; spec E.6).
 *
 *   cp 4, --ulysses 2     ranks 0 1 trade rows for heads, so do 2 3; ranks 0 2 form a ring, so do 1 3
 *
 * A group's zigzag rows are those of one zigzag shard of its ring; the plan's index brings them into its order.
 */
#include "kernels/modes/attn_heads.h"
#include "kernels/modes/attn_ring.h"

#include <inttypes.h>

static struct attn_ring ring_of(const struct attn_core *c)
{
    int u = (int)c->r->shape->ulysses, n = c->r->shape->cp / u;
    return (struct attn_ring){.n = n, .me = c->r->rank / u, .window = n, .first = c->r->rank % u, .stride = u};
}

static void inner_forward(struct attn_core *heads)
{
    struct attn_ring ring = ring_of(heads);
    attn_ring_forward(heads, &ring);
}

static void inner_backward(struct attn_core *heads)
{
    struct attn_ring ring = ring_of(heads);
    attn_ring_backward(heads, &ring);
}

static void usp_forward(struct attn_core *c)
{
    attn_heads_forward(c, (int)c->r->shape->ulysses, inner_forward);
}

static void usp_backward(struct attn_core *c)
{
    attn_heads_backward(c, (int)c->r->shape->ulysses, inner_backward);
}

static void exchange(const struct cp_shape *s, bool back, int64_t times, struct expect *x)
{
    int u = (int)s->ulysses;
    int64_t floats = shape_rows(s) * u * attn_heads_kv(s->kvheads, u) * (s->dqk + s->dv_attn);
    attn_heads_exchange(s, u, times, x);
    attn_ring_exchange(s->cp / u, floats, s->dtype, back, times, x);
}

static int64_t own_heads(const struct cp_shape *s)
{
    return s->qheads / s->ulysses;
}

static const struct attn_form form = {
    .split = SPLIT_USP, .forward = usp_forward, .backward = usp_backward, .exchange = exchange, .own_heads = own_heads};

static bool check(const struct cp_shape *s, struct err *e)
{
    if (s->cp == 1)
        return attn_check(&form, s, e);
    if (s->ulysses < 1 || s->cp % s->ulysses)
        return fail(e, ERR_USAGE, "--ulysses %" PRId64 " does not divide --cp %d", s->ulysses, s->cp);
    return attn_check(&form, s, e) && attn_heads_check(s, (int)s->ulysses, "--ulysses", e);
}

ATTN_MODE(mode_attn_usp, "attn.usp", LAYOUT_ZIGZAG, form, check,
          "trade rows for heads in groups of --ulysses ranks, pass K and V around a ring of groups");
