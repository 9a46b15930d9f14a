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

static bool new_chunk(struct ring *r, struct pool *p)
{
    struct chunk *c = pool_take(p, r->number, r->total + r->at);
    if (!c)
        return false;
    if (r->write)
        atomic_store_explicit(&r->write->next, c, memory_order_release);
    else
        atomic_store_explicit(&r->first, c, memory_order_release);
    r->total += r->at;
    r->write = c;
    r->at = 0;
    return true;
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

static void define_all(struct defs *d, const struct activity *a, const union emit_more *more)
{
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
    if (r->defs)
        define_all(r->defs, a, more);
    *known = all;
}

static void fill(struct slot *s, const struct activity *a, struct emit_as as, int32_t tid)
{
    *s = (struct slot){.start = a->start,
                       .end = a->end,
                       .correlation = a->correlation,
                       .bytes = a->bytes,
                       .sequence = a->sequence,
                       .name = a->name,
                       .text = a->text,
                       .group = a->group,
                       .function = a->function,
                       .site = a->site,
                       .rank = a->rank,
                       .device = a->device,
                       .stream = a->stream,
                       .peer = a->peer,
                       .group_size = a->group_size,
                       .tid = as.tid ? as.tid : tid,
                       .stack = as.stack,
                       .what = a->what,
                       .kind = a->kind,
                       .sync_class = a->sync_class,
                       .copy_kind = a->copy_kind,
                       .flavour = (uint8_t)as.flavour,
                       .did_block = a->did_block,
                       .transient = a->transient,
                       .more = as.more != NULL,
                       .extra = as.more ? sizeof *as.more : 0};
    if (as.more)
        memcpy(s + 1, as.more, sizeof *as.more);
}

/* Moves name and text of a transient event to `to`, which has room for both. */
static void copy_strings(struct slot *s, char *to, size_t name, size_t text)
{
    s->name = s->name ? memcpy(to, s->name, name) : NULL;
    s->text = s->text ? memcpy(to + name, s->text, text) : NULL;
}

/* Room for `need` bytes at the end of the ring; NULL: the cap is reached. */
static struct slot *room_for(struct ring *r, struct pool *p, size_t need)
{
    bool room = r->write && r->at + need <= CHUNK_ROOM;
    return room || new_chunk(r, p) ? (struct slot *)(r->write->data + r->at) : NULL;
}

static void publish(struct ring *r, size_t need)
{
    r->at += (uint32_t)need;
    atomic_store_explicit(&r->write->used, r->at, memory_order_release);
}

/* An event with strings of its own: they stand behind it, or on the heap. */
static bool put_transient(struct ring *r, struct pool *p, const struct activity *a, struct emit_as as)
{
    size_t more = as.more ? sizeof *as.more : 0;
    size_t name = a->name ? strlen(a->name) + 1 : 0, text = a->text ? strlen(a->text) + 1 : 0;
    size_t extra = (name + text + 7) / 8 * 8;
    bool large = extra > STRINGS_IN_CHUNK;
    extra = large ? 0 : extra;
    char *heap = large ? malloc(name + text) : NULL;
    struct slot *s = large && !heap ? NULL : room_for(r, p, sizeof *s + more + extra);
    if (!s) {
        free(heap);
        return false;
    }
    fill(s, a, as, r->tid);
    copy_strings(s, heap ? heap : (char *)(s + 1) + more, name, text);
    s->heap = large;
    s->extra += (uint32_t)extra;
    publish(r, sizeof *s + s->extra);
    return true;
}

static bool put_static(struct ring *r, struct pool *p, const struct activity *a, struct emit_as as)
{
    struct slot *s = room_for(r, p, sizeof *s + (as.more ? sizeof *as.more : 0));
    if (!s)
        return false;
    fill(s, a, as, r->tid);
    publish(r, sizeof *s + s->extra);
    return true;
}

bool ring_put(struct ring *r, struct pool *p, const struct activity *a, struct emit_as as)
{
    define(r, a, as.more);
    bool ok = a->transient ? put_transient(r, p, a, as) : put_static(r, p, a, as);
    if (!ok)
        count_lost(r, p);
    return ok;
}

const struct slot *ring_next(struct ring *r)
{
    if (!r->read)
        r->read = r->oldest = atomic_load_explicit(&r->first, memory_order_acquire);
    while (r->read) {
        struct chunk *next = atomic_load_explicit(&r->read->next, memory_order_acquire);
        uint32_t used = atomic_load_explicit(&r->read->used, memory_order_acquire);
        if (r->read_at < used) {
            const struct slot *s = (const struct slot *)(r->read->data + r->read_at);
            r->read_at += (uint32_t)sizeof *s + s->extra;
            return s;
        }
        if (!next)
            return NULL;
        r->read = next;
        r->read_at = 0;
    }
    return NULL;
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
    struct chunk *c = r->oldest ? r->oldest : atomic_load(&r->first);
    for (struct chunk *next; c; c = next) {
        next = atomic_load(&c->next);
        pool_give(p, c);
    }
    r->read = r->oldest = r->write = NULL;
    r->read_at = r->at = 0;
    r->total = 0;
    atomic_store(&r->first, NULL);
}
