/* route_naive.c - a conversion as the baseline does it: who owns each of the T tokens, before and after, then masks.
 *
 *   rows of every rank, both layouts      2 cp calls of thd_rank_indices
 *   owner[T], position[T]                 cp scatters each: where every token will lie
 *   to rank d                             my source rows whose owner is d, by target position     (nonzero)
 *   from rank j                           rows of j whose owner is me, by target position         (boolean index)
 */
#include "kernels/layout/route_naive.h"
#include "kernels/device/hostread.h"
#include "kernels/layout/scratch.h"
#include "kernels/ops/index.h"
#include "schemas/marker.h"

#include <inttypes.h>

struct work {
    struct scratch x;
    struct stream *s;
    int cp, rank;
    struct arena arena;
    struct rank_rows *source, *target; /* [cp] */
    int64_t *owner, *position;         /* [T]: target rank and local target row of every token */
    int64_t *my_owner, *my_position;   /* the same for my source rows */
};

/* Every rank's rows in one layout. */
static bool all_rows(struct work *w, const struct boundaries *b, enum layout l, struct rank_rows **out, struct err *e)
{
    *out = arena_array(&w->arena, struct rank_rows, w->cp);
    for (int j = 0; j < w->cp; j++) {
        if (!thd_rank_indices(w->s, b, w->cp, j, l, &(*out)[j], e))
            return false;
        scratch_keep(&w->x, (*out)[j].memory);
    }
    return true;
}

/* Both layouts of all ranks; they must agree with each other and with x. */
static bool derive_rows(struct work *w, const struct boundaries *b, const struct route *r, struct err *e)
{
    if (!all_rows(w, b, r->source, &w->source, e) || !all_rows(w, b, r->target, &w->target, e))
        return false;
    return route_check_rows(w->source[w->rank].n, w->target[w->rank].n, r->rows, e);
}

/* owner[] and position[] of all tokens, and their values at my source rows. */
static void derive_owners(struct work *w, int64_t total)
{
    int64_t rows = w->source[w->rank].n, *arange = scratch_i64(&w->x, rows);
    w->owner = scratch_i64(&w->x, total);
    w->position = scratch_i64(&w->x, total);
    w->my_owner = scratch_i64(&w->x, rows);
    w->my_position = scratch_i64(&w->x, rows);
    dev_set_async(w->s, w->owner, -1, (size_t)total * sizeof(int64_t));
    dev_set_async(w->s, w->position, -1, (size_t)total * sizeof(int64_t));
    index_arange(w->s, arange, rows, 0);
    for (int d = 0; d < w->cp; d++) {
        index_scatter_value(w->s, w->owner, d, w->target[d].v, w->target[d].n);
        index_scatter(w->s, w->position, arange, w->target[d].v, w->target[d].n);
    }
    index_gather(w->s, w->my_owner, w->owner, w->source[w->rank].v, rows);
    index_gather(w->s, w->my_position, w->position, w->source[w->rank].v, rows);
}

/* Mask of my source rows that go to rank d. */
static const uint8_t *goes_to(struct work *w, int d)
{
    int64_t rows = w->source[w->rank].n;
    uint8_t *mask = scratch_alloc(&w->x, rows);
    index_compare(w->s, mask, w->my_owner, rows, INDEX_EQ, d);
    return mask;
}

/* Mask of rank j's source rows that come to me. */
static const uint8_t *comes_from(struct work *w, int j)
{
    int64_t rows = w->source[j].n, *owner = scratch_i64(&w->x, rows);
    uint8_t *mask = scratch_alloc(&w->x, rows);
    index_gather(w->s, owner, w->owner, w->source[j].v, rows);
    index_compare(w->s, mask, owner, rows, INDEX_EQ, w->rank);
    return mask;
}

/* out[0 .. n-1] = rows in the order of keys. */
static void by_key(struct work *w, int64_t *out, const int64_t *rows, const int64_t *keys, int64_t n)
{
    int64_t *order = scratch_i64(&w->x, n);
    index_argsort(w->s, order, keys, n);
    index_gather(w->s, out, rows, order, n);
}

static void append_send(struct work *w, struct route *r, int64_t *local, int64_t n, int64_t at)
{
    int64_t *keys = scratch_i64(&w->x, n);
    index_gather(w->s, keys, w->my_position, scratch_keep(&w->x, local), n);
    by_key(w, r->send_index + at, local, keys, n);
}

static void append_recv(struct work *w, struct route *r, int64_t *tokens, int64_t n, int64_t at)
{
    int64_t *keys = scratch_i64(&w->x, n);
    index_gather(w->s, keys, w->position, scratch_keep(&w->x, tokens), n);
    by_key(w, r->recv_index + at, keys, keys, n);
}

static int64_t *index_alloc(struct device *d, int64_t rows)
{
    return dev_alloc_index(d, (size_t)(rows + 1) * sizeof(int64_t));
}

float *zigzag_contiguous_swap(struct comm *c, struct stream *s, const struct boundaries *b, enum layout source, const float *x, int64_t local_rows,
                              int64_t width, struct route **saved, struct err *e)
{
    struct work w = {.x = {stream_device(s)}, .s = s, .cp = comm_size(c), .rank = comm_rank(c)};
    if (saved)
        *saved = NULL;
    if (w.cp == 1)
        return (float *)x;
    if (!layout_check_place(b->entries, w.cp, w.rank, source, e))
        return NULL;
    struct route *r = route_new(w.x.device, w.cp, w.rank, source, local_rows);
    r->blocks = true;
    dev_range_push(w.x.device, RANGE_THD_ROUTE, -1);
    dev_range_push(w.x.device, thd_range(THD_ROUTE, source), -1);
    bool ok = derive_rows(&w, b, r, e);
    if (ok) {
        derive_owners(&w, hostread_item_i64(s, b->cu + b->entries - 1, SITE_HERE));
        r->send_index = index_alloc(w.x.device, local_rows);
        r->recv_index = index_alloc(w.x.device, local_rows);
        for (int64_t d = 0, at = 0; d < w.cp; at += r->send_split[d++]) {
            int64_t *local = hostread_nonzero(s, goes_to(&w, (int)d), local_rows, &r->send_split[d], SITE_HERE);
            append_send(&w, r, local, r->send_split[d], at);
        }
        for (int64_t j = 0, at = 0; j < w.cp; at += r->recv_split[j++]) {
            int64_t *tokens = hostread_index_mask_i64(s, w.source[j].v, comes_from(&w, (int)j), local_rows, &r->recv_split[j], SITE_HERE);
            append_recv(&w, r, tokens, r->recv_split[j], at);
        }
    }
    scratch_free(&w.x);
    arena_free(&w.arena);
    dev_range_pop(w.x.device);
    dev_range_pop(w.x.device);
    float *y = ok ? route_apply(r, c, s, x, width) : NULL;
    if (ok && saved)
        *saved = route_retain(r);
    route_release(r);
    return y;
}
