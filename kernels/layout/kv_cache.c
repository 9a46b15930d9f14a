/* kv_cache.c - eight entries, looked through in turn. */
#include "kernels/layout/kv_cache.h"

static void keys_of(const struct packed_seqs *p, struct boundaries_key *q, struct boundaries_key *kv)
{
    *q = boundaries_key(packed_layout(p));
    *kv = boundaries_key(p->kv_padded ? p->kv_padded : p->kv);
}

static bool same_place(const struct attn_place *x, const struct attn_place *y)
{
    return x->split == y->split && x->cp == y->cp && x->rank == y->rank && x->ulysses == y->ulysses;
}

/* The entry with these buffers at this place, at any version; NULL: none. */
static struct kv_cache_entry *find(struct kv_cache *c, const struct kv_cache_entry *now)
{
    for (int i = 0; i < KV_CACHE_CAPACITY; i++) {
        struct kv_cache_entry *x = &c->entries[i];
        if (x->meta && x->q.id == now->q.id && x->kv.id == now->kv.id && x->meta->device == now->meta->device && same_place(&x->at, &now->at))
            return x;
    }
    return NULL;
}

static struct kv_cache_entry *oldest(struct kv_cache *c)
{
    struct kv_cache_entry *out = &c->entries[0];
    for (int i = 1; i < KV_CACHE_CAPACITY; i++)
        if (out->meta && (!c->entries[i].meta || c->entries[i].used < out->used))
            out = &c->entries[i];
    return out;
}

struct attn_meta *kv_cache_get(struct kv_cache *c, const struct packed_seqs *p, struct stream *s, const struct attn_place *at, struct err *e)
{
    struct attn_meta here = {.device = stream_device(s)};
    struct kv_cache_entry now = {.meta = &here, .at = *at, .used = ++c->clock};
    keys_of(p, &now.q, &now.kv);
    bool versioned = now.q.version != BOUNDARIES_UNVERSIONED && now.kv.version != BOUNDARIES_UNVERSIONED;
    struct kv_cache_entry *x = find(c, &now);
    if (x && boundaries_key_same(x->q, now.q) && boundaries_key_same(x->kv, now.kv)) {
        c->stats.hits++;
        x->used = now.used;
        return attn_meta_retain(x->meta);
    }
    now.meta = attn_meta_build(p, s, at, e);
    if (!now.meta)
        return NULL;
    c->stats.reason = !versioned ? "unversioned" : x ? "written-in-place" : "first-use";
    *(!versioned ? &c->stats.uncached : x ? &c->stats.rebuilds : &c->stats.misses) += 1;
    if (!versioned)
        return now.meta;
    x = x ? x : oldest(c);
    attn_meta_release(x->meta);
    *x = now;
    return attn_meta_retain(now.meta);
}

void kv_cache_clear(struct kv_cache *c)
{
    for (int i = 0; i < KV_CACHE_CAPACITY; i++) {
        attn_meta_release(c->entries[i].meta);
        c->entries[i] = (struct kv_cache_entry){0};
    }
}
