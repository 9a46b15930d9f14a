/* mode_gdn_headwise_fused.c - headwise in one all-to-all each way, whatever the number of sequences (spec C.1).
 *
 *   own rows, all heads   | q k v z b a |  --columns by heads-->  cp blocks  --all-to-all-->  all rows, own heads, rank-major
 *   rank-major rows       --one gather-->  time order  --conv, scan, norm-->  --one gather back-->  all-to-all
 *
 * The row order is made from the lengths, once per micro-batch, and uploaded without waiting. Backward is the transpose.
 */
#include "kernels/modes/expect.h"
#include "kernels/modes/gdn_heads.h"
#include "kernels/modes/gdn_layer.h"
#include "kernels/ops/elementwise.h"
#include "kernels/ops/pack.h"

/* The order of rows, kept on the micro-batch. */
struct order {
    int64_t *rank_major; /* device [tokens]: where the token of a time row lies among the ranks' shards */
};

struct kept {
    struct gdn_core core; /* whole sequences, own heads */
    const struct order *order;
};

static const struct order *order_of(struct cp_rank *r)
{
    struct cp_batch *b = r->batch;
    if (b->derived)
        return b->derived;
    struct order *o = b->derived = arena_array(&b->arena, struct order, 1);
    struct arena a = {0};
    int64_t n = r->shape->tokens, rows = shape_rows(r->shape), *index = arena_array(&a, int64_t, n);
    for (int rank = 0; rank < r->shape->cp; rank++) {
        struct segments x = layout_segments(&a, b->pack, r->shape->cp, rank, LAYOUT_ZIGZAG);
        for (int64_t i = 0; i < x.n; i++)
            for (int64_t k = 0; k < x.v[i].length; k++)
                index[x.v[i].global + k] = rank * rows + x.v[i].local + k;
    }
    o->rank_major = batch_device(b, r->device, (size_t)n * sizeof *index);
    dev_upload_async(r->stream, o->rank_major, index, (size_t)n * sizeof *index);
    arena_free(&a);
    return o;
}

static struct concat_heads_args sections(const struct cp_rank *r, const float *rows, float *blocks, bool out, bool back)
{
    const struct cp_shape *s = r->shape;
    int64_t w[GDN_SECTIONS], at = 0;
    struct concat_heads_args a = {.src = (float *)rows, .dst = blocks, .rows = shape_rows(s), .ranks = s->cp, .back = back};
    gdn_section_widths(s, w);
    a.ld = out ? gdn_out_width(s) : gdn_in_width(s);
    a.nsections = out ? 1 : GDN_SECTIONS;
    for (int i = 0; i < a.nsections; at += w[i++])
        a.section[i] = (struct concat_section){(int32_t)at, (int32_t)(out ? gdn_out_width(s) : w[i])};
    return a;
}

/* Own rows of all heads -> all rows of own heads in time order; `width` of all heads. */
static float *to_heads(struct cp_rank *r, struct devpool *pool, const struct order *o, const float *x, int64_t width, bool out)
{
    int64_t n = shape_rows(r->shape) * width;
    float *send = devpool_rows(pool, n), *recv = devpool_rows(pool, n), *y = devpool_rows(pool, n);
    struct concat_heads_args cut = sections(r, x, send, out, false);
    op_concat_heads(r->stream, &cut);
    comm_all_to_all_rows(r->comm, r->stream, send, recv, n / r->shape->cp);
    rows_gather(r->stream, y, recv, o->rank_major, r->shape->tokens, width / r->shape->cp);
    return y;
}

/* The way back, which is also its transpose: the order of rows is a permutation. */
static float *from_heads(struct cp_rank *r, struct devpool *pool, const struct order *o, const float *x, int64_t width, bool out)
{
    int64_t n = shape_rows(r->shape) * width;
    float *send = devpool_rows(pool, n), *recv = devpool_rows(pool, n), *y = devpool_rows(pool, n);
    rows_scatter(r->stream, send, x, o->rank_major, r->shape->tokens, width / r->shape->cp);
    comm_all_to_all_rows(r->comm, r->stream, send, recv, n / r->shape->cp);
    struct concat_heads_args join = sections(r, y, recv, out, true);
    op_concat_heads(r->stream, &join);
    return y;
}

static float *middle_forward(struct cp_rank *r, const struct layer_tensors *w, struct layer_state *st, const float *proj, void **kept, struct err *e)
{
    (void)e;
    struct kept *k = *kept = arena_array(&st->arena, struct kept, 1);
    struct gdn_core *c = &k->core;
    const struct boundaries *b = packed_layout(&r->batch->packed);
    k->order = order_of(r);
    *c = gdn_core_of(r, w, st);
    c->tokens = r->shape->tokens;
    c->cu = b->cu;
    c->segments = b->entries - 1;
    gdn_heads_weights(r, c);
    c->proj = to_heads(r, &st->pool, k->order, proj, gdn_in_width(r->shape), false);
    float *m = devpool_rows(&st->pool, c->tokens * gdn_core_out(c));
    gdn_core_forward(c, m);
    return from_heads(r, &st->pool, k->order, m, gdn_out_width(r->shape), true);
}

static float *middle_backward(struct cp_rank *r, const struct layer_tensors *grad, void *kept, struct devpool *pool, float *dm, struct err *e)
{
    (void)e;
    struct kept *k = kept;
    float *dall = to_heads(r, pool, k->order, dm, gdn_out_width(r->shape), true);
    gdn_heads_grads(r, &k->core, grad, pool);
    const float *dlocal = gdn_core_backward(&k->core, pool, dall);
    gdn_heads_add(r, &k->core, grad);
    return from_heads(r, pool, k->order, dlocal, gdn_in_width(r->shape), false);
}

static const struct gdn_middle middle = {middle_forward, middle_backward, .resolves = true};
GDN_MODE(middle)

static bool check(const struct cp_shape *s, struct err *e)
{
    return gdn_check(s, e) && mode_check_zigzag(s, e) && gdn_heads_check(s, e);
}

static void expect(const struct cp_shape *s, int rank, struct expect *x)
{
    (void)rank;
    expect_resolve(x, s);
    gdn_heads_expect(x, s, gdn_in_width(s) + gdn_out_width(s));
}

const struct cp_mode mode_gdn_headwise_fused = {
    .name = "gdn.headwise.fused",
    .op = OP_GDN,
    .entry_layout = LAYOUT_ZIGZAG,
    .what = "split the heads: one all-to-all in and one out for all packed sequences together",
    .check = check,
    .forward = forward,
    .backward = backward,
    .expect = expect,
};
