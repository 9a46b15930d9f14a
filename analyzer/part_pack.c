/* part_pack.c - a trace's arrays as packed bytes and back; events kind by kind, in the order of their rows within it. */
#include "analyzer/part_pack.h"

#include <stdlib.h>
#include <string.h>

enum { LEVEL = 6, KINDS = 32 }; /* of zstd; kinds that are told apart, later ones are put together */

static const struct field process_fields[] = {FIELD(processkey, pid), FIELD_NAME(processkey, host), FIELD_NAME(processkey, name),
                                              FIELD(processkey, rank), FIELDS_END};
static const struct field thread_fields[] = {FIELD(threadkey, process), FIELD_NAME(threadkey, name), FIELD(threadkey, tid), FIELDS_END};
static const struct field stream_fields[] = {FIELD(streamkey, process), FIELD(streamkey, device), FIELD(streamkey, native), FIELDS_END};
static const struct field site_fields[] = {FIELD_NAME(sitekey, function), FIELD_NAME(sitekey, file), FIELD(sitekey, line), FIELDS_END};
static const struct field sync_fields[] = {FIELD(ev_sync, class),      FIELD(ev_sync, did_block), FIELD(ev_sync, wait_stream),
                                           FIELD(ev_sync, wait_event), FIELD(ev_sync, stack),     FIELDS_END};
static const struct field stack_fields[] = {FIELD_DELTA(stackkey, first), FIELD(stackkey, depth), FIELDS_END};
static const struct field frame_fields[] = {{0, sizeof(uint32_t), false, false}, FIELDS_END};
static const struct field kernel_fields[] = {FIELD(ev_kernel, grid[0]),     FIELD(ev_kernel, grid[1]),          FIELD(ev_kernel, grid[2]),
                                             FIELD(ev_kernel, block[0]),    FIELD(ev_kernel, block[1]),         FIELD(ev_kernel, block[2]),
                                             FIELD(ev_kernel, registers),   FIELD(ev_kernel, static_shared),    FIELD(ev_kernel, dynamic_shared),
                                             FIELD_DELTA(ev_kernel, graph), FIELD_DELTA(ev_kernel, graph_node), FIELDS_END};
static const struct field comm_fields[] = {
    FIELD_NAME(ev_comm, communicator), FIELD_NAME(ev_comm, function),  FIELD_NAME(ev_comm, dtype),    FIELD(ev_comm, peer),
    FIELD(ev_comm, group_size),        FIELD_DELTA(ev_comm, sequence), FIELD(ev_comm, message_bytes), FIELDS_END};
static const struct field copy_fields[] = {FIELD(ev_copy, kind), FIELD(ev_copy, src), FIELD(ev_copy, dst), FIELDS_END};
static const struct field range_fields[] = {FIELD_NAME(ev_range, domain), FIELD(ev_range, flavour), FIELD_DELTA(ev_range, index), FIELDS_END};
static const struct field memory_fields[] = {FIELD_DELTA(memory_row, time), FIELD(memory_row, bytes),     FIELD(memory_row, rank),
                                             FIELD(memory_row, device),     FIELD_NAME(memory_row, what), FIELDS_END};
static const struct field clock_fields[] = {FIELD_NAME(clock_row, clock), FIELD_DELTA(clock_row, before), FIELD_DELTA(clock_row, other),
                                            FIELD_DELTA(clock_row, after), FIELDS_END};
static const struct field loss_fields[] = {FIELD_NAME(loss_row, reason), FIELD(loss_row, count), FIELD(loss_row, start), FIELD(loss_row, end),
                                           FIELDS_END};
static const struct field meta_fields[] = {FIELD_NAME(meta_row, key), FIELD_NAME(meta_row, value), FIELDS_END};
static const struct field kind_field[] = {FIELD(event, kind), FIELDS_END};
static const struct field event_fields[] = {FIELD_DELTA(event, start), FIELD(event, end),       FIELD_DELTA(event, correlation),
                                            FIELD(event, bytes),       FIELD_NAME(event, name), FIELD(event, site),
                                            FIELD(event, thread),      FIELD(event, stream),    FIELD_DELTA(event, detail),
                                            FIELD(event, rank),        FIELD(event, device),    FIELDS_END};

/* Every array of a tracedata but strings and events. */
static const struct array {
    size_t at, n, cap, size; /* offsets in struct tracedata; bytes of an element */
    const struct field *fields;
} arrays[] = {
#define ARRAY(name, type, fields)                                                                                                                    \
    {                                                                                                                                                \
        offsetof(struct tracedata, name), offsetof(struct tracedata, n##name), offsetof(struct tracedata, name##_cap), sizeof(type), fields          \
    }
    ARRAY(processes, struct processkey, process_fields), ARRAY(threads, struct threadkey, thread_fields),
    ARRAY(streams, struct streamkey, stream_fields),     ARRAY(sites, struct sitekey, site_fields),
    ARRAY(stacks, struct stackkey, stack_fields),        ARRAY(frames, uint32_t, frame_fields),
    ARRAY(syncs, struct ev_sync, sync_fields),           ARRAY(kernels, struct ev_kernel, kernel_fields),
    ARRAY(comms, struct ev_comm, comm_fields),           ARRAY(copies, struct ev_copy, copy_fields),
    ARRAY(ranges, struct ev_range, range_fields),        ARRAY(memory, struct memory_row, memory_fields),
    ARRAY(clocks, struct clock_row, clock_fields),       ARRAY(loss, struct loss_row, loss_fields),
    ARRAY(meta, struct meta_row, meta_fields),
};

/* Rows by kind, in order: at[first[k] ..] are those of kind k. */
static void by_kind(const struct event *ev, size_t n, uint32_t first[KINDS + 1], uint32_t *at)
{
    uint32_t next[KINDS];
    memset(first, 0, (KINDS + 1) * sizeof *first);
    for (size_t i = 0; i < n; i++)
        first[((uint32_t)ev[i].kind % KINDS) + 1]++;
    for (int k = 0; k < KINDS; k++) {
        first[k + 1] += first[k];
        next[k] = first[k];
    }
    for (size_t i = 0; i < n; i++)
        at[next[(uint32_t)ev[i].kind % KINDS]++] = (uint32_t)i;
}

static int64_t difference(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static void put_events(struct bytes *b, const struct tracedata *d)
{
    struct arena a = {0};
    uint32_t first[KINDS + 1], *at = arena_array(&a, uint32_t, d->n + 1);
    struct event *ev = arena_array(&a, struct event, d->n + 1);
    if (d->n)
        memcpy(ev, d->ev, d->n * sizeof *ev);
    for (size_t i = 0; i < d->n; i++)
        ev[i].end = difference(ev[i].end, ev[i].start);
    bytes_int(b, (int64_t)d->n);
    bytes_fields(b, ev, sizeof *ev, NULL, d->n, kind_field);
    by_kind(ev, d->n, first, at);
    for (int k = 0; k < KINDS; k++)
        bytes_fields(b, ev, sizeof *ev, at + first[k], first[k + 1] - first[k], event_fields);
    arena_free(&a);
}

static size_t number(const struct tracedata *d, size_t offset)
{
    size_t n;
    memcpy(&n, (const char *)d + offset, sizeof n);
    return n;
}

static const void *elements(const struct tracedata *d, size_t offset)
{
    const void *v;
    memcpy(&v, (const char *)d + offset, sizeof v);
    return v;
}

struct bytes tracedata_pack(const struct tracedata *d)
{
    struct bytes b = {0};
    bytes_int(&b, d->t0);
    bytes_int(&b, (int64_t)d->strings.n);
    for (size_t i = 0; i < d->strings.n; i++)
        bytes_text(&b, d->strings.strings[i], d->strings.lengths[i]);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        size_t n = number(d, arrays[i].n);
        bytes_int(&b, (int64_t)n);
        bytes_fields(&b, elements(d, arrays[i].at), arrays[i].size, NULL, n, arrays[i].fields);
    }
    put_events(&b, d);
    struct bytes packed = bytes_pack(&b, LEVEL);
    bytes_free(&b);
    return packed;
}

static void get_strings(struct reading *r, struct tracedata *d)
{
    size_t n = read_count(r, r->n - r->at);
    for (size_t i = 0; i < n && !r->bad; i++) {
        size_t length;
        const char *s = read_text(r, &length);
        r->bad |= intern_id_n(&d->strings, s, length) != i;
    }
}

/* Every element takes a byte at least. */
static void get_array(struct reading *r, struct tracedata *d, const struct array *x)
{
    size_t n = read_count(r, r->n - r->at), cap = number(d, x->cap);
    void *v = (void *)elements(d, x->at);
    if (n > cap)
        v = array_grow(v, &cap, n, x->size);
    if (n)
        memset(v, 0, n * x->size);
    read_fields(r, v, x->size, NULL, n, x->fields);
    memcpy((char *)d + x->at, &v, sizeof v);
    memcpy((char *)d + x->cap, &cap, sizeof cap);
    memcpy((char *)d + x->n, &n, sizeof n);
}

static void get_events(struct reading *r, struct tracedata *d)
{
    struct arena a = {0};
    size_t n = read_count(r, r->n - r->at);
    uint32_t first[KINDS + 1], *at = arena_array(&a, uint32_t, n + 1);
    d->ev = n ? array_grow(NULL, &d->cap, n, sizeof *d->ev) : NULL;
    if (n)
        memset(d->ev, 0, n * sizeof *d->ev);
    read_fields(r, d->ev, sizeof *d->ev, NULL, n, kind_field);
    by_kind(d->ev, n, first, at);
    for (int k = 0; k < KINDS; k++)
        read_fields(r, d->ev, sizeof *d->ev, at + first[k], first[k + 1] - first[k], event_fields);
    for (size_t i = 0; i < n; i++)
        d->ev[i].end = (int64_t)((uint64_t)d->ev[i].end + (uint64_t)d->ev[i].start);
    d->n = r->bad ? 0 : n;
    arena_free(&a);
}

/* ---- what is damaged must not be looked at ---- */

static bool names_fit(const struct tracedata *d, const void *v, size_t size, size_t n, const struct field *f)
{
    uint32_t id;
    for (; f->size; f++)
        for (size_t i = 0; f->name && i < n; i++) {
            memcpy(&id, (const char *)v + i * size + f->offset, sizeof id);
            if (id >= d->strings.n)
                return false;
        }
    return true;
}

static bool keys_fit(const struct tracedata *d)
{
    size_t bad = !d->nprocesses || !d->nthreads || !d->nstreams || !d->nsites;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        bad += !names_fit(d, elements(d, arrays[i].at), arrays[i].size, number(d, arrays[i].n), arrays[i].fields);
    for (size_t i = 0; i < d->nprocesses; i++)
        bad += d->processes[i].rank < -1;
    for (size_t i = 0; i < d->nthreads; i++)
        bad += d->threads[i].process >= d->nprocesses;
    for (size_t i = 0; i < d->nstreams; i++)
        bad += d->streams[i].process >= d->nprocesses;
    return !bad;
}

static bool stacks_fit(const struct tracedata *d)
{
    size_t bad = !d->nstacks;
    for (size_t i = 0; i < d->nstacks; i++)
        bad += (size_t)d->stacks[i].first + d->stacks[i].depth > d->nframes;
    for (size_t i = 0; i < d->nframes; i++)
        bad += d->frames[i] >= d->nsites;
    for (size_t i = 0; i < d->nsyncs; i++)
        bad += d->syncs[i].stack < 0 || (uint64_t)d->syncs[i].stack >= d->nstacks;
    return !bad;
}

static size_t details(const struct tracedata *d, int32_t kind)
{
    switch (kind) {
    case EV_RUNTIME:
    case EV_SYNC:
        return d->nsyncs;
    case EV_KERNEL:
        return d->nkernels;
    case EV_COMM:
        return d->ncomms;
    case EV_MEMCPY:
    case EV_MEMSET:
        return d->ncopies;
    case EV_RANGE:
        return d->nranges;
    default:
        return 0;
    }
}

static bool is_time(int64_t t)
{
    return t < INT64_C(1) << 62 && t > -(INT64_C(1) << 62);
}

static bool events_fit(const struct tracedata *d)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct event *ev = &d->ev[i];
        bool keys = ev->name < d->strings.n && ev->site < d->nsites && ev->thread < d->nthreads && ev->stream < d->nstreams;
        if (!keys || ev->kind < 0 || ev->detail > details(d, ev->kind) || !is_time(ev->start) || !is_time(ev->end))
            return false;
    }
    return true;
}

bool tracedata_unpack(const void *packed, size_t n, struct tracedata *d)
{
    struct bytes b;
    if (!bytes_unpack(packed, n, &b))
        return false;
    struct reading r = {.v = b.v, .n = b.n};
    d->t0 = read_int(&r);
    get_strings(&r, d);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        get_array(&r, d, &arrays[i]);
    get_events(&r, d);
    bytes_free(&b);
    return !r.bad && r.at == r.n && keys_fit(d) && stacks_fit(d) && events_fit(d);
}
