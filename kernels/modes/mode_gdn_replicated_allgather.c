/* mode_gdn_replicated_allgather.c - every rank scans everything: one all-gather of the projected sequence (spec C.3).
 *
 *   proj (T/c, in)  --all-gather-->  c shards, rank-major  --chunks in time order-->  (T, in)  -->  own rows of m
 *   dproj (T/c, in) <--reduce-scatter (sum)--  rank-major  <------------------------  (T, in)
 *
 * A rank's outputs depend on all ranks' inputs, so backward sums what every rank found for a shard. Work and activations
 * are cp times those of the other modes, which is why full recompute is required. The list of boundaries is read from the
 * device once per micro-batch.
 */
#include "kernels/modes/expect.h"
#include "kernels/modes/gdn_layer.h"
#include "kernels/ops/elementwise.h"
#include "kernels/ops/pack.h"
#include "schemas/marker.h"

#include <inttypes.h>

/* The boundaries on the host, kept on the micro-batch. */
struct gathered {
    struct boundaries_key key;
    int64_t *cu, entries;
};

struct kept {
    struct gdn_core core; /* all tokens, all heads */
    const struct gathered *list;
};

/* One copy of the whole boundary buffer, unless this very buffer was read before. */
static const struct gathered *gather_boundaries(struct cp_rank *r)
{
    struct cp_batch *batch = r->batch;
    const struct boundaries *b = packed_layout(&batch->packed);
    struct gathered *g = batch->derived;
    if (g && boundaries_key_same(g->key, boundaries_key(b)))
        return g;
    g = batch->derived = arena_array(&batch->arena, struct gathered, 1);
    *g = (struct gathered){boundaries_key(b), arena_array(&batch->arena, int64_t, b->entries), b->entries};
    dev_download(r->stream, g->cu, b->cu, (size_t)b->entries * sizeof *g->cu, SITE_HERE);
    return g;
}

static bool check_list(const struct cp_rank *r, const struct gathered *g, struct err *e)
{
    if (g->cu[g->entries - 1] != r->shape->tokens)
        return fail(e, ERR_USAGE, "cu_seqlens ends at %" PRId64 ", the micro-batch has %" PRId64 " tokens", g->cu[g->entries - 1], r->shape->tokens);
    bool ok = true;
    for (int64_t i = 0; ok && i + 1 < g->entries; i++)
        ok = mode_check_length(g->cu[i + 1] - g->cu[i], r->shape->cp, e);
    return ok;
}

enum { JOIN_MOST = 12 }; /* ranks up to which a join, of 12 pieces a launch, takes fewer launches than two a sequence */

/* A chunk of one sequence: where it lies in time order and in the rank-major order of zigzag shards. */
struct place {
    int64_t time, rank_major, rows;
};

/* Time chunk j (of 2c) of the sequence that begins at global row `first`. */
static struct place place_of(int64_t c, int64_t total, int64_t first, int64_t length, int64_t j)
{
    int64_t chunk = length / (2 * c), rank = j < c ? j : 2 * c - 1 - j, slot = j < c ? 0 : 1;
    return (struct place){first + j * chunk, rank * (total / c) + first / c + slot * chunk, chunk};
}

/* All rows, between time order and rank-major shards: all ranks' first chunks of a sequence in one launch, their second
 * chunks, which go backwards in time, in another. */
static void turn(struct cp_rank *r, const struct gathered *g, const float *from, float *to, int64_t width, bool to_time)
{
    int64_t c = r->shape->cp, total = r->shape->tokens;
    for (int64_t i = 0; i + 1 < g->entries; i++)
        for (int half = 0; half < 2 && g->cu[i + 1] > g->cu[i]; half++) {
            struct place p = place_of(c, total, g->cu[i], g->cu[i + 1] - g->cu[i], half ? 2 * c - 1 : 0);
            int64_t time_step = (half ? -p.rows : p.rows) * width, rank_step = total / c * width;
            op_concat_blocks(r->stream, &(struct concat_blocks_args){.src = from + (to_time ? p.rank_major : p.time) * width,
                                                                     .dst = to + (to_time ? p.time : p.rank_major) * width,
                                                                     .ld_src = width,
                                                                     .ld_dst = width,
                                                                     .src_step = to_time ? rank_step : time_step,
                                                                     .dst_step = to_time ? time_step : rank_step,
                                                                     .rows = p.rows,
                                                                     .cols = width,
                                                                     .nblocks = c});
        }
}

/* Rank-major shards -> time order, joined piece by piece. */
static void join(struct cp_rank *r, const struct gathered *g, const float *shards, float *y, int64_t width)
{
    int64_t c = r->shape->cp, n = 0, total = r->shape->tokens;
    struct arena a = {0};
    struct rows_part *parts = arena_array(&a, struct rows_part, 2 * c * g->entries);
    for (int64_t i = 0; i + 1 < g->entries; i++)
        for (int64_t j = 0; j < 2 * c && g->cu[i + 1] > g->cu[i]; j++) {
            struct place p = place_of(c, total, g->cu[i], g->cu[i + 1] - g->cu[i], j);
            parts[n++] = (struct rows_part){shards + p.rank_major * width, p.rows};
        }
    rows_concat(r->stream, y, parts, n, width);
    arena_free(&a);
}

static float *reassemble(struct cp_rank *r, struct devpool *pool, const struct gathered *g, const float *shards, int64_t width)
{
    float *y = devpool_rows(pool, r->shape->tokens * width);
    if (r->shape->cp > JOIN_MOST)
        turn(r, g, shards, y, width, true);
    else
        join(r, g, shards, y, width);
    return y;
}

/* Rows of ranks first .. last-1, rank-major, out of time order. */
static float *cut(struct cp_rank *r, struct devpool *pool, const struct gathered *g, const float *x, int64_t width, int first, int last)
{
    int64_t c = r->shape->cp, n = 0, total = r->shape->tokens;
    struct arena a = {0};
    struct rows_part *parts = arena_array(&a, struct rows_part, 2 * (last - first) * g->entries);
    float *y = devpool_rows(pool, (last - first) * (total / c) * width);
    for (int rank = first; rank < last; rank++)
        for (int64_t i = 0; i + 1 < g->entries; i++)
            for (int half = 0; half < 2 && g->cu[i + 1] > g->cu[i]; half++) {
                struct place p = place_of(c, total, g->cu[i], g->cu[i + 1] - g->cu[i], half ? 2 * c - 1 - rank : rank);
                parts[n++] = (struct rows_part){x + p.time * width, p.rows};
            }
    rows_concat(r->stream, y, parts, n, width);
    arena_free(&a);
    return y;
}

/* The layout of a reduce-scatter: every rank's rows, rank-major. */
static float *take_apart(struct cp_rank *r, struct devpool *pool, const struct gathered *g, const float *x, int64_t width)
{
    if (r->shape->cp <= JOIN_MOST)
        return cut(r, pool, g, x, width, 0, r->shape->cp);
    float *y = devpool_rows(pool, r->shape->tokens * width);
    turn(r, g, x, y, width, false);
    return y;
}

/* Transpose of cutting out own rows: into zeros. */
static float *spread(struct cp_rank *r, struct devpool *pool, const struct gathered *g, const float *dm, int64_t width)
{
    int64_t c = r->shape->cp, total = r->shape->tokens;
    float *y = devpool_rows(pool, total * width);
    dev_clear_rows(r->stream, y, total * width);
    for (int64_t i = 0; i + 1 < g->entries; i++)
        for (int half = 0; half < 2 && g->cu[i + 1] > g->cu[i]; half++) {
            struct place p = place_of(c, total, g->cu[i], g->cu[i + 1] - g->cu[i], half ? 2 * c - 1 - r->rank : r->rank);
            rows_copy(r->stream, y + p.time * width, width, dm + (p.rank_major - r->rank * (total / c)) * width, width, p.rows, width);
        }
    return y;
}

static float *middle_forward(struct cp_rank *r, const struct layer_tensors *w, struct layer_state *st, const float *proj, void **kept, struct err *e)
{
    struct kept *k = *kept = arena_array(&st->arena, struct kept, 1);
    struct gdn_core *c = &k->core;
    const struct boundaries *b = packed_layout(&r->batch->packed);
    *c = gdn_core_of(r, w, st);
    c->tokens = r->shape->tokens;
    c->cu = b->cu;
    c->segments = b->entries - 1;
    k->list = gather_boundaries(r);
    if (!check_list(r, k->list, e))
        return NULL;
    float *shards = devpool_rows(&st->pool, c->tokens * gdn_core_in(c));
    comm_all_gather_rows(r->comm, r->stream, proj, shards, shape_rows(r->shape) * gdn_core_in(c));
    c->proj = reassemble(r, &st->pool, k->list, shards, gdn_core_in(c));
    float *m = devpool_rows(&st->pool, c->tokens * gdn_core_out(c));
    gdn_core_forward(c, m);
    return cut(r, &st->pool, k->list, m, gdn_core_out(c), r->rank, r->rank + 1);
}

static float *middle_backward(struct cp_rank *r, const struct layer_tensors *grad, void *kept, struct devpool *pool, float *dm, struct err *e)
{
    (void)e;
    struct kept *k = kept;
    struct gdn_core *c = &k->core;
    int64_t shard = shape_rows(r->shape) * gdn_core_in(c);
    gdn_core_grads(c, grad);
    const float *dall = gdn_core_backward(c, pool, spread(r, pool, k->list, dm, gdn_core_out(c)));
    float *dproj = devpool_rows(pool, shard);
    float *parts = take_apart(r, pool, k->list, dall, gdn_core_in(c));
    op_round(r->stream, r->shape->dtype, parts, shard * r->shape->cp);
    comm_reduce_scatter_rows(r->comm, r->stream, parts, dproj, shard);
    op_round(r->stream, r->shape->dtype, dproj, shard);
    return dproj;
}

static const struct gdn_middle middle = {middle_forward, middle_backward};
GDN_MODE(middle)

static bool check(const struct cp_shape *s, struct err *e)
{
    if (!gdn_check(s, e) || !mode_check_zigzag(s, e))
        return false;
    if (s->cp > 1 && !s->recompute)
        return fail(e, ERR_USAGE,
                    "--recompute none: gdn.replicated_allgather with --cp %d keeps whole-sequence activations on every rank; give --recompute full",
                    s->cp);
    return true;
}

static void expect(const struct cp_shape *s, int rank, struct expect *x)
{
    (void)rank;
    int64_t calls = s->layers * s->microbatches, shard = shape_rows(s) * gdn_in_width(s) * dtype_size(s->dtype);
    gdn_expect_flops(x, s, (double)s->tokens, (double)s->vheads);
    if (s->cp == 1)
        return;
    expect_comm(x, "all_gather", expect_forwards(s), expect_forwards(s) * shard);
    expect_comm(x, "reduce_scatter", calls, calls * shard * (s->cp - 1));
    expect_syncs(x, "gather_boundaries", 0, s->microbatches);
}

const struct cp_mode mode_gdn_replicated_allgather = {
    .name = "gdn.replicated_allgather",
    .op = OP_GDN,
    .entry_layout = LAYOUT_ZIGZAG,
    .what = "all-gather the projected sequence, scan all of it on every rank",
    .check = check,
    .forward = forward,
    .backward = backward,
    .expect = expect,
};
