/* tracedata.c - a trace in memory. */
#include "schemas/tracedata.h"

#define XXH_INLINE_ALL
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* One hash table for all four kinds of keys: what a key is made of, and its id. */
struct keyslot {
    int64_t a, b, c;
    uint32_t type, id; /* id 0: free slot */
};

struct hashkeys {
    struct keyslot *slots;
    size_t nslots, used;
};

enum { KEY_PROCESS, KEY_THREAD, KEY_STREAM, KEY_SITE };

/* Numbers of rows by hash of their content; a number that is out of date is noticed by comparing. */
enum { RECENT = 256 };

struct recent {
    uint32_t kernel[RECENT], copy[RECENT];
};

static struct keyslot *key_slot(const struct hashkeys *h, uint32_t type, int64_t a, int64_t b, int64_t c)
{
    int64_t v[4] = {a, b, c, type};
    size_t i = XXH3_64bits(v, sizeof v) & (h->nslots - 1);
    for (;; i = (i + 1) & (h->nslots - 1)) {
        struct keyslot *s = &h->slots[i];
        if (!s->id || (s->type == type && s->a == a && s->b == b && s->c == c))
            return s;
    }
}

static void key_grow(struct hashkeys *h)
{
    struct hashkeys old = *h;
    size_t cap = 0;
    h->nslots = old.nslots ? old.nslots * 2 : 64;
    h->slots = array_grow(NULL, &cap, h->nslots, sizeof *h->slots);
    memset(h->slots, 0, h->nslots * sizeof *h->slots);
    for (size_t i = 0; i < old.nslots; i++)
        if (old.slots[i].id)
            *key_slot(h, old.slots[i].type, old.slots[i].a, old.slots[i].b, old.slots[i].c) = old.slots[i];
    free(old.slots);
}

/* The slot of a key, claimed under `id` when it is new (then *fresh). */
static uint32_t key_id(struct hashkeys *h, uint32_t type, int64_t a, int64_t b, int64_t c, size_t next, bool *fresh)
{
    if ((h->used + 1) * 2 > h->nslots)
        key_grow(h);
    struct keyslot *s = key_slot(h, type, a, b, c);
    *fresh = !s->id;
    if (*fresh) {
        *s = (struct keyslot){a, b, c, type, (uint32_t)next};
        h->used++;
    }
    return s->id;
}

void tracedata_init(struct tracedata *d)
{
    *d = (struct tracedata){0};
    intern_init(&d->strings);
    size_t cap = 0;
    d->index = array_grow(NULL, &cap, 1, sizeof *d->index);
    *d->index = (struct hashkeys){0};
    cap = 0;
    d->recent = array_grow(NULL, &cap, 1, sizeof *d->recent);
    *d->recent = (struct recent){0};
    ARRAY_PUSH(d->processes, d->nprocesses, d->processes_cap, ((struct processkey){.pid = -1, .rank = -1}));
    ARRAY_PUSH(d->threads, d->nthreads, d->threads_cap, ((struct threadkey){.tid = -1}));
    ARRAY_PUSH(d->streams, d->nstreams, d->streams_cap, ((struct streamkey){.device = -1, .native = -1}));
    ARRAY_PUSH(d->sites, d->nsites, d->sites_cap, (struct sitekey){0});
    ARRAY_PUSH(d->stacks, d->nstacks, d->stacks_cap, (struct stackkey){0});
}

void tracedata_free(struct tracedata *d)
{
    intern_free(&d->strings);
    if (d->index)
        free(d->index->slots);
    free(d->index);
    free(d->recent);
    void *arrays[] = {d->ev,      d->processes, d->threads, d->streams, d->sites,  d->stacks, d->frames, d->syncs,
                      d->kernels, d->comms,     d->copies,  d->ranges,  d->memory, d->clocks, d->loss,   d->meta};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    *d = (struct tracedata){0};
}

struct event event_none(enum ev_kind kind, int64_t start, int64_t end)
{
    return (struct event){.start = start, .end = end, .correlation = -1, .bytes = -1, .rank = -1, .device = -1, .kind = kind};
}

bool tracedata_event(struct tracedata *d, const struct event *ev, struct err *e)
{
    ARRAY_PUSH(d->ev, d->n, d->cap, *ev);
    return !d->spill || d->n < SPILL_EVENTS || d->spill(d, d->spill_ctx, e);
}

uint32_t tracedata_process(struct tracedata *d, int64_t pid, const char *host, int32_t rank)
{
    bool fresh;
    uint32_t h = intern_id(&d->strings, host);
    uint32_t id = key_id(d->index, KEY_PROCESS, pid, h, 0, d->nprocesses, &fresh);
    if (fresh)
        ARRAY_PUSH(d->processes, d->nprocesses, d->processes_cap, ((struct processkey){pid, h, 0, rank}));
    return id;
}

uint32_t tracedata_thread(struct tracedata *d, uint32_t process, int64_t tid, const char *name)
{
    bool fresh;
    uint32_t id = key_id(d->index, KEY_THREAD, process, tid, 0, d->nthreads, &fresh);
    if (fresh)
        ARRAY_PUSH(d->threads, d->nthreads, d->threads_cap, ((struct threadkey){.process = process, .tid = tid}));
    if (name && *name && !d->threads[id].name)
        d->threads[id].name = intern_id(&d->strings, name);
    return id;
}

uint32_t tracedata_stream(struct tracedata *d, uint32_t process, int32_t device, int64_t native)
{
    bool fresh;
    uint32_t id = key_id(d->index, KEY_STREAM, process, device, native, d->nstreams, &fresh);
    if (fresh)
        ARRAY_PUSH(d->streams, d->nstreams, d->streams_cap, ((struct streamkey){process, device, native}));
    return id;
}

uint32_t tracedata_site(struct tracedata *d, const char *function, const char *file, int32_t line)
{
    bool fresh;
    uint32_t fn = intern_id(&d->strings, function), f = intern_id(&d->strings, file);
    uint32_t id = key_id(d->index, KEY_SITE, fn, f, line, d->nsites, &fresh);
    if (fresh)
        ARRAY_PUSH(d->sites, d->nsites, d->sites_cap, ((struct sitekey){fn, f, line}));
    return id;
}

uint32_t tracedata_stack(struct tracedata *d, const uint32_t *sites, size_t n)
{
    struct stackkey s = {(uint32_t)d->nframes, (uint32_t)n};
    for (size_t i = 0; i < n; i++)
        ARRAY_PUSH(d->frames, d->nframes, d->frames_cap, sites[i]);
    ARRAY_PUSH(d->stacks, d->nstacks, d->stacks_cap, s);
    return (uint32_t)d->nstacks - 1;
}

uint32_t tracedata_sync_row(struct tracedata *d, struct ev_sync row)
{
    ARRAY_PUSH(d->syncs, d->nsyncs, d->syncs_cap, row);
    return (uint32_t)d->nsyncs;
}

/* Geometry lies together in front, without padding. */
static bool same_kernel(const struct ev_kernel *x, const struct ev_kernel *y)
{
    return memcmp(x, y, offsetof(struct ev_kernel, dynamic_shared)) == 0 && x->dynamic_shared == y->dynamic_shared && x->graph == y->graph &&
           x->graph_node == y->graph_node;
}

uint32_t tracedata_kernel_row(struct tracedata *d, struct ev_kernel row)
{
    uint64_t hash = XXH3_64bits(&row, offsetof(struct ev_kernel, dynamic_shared)) + (uint64_t)row.graph_node;
    uint32_t *id = &d->recent->kernel[hash % RECENT];
    if (*id && *id <= d->nkernels && same_kernel(&d->kernels[*id - 1], &row))
        return *id;
    ARRAY_PUSH(d->kernels, d->nkernels, d->kernels_cap, row);
    return *id = (uint32_t)d->nkernels;
}

uint32_t tracedata_comm_row(struct tracedata *d, struct ev_comm row)
{
    ARRAY_PUSH(d->comms, d->ncomms, d->comms_cap, row);
    return (uint32_t)d->ncomms;
}

uint32_t tracedata_copy_row(struct tracedata *d, struct ev_copy row)
{
    uint32_t *id = &d->recent->copy[XXH3_64bits(&row, sizeof row) % RECENT];
    if (*id && *id <= d->ncopies && memcmp(&d->copies[*id - 1], &row, sizeof row) == 0)
        return *id;
    ARRAY_PUSH(d->copies, d->ncopies, d->copies_cap, row);
    return *id = (uint32_t)d->ncopies;
}

uint32_t tracedata_range_row(struct tracedata *d, struct ev_range row)
{
    ARRAY_PUSH(d->ranges, d->nranges, d->ranges_cap, row);
    return (uint32_t)d->nranges;
}

const struct ev_sync *ev_sync_of(const struct tracedata *d, const struct event *ev)
{
    bool has = ev->detail && (ev->kind == EV_RUNTIME || ev->kind == EV_SYNC);
    return has ? &d->syncs[ev->detail - 1] : NULL;
}

const struct ev_kernel *ev_kernel_of(const struct tracedata *d, const struct event *ev)
{
    return ev->detail && ev->kind == EV_KERNEL ? &d->kernels[ev->detail - 1] : NULL;
}

const struct ev_comm *ev_comm_of(const struct tracedata *d, const struct event *ev)
{
    return ev->detail && ev->kind == EV_COMM ? &d->comms[ev->detail - 1] : NULL;
}

const struct ev_copy *ev_copy_of(const struct tracedata *d, const struct event *ev)
{
    bool has = ev->detail && (ev->kind == EV_MEMCPY || ev->kind == EV_MEMSET);
    return has ? &d->copies[ev->detail - 1] : NULL;
}

const struct ev_range *ev_range_of(const struct tracedata *d, const struct event *ev)
{
    return ev->detail && ev->kind == EV_RANGE ? &d->ranges[ev->detail - 1] : NULL;
}

void tracedata_meta(struct tracedata *d, const char *key, const char *value)
{
    uint32_t k = intern_id(&d->strings, key), v = intern_id(&d->strings, value);
    for (size_t i = 0; i < d->nmeta; i++)
        if (d->meta[i].key == k) {
            d->meta[i].value = v;
            return;
        }
    ARRAY_PUSH(d->meta, d->nmeta, d->meta_cap, ((struct meta_row){k, v}));
}

void tracedata_metaf(struct tracedata *d, const char *key, const char *fmt, ...)
{
    char buf[4096];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    tracedata_meta(d, key, buf);
}

const char *tracedata_meta_get(const struct tracedata *d, const char *key)
{
    uint32_t k = intern_find(&d->strings, key);
    for (size_t i = 0; i < d->nmeta; i++)
        if (d->meta[i].key == k)
            return intern_str(&d->strings, d->meta[i].value);
    return NULL;
}

void tracedata_loss(struct tracedata *d, const char *reason, int64_t count, int64_t start, int64_t end)
{
    struct loss_row row = {intern_id(&d->strings, reason), count, start, end};
    ARRAY_PUSH(d->loss, d->nloss, d->loss_cap, row);
}
