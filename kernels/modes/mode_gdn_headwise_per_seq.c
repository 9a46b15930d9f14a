/* mode_gdn_headwise_per_seq.c - every rank scans whole sequences with its share of the heads; the baseline of seeds/000 (spec C.1).
 *
 *   one sequence, cp 2      rank 0 holds chunks 0 3, rank 1 chunks 1 2, all heads
 *   per section   columns in cp blocks, below each other --all-to-all-->  0 3 1 2   own heads, rank-major
 *   six sections side by side, chunks in time order                       0 1 2 3
 *
 * and the same for the output the other way. Seven collectives per sequence and pass, and the bounds of a sequence's
 * rows are read from the device, two scalars at each unpacking. Backward is the transpose; it reads nothing.
 */
#include "kernels/device/hostread.h"
#include "kernels/modes/expect.h"
#include "kernels/modes/gdn_heads.h"
#include "kernels/modes/gdn_layer.h"
#include "kernels/ops/elementwise.h"
#include "kernels/ops/pack.h"
#include "schemas/marker.h"

#include <inttypes.h>

struct kept {
    struct gdn_core core; /* whole sequences, own heads */
    int64_t *bounds;      /* [sequences + 1] as read */
    int64_t sequences;
};

/* What packing and unpacking of one sequence need. */
struct trip {
    struct cp_rank *r;
    struct devpool *pool;
    int64_t rows, first_local, first; /* of the sequence: rows a rank, first local row, first row of the whole */
};

static struct trip trip_of(struct cp_rank *r, struct devpool *pool, const int64_t *bounds, int64_t i)
{
    int64_t c = r->shape->cp;
    return (struct trip){r, pool, (bounds[i + 1] - bounds[i]) / c, bounds[i] / c, bounds[i]};
}

/* The two bounds of every sequence in the boundary buffer, where its rows begin and end: all are read before any is packed. */
static void unpack_sequences(struct cp_rank *r, int64_t sequences, int64_t *bounds)
{
    const int64_t *cu = packed_layout(&r->batch->packed)->cu;
    for (int64_t i = 0; i < sequences; i++) {
        bounds[i] = hostread_item_i64(r->stream, cu + i, SITE_HERE);
        bounds[i + 1] = hostread_item_i64(r->stream, cu + i + 1, SITE_HERE);
    }
}

/* All-to-all of (cp, rows, width) blocks. */
static float *exchange(const struct trip *t, const float *send, int64_t width)
{
    struct cp_rank *r = t->r;
    float *recv = devpool_rows(t->pool, r->shape->cp * t->rows * width);
    comm_all_to_all_rows(r->comm, r->stream, send, recv, t->rows * width);
    return recv;
}

/* Chunks of one sequence, zigzag by rank <-> time. Source part j of the time order is half a rank's rows. */
static void reorder(const struct trip *t, float *dst, const float *src, int64_t width, bool to_time)
{
    int64_t c = t->r->shape->cp, chunk = t->rows / 2;
    struct arena a = {0};
    struct rows_part *parts = arena_array(&a, struct rows_part, 2 * c);
    for (int64_t j = 0; j < 2 * c; j++) {
        int64_t rank_major = j < c ? 2 * j : 2 * (2 * c - 1 - j) + 1; /* where time chunk j lies, in chunks */
        parts[to_time ? j : rank_major] = (struct rows_part){src + (to_time ? rank_major : j) * chunk * width, chunk};
    }
    rows_concat(t->r->stream, dst, parts, 2 * c, width);
    arena_free(&a);
}

/* Rows of a sequence with columns `at .. at+width`, split by heads and sent to the heads' ranks: rank-major, own heads. */
static float *to_heads(const struct trip *t, const float *x, int64_t ld, int64_t at, int64_t width)
{
    int64_t c = t->r->shape->cp, own = width / c;
    float *send = devpool_rows(t->pool, t->rows * width);
    op_concat_blocks(t->r->stream, &(struct concat_blocks_args){.src = x + t->first_local * ld + at,
                                                                .dst = send,
                                                                .ld_src = ld,
                                                                .ld_dst = own,
                                                                .src_step = own,
                                                                .dst_step = t->rows * own,
                                                                .rows = t->rows,
                                                                .cols = own,
                                                                .nblocks = c});
    return exchange(t, send, own);
}

/* The way back: rank-major rows of own heads -> own rows, columns `at .. at+width` of y. */
static void from_heads(const struct trip *t, const float *heads, float *y, int64_t ld, int64_t at, int64_t width)
{
    int64_t c = t->r->shape->cp, own = width / c;
    const float *recv = exchange(t, heads, own);
    op_concat_blocks(t->r->stream, &(struct concat_blocks_args){.src = recv,
                                                                .dst = y + t->first_local * ld + at,
                                                                .ld_src = own,
                                                                .ld_dst = ld,
                                                                .src_step = t->rows * own,
                                                                .dst_step = own,
                                                                .rows = t->rows,
                                                                .cols = own,
                                                                .nblocks = c});
}

/* Joins (or splits) the sections of rank-major rows: `joined` (cp rows, own in width) <-> parts (cp rows, own section). */
static void join_sections(const struct trip *t, float *joined, float *const parts[GDN_SECTIONS], bool join)
{
    int64_t w[GDN_SECTIONS], c = t->r->shape->cp, at = 0;
    int32_t ld = (int32_t)(gdn_in_width(t->r->shape) / c);
    struct concat_parts_args a = {.rows = t->rows * c, .nparts = GDN_SECTIONS};
    gdn_section_widths(t->r->shape, w);
    for (int i = 0; i < GDN_SECTIONS; at += w[i++] / c) {
        int32_t cols = (int32_t)(w[i] / c);
        a.part[i] = join ? (struct concat_part){parts[i], joined + at, cols, ld, cols} : (struct concat_part){joined + at, parts[i], ld, cols, cols};
    }
    op_concat_parts(t->r->stream, &a);
}

/* One sequence of the projection: own rows, all heads -> all its rows in time order, own heads. */
static float *sequence_in(const struct trip *t, const float *proj)
{
    int64_t w[GDN_SECTIONS], at = 0, in = gdn_in_width(t->r->shape), n = t->rows * in;
    float *parts[GDN_SECTIONS];
    gdn_section_widths(t->r->shape, w);
    for (int i = 0; i < GDN_SECTIONS; at += w[i++])
        parts[i] = to_heads(t, proj, in, at, w[i]);
    float *joined = devpool_rows(t->pool, n), *ordered = devpool_rows(t->pool, n);
    join_sections(t, joined, parts, true);
    reorder(t, ordered, joined, in / t->r->shape->cp, true);
    return ordered;
}

/* Its transpose: gradient of all rows, own heads -> own rows of dproj, all heads. */
static void sequence_in_back(const struct trip *t, const float *dlocal, float *dproj)
{
    int64_t w[GDN_SECTIONS], at = 0, c = t->r->shape->cp, in = gdn_in_width(t->r->shape);
    float *joined = devpool_rows(t->pool, t->rows * in), *parts[GDN_SECTIONS];
    gdn_section_widths(t->r->shape, w);
    for (int i = 0; i < GDN_SECTIONS; i++)
        parts[i] = devpool_rows(t->pool, t->rows * w[i]);
    reorder(t, joined, dlocal + t->first * (in / c), in / c, false);
    join_sections(t, joined, parts, false);
    for (int i = 0; i < GDN_SECTIONS; at += w[i++])
        from_heads(t, parts[i], dproj, in, at, w[i]);
}

/* One sequence of the output: all rows, own heads -> own rows, all heads. */
static float *sequence_out(const struct trip *t, const float *m)
{
    int64_t out = gdn_out_width(t->r->shape), own = out / t->r->shape->cp;
    float *ordered = devpool_rows(t->pool, t->rows * out), *y = devpool_rows(t->pool, t->rows * out);
    struct trip alone = *t;
    alone.first_local = 0; /* y holds nothing but this sequence */
    reorder(t, ordered, m + t->first * own, own, false);
    from_heads(&alone, ordered, y, out, 0, out);
    return y;
}

static void sequence_out_back(const struct trip *t, const float *dy, float *dm)
{
    int64_t out = gdn_out_width(t->r->shape), own = out / t->r->shape->cp;
    reorder(t, dm + t->first * own, to_heads(t, dy, out, 0, out), own, true);
}

/* All sequences below each other, as the scan wants them; NULL when one does not divide. */
static const float *unpack_all(struct cp_rank *r, struct layer_state *st, struct kept *k, const float *proj, struct err *e)
{
    struct devpool scratch;
    struct rows_part *parts = arena_array(&st->arena, struct rows_part, k->sequences);
    bool ok = true;
    devpool_init(&scratch, r->device);
    unpack_sequences(r, k->sequences, k->bounds);
    for (int64_t i = 0; ok && i < k->sequences; i++) {
        ok = mode_check_length(k->bounds[i + 1] - k->bounds[i], r->shape->cp, e);
        struct trip t = trip_of(r, &scratch, k->bounds, i);
        parts[i] = (struct rows_part){ok && t.rows ? sequence_in(&t, proj) : NULL, t.rows * r->shape->cp};
    }
    float *all = devpool_rows(&st->pool, k->core.tokens * gdn_core_in(&k->core));
    if (ok)
        rows_concat(r->stream, all, parts, k->sequences, gdn_core_in(&k->core));
    devpool_free(&scratch);
    return ok ? all : NULL;
}

static float *pack_all(struct cp_rank *r, struct layer_state *st, struct kept *k, const float *m)
{
    struct devpool scratch;
    struct rows_part *parts = arena_array(&st->arena, struct rows_part, k->sequences);
    devpool_init(&scratch, r->device);
    float *y = devpool_rows(&st->pool, shape_rows(r->shape) * gdn_out_width(r->shape));
    unpack_sequences(r, k->sequences, k->bounds);
    for (int64_t i = 0; i < k->sequences; i++) {
        struct trip t = trip_of(r, &scratch, k->bounds, i);
        parts[i] = (struct rows_part){t.rows ? sequence_out(&t, m) : NULL, t.rows};
    }
    rows_concat(r->stream, y, parts, k->sequences, gdn_out_width(r->shape));
    devpool_free(&scratch);
    return y;
}

static float *middle_forward(struct cp_rank *r, const struct layer_tensors *w, struct layer_state *st, const float *proj, void **kept, struct err *e)
{
    const struct boundaries *b = packed_layout(&r->batch->packed);
    struct kept *k = *kept = arena_array(&st->arena, struct kept, 1);
    k->core = gdn_core_of(r, w, st);
    k->core.tokens = r->shape->tokens;
    k->core.cu = b->cu;
    k->core.segments = k->sequences = b->entries - 1;
    k->bounds = arena_array(&st->arena, int64_t, b->entries);
    gdn_heads_weights(r, &k->core);
    k->core.proj = unpack_all(r, st, k, proj, e);
    if (!k->core.proj)
        return NULL;
    float *m = devpool_rows(&st->pool, k->core.tokens * gdn_core_out(&k->core));
    gdn_core_forward(&k->core, m);
    return pack_all(r, st, k, m);
}

static float *middle_backward(struct cp_rank *r, const struct layer_tensors *grad, void *kept, struct devpool *pool, float *dm, struct err *e)
{
    (void)e;
    struct kept *k = kept;
    struct gdn_core *c = &k->core;
    float *dall = devpool_rows(pool, c->tokens * gdn_core_out(c)), *dproj = devpool_rows(pool, shape_rows(r->shape) * gdn_in_width(r->shape));
    for (int64_t i = 0; i < k->sequences; i++) {
        struct trip t = trip_of(r, pool, k->bounds, i);
        if (t.rows)
            sequence_out_back(&t, dm, dall);
    }
    gdn_heads_grads(r, c, grad, pool);
    const float *dlocal = gdn_core_backward(c, pool, dall);
    gdn_heads_add(r, c, grad);
    for (int64_t i = 0; i < k->sequences; i++) {
        struct trip t = trip_of(r, pool, k->bounds, i);
        if (t.rows)
            sequence_in_back(&t, dlocal, dproj);
    }
    return dproj;
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
    int64_t sequences = 0, passes = s->recompute ? 2 : 1;
    int64_t bytes = shape_rows(s) * (gdn_in_width(s) + gdn_out_width(s)) * dtype_size(s->dtype) / s->cp * (s->cp - 1);
    expect_resolve(x, s);
    gdn_expect_flops(x, s, (double)s->tokens, (double)(s->vheads / s->cp));
    if (s->cp == 1)
        return;
    for (int64_t b = 0; b < s->microbatches; b++)
        sequences += s->packs[b].sequences;
    expect_comm(x, "all_to_all", s->layers * (passes + 1) * 7 * sequences, s->layers * s->microbatches * (passes + 1) * bytes);
    expect_syncs(x, "unpack_sequences", s->layers * passes * 4 * sequences, s->layers * passes * 4 * sequences);
}

const struct cp_mode mode_gdn_headwise_per_seq = {
    .name = "gdn.headwise.per_seq",
    .op = OP_GDN,
    .entry_layout = LAYOUT_ZIGZAG,
    .what = "split the heads: seven all-to-alls for every packed sequence, scan whole sequences",
    .check = check,
    .forward = forward,
    .backward = backward,
    .expect = expect,
};
