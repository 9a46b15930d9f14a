/* mode_gdn_chunkwise.c - the sequence stays cut by time: only states, halo rows and layout conversions travel (spec C.2).
 *
 *   proj  zigzag -> contiguous    rank 0 [.......] rank 1 [.......] rank 2 [.......]
 *   conv                                      W-1 rows ->       W-1 rows ->
 *   scan                          (S, M)  -> all-gather, each folds those before it -> state that enters
 *   m     contiguous -> zigzag
 *
 * Backward sends the same things the other way. Ranks outside a sequence take part in every collective with zeros.
 */
#include "kernels/modes/expect.h"
#include "kernels/modes/gdn_layer.h"
#include "kernels/ops/elementwise.h"
#include "kernels/ops/pack.h"
#include "schemas/marker.h"

#include <inttypes.h>

struct kept {
    struct gdn_core core;
    struct route *in, *out; /* of the two conversions */
    float *h_in, *sm;       /* state that enters (NULL: none), own [S | M] */
};

static void drop(void *kept)
{
    const struct gdn_kept *g = kept;
    struct kept *k = g->middle;
    if (k) {
        route_release(k->in);
        route_release(k->out);
    }
}

static struct swap_ctx swap_of(struct cp_rank *r)
{
    return (struct swap_ctx){.comm = r->comm, .stream = r->stream, .packed = &r->batch->packed, .kind = r->shape->route};
}

/* One conversion into the pool; NULL when rejected. */
static float *convert(struct cp_rank *r, struct layer_state *st, enum layout source, const float *x, int64_t width, struct route **saved,
                      struct err *e)
{
    DEV_RANGE(r->device, source == LAYOUT_ZIGZAG ? RANGE_ZIGZAG_TO_CONTIGUOUS : RANGE_CONTIGUOUS_TO_ZIGZAG, -1);
    struct swap_ctx ctx = swap_of(r);
    float *y = swap_forward(&ctx, source, x, shape_rows(r->shape), width, st->for_backward ? saved : NULL, e);
    if (y != x)
        devpool_own(&st->pool, y);
    return y;
}

static float *convert_back(struct cp_rank *r, struct devpool *pool, enum layout source, const struct route *saved, const float *dy, int64_t width)
{
    DEV_RANGE(r->device, source == LAYOUT_ZIGZAG ? RANGE_ZIGZAG_TO_CONTIGUOUS : RANGE_CONTIGUOUS_TO_ZIGZAG, -1);
    struct swap_ctx ctx = swap_of(r);
    float *dx = swap_backward(&ctx, saved, dy, width);
    if (dx != dy)
        devpool_own(pool, dx);
    return dx;
}

/* Everybody's last W-1 rows of the conv input; the previous rank's are my halo. */
static void exchange_halo(struct cp_rank *r, struct gdn_core *c)
{
    DEV_RANGE(r->device, RANGE_CONV_HALO, -1);
    int64_t rows = c->conv - 1, n = rows * gdn_core_mix(c);
    if (!rows)
        return;
    float *mine = devpool_floats(c->pool, n), *all = devpool_floats(c->pool, n * r->shape->cp);
    rows_copy(c->stream, mine, gdn_core_mix(c), c->proj + (c->tokens - rows) * gdn_core_in(c), gdn_core_in(c), rows, gdn_core_mix(c));
    comm_all_gather(r->comm, c->stream, mine, all, (size_t)n * sizeof(float));
    int64_t valid = r->batch->recurrent.pre_conv_tokens;
    if (valid > 0) {
        c->halo = all + (r->rank - 1) * n;
        c->halo_valid = valid < rows ? valid : rows;
    }
}

/* The gradient of a rank's halo belongs to the last rows of the rank before it. */
static void exchange_halo_back(struct cp_rank *r, const struct gdn_core *c, struct gdn_back *b)
{
    DEV_RANGE(r->device, RANGE_CONV_HALO, -1);
    int64_t rows = c->conv - 1, width = gdn_core_mix(c), n = rows * width;
    if (!rows)
        return;
    float *all = devpool_floats(b->pool, n * r->shape->cp);
    comm_all_gather(r->comm, c->stream, b->d_halo, all, (size_t)n * sizeof(float));
    if (r->rank + 1 < r->shape->cp)
        rows_accumulate(c->stream, b->dproj + (c->tokens - rows) * gdn_core_in(c), gdn_core_in(c), all + (r->rank + 1) * n, width, rows, width);
}

/* All ranks' summaries, `mine` among them. */
static float *gather(struct cp_rank *r, struct devpool *pool, const struct gdn_core *c, const float *mine)
{
    DEV_RANGE(r->device, RANGE_STATE_EXCHANGE, -1);
    int64_t n = gdn_core_summary(c);
    float *all = devpool_floats(pool, n * r->shape->cp);
    comm_all_gather(r->comm, c->stream, mine, all, (size_t)n * sizeof(float));
    return all;
}

/* Fold of `count` ranks' summaries, from `first` on in direction `step`; NULL for none. */
static float *merge(struct cp_rank *r, struct devpool *pool, const struct gdn_core *c, const float *all, int first, int count, int step)
{
    DEV_RANGE(r->device, RANGE_STATE_MERGE, -1);
    if (!count)
        return NULL;
    float *x = devpool_floats(pool, c->vheads * c->dk * c->dv);
    op_gdn_summary_merge(
        c->stream,
        &(struct gdn_summary_merge_args){
            .all = all, .x = x, .HV = (int32_t)c->vheads, .dk = (int32_t)c->dk, .dv = (int32_t)c->dv, .first = first, .count = count, .step = step});
    return x;
}

/* [S | M] of the last segment if its sequence goes on after this rank, else zeros. */
static float *summarise(struct cp_rank *r, const struct gdn_core *c)
{
    DEV_RANGE(r->device, RANGE_STATE_SUMMARY, -1);
    float *sm = devpool_floats(c->pool, gdn_core_summary(c));
    if (r->batch->recurrent.is_last)
        dev_set_async(c->stream, sm, 0, (size_t)gdn_core_summary(c) * sizeof(float));
    else
        op_gdn_summary_fwd(c->stream, &(struct gdn_summary_fwd_args){.in = gdn_core_inputs(c), .sm = sm});
    return sm;
}

/* The same of the first segment, backwards: [dSx | M^T] if it goes on from an earlier rank. */
static float *summarise_back(struct cp_rank *r, const struct kept *k, const struct gdn_back *b)
{
    DEV_RANGE(r->device, RANGE_STATE_SUMMARY, -1);
    const struct gdn_core *c = &k->core;
    float *dsm = devpool_floats(b->pool, gdn_core_summary(c));
    if (r->batch->recurrent.is_first)
        dev_set_async(c->stream, dsm, 0, (size_t)gdn_core_summary(c) * sizeof(float));
    else
        op_gdn_summary_bwd(c->stream,
                           &(struct gdn_summary_bwd_args){.in = gdn_core_inputs(c), .d_o = b->d_o, .sm = k->sm, .dsm = dsm, .lddo = gdn_core_out(c)});
    return dsm;
}

static void pre(struct cp_rank *r, struct gdn_core *c)
{
    DEV_RANGE(r->device, RANGE_PRE_GATED_DELTA_RULE, -1);
    exchange_halo(r, c);
    gdn_core_pre(c);
}

static void scan(struct cp_rank *r, struct kept *k)
{
    DEV_RANGE(r->device, RANGE_GATED_DELTA_RULE, -1);
    const struct recurrent *rec = &r->batch->recurrent;
    struct gdn_core *c = &k->core;
    gdn_core_prepare(c);
    k->sm = summarise(r, c);
    const float *all = gather(r, c->pool, c, k->sm);
    k->h_in = merge(r, c->pool, c, all, r->rank - rec->pre_ranks, rec->pre_ranks, 1);
    gdn_core_scan(c, k->h_in);
}

static float *middle_forward(struct cp_rank *r, const struct layer_tensors *w, struct layer_state *st, const float *proj, void **kept, struct err *e)
{
    struct kept *k = *kept = arena_array(&st->arena, struct kept, 1);
    struct gdn_core *c = &k->core;
    st->drop = drop;
    *c = gdn_core_of(r, w, st);
    c->proj = convert(r, st, LAYOUT_ZIGZAG, proj, gdn_core_in(c), &k->in, e);
    if (!c->proj)
        return NULL;
    c->tokens = shape_rows(r->shape);
    c->cu = r->batch->local_cu;
    c->segments = r->batch->recurrent.segments;
    pre(r, c);
    scan(r, k);
    float *m = devpool_floats(&st->pool, c->tokens * gdn_core_out(c));
    gdn_core_norm(c, m);
    return convert(r, st, LAYOUT_CONTIGUOUS, m, gdn_core_out(c), &k->out, e);
}

static void scan_back(struct cp_rank *r, const struct kept *k, struct gdn_back *b)
{
    DEV_RANGE(r->device, RANGE_GATED_DELTA_RULE, -1);
    const struct recurrent *rec = &r->batch->recurrent;
    const float *all = gather(r, b->pool, &k->core, summarise_back(r, k, b));
    const float *dh_out = merge(r, b->pool, &k->core, all, r->rank + rec->post_ranks, rec->post_ranks, -1);
    gdn_back_scan(&k->core, b, k->h_in, dh_out);
}

static float *middle_backward(struct cp_rank *r, const struct layer_tensors *grad, void *kept, struct devpool *pool, float *dm, struct err *e)
{
    (void)e;
    struct kept *k = kept;
    struct gdn_core *c = &k->core;
    struct gdn_back b = {.pool = pool, .d_halo = devpool_floats(pool, (c->conv - 1) * gdn_core_mix(c))};
    gdn_core_grads(c, grad);
    gdn_back_norm(c, &b, convert_back(r, pool, LAYOUT_CONTIGUOUS, k->out, dm, gdn_core_out(c)));
    scan_back(r, k, &b);
    dev_range_push(r->device, RANGE_PRE_GATED_DELTA_RULE, -1);
    gdn_back_pre(c, &b);
    exchange_halo_back(r, c, &b);
    dev_range_pop(r->device);
    return convert_back(r, pool, LAYOUT_ZIGZAG, k->in, b.dproj, gdn_core_in(c));
}

static const struct gdn_middle middle = {middle_forward, middle_backward};

static const struct gdn_middle *middle_of(const struct cp_rank *r)
{
    return r->shape->cp == 1 ? &gdn_middle_local : &middle;
}

static bool forward(struct cp_rank *r, const struct layer_tensors *w, const float *x, float *y, struct layer_state *st, struct err *e)
{
    return mode_resolve(r, e) && gdn_layer_forward(middle_of(r), r, w, x, y, st, e);
}

static bool backward(struct cp_rank *r, const struct layer_tensors *w, const struct layer_tensors *grad, const float *x, const float *dy, float *dx,
                     struct layer_state *st, struct err *e)
{
    return gdn_layer_backward(middle_of(r), r, w, grad, x, dy, dx, st, e);
}

static bool check(const struct cp_shape *s, struct err *e)
{
    if (!gdn_check(s, e) || !mode_check_zigzag(s, e))
        return false;
    if (s->cp > 1 && shape_rows(s) < s->conv - 1)
        return fail(e, ERR_USAGE,
                    "--tokens %" PRId64 " over --cp %d gives %" PRId64 " rows a rank, fewer than --conv %" PRId64
                    " - 1: the halo would span two ranks",
                    s->tokens, s->cp, shape_rows(s), s->conv);
    return true;
}

/* The affine summaries (spec B.1): of the last segment in every forward, of the first in backward, where they are needed. */
static double summary_flops(const struct cp_shape *s, int rank)
{
    double tokens = 0, passes = s->recompute ? 2 : 1, dk = (double)s->dk, dv = (double)s->dv;
    for (int64_t b = 0; b < s->microbatches; b++) {
        struct arena a = {0};
        struct err e = {0};
        struct recurrent r = {0};
        if (recurrent_context(&a, s->packs[b].cu, s->packs[b].sequences + 1, s->cp, rank, 0, &r, &e)) {
            tokens += r.is_last ? 0 : passes * (double)(r.local_cu[r.segments] - r.local_cu[r.segments - 1]);
            tokens += r.is_first ? 0 : (double)r.local_cu[1];
        }
        arena_free(&a);
    }
    return 2 * (double)s->layers * tokens * (double)s->vheads * (2 * dk * dv + dk * dk + dk * dk * dk / GDN_CHUNK);
}

static void expect(const struct cp_shape *s, int rank, struct expect *x)
{
    int64_t passes = expect_forwards(s) + s->layers * s->microbatches; /* backward included */
    int64_t halo = (s->conv - 1) * gdn_conv_width(s), state = s->vheads * s->dk * (s->dk + s->dv);
    expect_resolve(x, s);
    gdn_expect_flops(x, s, (double)shape_rows(s), (double)s->vheads);
    expect_flops(x, "summary", summary_flops(s, rank));
    expect_swaps(x, s, rank, gdn_in_width(s), gdn_out_width(s));
    if (s->cp == 1)
        return;
    expect_comm(x, "all_gather", passes, passes * state * (int64_t)sizeof(float));
    if (halo)
        expect_comm(x, "all_gather", passes, passes * halo * (int64_t)sizeof(float));
}

const struct cp_mode mode_gdn_chunkwise = {
    .name = "gdn.chunkwise",
    .op = OP_GDN,
    .entry_layout = LAYOUT_ZIGZAG,
    .converts = true,
    .what = "swap to contiguous, exchange halo rows and (S, M) summaries, scan locally, swap back",
    .check = check,
    .forward = forward,
    .backward = backward,
    .expect = expect,
};
