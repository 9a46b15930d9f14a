/* packed.c - written without branches: each field is stored, and the next one goes over it when it was not there. Only what most
 * ranges are, a name and nothing more, goes a short way of its own. */
#include "schemas/packed.h"

#include <string.h>

enum { WORDS = (1 << HAVE_RANK) - 1, ADDRESSES = 1 << HAVE_NAME | 1 << HAVE_TEXT };

/* What of a union emit_more an event of its kind has. */
static const uint8_t more_bytes[EV_NKINDS] = {
    [EV_KERNEL] = sizeof(struct ev_kernel), [EV_MEMCPY] = sizeof(struct ev_copy),  [EV_MEMSET] = sizeof(struct ev_copy),
    [EV_SYNC] = sizeof(struct ev_sync),     [EV_RUNTIME] = sizeof(struct ev_sync), [EV_COMM] = sizeof(((union emit_more *)0)->comm),
};

static size_t more_of(int kind)
{
    return kind < EV_NKINDS ? more_bytes[kind] : 0;
}

/* ---- writing ---- */

struct cursor {
    char *at;
    unsigned have;
};

static inline void put(struct cursor *c, enum packed_have bit, const void *v, bool there)
{
    size_t n = bit < HAVE_RANK ? sizeof(int64_t) : sizeof(int32_t); /* known where this is inlined */
    memcpy(c->at, v, n);
    c->at += there ? n : 0;
    c->have |= (unsigned)there << bit;
}

static inline void put_addresses(struct cursor *c, const struct activity *a)
{
    put(c, HAVE_GROUP, &a->group, a->group != NULL);
    put(c, HAVE_FUNCTION, &a->function, a->function != NULL);
    put(c, HAVE_SITE, &a->site, a->site != NULL);
}

static inline void put_words(struct cursor *c, const struct activity *a)
{
    put(c, HAVE_CORRELATION, &a->correlation, a->correlation != -1);
    put(c, HAVE_BYTES, &a->bytes, a->bytes != -1);
    put(c, HAVE_SEQUENCE, &a->sequence, a->sequence != -1);
}

static inline void put_halves(struct cursor *c, const struct activity *a)
{
    put(c, HAVE_RANK, &a->rank, a->rank != -1);
    put(c, HAVE_DEVICE, &a->device, a->device != -1);
    put(c, HAVE_STREAM, &a->stream, a->stream != -1);
    put(c, HAVE_PEER, &a->peer, a->peer != -1);
    put(c, HAVE_GROUP_SIZE, &a->group_size, a->group_size != -1);
}

/* Name and text as addresses; of texts that go behind the event only the bits. */
static inline void put_names(struct cursor *c, const char *name, const char *text, bool behind)
{
    put(c, HAVE_NAME, &name, name != NULL);
    put(c, HAVE_TEXT, &text, text != NULL);
    c->at -= behind ? sizeof name * ((name != NULL) + (text != NULL)) : 0;
}

static char *put_text(char *to, const char *s)
{
    size_t n = s ? strlen(s) + 1 : 0;
    memcpy(to, s ? s : "", n);
    return to + n;
}

/* Zeros up to the next multiple of 8; there is room for one more word. */
static char *aligned(char *start, char *at)
{
    memset(at, 0, sizeof(int64_t));
    return at + (-(size_t)(at - start) & 7);
}

/* The texts of a transient event where they were copied to. */
static void names_of(const struct activity *a, const char *heap, const char **name, const char **text)
{
    *name = a->name;
    *text = a->text;
    if (heap && a->name)
        *name = heap;
    if (heap && a->text)
        *text = a->name ? heap + strlen(heap) + 1 : heap;
}

static unsigned flags_of(const struct activity *a, const struct emit_as *as, const char *heap)
{
    return (a->transient ? PACKED_TRANSIENT : 0) | (heap ? PACKED_HEAP : 0) | (as->more ? PACKED_MORE : 0);
}

static char *put_more(char *to, const struct activity *a, const union emit_more *more)
{
    size_t n = more ? more_of(a->kind) : 0;
    if (n)
        memcpy(to, more, n);
    return to + n;
}

/* Field by field: a whole struct would be put together on the stack, and reading it back there at once costs more than all else. */
static inline size_t put_head(struct packed *h, const struct activity *a, const struct emit_as *as, int32_t tid, struct cursor c, unsigned flags)
{
    size_t n = (size_t)(c.at - (char *)h);
    h->bytes = (uint16_t)n;
    h->have = (uint16_t)c.have;
    h->what = a->what;
    h->kind = a->kind;
    h->sync_class = a->sync_class;
    h->copy_kind = a->copy_kind;
    h->flavour = (uint8_t)as->flavour;
    h->flags = (uint8_t)flags;
    h->did_block = a->did_block;
    h->pad = 0;
    h->tid = tid;
    h->start = a->start;
    h->end = a->end;
    return n;
}

/* Of what is -1 when it is absent, often nothing is there. */
static inline bool has_words(const struct activity *a)
{
    return (a->correlation & a->bytes & a->sequence) != -1;
}

static inline bool has_halves(const struct activity *a)
{
    return (a->rank & a->device & a->stream & a->peer & a->group_size) != -1;
}

/* Is there no more of it than a name, and maybe a group? */
static inline bool is_plain(const struct activity *a, const struct emit_as *as)
{
    uintptr_t addresses = (uintptr_t)a->text | (uintptr_t)a->function | (uintptr_t)a->site | (uintptr_t)as->more;
    return !(addresses | as->stack | a->transient);
}

static size_t put_plain(struct packed *h, const struct activity *a, const struct emit_as *as, int32_t tid)
{
    struct cursor c = {(char *)(h + 1), 0};
    put(&c, HAVE_NAME, &a->name, a->name != NULL);
    put(&c, HAVE_GROUP, &a->group, a->group != NULL);
    return put_head(h, a, as, tid, c, 0);
}

__attribute__((noinline)) static size_t put_all(struct packed *h, const struct activity *a, const struct emit_as *as, int32_t tid, const char *heap)
{
    struct cursor c = {(char *)(h + 1), 0};
    bool behind = a->transient && !heap;
    const char *name, *text;
    names_of(a, heap, &name, &text);
    put_names(&c, name, text, behind);
    put_addresses(&c, a);
    if (has_words(a))
        put_words(&c, a);
    if (has_halves(a))
        put_halves(&c, a);
    put(&c, HAVE_STACK, &as->stack, as->stack != 0);
    c.at = put_more(aligned((char *)h, c.at), a, as->more);
    if (behind)
        c.at = put_text(put_text(c.at, a->name), a->text);
    c.at = aligned((char *)h, c.at);
    return put_head(h, a, as, tid, c, flags_of(a, as, heap));
}

size_t packed_put(void *to, const struct activity *a, const struct emit_as *as, int32_t tid, const char *heap)
{
    bool plain = !has_words(a) && !has_halves(a) && is_plain(a, as);
    return plain ? put_plain(to, a, as, tid) : put_all(to, a, as, tid, heap);
}

/* ---- reading ---- */

/* A field that is there; *at goes behind it. */
static void get(const char **at, unsigned have, enum packed_have bit, void *v)
{
    size_t n = bit < HAVE_RANK ? sizeof(int64_t) : sizeof(int32_t);
    if (have >> bit & 1) {
        memcpy(v, *at, n);
        *at += n;
    }
}

static const char *get_fields(const char *at, unsigned words, struct slot *s)
{
    get(&at, words, HAVE_NAME, &s->name);
    get(&at, words, HAVE_TEXT, &s->text);
    get(&at, words, HAVE_GROUP, &s->group);
    get(&at, words, HAVE_FUNCTION, &s->function);
    get(&at, words, HAVE_SITE, &s->site);
    get(&at, words, HAVE_CORRELATION, &s->correlation);
    get(&at, words, HAVE_BYTES, &s->bytes);
    get(&at, words, HAVE_SEQUENCE, &s->sequence);
    get(&at, words, HAVE_RANK, &s->rank);
    get(&at, words, HAVE_DEVICE, &s->device);
    get(&at, words, HAVE_STREAM, &s->stream);
    get(&at, words, HAVE_PEER, &s->peer);
    get(&at, words, HAVE_GROUP_SIZE, &s->group_size);
    get(&at, words, HAVE_STACK, &s->stack);
    return at;
}

/* A text behind an event, if there is one; *at goes behind it. false: it has no end. */
static bool get_text(const char **at, const char *end, bool there, const char **out)
{
    const char *stop = there ? memchr(*at, '\0', (size_t)(end - *at)) : NULL;
    *out = stop ? *at : NULL;
    *at = stop ? stop + 1 : *at;
    return !there || stop;
}

static size_t round_up(size_t n)
{
    return (n + 7) / 8 * 8;
}

/* Which fields stand in the event. */
static unsigned fields_of(const struct packed *h)
{
    bool behind = (h->flags & (PACKED_TRANSIENT | PACKED_HEAP)) == PACKED_TRANSIENT;
    return behind ? h->have & ~(unsigned)ADDRESSES : h->have;
}

static struct slot slot_of(const struct packed *h)
{
    return (struct slot){.start = h->start,
                         .end = h->end,
                         .correlation = -1,
                         .bytes = -1,
                         .sequence = -1,
                         .rank = -1,
                         .device = -1,
                         .stream = -1,
                         .peer = -1,
                         .group_size = -1,
                         .tid = h->tid,
                         .what = h->what,
                         .kind = h->kind,
                         .sync_class = h->sync_class,
                         .copy_kind = h->copy_kind,
                         .flavour = h->flavour,
                         .did_block = h->did_block,
                         .transient = h->flags & PACKED_TRANSIENT,
                         .heap = h->flags & PACKED_HEAP,
                         .more = h->flags & PACKED_MORE};
}

size_t packed_get(const void *p, size_t room, struct slot *out)
{
    const struct packed *h = p;
    if (room < sizeof *h || h->bytes > room || h->bytes % 8)
        return 0;
    unsigned fields = fields_of(h);
    size_t words = (size_t)__builtin_popcount(fields & WORDS), halves = (size_t)__builtin_popcount(fields & ~WORDS);
    size_t more = h->flags & PACKED_MORE ? more_of(h->kind) : 0, whole = round_up(sizeof *h + words * 8 + halves * 4) + more;
    if (h->have >> HAVE_COUNT || round_up(whole) > h->bytes)
        return 0;
    *out = slot_of(h);
    get_fields((const char *)(h + 1), fields, out);
    memcpy(&out->beyond, (const char *)p + whole - more, more);
    const char *at = (const char *)p + whole, *end = (const char *)p + h->bytes;
    bool behind = fields != h->have;
    if (behind && !(get_text(&at, end, h->have >> HAVE_NAME & 1, &out->name) && get_text(&at, end, h->have >> HAVE_TEXT & 1, &out->text)))
        return 0;
    return h->bytes;
}
