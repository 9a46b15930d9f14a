/* ring.c - `used` of a chunk is published after the bytes, `next` after the last `used`: the reader follows in that order. */
#include "collector/ring.h"

#include <stdlib.h>
#include <string.h>

enum { STRINGS_IN_CHUNK = 4096 }; /* longer ones go to the heap: rare */

static void count_lost(struct ring *r)
{
    atomic_store_explicit(&r->lost, atomic_load_explicit(&r->lost, memory_order_relaxed) + 1, memory_order_relaxed);
}

static bool new_chunk(struct ring *r, struct pool *p)
{
    struct chunk *c = pool_take(p);
    if (!c)
        return false;
    atomic_store_explicit(&c->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&c->used, 0, memory_order_relaxed);
    if (r->write)
        atomic_store_explicit(&r->write->next, c, memory_order_release);
    else
        atomic_store_explicit(&r->first, c, memory_order_release);
    r->write = c;
    r->at = 0;
    return true;
}

static void fill(struct slot *s, const struct activity *a, int32_t tid, uint8_t flavour)
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
                       .tid = tid,
                       .what = a->what,
                       .kind = a->kind,
                       .sync_class = a->sync_class,
                       .copy_kind = a->copy_kind,
                       .flavour = flavour,
                       .did_block = a->did_block,
                       .transient = a->transient};
}

/* Moves name and text of a transient event to `to`, which has room for both. */
static void copy_strings(struct slot *s, char *to, size_t name, size_t text)
{
    s->name = s->name ? memcpy(to, s->name, name) : NULL;
    s->text = s->text ? memcpy(to + name, s->text, text) : NULL;
}

bool ring_put(struct ring *r, struct pool *p, const struct activity *a, int32_t tid, uint8_t flavour)
{
    size_t name = 0, text = 0, extra = 0;
    char *heap = NULL;
    if (a->transient) {
        name = a->name ? strlen(a->name) + 1 : 0;
        text = a->text ? strlen(a->text) + 1 : 0;
        extra = (name + text + 7) / 8 * 8;
        if (extra > STRINGS_IN_CHUNK) {
            extra = 0;
            heap = malloc(name + text);
        }
    }
    size_t need = sizeof(struct slot) + extra;
    bool room = r->write && r->at + need <= CHUNK_ROOM;
    if ((a->transient && !extra && !heap && name + text) || (!room && !new_chunk(r, p))) {
        free(heap);
        count_lost(r);
        return false;
    }
    struct slot *s = (struct slot *)(r->write->data + r->at);
    fill(s, a, tid, flavour);
    if (a->transient)
        copy_strings(s, heap ? heap : (char *)(s + 1), name, text);
    s->heap = heap != NULL;
    s->extra = (uint32_t)extra;
    r->at += (uint32_t)need;
    atomic_store_explicit(&r->write->used, r->at, memory_order_release);
    return true;
}

const struct slot *ring_next(struct ring *r, struct pool *p)
{
    if (!r->read)
        r->read = atomic_load_explicit(&r->first, memory_order_acquire);
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
        pool_give(p, r->read);
        r->read = next;
        r->read_at = 0;
    }
    return NULL;
}

void ring_drop(struct ring *r, struct pool *p)
{
    struct chunk *c = r->read ? r->read : atomic_load(&r->first);
    for (struct chunk *next; c; c = next) {
        next = atomic_load(&c->next);
        pool_give(p, c);
    }
    r->read = r->write = NULL;
    r->read_at = r->at = 0;
    atomic_store(&r->first, NULL);
}
