/* mode_gdn_chunkwise_snake.c - zigzag shards as they are: every sequence passes each rank twice (spec C.2).
 *
 *   one sequence, cp 2      chunk 0    1    2    3
 *   rank                          0 -> 1 -> 1 -> 0        the snake: down the ranks, and up again
 *
 * A rank has two runs of each sequence, chunk `rank` (slot 0) and chunk 2 cp - 1 - rank (slot 1). Each run is a segment with
 * a halo, an incoming state and a summary of its own, so no row changes its place, for twice the summaries:
 *
 *   gathered maps  | rank 0: slot 0 of all sequences, slot 1 of all sequences | rank 1: ... |
 *   state that enters chunk j     fold over slot 0 of ranks 0, 1, ...; past the turn over slot 1 of cp-1, cp-2, ...
 *
 * Backward folds [dSx | M^T] from the sequence's end. A chunk may be shorter than the halo: its rows come from as many
 * chunks as it takes.
 */
#include "kernels/modes/expect.h"
#include "kernels/modes/gdn_shard.h"
#include "kernels/ops/pack.h"
#include "schemas/marker.h"

/* One local run of a sequence. */
struct run {
    struct gdn_core core;
    int64_t sequence, chunk, start; /* of 2 cp chunks; its first local row */
    float *h_in;
    float *d_halo;
    struct gdn_back back;
};

struct kept {
    struct run *runs; /* slot 0 of all sequences, then slot 1; empty sequences left out */
    int64_t n;        /* of one slot */
    float *sm;        /* [2 n][HV][dk][dv+dk] */
};

/* Ends of runs on the device, kept on the micro-batch: {0, length} for each sequence. */
static const int64_t *run_bounds(struct cp_rank *r)
{
    struct cp_batch *b = r->batch;
    if (!b->derived) {
        struct arena a = {0};
        int64_t n = b->pack->sequences, *host = arena_array(&a, int64_t, 2 * n);
        for (int64_t i = 0; i < n; i++)
            host[2 * i + 1] = (b->pack->cu[i + 1] - b->pack->cu[i]) / (2 * r->shape->cp);
        b->derived = batch_device(b, r->device, (size_t)(2 * n) * sizeof *host);
        dev_upload_async(r->stream, b->derived, host, (size_t)(2 * n) * sizeof *host);
        arena_free(&a);
    }
    return b->derived;
}

/* The runs of this rank, in the order of the messages. */
static void make_runs(struct cp_rank *r, const struct layer_tensors *w, struct layer_state *st, const float *proj, struct kept *k)
{
    const struct packing *p = r->batch->pack;
    const int64_t *bounds = run_bounds(r);
    int64_t c = r->shape->cp, at = 0;
    k->runs = arena_array(&st->arena, struct run, 2 * p->sequences);
    for (int slot = 0; slot < 2; slot++)
        for (int64_t i = 0; i < p->sequences; i++) {
            int64_t length = (p->cu[i + 1] - p->cu[i]) / (2 * c);
            if (!length)
                continue;
            struct run *x = &k->runs[at++];
            *x = (struct run){gdn_core_of(r, w, st), i, slot ? 2 * c - 1 - r->rank : r->rank, p->cu[i] / c + slot * length, NULL, NULL, {NULL}};
            x->core.tokens = length;
            x->core.cu = bounds + 2 * i;
            x->core.segments = 1;
            x->core.proj = proj + x->start * gdn_core_in(&x->core);
        }
    k->n = at / 2;
}

static int owner(const struct cp_rank *r, int64_t chunk)
{
    int64_t c = r->shape->cp;
    return (int)(chunk < c ? chunk : 2 * c - 1 - chunk);
}

/* ---- halo: the last rows of every chunk, to everybody ---- */

/* In the gathered buffer: row `back` (1: the last) of a chunk of run number `i`'s sequence. */
static float *tail_row(const struct cp_rank *r, const struct kept *k, float *all, int64_t i, int64_t chunk, int64_t back)
{
    const struct gdn_core *c = &k->runs[0].core;
    int64_t rows = c->conv - 1, block = owner(r, chunk) * 2 * k->n + (chunk < r->shape->cp ? 0 : k->n) + i % k->n;
    return all + ((block + 1) * rows - back) * gdn_core_mix(c);
}

/* Where the row that lies `back` rows before run i is: NULL before the sequence's start. */
static float *halo_row(const struct cp_rank *r, const struct kept *k, float *all, int64_t i, int64_t back)
{
    const struct run *x = &k->runs[i];
    int64_t length = x->core.tokens, chunk = x->chunk - (back + length - 1) / length;
    return chunk < 0 ? NULL : tail_row(r, k, all, i, chunk, (back - 1) % length + 1);
}

static void exchange_halo(struct cp_rank *r, struct kept *k, struct devpool *pool)
{
    DEV_RANGE(r->device, RANGE_CONV_HALO, -1);
    const struct gdn_core *c = &k->runs[0].core;
    int64_t rows = c->conv - 1, width = gdn_core_mix(c), n = rows * width;
    if (!rows)
        return;
    float *mine = devpool_rows(pool, 2 * k->n * n), *all = devpool_rows(pool, 2 * k->n * n * r->shape->cp);
    dev_clear_rows(r->stream, mine, 2 * k->n * n); /* runs shorter than a halo fill a part of their place */
    for (int64_t i = 0; i < 2 * k->n; i++) {
        const struct gdn_core *x = &k->runs[i].core;
        int64_t own = x->tokens < rows ? x->tokens : rows;
        rows_copy(r->stream, mine + ((i + 1) * rows - own) * width, width, x->proj + (x->tokens - own) * gdn_core_in(x), gdn_core_in(x), own, width);
    }
    comm_all_gather_rows(r->comm, r->stream, mine, all, 2 * k->n * n);
    for (int64_t i = 0; i < 2 * k->n; i++) {
        struct run *x = &k->runs[i];
        int64_t before = x->chunk * x->core.tokens;
        x->core.halo_valid = before < rows ? before : rows;
        float *halo = devpool_rows(pool, n);
        for (int64_t back = 1; back <= x->core.halo_valid; back++)
            rows_copy(r->stream, halo + (rows - back) * width, width, halo_row(r, k, all, i, back), width, 1, width);
        x->core.halo = x->core.halo_valid ? halo : NULL;
    }
}

/* Every rank's gradients of its halos to everybody; each rank picks those of its own rows: of chunk j' they were wanted by
 * the chunks after it. */
static void exchange_halo_back(struct cp_rank *r, struct kept *k, struct devpool *pool, float *mine)
{
    DEV_RANGE(r->device, RANGE_CONV_HALO, -1);
    const struct gdn_core *c = &k->runs[0].core;
    int64_t rows = c->conv - 1, width = gdn_core_mix(c), n = rows * width;
    if (!rows)
        return;
    float *all = devpool_rows(pool, 2 * k->n * n * r->shape->cp);
    op_round(r->stream, r->shape->dtype, mine, 2 * k->n * n);
    comm_all_gather_rows(r->comm, r->stream, mine, all, 2 * k->n * n);
    for (int64_t i = 0; i < 2 * k->n; i++) {
        const struct run *x = &k->runs[i];
        int64_t length = x->core.tokens;
        for (int64_t j = x->chunk + 1; j < 2 * r->shape->cp && (j - x->chunk - 1) * length < rows; j++)
            for (int64_t t = 0; t < length; t++) {
                int64_t back = (j - x->chunk) * length - t; /* row t of this run, counted from the start of chunk j */
                if (back <= rows)
                    rows_accumulate(r->stream, x->back.dproj + t * gdn_core_in(&x->core), gdn_core_in(&x->core), tail_row(r, k, all, i, j, back),
                                    width, 1, width);
            }
    }
}

/* ---- states ---- */

/* Summaries of the runs, each where the messages have it; the sequence's last chunk emits none. */
static void summarise(struct cp_rank *r, struct kept *k)
{
    DEV_RANGE(r->device, RANGE_STATE_SUMMARY, -1);
    int64_t map = gdn_core_summary(&k->runs[0].core);
    for (int64_t i = 0; i < 2 * k->n; i++) {
        const struct run *x = &k->runs[i];
        if (x->chunk == 2 * r->shape->cp - 1)
            dev_set_async(r->stream, k->sm + i * map, 0, (size_t)map * sizeof(float));
        else
            op_gdn_summary_fwd(r->stream, &(struct gdn_summary_fwd_args){.in = gdn_core_inputs(&x->core), .sm = k->sm + i * map});
    }
}

static float *summarise_back(struct cp_rank *r, const struct kept *k, struct devpool *pool)
{
    DEV_RANGE(r->device, RANGE_STATE_SUMMARY, -1);
    int64_t map = gdn_core_summary(&k->runs[0].core);
    float *dsm = devpool_floats(pool, 2 * k->n * map);
    for (int64_t i = 0; i < 2 * k->n; i++) {
        const struct run *x = &k->runs[i];
        if (x->chunk == 0)
            dev_set_async(r->stream, dsm + i * map, 0, (size_t)map * sizeof(float));
        else
            op_gdn_summary_bwd(r->stream, &(struct gdn_summary_bwd_args){.in = gdn_core_inputs(&x->core),
                                                                         .d_o = x->back.d_o,
                                                                         .sm = k->sm + i * map,
                                                                         .dsm = dsm + i * map,
                                                                         .lddo = gdn_core_out(&x->core)});
    }
    return dsm;
}

static float *gather(struct cp_rank *r, const struct kept *k, struct devpool *pool, const float *mine)
{
    DEV_RANGE(r->device, RANGE_STATE_EXCHANGE, -1);
    int64_t n = 2 * k->n * gdn_core_summary(&k->runs[0].core);
    float *all = devpool_floats(pool, n * r->shape->cp);
    comm_all_gather(r->comm, r->stream, mine, all, (size_t)n * sizeof(float));
    return all;
}

/* Part of the snake: `count` chunks of run i's sequence from chunk `first` on, ahead or back, all in one slot. */
static float *fold_slot(struct cp_rank *r, const struct kept *k, struct devpool *pool, const float *all, const float *x0, int64_t i, int64_t first,
                        int64_t count, int way)
{
    int64_t c = r->shape->cp, block = owner(r, first) * 2 * k->n + (first < c ? 0 : k->n) + i % k->n;
    int step = (int)(2 * k->n) * (first < c ? way : -way);
    return count > 0 ? gdn_shard_merge(r, pool, &k->runs[i].core, all, x0, (int)block, (int)count, step) : (float *)x0;
}

/* Chunks 0 .. chunk-1. */
static float *fold_before(struct cp_rank *r, const struct kept *k, struct devpool *pool, const float *all, int64_t i)
{
    int64_t c = r->shape->cp, chunk = k->runs[i].chunk;
    const float *x = fold_slot(r, k, pool, all, NULL, i, 0, chunk < c ? chunk : c, 1);
    return fold_slot(r, k, pool, all, x, i, c, chunk - c, 1);
}

/* Chunks 2c-1 .. chunk+1. */
static float *fold_after(struct cp_rank *r, const struct kept *k, struct devpool *pool, const float *all, int64_t i)
{
    int64_t c = r->shape->cp, chunk = k->runs[i].chunk, after = 2 * c - 1 - chunk;
    const float *x = fold_slot(r, k, pool, all, NULL, i, 2 * c - 1, after < c ? after : c, -1);
    return fold_slot(r, k, pool, all, x, i, c - 1, after - c, -1);
}

/* ---- the middle ---- */

static float *middle_forward(struct cp_rank *r, const struct layer_tensors *w, struct layer_state *st, const float *proj, void **kept, struct err *e)
{
    (void)e;
    struct kept *k = *kept = arena_array(&st->arena, struct kept, 1);
    make_runs(r, w, st, proj, k);
    float *m = devpool_rows(&st->pool, shape_rows(r->shape) * gdn_out_width(r->shape));
    dev_range_push(r->device, RANGE_PRE_GATED_DELTA_RULE, -1);
    exchange_halo(r, k, &st->pool);
    for (int64_t i = 0; i < 2 * k->n; i++)
        gdn_core_pre(&k->runs[i].core);
    dev_range_pop(r->device);
    dev_range_push(r->device, RANGE_GATED_DELTA_RULE, -1);
    k->sm = devpool_floats(&st->pool, 2 * k->n * gdn_core_summary(&k->runs[0].core));
    for (int64_t i = 0; i < 2 * k->n; i++)
        gdn_core_prepare(&k->runs[i].core);
    summarise(r, k);
    const float *all = gather(r, k, &st->pool, k->sm);
    for (int64_t i = 0; i < 2 * k->n; i++) {
        k->runs[i].h_in = fold_before(r, k, &st->pool, all, i);
        gdn_core_scan(&k->runs[i].core, k->runs[i].h_in);
    }
    dev_range_pop(r->device);
    for (int64_t i = 0; i < 2 * k->n; i++)
        gdn_core_norm(&k->runs[i].core, m + k->runs[i].start * gdn_out_width(r->shape));
    return m;
}

static void scan_back(struct cp_rank *r, struct kept *k, struct devpool *pool)
{
    DEV_RANGE(r->device, RANGE_GATED_DELTA_RULE, -1);
    const float *all = gather(r, k, pool, summarise_back(r, k, pool));
    for (int64_t i = 0; i < 2 * k->n; i++)
        gdn_back_scan(&k->runs[i].core, &k->runs[i].back, k->runs[i].h_in, fold_after(r, k, pool, all, i));
}

static float *middle_backward(struct cp_rank *r, const struct layer_tensors *grad, void *kept, struct devpool *pool, float *dm, struct err *e)
{
    (void)e;
    struct kept *k = kept;
    int64_t in = gdn_in_width(r->shape), out = gdn_out_width(r->shape), halo = (r->shape->conv - 1) * gdn_conv_width(r->shape);
    float *dproj = devpool_rows(pool, shape_rows(r->shape) * in), *d_halo = devpool_rows(pool, 2 * k->n * halo);
    for (int64_t i = 0; i < 2 * k->n; i++) {
        struct run *x = &k->runs[i];
        x->back = (struct gdn_back){.pool = pool, .dproj = dproj + x->start * in, .d_halo = d_halo + i * halo};
        gdn_core_grads(&x->core, grad);
        gdn_back_norm(&x->core, &x->back, dm + x->start * out);
    }
    scan_back(r, k, pool);
    DEV_RANGE(r->device, RANGE_PRE_GATED_DELTA_RULE, -1);
    for (int64_t i = 0; i < 2 * k->n; i++)
        gdn_back_pre(&k->runs[i].core, &k->runs[i].back);
    exchange_halo_back(r, k, pool, d_halo);
    return dproj;
}

static const struct gdn_middle middle = {middle_forward, middle_backward, .resolves = true};
GDN_MODE(middle)

static bool check(const struct cp_shape *s, struct err *e)
{
    return gdn_check(s, e) && mode_check_zigzag(s, e);
}

/* Tokens of summaries over a step: forward of all chunks but each sequence's last, backward of all but its first. */
static double summary_tokens(const struct cp_shape *s, int rank)
{
    double tokens = 0, passes = s->recompute ? 2 : 1;
    for (int64_t b = 0; b < s->microbatches; b++)
        tokens += (double)shape_rows(s) * (passes * (rank ? 1 : 0.5) + (rank ? 1 : 0.5));
    return (double)s->layers * tokens;
}

static void expect(const struct cp_shape *s, int rank, struct expect *x)
{
    double dk = (double)s->dk, dv = (double)s->dv;
    int64_t passes = expect_forwards(s) / s->microbatches + s->layers, sequences = 0; /* of one micro-batch */
    int64_t halo = (s->conv - 1) * gdn_conv_width(s) * dtype_size(s->dtype);
    expect_resolve(x, s);
    gdn_expect_flops(x, s, (double)shape_rows(s), (double)s->vheads);
    if (s->cp == 1)
        return;
    expect_flops(x, "summary", 2 * summary_tokens(s, rank) * (double)s->vheads * (2 * dk * dv + dk * dk + dk * dk * dk / GDN_CHUNK));
    for (int64_t b = 0; b < s->microbatches; b++)
        sequences += s->packs[b].sequences;
    expect_comm(x, "all_gather", gdn_shard_calls(s), passes * 2 * sequences * gdn_shard_map_bytes(s));
    if (halo)
        expect_comm(x, "all_gather", gdn_shard_calls(s), passes * 2 * sequences * halo);
}

const struct cp_mode mode_gdn_chunkwise_snake = {
    .name = "gdn.chunkwise.snake",
    .op = OP_GDN,
    .entry_layout = LAYOUT_ZIGZAG,
    .what = "zigzag shards as they are: two (S, M) summaries a sequence and rank, folded along the snake",
    .check = check,
    .forward = forward,
    .backward = backward,
    .expect = expect,
};
