/* gdn_shard.c - halo, summaries and their fold around the scan of a contiguous shard. */
#include "kernels/modes/gdn_shard.h"
#include "kernels/modes/expect.h"
#include "kernels/ops/gdn_state.h"
#include "kernels/ops/pack.h"
#include "schemas/marker.h"

#include <inttypes.h>

/* ---- halo: the conv input's last W-1 rows of the rank before ---- */

/* Rows to rank `to` (-1: nobody) out of n floats, from rank `from`. */
static void shift(struct cp_rank *r, struct stream *s, const float *send, float *recv, int64_t n, int to, int from)
{
    struct arena a = {0};
    int64_t *out = arena_array(&a, int64_t, r->shape->cp), *in = arena_array(&a, int64_t, r->shape->cp);
    struct comm_split there = {out}, back = {in};
    if (to >= 0 && to < r->shape->cp)
        out[to] = there.total = n;
    if (from >= 0 && from < r->shape->cp)
        in[from] = back.total = n;
    comm_all_to_all_v_rows(r->comm, s, send, there, recv, back, 1);
    arena_free(&a);
}

static const float *halo_of_previous(const struct gdn_links *links, struct cp_rank *r, struct gdn_core *c, const float *mine, int64_t n)
{
    float *all = devpool_rows(c->pool, links->halo_to_next ? n : n * r->shape->cp);
    if (links->halo_to_next) {
        shift(r, c->stream, mine, all, n, r->rank + 1, r->rank - 1);
        return all;
    }
    comm_all_gather_rows(r->comm, c->stream, mine, all, n);
    return all + (r->rank - 1) * n;
}

static void exchange_halo(const struct gdn_links *links, struct cp_rank *r, struct gdn_core *c)
{
    DEV_RANGE(r->device, RANGE_CONV_HALO, -1);
    int64_t rows = c->conv - 1, n = rows * gdn_core_mix(c), valid = r->batch->recurrent.pre_conv_tokens;
    if (!rows)
        return;
    float *mine = devpool_rows(c->pool, n);
    rows_copy(c->stream, mine, gdn_core_mix(c), c->proj + (c->tokens - rows) * gdn_core_in(c), gdn_core_in(c), rows, gdn_core_mix(c));
    const float *before = halo_of_previous(links, r, c, mine, n);
    if (valid > 0) {
        c->halo = before;
        c->halo_valid = valid < rows ? valid : rows;
    }
}

/* The gradient of a rank's halo belongs to the last rows of the rank before it. */
static void exchange_halo_back(const struct gdn_links *links, struct cp_rank *r, const struct gdn_core *c, struct gdn_back *b)
{
    DEV_RANGE(r->device, RANGE_CONV_HALO, -1);
    int64_t rows = c->conv - 1, width = gdn_core_mix(c), n = rows * width;
    if (!rows)
        return;
    op_round(c->stream, r->shape->dtype, b->d_halo, n);
    float *all = devpool_rows(b->pool, links->halo_to_next ? n : n * r->shape->cp), *next = links->halo_to_next ? all : all + (r->rank + 1) * n;
    if (links->halo_to_next)
        shift(r, c->stream, b->d_halo, all, n, r->rank - 1, r->rank + 1);
    else
        comm_all_gather_rows(r->comm, c->stream, b->d_halo, all, n);
    if (r->rank + 1 == r->shape->cp)
        return;
    float *tail = b->dproj + (c->tokens - rows) * gdn_core_in(c);
    rows_accumulate(c->stream, tail, gdn_core_in(c), next, width, rows, width);
    op_round(c->stream, c->dtype, tail, rows * gdn_core_in(c));
}

/* ---- summaries ---- */

int64_t gdn_shard_state(const struct gdn_core *c)
{
    return c->vheads * c->dk * c->dv;
}

static int64_t last_tokens(const struct recurrent *rec)
{
    return rec->local_cu[rec->segments] - rec->local_cu[rec->segments - 1];
}

static int64_t last_chunks(const struct recurrent *rec)
{
    return (last_tokens(rec) + GDN_CHUNK - 1) / GDN_CHUNK;
}

void gdn_shard_summarise(struct cp_rank *r, struct layer_state *st, struct gdn_shard *k, bool reset)
{
    DEV_RANGE(r->device, RANGE_STATE_SUMMARY, -1);
    const struct recurrent *rec = &r->batch->recurrent;
    const struct gdn_core *c = &k->core;
    k->sm = devpool_floats(c->pool, gdn_core_summary(c));
    if (rec->is_last) {
        dev_set_async(c->stream, k->sm, 0, (size_t)gdn_core_summary(c) * sizeof(float));
        return;
    }
    if (r->shape->summary_kept && st->for_backward)
        k->states = devpool_floats(c->pool, last_chunks(rec) * gdn_core_summary(c));
    op_gdn_summary_fwd(
        c->stream, &(struct gdn_summary_fwd_args){
                       .in = gdn_core_inputs(c), .sm = k->sm, .states = k->states, .reset = reset && rec->segments > 1, .tokens = last_tokens(rec)});
}

void gdn_shard_differentiate(struct cp_rank *r, const struct gdn_shard *k, const struct gdn_back *b, const float *dsm)
{
    DEV_RANGE(r->device, RANGE_STATE_SUMMARY, -1);
    const struct gdn_core *c = &k->core;
    if (r->batch->recurrent.is_last)
        return;
    op_gdn_summary_grad(c->stream, &(struct gdn_summary_grad_args){.in = gdn_core_inputs(c),
                                                                   .dsm = dsm,
                                                                   .states = k->states,
                                                                   .dk = b->dmix + c->kheads * c->dk,
                                                                   .dv = b->dmix + 2 * c->kheads * c->dk,
                                                                   .dg = b->dg,
                                                                   .dbeta = b->dbeta,
                                                                   .lddqk = gdn_core_mix(c),
                                                                   .lddv = gdn_core_mix(c),
                                                                   .reset = r->batch->recurrent.segments > 1});
}

void gdn_shard_differentiate_state(struct cp_rank *r, const struct gdn_shard *k, const struct gdn_back *b, const float *dh_out)
{
    const struct gdn_core *c = &k->core;
    if (!dh_out || r->batch->recurrent.is_last)
        return;
    float *dsm = devpool_floats(b->pool, gdn_core_summary(c));
    op_gdn_map_outer(c->stream, &(struct gdn_map_outer_args){
                                    .dh = dh_out, .h = k->h_in, .out = dsm, .HV = (int32_t)c->vheads, .dk = (int32_t)c->dk, .dv = (int32_t)c->dv});
    gdn_shard_differentiate(r, k, b, dsm);
}

float *gdn_shard_gather(struct cp_rank *r, struct devpool *pool, const struct gdn_core *c, const float *mine)
{
    DEV_RANGE(r->device, RANGE_STATE_EXCHANGE, -1);
    int64_t n = gdn_core_summary(c);
    float *all = devpool_floats(pool, n * r->shape->cp);
    comm_all_gather(r->comm, c->stream, mine, all, (size_t)n * sizeof(float));
    return all;
}

float *gdn_shard_merge(struct cp_rank *r, struct devpool *pool, const struct gdn_core *c, const float *all, const float *x0, int first, int count,
                       int step)
{
    DEV_RANGE(r->device, RANGE_STATE_MERGE, -1);
    if (!count)
        return NULL;
    float *x = devpool_floats(pool, gdn_shard_state(c));
    op_gdn_summary_merge(c->stream, &(struct gdn_summary_merge_args){.all = all,
                                                                     .x0 = x0,
                                                                     .x = x,
                                                                     .HV = (int32_t)c->vheads,
                                                                     .dk = (int32_t)c->dk,
                                                                     .dv = (int32_t)c->dv,
                                                                     .first = first,
                                                                     .count = count,
                                                                     .step = step});
    return x;
}

/* ---- all-gather both ways ---- */

static void enter_all(struct cp_rank *r, struct layer_state *st, struct gdn_shard *k)
{
    const struct recurrent *rec = &r->batch->recurrent;
    gdn_shard_summarise(r, st, k, false);
    const float *all = gdn_shard_gather(r, k->core.pool, &k->core, k->sm);
    k->h_in = gdn_shard_merge(r, k->core.pool, &k->core, all, NULL, r->rank - rec->pre_ranks, rec->pre_ranks, 1);
}

/* [dSx | M^T] of the first segment if it goes on from an earlier rank, else zeros. */
static float *summarise_back(struct cp_rank *r, const struct gdn_shard *k, const struct gdn_back *b)
{
    DEV_RANGE(r->device, RANGE_STATE_SUMMARY, -1);
    const struct gdn_core *c = &k->core;
    const struct recurrent *rec = &r->batch->recurrent;
    float *dsm = devpool_floats(b->pool, gdn_core_summary(c));
    if (rec->is_first)
        dev_set_async(c->stream, dsm, 0, (size_t)gdn_core_summary(c) * sizeof(float));
    else
        op_gdn_summary_bwd(c->stream, &(struct gdn_summary_bwd_args){.in = gdn_core_inputs(c),
                                                                     .d_o = b->d_o,
                                                                     .sm = k->sm,
                                                                     .dsm = dsm,
                                                                     .lddo = gdn_core_out(c),
                                                                     .tokens = rec->local_cu[1] - rec->local_cu[0]});
    return dsm;
}

static void leave_all(struct cp_rank *r, struct gdn_shard *k, struct gdn_back *b)
{
    const struct recurrent *rec = &r->batch->recurrent;
    const float *all = gdn_shard_gather(r, b->pool, &k->core, summarise_back(r, k, b));
    gdn_back_scan(&k->core, b, k->h_in, gdn_shard_merge(r, b->pool, &k->core, all, NULL, r->rank + rec->post_ranks, rec->post_ranks, -1));
}

const struct gdn_links gdn_links_all = {.enter = enter_all, .leave = leave_all};

/* ---- the middle ---- */

float *gdn_shard_forward(const struct gdn_links *links, struct cp_rank *r, const struct layer_tensors *w, struct layer_state *st, const float *proj,
                         struct gdn_shard *k)
{
    struct gdn_core *c = &k->core;
    *c = gdn_core_of(r, w, st);
    c->proj = proj;
    c->tokens = shape_rows(r->shape);
    c->cu = r->batch->local_cu;
    c->segments = r->batch->recurrent.segments;
    dev_range_push(r->device, RANGE_PRE_GATED_DELTA_RULE, -1);
    exchange_halo(links, r, c);
    gdn_core_pre(c);
    dev_range_pop(r->device);
    dev_range_push(r->device, RANGE_GATED_DELTA_RULE, -1);
    gdn_core_prepare(c);
    links->enter(r, st, k);
    gdn_core_scan(c, k->h_in);
    dev_range_pop(r->device);
    float *m = devpool_rows(&st->pool, c->tokens * gdn_core_out(c));
    gdn_core_norm(c, m);
    return m;
}

float *gdn_shard_backward(const struct gdn_links *links, struct cp_rank *r, const struct layer_tensors *grad, struct gdn_shard *k,
                          struct devpool *pool, float *dm)
{
    struct gdn_core *c = &k->core;
    struct gdn_back b = {.pool = pool, .d_halo = devpool_rows(pool, (c->conv - 1) * gdn_core_mix(c))};
    gdn_core_grads(c, grad);
    gdn_back_norm(c, &b, dm);
    dev_range_push(r->device, RANGE_GATED_DELTA_RULE, -1);
    links->leave(r, k, &b);
    dev_range_pop(r->device);
    dev_range_push(r->device, RANGE_PRE_GATED_DELTA_RULE, -1);
    gdn_back_pre(c, &b);
    exchange_halo_back(links, r, c, &b);
    dev_range_pop(r->device);
    return b.dproj;
}

/* ---- declarations ---- */

bool gdn_shard_check(const struct cp_shape *s, struct err *e)
{
    if (!gdn_check(s, e))
        return false;
    if (s->cp > 1 && shape_rows(s) < s->conv - 1)
        return fail(e, ERR_USAGE,
                    "--tokens %" PRId64 " over --cp %d gives %" PRId64 " rows a rank, fewer than --conv %" PRId64
                    " - 1: the halo would span two ranks",
                    s->tokens, s->cp, shape_rows(s), s->conv);
    return true;
}

int64_t gdn_shard_calls(const struct cp_shape *s)
{
    return expect_forwards(s) + s->layers * s->microbatches;
}

int64_t gdn_shard_map_bytes(const struct cp_shape *s)
{
    return s->vheads * s->dk * (s->dk + s->dv) * (int64_t)sizeof(float);
}

void gdn_shard_expect_flops(struct expect *x, const struct cp_shape *s, int rank, bool form2)
{
    double tokens = 0, passes = s->recompute ? 2 : 1, dk = (double)s->dk, dv = (double)s->dv;
    double derivative = s->summary_kept ? 2 : 3; /* times the forward of the summary; without its states that runs again */
    for (int64_t b = 0; b < s->microbatches; b++) {
        struct arena a = {0};
        struct err e = {0};
        struct recurrent r = {0};
        if (recurrent_context(&a, s->packs[b].cu, s->packs[b].sequences + 1, s->cp, rank, 0, &r, &e)) {
            double last = (double)(r.local_cu[r.segments] - r.local_cu[r.segments - 1]);
            tokens += r.is_last ? 0 : (passes + (form2 ? derivative : 0)) * last;
            tokens += r.is_first || form2 ? 0 : (double)r.local_cu[1];
        }
        arena_free(&a);
    }
    expect_flops(x, "summary", 2 * (double)s->layers * tokens * (double)s->vheads * (2 * dk * dv + dk * dk + dk * dk * dk / GDN_CHUNK));
}

void gdn_shard_expect_halo(struct expect *x, const struct cp_shape *s, int rank, bool to_next)
{
    int64_t bytes = (s->conv - 1) * gdn_conv_width(s) * dtype_size(s->dtype), forwards = expect_forwards(s), backwards = s->layers * s->microbatches;
    if (!bytes)
        return;
    if (!to_next)
        expect_comm(x, "all_gather", forwards + backwards, (forwards + backwards) * bytes);
    else
        expect_comm(x, "all_to_all_v", forwards + backwards, (rank + 1 < s->cp ? forwards * bytes : 0) + (rank > 0 ? backwards * bytes : 0));
}
