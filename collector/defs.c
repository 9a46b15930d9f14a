/* defs.c - see defs.h. A definition is whole before it counts; what there was no room for is defined at its next use. */
#include "collector/defs.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_KNOWN = 1024, LONGEST = 16384 }; /* a longer text is cut in its definition: only a recovered trace would show it */

void defs_init(struct defs *d, struct pool *p)
{
    *d = (struct defs){.lock = PTHREAD_MUTEX_INITIALIZER, .pool = p};
}

void defs_free(struct defs *d)
{
    for (struct known *k = atomic_load(&d->known), *older; k; k = older) {
        older = k->older;
        free(k);
    }
    atomic_store(&d->known, NULL);
}

/* Where the address stands, or belongs. */
static size_t place(struct known *k, uint64_t key)
{
    size_t i = (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & (k->cap - 1);
    for (uint64_t v; (v = atomic_load_explicit(&k->v[i], memory_order_acquire)) && v != key;)
        i = (i + 1) & (k->cap - 1);
    return i;
}

static bool is_known(struct defs *d, uint64_t key)
{
    struct known *k = atomic_load_explicit(&d->known, memory_order_acquire);
    return k && atomic_load_explicit(&k->v[place(k, key)], memory_order_acquire) == key;
}

/* A table with room for one more; NULL: no memory, so that everything stays unknown and is defined again and again. */
static struct known *room_to_know(struct defs *d)
{
    struct known *k = atomic_load(&d->known);
    if (k && (k->n + 1) * 2 <= k->cap)
        return k;
    size_t cap = k ? k->cap * 2 : FIRST_KNOWN;
    struct known *larger = calloc(1, sizeof *larger + cap * sizeof larger->v[0]);
    if (!larger)
        return NULL;
    *larger = (struct known){.older = k, .n = k ? k->n : 0, .cap = cap};
    for (size_t i = 0; k && i < k->cap; i++)
        if (k->v[i])
            atomic_store(&larger->v[place(larger, k->v[i])], k->v[i]);
    atomic_store_explicit(&d->known, larger, memory_order_release);
    return larger;
}

static char *copy_text(char *to, const char *s)
{
    size_t n = s ? strnlen(s, LONGEST) : 0;
    memcpy(to, s ? s : "", n);
    to[n] = '\0';
    return to + n + 1;
}

static bool put(struct defs *d, struct def def, struct def_tail t)
{
    size_t n = t.n;
    for (int i = 0; i < 2; i++)
        n += t.text[i] ? strnlen(t.text[i], LONGEST) + 1 : 1;
    def.bytes = (uint32_t)((sizeof def + n + 7) / 8 * 8);
    if (def.bytes > CHUNK_ROOM || ((!d->out.write || d->out.at + def.bytes > CHUNK_ROOM) && !chunks_more(&d->out, d->pool, RING_DEFINITIONS)))
        return false;
    char *to = d->out.write->data + d->out.at;
    memcpy(to, &def, sizeof def);
    to += sizeof def;
    if (t.n)
        memcpy(to, t.bytes, t.n);
    copy_text(copy_text(to + t.n, t.text[0]), t.text[1]);
    d->out.at += def.bytes;
    atomic_store_explicit(&d->out.write->used, d->out.at, memory_order_release);
    return true;
}

bool defs_put(struct defs *d, enum def_kind kind, uint64_t key, int64_t a, int64_t b, struct def_tail tail)
{
    pthread_mutex_lock(&d->lock);
    bool ok = put(d, (struct def){.kind = kind, .key = key, .a = a, .b = b}, tail);
    pthread_mutex_unlock(&d->lock);
    return ok;
}

/* An address that stands for texts which never change. */
static void put_address(struct defs *d, enum def_kind kind, const void *p, int64_t a, struct def_tail tail)
{
    uint64_t key = (uintptr_t)p;
    if (is_known(d, key))
        return;
    pthread_mutex_lock(&d->lock);
    struct known *k = room_to_know(d);
    if (k && !is_known(d, key) && put(d, (struct def){.kind = kind, .key = key, .a = a}, tail)) {
        atomic_store_explicit(&k->v[place(k, key)], key, memory_order_release);
        k->n++;
    }
    pthread_mutex_unlock(&d->lock);
}

void defs_text(struct defs *d, const char *s)
{
    if (s)
        put_address(d, DEF_TEXT, s, 0, (struct def_tail){.text = {s}});
}

void defs_site(struct defs *d, const struct site *s)
{
    if (s)
        put_address(d, DEF_SITE, s, s->line, (struct def_tail){.text = {s->function, s->file}});
}

const struct def *defs_next(const struct defs *d, struct defs_cursor *at)
{
    if (!at->chunk)
        at->chunk = atomic_load_explicit(&d->out.first, memory_order_acquire);
    while (at->chunk) {
        const struct chunk *next = atomic_load_explicit(&at->chunk->next, memory_order_acquire);
        if (at->at < atomic_load_explicit(&at->chunk->used, memory_order_acquire)) {
            const struct def *def = (const struct def *)(at->chunk->data + at->at);
            at->at += def->bytes;
            return def;
        }
        if (!next)
            return NULL;
        *at = (struct defs_cursor){next, 0};
    }
    return NULL;
}
