/* mode_gdn_ulysses.c - seeds/004 `ulysses`: heads for tokens, in one packed all-to-all; z stays with the tokens (spec C.1).
 *
 *   own rows   | q k v | z | b a |        q k v b a  --all-to-all-->  all rows, own heads: conv, scan
 *   own rows   o  <--all-to-all--         o
 *   norm(o) gated by z on own rows, all heads
 *
 * Shards are contiguous, so the blocks of an all-to-all are the sequence in time order: no row is reordered.
 */
#include "kernels/modes/expect.h"
#include "kernels/modes/gdn_heads.h"
#include "kernels/modes/gdn_layer.h"
#include "kernels/ops/elementwise.h"
#include "schemas/marker.h"

struct kept {
    struct gdn_core heads; /* all tokens, own heads, no z: conv, gates, scan */
    struct gdn_core norm;  /* own tokens, all heads: the gated norm */
};

/* Which columns travel: q k v b a of a projected row, or all of an output row. */
static struct concat_heads_args cut_of(const struct cp_rank *r, const float *rows, float *blocks, bool out, bool back)
{
    static const enum gdn_section travel[] = {GDN_Q, GDN_K, GDN_V, GDN_B, GDN_A};
    const struct cp_shape *s = r->shape;
    struct concat_heads_args a = {.src = (float *)rows, .dst = blocks, .rows = shape_rows(s), .ranks = s->cp, .back = back};
    int64_t w[GDN_SECTIONS], at[GDN_SECTIONS] = {0};
    gdn_section_widths(s, w);
    for (int i = 1; i < GDN_SECTIONS; i++)
        at[i] = at[i - 1] + w[i - 1];
    a.ld = out ? gdn_out_width(s) : gdn_in_width(s);
    a.nsections = out ? 1 : (int)(sizeof travel / sizeof *travel);
    a.section[0] = (struct concat_section){0, (int32_t)gdn_out_width(s)};
    for (int i = 0; !out && i < a.nsections; i++)
        a.section[i] = (struct concat_section){(int32_t)at[travel[i]], (int32_t)w[travel[i]]};
    return a;
}

static int64_t travelling(const struct cp_shape *s, bool out)
{
    return out ? gdn_out_width(s) : gdn_in_width(s) - gdn_out_width(s);
}

static float *to_heads(struct cp_rank *r, struct devpool *pool, const float *x, bool out)
{
    int64_t n = shape_rows(r->shape) * travelling(r->shape, out);
    float *send = devpool_rows(pool, n), *recv = devpool_rows(pool, n);
    struct concat_heads_args cut = cut_of(r, x, send, out, false);
    op_concat_heads(r->stream, &cut);
    comm_all_to_all_rows(r->comm, r->stream, send, recv, n / r->shape->cp);
    return recv;
}

static void from_heads(struct cp_rank *r, struct devpool *pool, const float *heads, float *y, bool out)
{
    int64_t n = shape_rows(r->shape) * travelling(r->shape, out);
    float *recv = devpool_rows(pool, n);
    comm_all_to_all_rows(r->comm, r->stream, heads, recv, n / r->shape->cp);
    struct concat_heads_args join = cut_of(r, y, recv, out, true);
    op_concat_heads(r->stream, &join);
}

static void scan(struct cp_rank *r, struct gdn_core *c)
{
    dev_range_push(r->device, RANGE_PRE_GATED_DELTA_RULE, -1);
    gdn_core_pre(c);
    dev_range_pop(r->device);
    dev_range_push(r->device, RANGE_GATED_DELTA_RULE, -1);
    gdn_core_prepare(c);
    gdn_core_scan(c, NULL);
    dev_range_pop(r->device);
}

static float *middle_forward(struct cp_rank *r, const struct layer_tensors *w, struct layer_state *st, const float *proj, void **kept, struct err *e)
{
    (void)e;
    struct kept *k = *kept = arena_array(&st->arena, struct kept, 1);
    struct gdn_core *c = &k->heads, *n = &k->norm;
    const struct boundaries *b = packed_layout(&r->batch->packed);
    *c = *n = gdn_core_of(r, w, st);
    c->no_z = true;
    c->tokens = r->shape->tokens;
    c->cu = b->cu;
    c->segments = b->entries - 1;
    gdn_heads_weights(r, c);
    c->proj = to_heads(r, &st->pool, proj, false);
    scan(r, c);
    n->tokens = shape_rows(r->shape);
    n->proj = proj;
    n->o = devpool_rows(&st->pool, n->tokens * gdn_core_out(n));
    from_heads(r, &st->pool, c->o, n->o, true);
    float *m = devpool_rows(&st->pool, n->tokens * gdn_core_out(n));
    gdn_core_norm(n, m);
    return m;
}

static float *middle_backward(struct cp_rank *r, const struct layer_tensors *grad, void *kept, struct devpool *pool, float *dm, struct err *e)
{
    (void)e;
    struct kept *k = kept;
    struct gdn_core *c = &k->heads;
    struct gdn_back outer = {.pool = pool}, inner = {.pool = pool, .dproj = devpool_rows(pool, c->tokens * gdn_core_in(c))};
    gdn_core_grads(&k->norm, grad);
    gdn_back_norm(&k->norm, &outer, dm);
    inner.d_o = to_heads(r, pool, outer.d_o, true);
    gdn_heads_grads(r, c, grad, pool);
    dev_range_push(r->device, RANGE_GATED_DELTA_RULE, -1);
    gdn_back_scan(c, &inner, NULL, NULL);
    dev_range_pop(r->device);
    dev_range_push(r->device, RANGE_PRE_GATED_DELTA_RULE, -1);
    gdn_back_pre(c, &inner);
    dev_range_pop(r->device);
    gdn_heads_add(r, c, grad);
    from_heads(r, pool, inner.dproj, outer.dproj, false);
    return outer.dproj;
}

static const struct gdn_middle middle = {middle_forward, middle_backward};
GDN_MODE(middle)

static bool check(const struct cp_shape *s, struct err *e)
{
    return gdn_check(s, e) && gdn_heads_check(s, e);
}

static void expect(const struct cp_shape *s, int rank, struct expect *x)
{
    (void)rank;
    gdn_heads_expect(x, s, travelling(s, false) + travelling(s, true));
}

const struct cp_mode mode_gdn_ulysses = {
    .name = "gdn.ulysses",
    .op = OP_GDN,
    .entry_layout = LAYOUT_CONTIGUOUS,
    .what = "contiguous shards: one packed all-to-all of q, k, v, b, a to heads, one back; z stays",
    .check = check,
    .forward = forward,
    .backward = backward,
    .expect = expect,
};
