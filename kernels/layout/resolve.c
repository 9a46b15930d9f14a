/* resolve.c - the checks of seeds/000 2.8: three questions a buffer that the host can answer only by waiting. */
#include "kernels/layout/resolve.h"
#include "kernels/device/hostread.h"
#include "kernels/layout/scratch.h"
#include "kernels/ops/index.h"

#include <inttypes.h>
#include <string.h>

struct work {
    struct scratch x;
    struct stream *s;
    int cp;
};

/* Flag: is any length of b no multiple of cp? */
static const uint8_t *any_indivisible(struct work *w, const struct boundaries *b)
{
    int64_t n = b->entries - 1, *lengths = scratch_i64(&w->x, n);
    uint8_t *mask = scratch_alloc(&w->x, n), *flag = scratch_alloc(&w->x, 1);
    index_diff(w->s, lengths, b->cu, b->entries);
    index_scalar(w->s, lengths, lengths, n, INDEX_MOD, w->cp);
    index_compare(w->s, mask, lengths, n, INDEX_NE, 0);
    index_any(w->s, flag, mask, n);
    return flag;
}

/* Number of boundaries in which two buffers of the same length differ. */
static const int64_t *differences(struct work *w, const struct boundaries *q, const struct boundaries *kv)
{
    int64_t *n = scratch_i64(&w->x, 1);
    index_differences(w->s, n, q->cu, kv->cu, q->entries);
    return n;
}

/* Names the length; reads the boundaries once more, in a rejected call only. */
static bool reject_length(struct work *w, const struct boundaries *b, const char *which, const struct site *site, struct err *e)
{
    struct arena a = {0};
    int64_t *cu = arena_array(&a, int64_t, b->entries);
    dev_download(w->s, cu, b->cu, (size_t)b->entries * sizeof *cu, site);
    for (int64_t i = 1; i < b->entries; i++)
        if ((cu[i] - cu[i - 1]) % w->cp)
            fail(e, ERR_USAGE, "%s[%" PRId64 "] ends a sequence of %" PRId64 " tokens: not a multiple of cp = %d, pad it", which, i,
                 cu[i] - cu[i - 1], w->cp);
    arena_free(&a);
    return false;
}

static bool reject_pair(struct work *w, const struct boundaries *q, const struct boundaries *kv, const struct site *site, struct err *e)
{
    struct arena a = {0};
    int64_t *x = arena_array(&a, int64_t, q->entries), *y = arena_array(&a, int64_t, q->entries);
    dev_download(w->s, x, q->cu, (size_t)q->entries * sizeof *x, site);
    dev_download(w->s, y, kv->cu, (size_t)q->entries * sizeof *y, site);
    for (int64_t i = 0; i < q->entries; i++)
        if (x[i] != y[i])
            fail(e, ERR_USAGE, "cu_seqlens_kv[%" PRId64 "] is %" PRId64 ", cu_seqlens_q has %" PRId64 ": must be equal", i, y[i], x[i]);
    arena_free(&a);
    return false;
}

/* All checks of a call; the name is the site that both ledgers show. */
static bool resolve_cu_seqlens(struct work *w, const struct boundaries *q, const struct boundaries *kv, int64_t total, struct err *e)
{
    static const char *const names[] = {"cu_seqlens_q", "cu_seqlens_kv"};
    const struct boundaries *const both[] = {q, kv};
    for (int i = 0; i < 2; i++) {
        const struct boundaries *b = both[i];
        if (b->entries < 1)
            return fail(e, ERR_USAGE, "%s is empty: want a leading 0 and an end per sequence", names[i]);
        int64_t last = hostread_item_i64(w->s, b->cu + b->entries - 1, SITE_HERE);
        if (last != total)
            return fail(e, ERR_USAGE, "%s ends at %" PRId64 ", the micro-batch has %" PRId64 " tokens", names[i], last, total);
        if (hostread_is_nonzero(w->s, any_indivisible(w, b), SITE_HERE))
            return reject_length(w, b, names[i], SITE_HERE, e);
    }
    if (q->entries != kv->entries)
        return fail(e, ERR_USAGE, "cu_seqlens_kv has %" PRId64 " entries, cu_seqlens_q %" PRId64 ": must be equal", kv->entries, q->entries);
    if (q->cu == kv->cu)
        return true;
    if (hostread_item_i64(w->s, differences(w, q, kv), SITE_HERE) == 0)
        return true;
    return reject_pair(w, q, kv, SITE_HERE, e);
}

bool resolve_boundaries(const struct packed_seqs *p, struct stream *s, int cp, struct err *e)
{
    struct work w = {{stream_device(s)}, s, cp};
    if (cp < 1)
        return fail(e, ERR_USAGE, "cp size %d: want at least 1", cp);
    bool ok = resolve_cu_seqlens(&w, packed_layout(p), p->kv_padded ? p->kv_padded : p->kv, p->total, e);
    scratch_free(&w.x);
    return ok;
}

static void entry_now(const struct packed_seqs *p, int cp, struct resolve_entry *out)
{
    const struct boundaries *const all[] = {p->q, p->q_padded, p->kv, p->kv_padded};
    *out = (struct resolve_entry){true, p->total, cp, {{0}}};
    for (int i = 0; i < 4; i++) {
        out->key[i] = boundaries_key(all[i]);
        out->valid = out->valid && !(all[i] && out->key[i].version == BOUNDARIES_UNVERSIONED);
    }
}

/* Why the last success says nothing about now; NULL when it does. */
static const char *stale(const struct resolve_entry *was, const struct resolve_entry *now)
{
    if (!was->valid)
        return "first-use";
    if (was->total != now->total)
        return "total-changed";
    if (was->cp != now->cp)
        return "cp-changed";
    for (int i = 0; i < 4; i++) {
        if (was->key[i].id != now->key[i].id)
            return "buffer-replaced";
        if (!boundaries_key_same(was->key[i], now->key[i]))
            return "written-in-place";
    }
    return NULL;
}

bool resolve_boundaries_cached(struct packed_seqs *p, struct stream *s, int cp, struct err *e)
{
    struct cache_stats *st = &p->resolve_stats;
    struct resolve_entry now;
    entry_now(p, cp, &now);
    const char *why = now.valid ? stale(&p->resolved, &now) : "unversioned";
    if (!why) {
        st->hits++;
        return true;
    }
    bool had = p->resolved.valid;
    p->resolved.valid = false;
    if (!resolve_boundaries(p, s, cp, e))
        return false;
    if (!now.valid)
        st->uncached++;
    else if (had)
        st->rebuilds++;
    else
        st->misses++;
    st->reason = why;
    p->resolved = now;
    return true;
}
