/* route_apply.c - pack, exchange, scatter, and the transposes.
 *
 *   forward   x  --gather send_index-->  send  --all-to-all-v-->            recv --scatter recv_index--> y
 *   backward  dx <--scatter send_index-- dsend <--all-to-all-v, swapped---- drecv <--gather recv_index-- dy
 *
 * Both indices are permutations of the local rows: the transpose of a gather is a plain scatter, nothing accumulates.
 * Block by block the same work is done as the baseline does it: a gather per block and a join, scatters per block into a
 * cleared buffer. The naive route always is, the others on request (--pack blocks): then the route is all that differs.
 */
#include "kernels/layout/route.h"
#include "kernels/ops/pack.h"
#include "schemas/marker.h"

#include <stdlib.h>

/* What every step works on. */
struct step {
    struct stream *stream;
    struct device *device;
    int64_t rows, width;
    int blocks;
};

static float *rows_alloc(const struct step *w)
{
    int64_t n = w->rows * w->width;
    return dev_alloc_rows(w->device, n ? n : 1);
}

/* src in the order of index; src itself for the identity. */
static const float *gather(const struct step *w, const float *src, const int64_t *index, const int64_t *split)
{
    (void)split;
    if (!index)
        return src;
    float *dst = rows_alloc(w);
    rows_gather(w->stream, dst, src, index, w->rows, w->width);
    return dst;
}

/* The inverse; takes src over. */
static float *scatter(const struct step *w, float *src, const int64_t *index, const int64_t *split)
{
    (void)split;
    if (!index)
        return src;
    float *dst = rows_alloc(w);
    rows_scatter(w->stream, dst, src, index, w->rows, w->width);
    dev_free(w->device, src);
    return dst;
}

static const float *gather_blocks(const struct step *w, const float *src, const int64_t *index, const int64_t *split)
{
    struct arena a = {0};
    struct rows_part *parts = arena_array(&a, struct rows_part, w->blocks);
    float *blocks = rows_alloc(w), *dst = rows_alloc(w);
    for (int64_t i = 0, row = 0; i < w->blocks; row += split[i++]) {
        rows_gather(w->stream, blocks + row * w->width, src, index + row, split[i], w->width);
        parts[i] = (struct rows_part){blocks + row * w->width, split[i]};
    }
    rows_concat(w->stream, dst, parts, w->blocks, w->width);
    dev_free(w->device, blocks);
    arena_free(&a);
    return dst;
}

static float *scatter_blocks(const struct step *w, float *src, const int64_t *index, const int64_t *split)
{
    float *dst = rows_alloc(w);
    dev_clear_rows(w->stream, dst, w->rows * w->width);
    for (int64_t i = 0, row = 0; i < w->blocks; row += split[i++])
        rows_scatter(w->stream, dst, src + row * w->width, index + row, split[i], w->width);
    dev_free(w->device, src);
    return dst;
}

/* The two ways; [r->blocks]. */
static const struct way {
    const float *(*gather)(const struct step *w, const float *src, const int64_t *index, const int64_t *split);
    float *(*scatter)(const struct step *w, float *src, const int64_t *index, const int64_t *split);
} ways[] = {{gather, scatter}, {gather_blocks, scatter_blocks}};

/* One end of a route: where its rows lie and how many belong to each peer. */
struct end {
    const int64_t *index, *split;
};

static float *move(const struct route *r, struct comm *c, struct stream *s, const float *x, int64_t width, struct end from, struct end to,
                   enum layout source)
{
    struct step w = {s, stream_device(s), r->rows, width, r->cp};
    const struct way *way = &ways[r->blocks];
    const float *send;
    float *recv = rows_alloc(&w), *y;
    DEV_RANGE(w.device, thd_range(THD_SWAP, source), -1);
    {
        DEV_RANGE(w.device, thd_range(THD_PACK, source), -1);
        send = way->gather(&w, x, from.index, from.split);
    }
    {
        DEV_RANGE(w.device, thd_range(THD_ALL_TO_ALL, source), -1);
        comm_all_to_all_v_rows(c, s, send, (struct comm_split){from.split, r->rows}, recv, (struct comm_split){to.split, r->rows}, width);
    }
    {
        DEV_RANGE(w.device, thd_range(THD_SCATTER, source), -1);
        y = way->scatter(&w, recv, to.index, to.split);
    }
    if (send != x)
        dev_free(w.device, (float *)send);
    return y;
}

float *route_apply(const struct route *r, struct comm *c, struct stream *s, const float *x, int64_t width)
{
    return move(r, c, s, x, width, (struct end){r->send_index, r->send_split}, (struct end){r->recv_index, r->recv_split}, r->source);
}

float *route_apply_transposed(const struct route *r, struct comm *c, struct stream *s, const float *dy, int64_t width)
{
    return move(r, c, s, dy, width, (struct end){r->recv_index, r->recv_split}, (struct end){r->send_index, r->send_split}, r->target);
}

const char *thd_range(enum thd_part part, enum layout source)
{
#define BOTH(part)                                                                                                                                   \
    {                                                                                                                                                \
        [LAYOUT_ZIGZAG] = RANGE_THD_PREFIX part "/zigzag_to_contiguous", [LAYOUT_CONTIGUOUS] = RANGE_THD_PREFIX part "/contiguous_to_zigzag"         \
    }
    static const char *const names[][LAYOUT_COUNT] = {[THD_ROUTE] = BOTH("route"),
                                                      [THD_SWAP] = BOTH("swap"),
                                                      [THD_PACK] = BOTH("pack"),
                                                      [THD_ALL_TO_ALL] = BOTH("all_to_all"),
                                                      [THD_SCATTER] = BOTH("scatter")};
#undef BOTH
    return names[part][source];
}
