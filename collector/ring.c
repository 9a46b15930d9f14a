/* ring.c - `used` of a chunk is published after the bytes, `next` after the last `used`: the reader follows in that order. */
#include "collector/ring.h"

#include <stdlib.h>
#include <string.h>

enum { STRINGS_IN_CHUNK = CHUNK_ROOM / 2 }; /* longer ones go to the heap: rare */

static void count_lost(struct ring *r, struct pool *p)
{
    atomic_store_explicit(&r->lost, atomic_load_explicit(&r->lost, memory_order_relaxed) + 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&p->base->lost, 1, memory_order_relaxed);
}

/* One number for all addresses of an event: events that look alike come again and again, so one look tells. */
static uint64_t addresses_of(const struct activity *a, const union emit_more *more)
{
    uint64_t h = ((uintptr_t)a->group ^ (uintptr_t)a->site << 20) * 0x9e3779b97f4a7c15u;
    h ^= (uintptr_t)a->function * 0xff51afd7ed558ccdu;
    if (!a->transient)
        h ^= ((uintptr_t)a->name ^ (uintptr_t)a->text << 20) * 0xc4ceb9fe1a85ec53u;
    if (more && a->kind == EV_COMM)
        h ^= (uintptr_t)more->comm.dtype * 0x94d049bb133111ebu;
    return h ^ h >> 29;
}

__attribute__((noinline)) static void define_all(struct defs *d, const struct activity *a, const union emit_more *more)
{
    if (!d)
        return;
    if (!a->transient) {
        defs_text(d, a->name);
        defs_text(d, a->text);
    }
    defs_text(d, a->group);
    defs_text(d, a->function);
    defs_site(d, a->site);
    if (more && a->kind == EV_COMM)
        defs_text(d, more->comm.dtype);
}

static void define(struct ring *r, const struct activity *a, const union emit_more *more)
{
    uint64_t all = addresses_of(a, more), *known = &r->knows[all % RING_KNOWS];
    if (*known == all)
        return;
    define_all(r->defs, a, more);
    *known = all;
}

/* Room for `need` bytes at the end of the ring; NULL: the cap is reached. */
static char *room_for(struct ring *r, struct pool *p, size_t need)
{
    bool room = r->out.write && r->out.at + need <= CHUNK_ROOM;
    return room || chunks_more(&r->out, p, r->number) ? r->out.write->data + r->out.at : NULL;
}

static void publish(struct ring *r, size_t bytes)
{
    r->out.at += (uint32_t)bytes;
    atomic_store_explicit(&r->out.write->used, r->out.at, memory_order_release);
}

static size_t length(const char *s)
{
    return s ? strlen(s) + 1 : 0;
}

/* Both texts of an event in one piece; NULL: no memory. */
static char *copy_texts(const struct activity *a, size_t name, size_t text)
{
    char *to = malloc(name + text);
    if (to && name)
        memcpy(to, a->name, name);
    if (to && text)
        memcpy(to + name, a->text, text);
    return to;
}

/* An event with strings of its own: they stand behind it, or on the heap. Out of line, as all that is rare is. */
__attribute__((noinline)) static bool put_transient(struct ring *r, struct pool *p, const struct activity *a, const struct emit_as *as)
{
    size_t name = length(a->name), text = length(a->text);
    bool large = name + text > STRINGS_IN_CHUNK;
    char *heap = large ? copy_texts(a, name, text) : NULL;
    char *to = large && !heap ? NULL : room_for(r, p, PACKED_MOST + (large ? 0 : name + text));
    if (!to) {
        free(heap);
        return false;
    }
    publish(r, packed_put(to, a, as, as->tid ? as->tid : r->tid, heap));
    return true;
}

static bool put_static(struct ring *r, struct pool *p, const struct activity *a, const struct emit_as *as)
{
    char *to = room_for(r, p, PACKED_MOST);
    if (to)
        publish(r, packed_put(to, a, as, as->tid ? as->tid : r->tid, NULL));
    return to != NULL;
}

bool ring_put(struct ring *r, struct pool *p, const struct activity *a, const struct emit_as *as)
{
    define(r, a, as->more);
    bool ok = a->transient ? put_transient(r, p, a, as) : put_static(r, p, a, as);
    if (!ok)
        count_lost(r, p);
    return ok;
}

/* A look at how far the emitting thread has come takes the line in its cache that it writes at every event: one look for all that
 * is there. false: there is no more. */
static bool look_ahead(struct ring *r)
{
    if (!r->read)
        r->read = r->oldest = atomic_load_explicit(&r->out.first, memory_order_acquire);
    while (r->read) {
        struct chunk *next = atomic_load_explicit(&r->read->next, memory_order_acquire);
        r->read_to = atomic_load_explicit(&r->read->used, memory_order_acquire);
        if (r->read_at < r->read_to || !next)
            return r->read_at < r->read_to;
        r->read = next;
        r->read_at = r->read_to = 0;
    }
    return false;
}

const struct slot *ring_next(struct ring *r)
{
    if (r->read_at == r->read_to && !look_ahead(r))
        return NULL;
    r->read_at += (uint32_t)packed_get(r->read->data + r->read_at, r->read_to - r->read_at, &r->slot);
    return &r->slot;
}

int64_t ring_position(const struct ring *r)
{
    return r->read ? r->read->base + r->read_at : 0;
}

void ring_release(struct ring *r, struct pool *p)
{
    while (r->oldest != r->read) {
        struct chunk *next = atomic_load_explicit(&r->oldest->next, memory_order_relaxed);
        pool_give(p, r->oldest);
        r->oldest = next;
    }
}

void ring_drop(struct ring *r, struct pool *p)
{
    struct chunk *c = r->oldest ? r->oldest : atomic_load(&r->out.first);
    for (struct chunk *next; c; c = next) {
        next = atomic_load(&c->next);
        pool_give(p, c);
    }
    r->read = r->oldest = r->out.write = NULL;
    r->read_at = r->read_to = r->out.at = 0;
    r->out.total = 0;
    atomic_store(&r->out.first, NULL);
}
