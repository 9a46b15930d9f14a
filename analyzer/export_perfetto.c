/* export_perfetto.c - Perfetto's protobuf, for ui.perfetto.dev and trace_processor.
 *
 *   Trace = TracePacket*       a packet: a track's description, or one end of a slice and the names first used there
 *   process -> thread          host rows         (TrackDescriptor: a process, its threads)
 *   device -> stream           device rows; waits and annotations on tracks of their own beside it
 *
 * Slices of one track must nest. Rows that overlap without nesting (they are real: programmatic dependent launch, helper
 * ranges) go to further tracks of the same name, so that none is lost. Times are ns since the first row.
 * Field numbers: protos/perfetto/trace in google/perfetto.
 */
#include "analyzer/export.h"
#include "analyzer/idmap.h"
#include "analyzer/outbuf.h"
#include "analyzer/pb.h"
#include "analyzer/pftracks.h"

#include <stdlib.h>
#include <string.h>

enum { TRACE_PACKET = 1 };
enum { PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_INTERNED = 12, PACKET_FLAGS = 13, PACKET_DESCRIPTOR = 60 };
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { EVENT_CATEGORY = 3, EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_NAME = 10, EVENT_TRACK = 11, EVENT_FLOW = 47 };
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_KEY = 3, INTERNED_ID = 1, INTERNED_TEXT = 2 };
enum { ANNOTATION_KEY = 1, ANNOTATION_INT = 4, ANNOTATION_TEXT = 6 };

enum key { KEY_CORRELATION = 1, KEY_BYTES, KEY_SITE, KEY_SYNC, KEY_BLOCKED, KEY_GROUP, KEY_SEQUENCE, KEY_COUNT };
static const char *const key_names[KEY_COUNT] = {
    [KEY_CORRELATION] = "correlation", [KEY_BYTES] = "bytes",         [KEY_SITE] = "site",        [KEY_SYNC] = "sync class",
    [KEY_BLOCKED] = "did block",       [KEY_GROUP] = "process group", [KEY_SEQUENCE] = "sequence"};

struct perfetto {
    struct outbuf o;
    struct export_job *x;
    const struct export_file *f;
    const struct tracedata *d;
    uint32_t file;
    struct pb packet, event, part, fields, interned, head;
    uint64_t next_uuid;
    uint32_t next_name;
    uint32_t *name;      /* by string id of the file: its number in the output, 0 not yet */
    uint64_t *process;   /* by process id of the file: uuid of its track, 0 not yet */
    uint64_t *device;    /* by entry of x->devices */
    struct idmap by_key; /* of the file's tracks: 1 + entry in v */
    struct pftrack *v;
    size_t n, cap;
    struct pfsink sink;
};

static void put_packet(struct perfetto *p, uint32_t flags)
{
    pb_uint(&p->packet, PACKET_SEQUENCE, 1);
    pb_uint(&p->packet, PACKET_FLAGS, flags);
    pb_clear(&p->head);
    pb_message(&p->head, TRACE_PACKET, &p->packet);
    out_bytes(&p->o, p->head.p, p->head.n);
    pb_clear(&p->packet);
}

static void intern(struct perfetto *p, uint32_t field, uint64_t id, const char *text)
{
    pb_clear(&p->part);
    pb_uint(&p->part, INTERNED_ID, id);
    pb_text(&p->part, INTERNED_TEXT, text);
    pb_message(&p->interned, field, &p->part);
}

/* Categories and keys, once, at the start of the sequence. */
static void put_first(struct perfetto *p)
{
    for (int k = 0; k < EV_NKINDS; k++)
        intern(p, INTERNED_CATEGORY, (uint64_t)k + 1, ev_kind_name((enum ev_kind)k));
    for (int k = 1; k < KEY_COUNT; k++)
        intern(p, INTERNED_KEY, (uint64_t)k, key_names[k]);
    pb_message(&p->packet, PACKET_INTERNED, &p->interned);
    pb_clear(&p->interned);
    put_packet(p, FLAG_CLEARED);
}

/* The number of a name, which is written along where it is first used. */
static uint64_t name_id(struct perfetto *p, uint32_t string)
{
    if (!p->name[string]) {
        p->name[string] = ++p->next_name;
        intern(p, INTERNED_NAME, p->name[string], intern_str(&p->d->strings, string));
    }
    return p->name[string];
}

/* A track with the fields in p->fields; its uuid. */
static uint64_t put_track(struct perfetto *p, uint64_t parent)
{
    uint64_t uuid = ++p->next_uuid;
    pb_clear(&p->part);
    pb_uint(&p->part, TRACK_UUID, uuid);
    if (parent)
        pb_uint(&p->part, TRACK_PARENT, parent);
    pb_append(&p->part, &p->fields);
    pb_message(&p->packet, PACKET_DESCRIPTOR, &p->part);
    put_packet(p, FLAG_NEEDS_STATE);
    pb_clear(&p->fields);
    return uuid;
}

static uint64_t process_track(struct perfetto *p, uint32_t process)
{
    if (p->process[process])
        return p->process[process];
    const struct processkey *k = &p->d->processes[process];
    struct pb inner = {0};
    if (process)
        pb_uint(&inner, PROCESS_PID, (uint64_t)p->f->pid[process]);
    if (k->name)
        pb_text(&inner, PROCESS_NAME, intern_str(&p->d->strings, k->name));
    pb_message(&p->fields, TRACK_PROCESS, &inner);
    pb_free(&inner);
    return p->process[process] = put_track(p, 0);
}

/* A thread that Perfetto can call by its number is one; else it is a track with a name. */
static uint64_t thread_track(struct perfetto *p, uint32_t thread)
{
    const struct threadkey *k = &p->d->threads[thread];
    uint64_t parent = process_track(p, k->process);
    if (k->process && k->tid >= 0 && k->tid <= INT32_MAX) {
        struct pb inner = {0};
        pb_uint(&inner, THREAD_PID, (uint64_t)p->f->pid[k->process]);
        pb_uint(&inner, THREAD_TID, (uint64_t)k->tid);
        if (k->name)
            pb_text(&inner, THREAD_NAME, intern_str(&p->d->strings, k->name));
        pb_message(&p->fields, TRACK_THREAD, &inner);
        pb_free(&inner);
    } else {
        char name[40];
        snprintf(name, sizeof name, "thread %lld", (long long)k->tid);
        pb_text(&p->fields, TRACK_NAME, k->name ? intern_str(&p->d->strings, k->name) : name);
    }
    return put_track(p, parent);
}

static uint64_t device_track(struct perfetto *p, uint32_t device)
{
    if (p->device[device])
        return p->device[device];
    static const struct export_device none = {.rank = -1, .device = -1, .number = -1};
    const struct export_device *d = device < p->x->ndevices ? &p->x->devices[device] : &none;
    const char *name = device < p->x->ndevices ? export_device_name(p->x, d) : "no device";
    pb_text(&p->fields, TRACK_NAME, d->rank >= 0 ? arena_printf(&p->x->arena, "rank %d, %s", d->rank, name) : name);
    return p->device[device] = put_track(p, 0);
}

/* What a track holds: struct pftrack.what. */
enum { HOST, WORK, WAITS, NOTES };

static uint64_t stream_track(struct perfetto *p, uint32_t what, uint32_t stream, uint32_t device)
{
    static const char *const suffix[] = {[WORK] = "", [WAITS] = " waits", [NOTES] = " annotations"};
    char name[64];
    uint64_t parent = device_track(p, device);
    if (stream)
        snprintf(name, sizeof name, "stream %lld%s", (long long)p->d->streams[stream].native, suffix[what]);
    else
        snprintf(name, sizeof name, "no stream%s", suffix[what]);
    pb_text(&p->fields, TRACK_NAME, name);
    return put_track(p, parent);
}

static uint64_t describe(void *ctx, const struct pftrack *t)
{
    struct perfetto *p = ctx;
    if (t->what != HOST)
        return stream_track(p, t->what, t->stream, t->of);
    if (t->n == 0)
        return thread_track(p, t->of);
    pb_text(&p->fields, TRACK_NAME, "overlapping");
    return put_track(p, t->levels[0].uuid);
}

static uint32_t device_entry(struct perfetto *p, const struct event *ev)
{
    return export_device(p->x, p->file, ev) < 0 ? (uint32_t)p->x->ndevices : (uint32_t)p->x->last_dev;
}

static struct pftrack *track_of(struct perfetto *p, const struct event *ev)
{
    static const uint32_t of_class[] = {[EV_WORK] = WORK, [EV_WAIT] = WAITS, [EV_HOST] = HOST, [EV_NOTE] = NOTES};
    struct pftrack t = {.what = of_class[ev_kind_class((enum ev_kind)ev->kind)]};
    t.of = t.what == HOST ? ev->thread : device_entry(p, ev);
    t.stream = t.what == HOST ? 0 : ev->stream;
    int64_t key = (int64_t)((uint64_t)t.what << 62 ^ (uint64_t)t.of << 32 ^ t.stream);
    uint32_t at = idmap_get(&p->by_key, key);
    if (!at) {
        ARRAY_PUSH(p->v, p->n, p->cap, t);
        idmap_set(&p->by_key, key, at = (uint32_t)p->n);
    }
    return &p->v[at - 1];
}

static void put_end(void *ctx, uint64_t uuid, int64_t at)
{
    struct perfetto *p = ctx;
    pb_clear(&p->event);
    pb_uint(&p->event, EVENT_TYPE, TYPE_END);
    pb_uint(&p->event, EVENT_TRACK, uuid);
    pb_uint(&p->packet, PACKET_TIMESTAMP, (uint64_t)(at + p->f->shift - p->x->first));
    pb_message(&p->packet, PACKET_EVENT, &p->event);
    put_packet(p, FLAG_NEEDS_STATE);
}

static void annotate_int(struct perfetto *p, enum key k, int64_t v, bool there)
{
    if (!there)
        return;
    pb_clear(&p->part);
    pb_uint(&p->part, ANNOTATION_KEY, k);
    pb_uint(&p->part, ANNOTATION_INT, (uint64_t)v);
    pb_message(&p->event, EVENT_ANNOTATION, &p->part);
}

static void annotate_text(struct perfetto *p, enum key k, const char *s)
{
    if (!*s)
        return;
    pb_clear(&p->part);
    pb_uint(&p->part, ANNOTATION_KEY, k);
    pb_text(&p->part, ANNOTATION_TEXT, s);
    pb_message(&p->event, EVENT_ANNOTATION, &p->part);
}

static void annotate_site(struct perfetto *p, const struct sitekey *s)
{
    struct arena a = {0};
    const char *file = intern_str(&p->d->strings, s->file), *function = intern_str(&p->d->strings, s->function);
    annotate_text(p, KEY_SITE, s->line > 0 ? arena_printf(&a, "%s:%d %s", file, s->line, function) : arena_printf(&a, "%s %s", file, function));
    arena_free(&a);
}

static void annotate(struct perfetto *p, const struct event *ev)
{
    const struct ev_sync *s = ev_sync_of(p->d, ev);
    const struct ev_comm *c = ev_comm_of(p->d, ev);
    annotate_int(p, KEY_CORRELATION, ev->correlation, ev->correlation >= 0);
    annotate_int(p, KEY_BYTES, ev->bytes, ev->bytes >= 0);
    if (ev->site)
        annotate_site(p, &p->d->sites[ev->site]);
    annotate_text(p, KEY_SYNC, s ? sync_class_name((enum sync_class)s->class) : "");
    annotate_int(p, KEY_BLOCKED, s ? s->did_block : 0, s && s->did_block >= 0);
    annotate_text(p, KEY_GROUP, c ? intern_str(&p->d->strings, c->communicator) : "");
    annotate_int(p, KEY_SEQUENCE, c ? c->sequence : 0, c && c->sequence >= 0);
}

/* A launch and its work are joined by an arrow: the number of the launch's row. */
static void flow(struct perfetto *p, uint32_t row)
{
    uint32_t from = p->f->launched[row] ? p->f->launched[row] : p->f->starts[row] ? row + 1 : 0;
    if (from)
        pb_fixed64(&p->event, EVENT_FLOW, (uint64_t)p->file << 32 | from);
}

static void put_row(struct perfetto *p, uint32_t row)
{
    const struct event *ev = &p->d->ev[row];
    const struct ev_range *r = ev_range_of(p->d, ev);
    bool mark = r && r->flavour == RANGE_MARK && ev->end == ev->start;
    struct pftrack *t = track_of(p, ev);
    uint64_t uuid = mark ? pftrack_any(t, &p->sink) : pftrack_place(t, ev->start, ev->end, &p->sink);
    pb_clear(&p->event);
    pb_uint(&p->event, EVENT_CATEGORY, (uint64_t)ev->kind + 1);
    pb_uint(&p->event, EVENT_NAME, name_id(p, ev->name));
    pb_uint(&p->event, EVENT_TYPE, mark ? TYPE_INSTANT : TYPE_BEGIN);
    pb_uint(&p->event, EVENT_TRACK, uuid);
    annotate(p, ev);
    flow(p, row);
    pb_uint(&p->packet, PACKET_TIMESTAMP, (uint64_t)(ev->start + p->f->shift - p->x->first));
    if (p->interned.n)
        pb_message(&p->packet, PACKET_INTERNED, &p->interned);
    pb_clear(&p->interned);
    pb_message(&p->packet, PACKET_EVENT, &p->event);
    put_packet(p, FLAG_NEEDS_STATE);
}

static void put_file(struct perfetto *p)
{
    struct arena a = {0};
    p->f = &p->x->files[p->file];
    p->d = &p->f->f->d;
    p->name = arena_array(&a, uint32_t, p->d->strings.n + 1);
    p->process = arena_array(&a, uint64_t, p->d->nprocesses);
    for (size_t i = 0; i < p->f->n; i++)
        put_row(p, p->f->rows[i]);
    for (size_t i = 0; i < p->n; i++)
        pftrack_finish(&p->v[i], &p->sink);
    p->n = 0;
    idmap_free(&p->by_key);
    arena_free(&a);
}

static bool write(struct export_job *x, const char *path, struct err *e)
{
    struct perfetto p = {.x = x};
    if (!outbuf_open(&p.o, path, e))
        return false;
    p.sink = (struct pfsink){&p, describe, put_end};
    p.device = arena_array(&x->arena, uint64_t, x->ndevices + 1);
    put_first(&p);
    for (p.file = 0; p.file < x->nfiles; p.file++)
        put_file(&p);
    struct pb *all[] = {&p.packet, &p.event, &p.part, &p.fields, &p.interned, &p.head};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        pb_free(all[i]);
    free(p.v);
    return outbuf_close(&p.o, e);
}

const struct exporter export_perfetto = {.name = "perfetto", .what = "protobuf for ui.perfetto.dev and trace_processor", .write = write};
