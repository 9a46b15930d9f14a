/* cache.c - routes kept on the micro-batch's boundary object, and why one was not used. */
#include "kernels/layout/cache.h"
#include "schemas/marker.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#define NO_REASON "-"

void packed_init(struct packed_seqs *p, struct boundaries *q, struct boundaries *kv, int64_t total)
{
    *p = (struct packed_seqs){.q = q, .kv = kv, .total = total, .route_stats.reason = NO_REASON, .resolve_stats.reason = NO_REASON};
}

void packed_close(struct packed_seqs *p)
{
    for (int i = 0; i < LAYOUT_COUNT; i++)
        route_release(p->routes[i].route);
    *p = (struct packed_seqs){0};
}

void packed_repack(struct packed_seqs *p, const struct packed_seqs *old, struct boundaries *q, struct boundaries *kv)
{
    packed_init(p, q, kv, old->total);
    p->lost_prebuilt = old->prebuilt || old->lost_prebuilt;
}

const struct boundaries *packed_layout(const struct packed_seqs *p)
{
    return p->q_padded ? p->q_padded : p->q;
}

/* Why the entry cannot serve; NULL when it can. */
static const char *stale(const struct route_entry *x, struct boundaries_key now, int cp, int rank, const struct device *d)
{
    const struct route *r = x->route;
    if (x->key.id != now.id)
        return "buffer-replaced";
    if (!boundaries_key_same(x->key, now))
        return "written-in-place";
    if (r->cp != cp)
        return "cp-changed";
    if (r->rank != rank)
        return "rank-changed";
    return r->device != d ? "device-changed" : NULL;
}

/* A route for b, entered at `source` unless b is unversioned; *entry keeps its own reference. */
static struct route *build(struct packed_seqs *p, struct stream *s, int cp, int rank, enum layout source, struct err *e)
{
    const struct boundaries *b = packed_layout(p);
    struct route_entry *x = &p->routes[source];
    enum layout target = source == LAYOUT_ZIGZAG ? LAYOUT_CONTIGUOUS : LAYOUT_ZIGZAG;
    route_release(x->route);
    x->route = NULL;
    struct route *r = route_build(b, s, cp, rank, source, target, e);
    if (r && boundaries_version(b) != BOUNDARIES_UNVERSIONED)
        *x = (struct route_entry){route_retain(r), boundaries_key(b)};
    return r;
}

static bool check_total(const struct packed_seqs *p, const struct route *r, struct err *e)
{
    if (r->rows * r->cp == p->total)
        return true;
    return fail(e, ERR_USAGE, "cu_seqlens ends at %" PRId64 ", the micro-batch has %" PRId64 " tokens", r->rows * r->cp, p->total);
}

/* The use is counted once it has succeeded. */
static void count(struct cache_stats *st, int64_t *which, const char *reason)
{
    ++*which;
    st->reason = reason;
}

struct route *route_get(struct packed_seqs *p, struct stream *s, int cp, int rank, enum layout source, struct err *e)
{
    assert((unsigned)source < LAYOUT_COUNT);
    struct cache_stats *st = &p->route_stats;
    const struct boundaries *b = packed_layout(p);
    struct route_entry *x = &p->routes[source];
    bool had = x->route, versioned = boundaries_version(b) != BOUNDARIES_UNVERSIONED;
    const char *why = had ? stale(x, boundaries_key(b), cp, rank, stream_device(s)) : p->lost_prebuilt ? "boundary-object-replaced" : "first-use";
    struct route *r = why ? build(p, s, cp, rank, source, e) : route_retain(x->route);
    if (!r)
        return NULL;
    if (!check_total(p, r, e)) {
        route_release(r);
        return NULL;
    }
    if (!why)
        st->hits++;
    else if (!versioned)
        count(st, &st->uncached, "unversioned");
    else
        count(st, had ? &st->rebuilds : &st->misses, why);
    return r;
}

bool route_prebuild(struct packed_seqs *p, struct stream *s, int cp, int rank, struct err *e)
{
    if (cp == 1 || boundaries_version(packed_layout(p)) == BOUNDARIES_UNVERSIONED)
        return true;
    for (int source = 0; source < LAYOUT_COUNT; source++) {
        struct route *r = build(p, s, cp, rank, (enum layout)source, e);
        bool ok = r && check_total(p, r, e);
        route_release(r);
        if (!ok)
            return false;
    }
    p->prebuilt = true;
    return true;
}

void cache_stats_text(char *out, size_t size, const char *name, const struct cache_stats *st)
{
    snprintf(out, size, MARK_CACHE " name=%s hits=%" PRId64 " misses=%" PRId64 " rebuilds=%" PRId64 " uncached=%" PRId64 " reason=%s", name, st->hits,
             st->misses, st->rebuilds, st->uncached, st->reason);
}
