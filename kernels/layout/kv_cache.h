/* kv_cache.h - the plan of split attention on the device, and the last eight of them (seeds/003, spec E.2).
 *
 *   boundaries (device) --one copy to the host--> plan --uploads--> index, q_index, pieces (device)
 *
 * A plan is found again by the identity and version of the boundary buffers, cp, rank and split; a written buffer, or one
 * without a version counter, never finds one. The cache keeps CAPACITY plans, the least recently used goes first: a run
 * that has more boundary sets alive and comes back to them in turn finds none. Plans hold lengths and row numbers only.
 */
#pragma once
#include "kernels/layout/attn_plan.h"
#include "kernels/layout/cache.h"

struct attn_meta {         /* counted references of one host thread */
    struct attn_plan plan; /* host; plan.pieces etc. too */
    struct arena arena;
    int64_t *index, *q_index; /* device; NULL as in the plan */
    struct attn_piece *pieces;
    struct device *device;
    int refs;
};

/* Cost: one dev_download of the boundaries (two when q and kv are distinct buffers, which must then be equal): wait-ledger
 * rows at `kv_index_build`; the uploads do not wait. In range thd_route. NULL when rejected. */
struct attn_meta *attn_meta_build(const struct packed_seqs *p, struct stream *s, const struct attn_place *at, struct err *e);
struct attn_meta *attn_meta_retain(struct attn_meta *m);
void attn_meta_release(struct attn_meta *m); /* NULL is fine */

enum { KV_CACHE_CAPACITY = 8 };

struct kv_cache { /* zero is an empty one */
    struct kv_cache_entry {
        struct attn_meta *meta; /* NULL: free */
        struct boundaries_key q, kv;
        struct attn_place at;
        uint64_t used;
    } entries[KV_CACHE_CAPACITY];
    uint64_t clock;
    struct cache_stats stats;
};

/* A reference for the caller. Failures are not kept. */
struct attn_meta *kv_cache_get(struct kv_cache *c, const struct packed_seqs *p, struct stream *s, const struct attn_place *at, struct err *e);
void kv_cache_clear(struct kv_cache *c); /* drops the plans; the counts stay */
