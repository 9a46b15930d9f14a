/* recover.c - see recover.h.
 *
 *   definitions -> table -.
 *   ring 2, behind its mark -> slots, their addresses looked up -> feed -> append, with the new marks -.
 *   ring 3 ...                                                                                         '-> unlink
 *
 * A kill in the middle of this does no harm: the marks say what is in the trace. What the file says of sizes is checked, for
 * the machine may have gone down while it was being written.
 */
#include "schemas/recover.h"
#include "schemas/feed.h"
#include "schemas/tracefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BATCH = 8192 };

struct known_site {
    const struct def *def;
    struct site *site; /* in the arena */
};

struct merge {
    const struct ring_head *head;
    struct tracedata d;
    struct tracefile *file;
    struct deftable defs;
    struct feed feed;
    struct ring_mark *marks;
    size_t nmarks;
    const struct chunk **chunks; /* by ring and place in it */
    size_t nchunks;
    struct known_site *sites;
    size_t nsites, sites_cap;
    struct arena arena;
    bool gap; /* pieces of a ring are not in the file */
};

/* ---- chunks and definitions ---- */

static int by_place(const void *x, const void *y)
{
    const struct chunk *a = *(const struct chunk *const *)x, *b = *(const struct chunk *const *)y;
    if (a->ring != b->ring)
        return a->ring < b->ring ? -1 : 1;
    return a->base < b->base ? -1 : a->base > b->base;
}

static void find_chunks(struct merge *m, size_t size)
{
    size_t cap = 0;
    for (size_t at = CHUNK_BYTES; at + CHUNK_BYTES <= size; at += CHUNK_BYTES) {
        const struct chunk *c = (const struct chunk *)((const char *)m->head + at);
        if (c->ring != RING_FREE_CHUNK && c->used && c->used <= CHUNK_ROOM && c->base >= 0)
            ARRAY_PUSH(m->chunks, m->nchunks, cap, c);
    }
    if (m->nchunks)
        qsort(m->chunks, m->nchunks, sizeof *m->chunks, by_place);
}

/* Two texts end within the definition. */
static bool def_whole(const struct def *def, size_t room)
{
    if (room < sizeof *def || def->bytes < sizeof *def || def->bytes > room || def->bytes % 8)
        return false;
    const char *s = (const char *)(def + 1), *end = (const char *)def + def->bytes;
    if (def->kind == DEF_STACK)
        return def->a >= 0 && def->a <= STACK_DEEPEST && (size_t)def->a * sizeof(uint32_t) <= (size_t)(end - s);
    const char *second = memchr(s, '\0', (size_t)(end - s));
    return second && memchr(second + 1, '\0', (size_t)(end - second - 1));
}

static void read_definitions(struct merge *m)
{
    for (size_t i = 0; i < m->nchunks && m->chunks[i]->ring == RING_DEFINITIONS; i++) {
        const struct chunk *c = m->chunks[i];
        const struct def *def;
        for (uint32_t at = 0; at < c->used; at += def->bytes) {
            def = (const struct def *)(c->data + at);
            if (!def_whole(def, c->used - at))
                break;
            if (def->kind == DEF_META)
                tracedata_meta(&m->d, def_text(def, 0), def_text(def, 1));
            else if (def->kind == DEF_DEGRADED)
                tracedata_meta(&m->d, "degraded", def_text(def, 0)); /* all of them, each time one is added */
            else
                deftable_add(&m->defs, def);
        }
    }
}

/* ---- slots ---- */

static const char *text_at(const struct merge *m, const char *address)
{
    const struct def *def = address ? deftable_find(&m->defs, DEF_TEXT, (uintptr_t)address) : NULL;
    return def ? def_text(def, 0) : NULL;
}

/* The same pointer for the same site: the feed looks at nothing else. */
static const struct site *site_at(struct merge *m, const struct site *address)
{
    const struct def *def = address ? deftable_find(&m->defs, DEF_SITE, (uintptr_t)address) : NULL;
    for (size_t i = m->nsites; def && i > 0; i--)
        if (m->sites[i - 1].def == def)
            return m->sites[i - 1].site;
    if (!def)
        return NULL;
    struct known_site k = {def, arena_array(&m->arena, struct site, 1)};
    *k.site = (struct site){def_text(def, 0), def_text(def, 1), (int)def->a};
    ARRAY_PUSH(m->sites, m->nsites, m->sites_cap, k);
    return k.site;
}

/* What the addresses of a dead process stood for. Texts behind the event are what they are. */
static void revive(struct merge *m, struct slot *s)
{
    static const char lost[] = "(a text of more than 32 KB, lost with its process)";
    if (s->more && s->kind == EV_COMM)
        s->beyond.comm.dtype = text_at(m, s->beyond.comm.dtype);
    if (s->heap)
        s->name = s->text = lost;
    else if (!s->transient) {
        s->name = text_at(m, s->name);
        s->text = text_at(m, s->text);
    }
    s->heap = false;
    s->group = text_at(m, s->group);
    s->function = text_at(m, s->function);
    s->site = site_at(m, s->site);
}

/* Differences of any two times of a trace must fit. */
static bool is_time(const struct merge *m, int64_t t)
{
    return t > m->d.t0 - (INT64_C(1) << 60) && t < m->d.t0 + (INT64_C(1) << 60);
}

static bool has_times(const struct merge *m, const struct slot *s)
{
    return is_time(m, s->start) && (s->what != ACT_EVENT || is_time(m, s->end));
}

static uint32_t thread_of(struct merge *m, int32_t tid)
{
    const struct def *def = deftable_find(&m->defs, DEF_THREAD, (uint64_t)tid);
    return tracedata_thread(&m->d, m->feed.process, tid, def ? def_text(def, 0) : NULL);
}

static bool append(struct merge *m, struct ring_mark mark, struct err *e)
{
    tracefile_marks(m->file, &mark, 1);
    return tracefile_append(&m->d, m->file, e);
}

static int64_t mark_of(const struct merge *m, uint32_t ring)
{
    for (size_t i = 0; i < m->nmarks; i++)
        if (m->marks[i].ring == ring)
            return m->marks[i].read;
    return 0;
}

/* The events of one chunk from byte `read` of its ring on; *read is where they end. */
static bool merge_chunk(struct merge *m, const struct chunk *c, int64_t *read, struct err *e)
{
    struct slot s;
    bool ok = true;
    for (uint32_t at = *read > c->base ? (uint32_t)(*read - c->base) : 0; at < c->used && ok;) {
        size_t bytes = at % 8 ? 0 : packed_get(c->data + at, c->used - at, &s);
        if (!bytes || !has_times(m, &s)) {
            m->gap = true;
            return true;
        }
        revive(m, &s);
        feed_slot(&m->feed, &s, thread_of(m, s.tid));
        at += (uint32_t)bytes;
        *read = c->base + at;
        if (m->d.n >= BATCH)
            ok = append(m, (struct ring_mark){c->ring, *read}, e);
    }
    return ok;
}

static bool merge_rings(struct merge *m, struct err *e)
{
    bool ok = true;
    for (size_t i = 0, end; i < m->nchunks && ok; i = end) {
        uint32_t ring = m->chunks[i]->ring;
        int64_t read = mark_of(m, ring);
        for (end = i; end < m->nchunks && m->chunks[end]->ring == ring && ok; end++) {
            const struct chunk *c = m->chunks[end];
            if (ring < RING_FIRST || c->base + c->used <= read)
                continue;
            m->gap |= c->base > read;
            ok = merge_chunk(m, c, &read, e);
        }
        ok = ok && (ring < RING_FIRST || append(m, (struct ring_mark){ring, read}, e));
    }
    return ok;
}

/* ---- the whole ---- */

static uint32_t process_of(struct tracedata *d, const struct ring_head *h)
{
    for (uint32_t i = 1; i < d->nprocesses; i++)
        if (d->processes[i].pid == h->pid && strcmp(intern_str(&d->strings, d->processes[i].host), h->host) == 0)
            return i;
    return tracedata_process(d, h->pid, h->host, h->rank);
}

/* What the program's end has cost, so that nobody has to ask. */
static void count_losses(struct merge *m)
{
    struct tracedata *d = &m->d;
    uint32_t reason = intern_id(&d->strings, RINGFILE_DROPPED);
    int64_t lost = m->head->lost;
    const char *backend = tracedata_meta_get(d, "backend");
    for (size_t i = 0; i < d->nloss; i++)
        if (d->loss[i].reason == reason)
            lost -= d->loss[i].count;
    if (lost > 0)
        tracedata_loss(d, RINGFILE_DROPPED, lost, INT64_MIN, INT64_MIN);
    if (m->gap)
        tracedata_loss(d, "the program was cut off: events that waited in plain memory, or in a part of its ring that is gone, are missing", -1,
                       INT64_MIN, INT64_MIN);
    if (backend && strcmp(backend, "cuda") == 0)
        tracedata_loss(d, "the program was cut off: what the device had not handed over yet is missing", -1, INT64_MIN, INT64_MIN);
}

/* Is it the recording in the trace file? One that was finished, or replaced by another, has no use for it. */
static bool belongs(struct merge *m)
{
    const char *epoch = tracedata_meta_get(&m->d, "utc_epoch_ns"), *clean = tracedata_meta_get(&m->d, "clean_end");
    return (!epoch || strtoll(epoch, NULL, 10) == m->head->realtime[1]) && (!clean || strcmp(clean, "1") != 0);
}

static bool merge_into(struct merge *m, const char *path, bool *done, struct err *e)
{
    m->file = tracefile_continue(path, &m->d, &m->marks, &m->nmarks, e);
    if (!m->file)
        return false;
    *done = belongs(m);
    if (!*done) {
        tracefile_close(m->file);
        return true;
    }
    bool facts = tracedata_meta_get(&m->d, "utc_epoch_ns") != NULL;
    read_definitions(m);
    if (!facts)
        ringfile_facts(m->head, &m->d);
    const char *backend = tracedata_meta_get(&m->d, "backend");
    if (!facts) /* a simulator's time starts at 0 */
        m->d.t0 = backend && strcmp(backend, "sim") == 0 ? 0 : m->head->t0;
    feed_init(&m->feed, &m->d, process_of(&m->d, m->head), m->head->rank);
    m->feed.defs = &m->defs;
    bool ok = merge_rings(m, e);
    count_losses(m);
    if (ok)
        return tracefile_leave(m->file, &m->d, e);
    tracefile_close(m->file);
    return false;
}

static bool merge_mapped(const struct ring_head *h, size_t size, const char *path, bool *done, struct err *e)
{
    struct merge m = {.head = h, .gap = size % CHUNK_BYTES != 0}; /* the file was cut */
    if (h->layout != RINGFILE_LAYOUT || h->slot_bytes != sizeof(struct packed))
        return fail(e, ERR_FAIL, "%s" RINGFILE_SUFFIX ": of cpscope %.23s, which must finish it", path, h->release);
    tracedata_init(&m.d);
    find_chunks(&m, size);
    bool ok = merge_into(&m, path, done, e);
    feed_free(&m.feed);
    deftable_free(&m.defs);
    tracedata_free(&m.d);
    arena_free(&m.arena);
    free(m.marks);
    free(m.chunks);
    free(m.sites);
    return ok;
}

/* Opened and locked; -1 without *e: somebody else has done it meanwhile. */
static int lock_ring(const char *ring, struct stat *st, struct err *e)
{
    struct stat now;
    int fd = open(ring, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT)
        fail(e, ERR_FAIL, "%s: cannot open: %s", ring, strerror(errno));
    if (fd < 0)
        return -1;
    bool ok = flock(fd, LOCK_EX) == 0 && fstat(fd, st) == 0 && stat(ring, &now) == 0 && now.st_ino == st->st_ino;
    if (!ok)
        close(fd);
    return ok ? fd : -1;
}

/* A process that was killed while it made the trace file has left what was to become it. */
static void remove_beginnings(const char *path, int64_t pid)
{
    char name[4200];
    int n = snprintf(name, sizeof name, "%s.new-%lld", path, (long long)pid);
    if (n > 0 && (size_t)n < sizeof name)
        unlink(name);
}

/* The whole file; of one that was cut within its head, what there is, and zeros. NULL: it cannot be read. */
static struct ring_head *map_ring(int fd, size_t size)
{
    bool large = size >= CHUNK_BYTES;
    void *map = mmap(NULL, large ? size : CHUNK_BYTES, PROT_READ | PROT_WRITE, large ? MAP_PRIVATE : MAP_PRIVATE | MAP_ANONYMOUS, large ? fd : -1, 0);
    struct ring_head *h = map == MAP_FAILED ? NULL : map;
    if (h && !large && pread(fd, h, size, 0) != (ssize_t)size)
        h->magic[0] = '\0';
    if (h) /* texts end, whatever happened to the file */
        h->boot[sizeof h->boot - 1] = h->release[sizeof h->release - 1] = h->host[sizeof h->host - 1] = h->command[sizeof h->command - 1] = '\0';
    return h;
}

bool recover_merge(const char *path, bool *done, struct err *e)
{
    char ring[4200];
    struct stat st;
    *done = false;
    if (!ringfile_path(path, ring, sizeof ring))
        return fail(e, ERR_FAIL, "%s: the file name is too long", path);
    int fd = lock_ring(ring, &st, e);
    if (fd < 0)
        return e->kind == ERR_NONE;
    size_t size = (size_t)st.st_size;
    struct ring_head *h = map_ring(fd, size);
    bool ok =
        h && memcmp(h->magic, RINGFILE_MAGIC, sizeof h->magic) == 0 ? merge_mapped(h, size, path, done, e) : fail(e, ERR_FAIL, "%s: damaged", ring);
    if (ok)
        remove_beginnings(path, h->pid);
    if (h)
        munmap(h, size < CHUNK_BYTES ? CHUNK_BYTES : size);
    if (ok && unlink(ring) != 0)
        ok = fail(e, ERR_FAIL, "%s: cannot be removed: %s", ring, strerror(errno));
    close(fd);
    return ok;
}
