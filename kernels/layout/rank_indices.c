/* rank_indices.c - the rows of one rank, from the boundaries on the device, token by token: thd_rank_indices().
 *
 *   position       0 1 2 3 4 5 6 7 8 9 ...      arange(T)
 *   sequence       0 0 0 0 1 1 1 1 1 1 ...      bucketize
 *   chunk, within  offset in the sequence / chunk length, and the rest
 *   owner, local   the zigzag rule of spec D.1, for all T tokens, whatever the rank
 *   rows           positions[owner == rank], put into the order of local
 *
 * Deliberately the whole of it on every call: this is the baseline whose cost the interval route removes.
 */
#include "kernels/layout/route_naive.h"
#include "kernels/device/hostread.h"
#include "kernels/layout/scratch.h"
#include "kernels/ops/index.h"

#include <assert.h>

/* The boundaries as the steps see them. */
struct work {
    struct scratch x;
    struct stream *s;
    int64_t cp, rank;
    const int64_t *cu; /* compacted from the third step on */
    int64_t entries, total;
    int64_t *lengths;
};

/* Flag: do boundaries go down anywhere? */
static const uint8_t *any_decrease(struct work *w)
{
    int64_t n = w->entries - 1, *diff = scratch_i64(&w->x, n);
    uint8_t *mask = scratch_alloc(&w->x, n), *flag = scratch_alloc(&w->x, 1);
    index_diff(w->s, diff, w->cu, w->entries);
    index_compare(w->s, mask, diff, n, INDEX_LT, 0);
    index_any(w->s, flag, mask, n);
    return flag;
}

/* Mask of the boundaries that differ from the one before; the first is kept. */
static const uint8_t *distinct(struct work *w)
{
    int64_t n = w->entries - 1, *diff = scratch_i64(&w->x, n);
    uint8_t *mask = scratch_alloc(&w->x, w->entries);
    dev_set_async(w->s, mask, 1, 1);
    index_diff(w->s, diff, w->cu, w->entries);
    index_compare(w->s, mask + 1, diff, n, INDEX_NE, 0);
    return mask;
}

/* Flag: is any length no multiple of 2 cp? */
static const uint8_t *any_indivisible(struct work *w)
{
    int64_t n = w->entries - 1, *rest = scratch_i64(&w->x, n);
    uint8_t *mask = scratch_alloc(&w->x, n), *flag = scratch_alloc(&w->x, 1);
    w->lengths = scratch_i64(&w->x, n);
    index_diff(w->s, w->lengths, w->cu, w->entries);
    index_scalar(w->s, rest, w->lengths, n, INDEX_MOD, 2 * w->cp);
    index_compare(w->s, mask, rest, n, INDEX_NE, 0);
    index_any(w->s, flag, mask, n);
    return flag;
}

/* Mask of the tokens that the rank owns, and everybody's local position. */
static const uint8_t *owned(struct work *w, const int64_t *positions, int64_t **local)
{
    int64_t n = w->total, c = w->cp, sequences = w->entries - 1, *v[5];
    for (int i = 0; i < 5; i++)
        v[i] = scratch_i64(&w->x, n);
    int64_t *sequence = v[0], *start = v[1], *chunk_length = v[2], *chunk = v[3], *within = v[4], *owner = v[0];
    uint8_t *second = scratch_alloc(&w->x, n), *mine = scratch_alloc(&w->x, n);
    index_bucketize(w->s, sequence, positions, n, w->cu + 1, sequences);
    index_gather(w->s, start, w->cu, sequence, n);
    index_gather(w->s, chunk_length, w->lengths, sequence, n);
    index_scalar(w->s, chunk_length, chunk_length, n, INDEX_DIV, 2 * c);
    index_binary(w->s, within, positions, start, n, INDEX_SUB); /* offset in the sequence */
    index_binary(w->s, chunk, within, chunk_length, n, INDEX_DIV);
    index_binary(w->s, within, within, chunk_length, n, INDEX_MOD);
    index_compare(w->s, second, chunk, n, INDEX_GT, c - 1);
    index_scalar(w->s, owner, chunk, n, INDEX_RSUB, 2 * c - 1);
    index_where(w->s, owner, second, owner, chunk, n);
    index_scalar(w->s, start, start, n, INDEX_DIV, c);
    index_binary(w->s, start, start, within, n, INDEX_ADD); /* local row in slot 0 */
    index_binary(w->s, chunk_length, chunk_length, start, n, INDEX_ADD);
    index_where(w->s, start, second, chunk_length, start, n);
    index_compare(w->s, mine, owner, n, INDEX_EQ, w->rank);
    *local = start;
    return mine;
}

/* The host validator finds the value to name; reading the boundaries once more happens in a rejected call only. */
static bool reject(struct work *w, const struct boundaries *b, enum layout l, const struct site *site, struct err *e)
{
    struct arena a = {0};
    struct packing p;
    int64_t *cu = arena_array(&a, int64_t, b->entries);
    dev_download(w->s, cu, b->cu, (size_t)b->entries * sizeof *cu, site);
    bool ok = packing_check(&a, cu, b->entries, (int)w->cp, (int)w->rank, l, &p, e);
    assert(!ok);
    arena_free(&a);
    scratch_free(&w->x);
    return ok;
}

bool thd_rank_indices(struct stream *s, const struct boundaries *b, int cp, int rank, enum layout l, struct rank_rows *out, struct err *e)
{
    struct work w = {.x = {stream_device(s)}, .s = s, .cp = cp, .rank = rank, .cu = b->cu, .entries = b->entries};
    int64_t kept;
    if (!layout_check_place(b->entries, cp, rank, l, e))
        return false;
    if (hostread_item_i64(s, w.cu, SITE_HERE) != 0)
        return reject(&w, b, l, SITE_HERE, e);
    if (hostread_is_nonzero(s, any_decrease(&w), SITE_HERE))
        return reject(&w, b, l, SITE_HERE, e);
    w.cu = scratch_keep(&w.x, hostread_index_mask_i64(s, w.cu, distinct(&w), w.entries, &w.entries, SITE_HERE));
    w.total = hostread_item_i64(s, w.cu + w.entries - 1, SITE_HERE);
    int64_t *positions = dev_alloc_index(w.x.device, (size_t)(w.total + 1) * sizeof *positions);
    index_arange(s, positions, w.total, 0);
    if (hostread_is_nonzero(s, any_indivisible(&w), SITE_HERE)) {
        dev_free(w.x.device, positions);
        return reject(&w, b, l, SITE_HERE, e);
    }
    int64_t rows = w.total / cp, *local;
    *out = (struct rank_rows){positions + rank * rows, positions, rows};
    if (l == LAYOUT_ZIGZAG) {
        const uint8_t *mine = owned(&w, positions, &local);
        int64_t *ids = scratch_keep(&w.x, hostread_index_mask_i64(s, positions, mine, w.total, &kept, SITE_HERE));
        int64_t *keys = scratch_keep(&w.x, hostread_index_mask_i64(s, local, mine, w.total, &kept, SITE_HERE));
        int64_t *order = scratch_i64(&w.x, kept);
        index_argsort(s, order, keys, kept);
        index_gather(s, positions, ids, order, kept); /* the ids are a copy: their source may go */
        *out = (struct rank_rows){positions, positions, kept};
    }
    scratch_free(&w.x);
    return true;
}
