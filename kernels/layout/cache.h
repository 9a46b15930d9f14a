/* cache.h - the micro-batch's boundary object, and what may be remembered on it (spec D.6; seeds/000 2.4, 2.5, 2.8).
 *
 * A route is built at first use and kept on the object that the layers receive, one entry per direction. An entry is
 * used only if the buffer's identity, its version at build, cp, rank, both layouts and the device all match; else it is
 * built anew, never patched. An unversioned buffer is never cached.
 */
#pragma once
#include "kernels/layout/route.h"

/* What a cache did in one micro-batch; `reason` of the last use that was no hit, "-" if all were. */
struct cache_stats {
    int64_t hits, misses, rebuilds, uncached;
    const char *reason;
};

struct route_entry {
    struct route *route; /* NULL: none */
    struct boundaries_key key;
};

struct resolve_entry {
    bool valid;
    int64_t total;
    int cp;
    struct boundaries_key key[4];
};

/* One micro-batch, made by packed_init() or packed_repack(). The buffers are not owned; they outlive it. */
struct packed_seqs {
    struct boundaries *q, *kv;               /* the same handle in self-attention and GDN */
    struct boundaries *q_padded, *kv_padded; /* NULL: no padding; else these are the ones that lay out the rows */
    int64_t total;                           /* T the caller believes in */
    struct route_entry routes[LAYOUT_COUNT]; /* by source layout */
    struct resolve_entry resolved;
    struct cache_stats route_stats, resolve_stats;
    bool prebuilt, lost_prebuilt; /* routes were built ahead on this object; on the one that this one replaced */
};

void packed_init(struct packed_seqs *p, struct boundaries *q, struct boundaries *kv, int64_t total);
void packed_close(struct packed_seqs *p); /* drops its routes, not the buffers */
/* A repacked micro-batch: `p` replaces `old` (both live on) and starts with nothing cached; a route that had been built
 * ahead on `old` is lost, and the next miss on `p` says so. */
void packed_repack(struct packed_seqs *p, const struct packed_seqs *old, struct boundaries *q, struct boundaries *kv);
/* The buffer that lays out the rows: q_padded when there is one, else q. */
const struct boundaries *packed_layout(const struct packed_seqs *p);

/* The route from the source layout to the other one: from the cache, or built. A reference for the caller
 * (route_release). NULL when rejected; failures are not cached. cp > 1. */
struct route *route_get(struct packed_seqs *p, struct stream *s, int cp, int rank, enum layout source, struct err *e);
/* Builds both directions ahead (--route prebuilt); nothing to do for cp 1 and for unversioned buffers. Counts as no use. */
bool route_prebuild(struct packed_seqs *p, struct stream *s, int cp, int rank, struct err *e);

/* The text of a MARK_CACHE mark: "cpscope.cache name=route hits=47 misses=1 rebuilds=0 uncached=0 reason=first-use". */
void cache_stats_text(char *out, size_t size, const char *name, const struct cache_stats *st);
