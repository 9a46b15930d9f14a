/* cupti_records.c - one function per kind of record; a table finds it. */
#include "collector/cupti_records.h"
#include "collector/cupti_calls.h"
#include "collector/cupti_names.h"
#include "collector/graphs.h"
#include "collector/launches.h"
#include "collector/rows.h"
#include "collector/text.h"
#include "schemas/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXTS = 256, EVENTS = 1 << 12, DEVICES = 64 };

union record {
    struct cupti_record head;
    struct cupti_kernel kernel;
    struct cupti_memcpy memcpy;
    struct cupti_memcpy2 memcpy2;
    struct cupti_memset memset;
    struct cupti_sync sync;
    struct cupti_event event;
    struct cupti_api api;
    struct cupti_overhead_record overhead;
    struct cupti_device device;
    struct cupti_context context;
};

struct held {
    union record x;
    int rounds;
};

/* Of the process: CUPTI has one life in it. */
static struct {
    uint32_t context, device; /* device + 1; 0 not known */
} contexts[CONTEXTS];
static struct {
    uint64_t sync;
    uint32_t stream;
} events[EVENTS]; /* recordings of events, the latest ones */

/* ---- what is common ---- */

static struct activity event_at(const struct records *p, enum ev_kind kind, uint64_t start, uint64_t end)
{
    struct activity a = ACTIVITY_NONE;
    a.what = ACT_EVENT;
    a.kind = (uint8_t)kind;
    a.start = records_time(p, start);
    a.end = records_time(p, end);
    return a;
}

static void learn_context(uint32_t context, uint32_t device)
{
    contexts[context % CONTEXTS].context = context;
    contexts[context % CONTEXTS].device = device + 1;
}

static int32_t device_of(uint32_t context)
{
    bool known = contexts[context % CONTEXTS].context == context && contexts[context % CONTEXTS].device;
    return known ? (int32_t)contexts[context % CONTEXTS].device - 1 : -1;
}

static struct row place(struct activity *a, uint32_t device, uint32_t context, uint32_t stream, uint32_t id)
{
    struct row row = rows_find(launch_outer(id));
    learn_context(context, device);
    a->device = (int32_t)device;
    a->stream = stream == (uint32_t)CUPTI_NONE ? -1 : (int32_t)stream;
    a->correlation = row.id;
    a->rank = row.rank;
    return row;
}

/* false: it has no time, or is a piece of a collective of our own devices. */
static bool is_row(struct records *p, const struct row *row, const struct activity *a, const struct nccl_work *w)
{
    bool has_time = records_timed(p, (uint64_t)(a->start - p->shift), (uint64_t)(a->end - p->shift));
    bool piece = row->state == ROW_COMM && rows_piece(p->r, row, has_time ? a : NULL, w);
    return has_time && !piece;
}

/* ---- kinds: false = hold the record back ---- */

static void emit_kernel(struct records *p, const struct cupti_kernel *k, struct activity *a)
{
    union emit_more more = {.kernel = {.grid = {k->grid[0], k->grid[1], k->grid[2]},
                                       .block = {k->block[0], k->block[1], k->block[2]},
                                       .registers = k->registers,
                                       .static_shared = k->static_shared,
                                       .dynamic_shared = k->dynamic_shared,
                                       .graph = k->graph,
                                       .graph_node = (int64_t)k->graph_node}};
    recorder_emit_as(p->r, a, &(struct emit_as){.more = &more});
}

static void emit_comm(struct records *p, const struct nccl_work *w, struct activity *a)
{
    union emit_more more = {.comm = {.dtype = w->dtype, .message_bytes = w->message_bytes}};
    a->kind = EV_COMM;
    a->group = w->group;
    a->function = w->function;
    a->sequence = w->sequence;
    a->peer = w->peer;
    a->group_size = w->ranks;
    a->bytes = w->sent;
    recorder_emit_as(p->r, a, &(struct emit_as){.more = &more});
}

static bool kernel(struct records *p, union record *x, bool last)
{
    struct cupti_kernel *k = &x->kernel;
    const struct kernel_name *name = kernel_name(k->name);
    struct node_origin node;
    struct nccl_work w;
    k->name = name->mangled; /* the module may be gone when it is tried again */
    struct activity a = event_at(p, EV_KERNEL, k->start, k->end);
    struct row row = place(&a, k->device, k->context, k->stream, k->correlation);
    if (row.state == ROW_PENDING && !last)
        return false;
    enum launch_state state = launch_take(launch_outer(k->correlation), &w);
    if (state == LAUNCH_PENDING && !last)
        return false;
    a.name = name->shown;
    if (!is_row(p, &row, &a, state == LAUNCH_KNOWN ? &w : NULL))
        return true;
    bool of_graph = graph_node_find(k->graph_node, &node);
    if (of_graph)
        captured_add(p->r, &p->captured, node.range, &a);
    if (state == LAUNCH_KNOWN || (of_graph && node.comm))
        emit_comm(p, state == LAUNCH_KNOWN ? &w : &node.work, &a);
    else
        emit_kernel(p, k, &a);
    return true;
}

static void emit_copy(struct records *p, struct activity *a, const struct ev_copy *c)
{
    union emit_more more = {.copy = *c};
    recorder_emit_as(p->r, a, &(struct emit_as){.more = &more});
}

static bool copy(struct records *p, union record *x, bool last)
{
    const struct cupti_memcpy *m = &x->memcpy;
    struct ev_copy c = {copy_kind_of(m->copy_kind), mem_kind_of(m->src_kind), mem_kind_of(m->dst_kind)};
    struct activity a = event_at(p, EV_MEMCPY, m->start, m->end);
    struct row row = place(&a, m->device, m->context, m->stream, m->correlation);
    if (row.state == ROW_PENDING && !last)
        return false;
    a.name = copy_name(m->copy_kind);
    a.bytes = (int64_t)m->bytes;
    calls_copied((uint32_t)a.correlation, c.src == MEM_PAGEABLE || c.dst == MEM_PAGEABLE);
    if (is_row(p, &row, &a, NULL))
        emit_copy(p, &a, &c);
    return true;
}

static bool copy_to_peer(struct records *p, union record *x, bool last)
{
    const struct cupti_memcpy2 *m = &x->memcpy2;
    union record y = {.memcpy = {.copy_kind = m->copy_kind,
                                 .src_kind = m->src_kind,
                                 .dst_kind = m->dst_kind,
                                 .bytes = m->bytes,
                                 .start = m->start,
                                 .end = m->end,
                                 .device = m->device,
                                 .context = m->context,
                                 .stream = m->stream,
                                 .correlation = m->correlation}};
    return copy(p, &y, last);
}

static bool fill(struct records *p, union record *x, bool last)
{
    const struct cupti_memset *m = &x->memset;
    struct activity a = event_at(p, EV_MEMSET, m->start, m->end);
    struct row row = place(&a, m->device, m->context, m->stream, m->correlation);
    if (row.state == ROW_PENDING && !last)
        return false;
    a.name = "Memset";
    a.bytes = (int64_t)m->bytes;
    if (is_row(p, &row, &a, NULL))
        emit_copy(p, &a, &(struct ev_copy){.dst = mem_kind_of(m->memory_kind)});
    return true;
}

static bool event(struct records *p, union record *x, bool last)
{
    const struct cupti_event *e = &x->event;
    (void)p, (void)last;
    events[e->event_sync % EVENTS].sync = e->event_sync;
    events[e->event_sync % EVENTS].stream = e->stream;
    learn_context(e->context, e->device);
    return true;
}

/* Of a wait for an event: the stream it was recorded on. -1 not known. */
static int64_t stream_of_event(uint64_t sync)
{
    bool known = sync && events[sync % EVENTS].sync == sync;
    return known ? (int64_t)events[sync % EVENTS].stream : -1;
}

static const struct {
    const char *name;
    enum sync_class class;
    bool about_event;
} sync_types[] = {{"Sync", SYNC_NONE, false},
                  {"Event Sync", SYNC_EVENT, true},
                  {"Stream Wait Event", SYNC_NONE, true},
                  {"Stream Sync", SYNC_STREAM, false},
                  {"Context Sync", SYNC_DEVICE, false}};

/* What is waited for. A stream that waits is itself not waited for. */
static struct ev_sync waited(const struct cupti_sync *s, uint32_t type)
{
    struct ev_sync w = {.class = (int32_t)sync_types[type].class, .did_block = -1, .wait_stream = -1, .wait_event = -1};
    if (sync_types[type].about_event)
        w.wait_stream = stream_of_event(s->event_sync);
    else if (type == CUPTI_SYNC_STREAM && s->stream != (uint32_t)CUPTI_NONE)
        w.wait_stream = s->stream;
    if (s->event != (uint32_t)CUPTI_NONE)
        w.wait_event = s->event;
    return w;
}

/* By a device of ours, with its site; or it is a part of a collective. */
static bool is_said(const struct row *row, uint32_t type)
{
    return row->state == ROW_COMM || (row->state != ROW_NONE && type != CUPTI_SYNC_STREAM_WAIT);
}

static bool wait(struct records *p, union record *x, bool last)
{
    const struct cupti_sync *s = &x->sync;
    uint32_t type = s->type < sizeof sync_types / sizeof *sync_types ? s->type : 0;
    int32_t on = device_of(s->context);
    struct row row = rows_find(launch_outer(s->correlation));
    if (is_said(&row, type))
        return true;
    union emit_more more = {.sync = waited(s, type)};
    bool nameless = sync_types[type].about_event && s->event_sync && more.sync.wait_stream < 0;
    bool known = on >= 0 && row.state != ROW_PENDING;
    if (!last && (!known || nameless))
        return false;
    struct activity a = event_at(p, EV_SYNC, s->start, s->end);
    a.name = sync_types[type].name;
    a.device = on;
    a.stream = s->stream != (uint32_t)CUPTI_NONE && type != CUPTI_SYNC_EVENT ? (int32_t)s->stream : -1;
    a.correlation = row.id;
    a.rank = row.rank;
    if (records_timed(p, s->start, s->end))
        recorder_emit_as(p->r, &a, &(struct emit_as){.more = &more});
    return true;
}

static bool overhead(struct records *p, union record *x, bool last)
{
    const struct cupti_overhead_record *o = &x->overhead;
    struct activity a = event_at(p, EV_OVERHEAD, o->start, o->end);
    (void)last;
    a.name = overhead_name(o->overhead);
    if (records_timed(p, o->start, o->end))
        recorder_emit_as(p->r, &a, &(struct emit_as){.tid = o->object_kind == CUPTI_OBJECT_THREAD ? (int32_t)o->thread : 0});
    if (o->overhead == CUPTI_OVERHEAD_QUEUE_FULL)
        free(o->data);
    return true;
}

/* A launch by the driver itself: its kernels have no other call. */
static bool internal_launch(struct records *p, union record *x, bool last)
{
    const struct cupti_api *i = &x->api;
    struct activity a = event_at(p, EV_RUNTIME, i->start, i->end);
    const char *name = NULL;
    (void)last;
    a.name = p->c->callback_name(CUPTI_DOMAIN_DRIVER, i->cbid, &name) == CUPTI_OK && name ? text_keep(name) : "Internal Launch";
    a.correlation = i->correlation;
    if (records_timed(p, i->start, i->end))
        recorder_emit_as(p->r, &a, &(struct emit_as){.tid = (int32_t)i->thread});
    return true;
}

static bool device(struct records *p, union record *x, bool last)
{
    const struct cupti_device *d = &x->device;
    char key[40], text[300];
    (void)last;
    if (d->id >= DEVICES)
        return true;
    snprintf(key, sizeof key, "device%u", d->id);
    snprintf(text, sizeof text, "%s, compute capability %u.%u, %u multiprocessors, %llu MiB", d->name ? d->name : "", d->major, d->minor,
             d->multiprocessors, (unsigned long long)(d->memory >> 20));
    recorder_meta(p->r, key, text);
    if (d->id == 0)
        recorder_meta(p->r, "device_name", d->name);
    return true;
}

static bool context(struct records *p, union record *x, bool last)
{
    (void)last;
    learn_context(x->context.context, x->context.device);
    if (x->context.api == 2)
        recorder_meta(p->r, "cuda_mps", "1");
    return true;
}

/* `least`: up to the last field that a row cannot do without. */
#define UP_TO(type, field) (offsetof(struct type, field) + sizeof((struct type *)NULL)->field)
static const struct reader {
    size_t least, most;
    bool (*read)(struct records *p, union record *x, bool last);
} readers[CUPTI_NKINDS] = {
    [CUPTI_CONCURRENT_KERNEL] = {UP_TO(cupti_kernel, name), sizeof(struct cupti_kernel), kernel},
    [CUPTI_MEMCPY] = {UP_TO(cupti_memcpy, runtime_correlation), sizeof(struct cupti_memcpy), copy},
    [CUPTI_MEMCPY2] = {UP_TO(cupti_memcpy2, correlation), sizeof(struct cupti_memcpy2), copy_to_peer},
    [CUPTI_MEMSET] = {UP_TO(cupti_memset, memory_kind), sizeof(struct cupti_memset), fill},
    [CUPTI_SYNCHRONIZATION] = {UP_TO(cupti_sync, event), sizeof(struct cupti_sync), wait},
    [CUPTI_CUDA_EVENT] = {UP_TO(cupti_event, event_sync), sizeof(struct cupti_event), event},
    [CUPTI_OVERHEAD] = {UP_TO(cupti_overhead_record, end), sizeof(struct cupti_overhead_record), overhead},
    [CUPTI_INTERNAL_LAUNCH] = {UP_TO(cupti_api, correlation), sizeof(struct cupti_api), internal_launch},
    [CUPTI_DEVICE] = {UP_TO(cupti_device, name), sizeof(struct cupti_device), device},
    [CUPTI_CONTEXT] = {UP_TO(cupti_context, null_stream), sizeof(struct cupti_context), context},
    [CUPTI_STREAM] = {sizeof(uint32_t), sizeof(uint32_t), NULL}, /* known, and nothing to do */
};

/* ---- buffers ---- */

void records_init(struct records *p, struct recorder *r, const struct cupti *c)
{
    *p = (struct records){.r = r, .c = c, .began = recorder_epoch(r), .now = clock_now(), .since = clock_now()};
}

static void hold(struct records *p, union record *x)
{
    if (p->nheld == p->held_cap && p->held_cap < HELD_MAX) {
        size_t cap = p->held_cap ? 2 * p->held_cap : 64;
        struct held *v = realloc(p->held, cap * sizeof *v);
        if (v) {
            p->held = v;
            p->held_cap = cap;
        }
    }
    if (p->nheld < p->held_cap)
        p->held[p->nheld++] = (struct held){.x = *x};
    else
        readers[x->head.kind].read(p, x, true); /* as it is: too many wait already */
}

static void read_record(struct records *p, const struct cupti_record *at, size_t size)
{
    const struct reader *d = at->kind < CUPTI_NKINDS ? &readers[at->kind] : NULL;
    union record x;
    p->parsed++;
    if (!d || !d->least) {
        p->flaws[FLAW_UNKNOWN]++;
        return;
    }
    if (size < d->least) {
        p->flaws[FLAW_SHORT]++;
        return;
    }
    memset(&x, 0, sizeof x);
    memcpy(&x, at, size < d->most ? size : d->most);
    if (d->read && !d->read(p, &x, false))
        hold(p, &x);
}

void records_parse(struct records *p, const struct cupti_full *f)
{
    struct cupti_record *at = NULL, *next = NULL;
    p->now = clock_now();
    int rc = f->valid ? p->c->next_record(f->data, f->valid, &at) : CUPTI_MAX_LIMIT;
    while (rc == CUPTI_OK) {
        next = at;
        rc = p->c->next_record(f->data, f->valid, &next);
        const uint8_t *end = rc == CUPTI_OK ? (const uint8_t *)next : f->data + f->valid;
        read_record(p, at, (size_t)(end - (const uint8_t *)at));
        at = next;
    }
    if (rc != CUPTI_MAX_LIMIT)
        p->flaws[FLAW_UNREADABLE]++;
}

void records_round(struct records *p, bool last)
{
    size_t kept = 0;
    p->now = clock_now();
    for (size_t i = 0; i < p->nheld; i++) {
        struct held *h = &p->held[i];
        if (!readers[h->x.head.kind].read(p, &h->x, last || ++h->rounds >= HOLD))
            p->held[kept++] = *h;
    }
    p->nheld = kept;
    captured_end(p->r, &p->captured);
    records_report(p);
}

void records_free(struct records *p)
{
    free(p->held);
    p->held = NULL;
    p->nheld = p->held_cap = 0;
}
