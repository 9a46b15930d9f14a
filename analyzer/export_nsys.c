/* export_nsys.c - SQLite with the tables of an Nsight Systems export: real tables where our own file has views.
 *
 * Times are ns since the trace's time zero, as the views have them. A process and a thread are one 64-bit number there:
 * pid in bits 24 to 47, thread below; a thread whose number is too large for its 24 bits gets a free one.
 */
#include "analyzer/nsysout.h"

#include <stdlib.h>
#include <string.h>

enum { NVTX_MARK = 34, NVTX_PUSH_POP = 59, NVTX_START_END = 60, NVTX_DOMAIN = 75, TID_BITS = 24 };

static int64_t or_null(int64_t v, int64_t none)
{
    return v == none ? NSYS_NULL : v;
}

static int64_t global_pid(const struct nsys_out *n, const struct event *ev)
{
    uint32_t process = export_process(n->d, ev);
    return process ? n->f->pid[process] << TID_BITS : NSYS_NULL;
}

static int64_t global_tid(const struct nsys_out *n, const struct event *ev)
{
    return ev->thread ? n->f->pid[n->d->threads[ev->thread].process] << TID_BITS | n->tid[ev->thread] : NSYS_NULL;
}

static int64_t rank_of(const struct nsys_out *n, const struct event *ev)
{
    return or_null(trace_event_rank(n->d, ev), -1);
}

static int64_t native(const struct nsys_out *n, const struct event *ev)
{
    return ev->stream ? n->d->streams[ev->stream].native : NSYS_NULL;
}

/* The device, and once per process and device a row that says so. */
static int64_t device_of(struct nsys_out *n, const struct event *ev)
{
    int32_t number = export_device(n->x, n->file, ev);
    uint32_t process = export_process(n->d, ev);
    int64_t key = (int64_t)(((uint64_t)n->file << 24 ^ process) << 32 | (uint32_t)number);
    if (number >= 0 && process && !idmap_get(&n->devices, key)) {
        idmap_set(&n->devices, key, 1);
        nsys_out_ints(n, OUT_CUDA_DEVICE, 1, (int64_t[]){number, number, n->f->pid[process]}, 3);
        nsys_out_put(n, OUT_CUDA_DEVICE);
    }
    return or_null(number, -1);
}

/* The site of a row as a call chain of one frame. */
static int64_t chain_of(struct nsys_out *n, const struct event *ev)
{
    const struct sitekey *s = &n->d->sites[ev->site];
    if (!ev->site || !s->function)
        return NSYS_NULL;
    if (!n->chain[ev->site]) {
        n->chain[ev->site] = ++n->nchains;
        const int64_t row[] = {n->nchains, nsys_out_string(n, s->function), nsys_out_string(n, s->file), 0, 0, or_null(s->line, 0)};
        nsys_out_ints(n, OUT_CALLCHAINS, 1, row, 6);
        nsys_out_put(n, OUT_CALLCHAINS);
    }
    return n->chain[ev->site];
}

#define TIMES(n, ev) (ev)->start + (n)->f->shift, (ev)->end + (n)->f->shift
#define PLACE(n, ev) device_of(n, ev), NSYS_NULL, native(n, ev), or_null((ev)->correlation, -1), global_pid(n, ev)
#define PUT(n, t, at, ...)                                                                                                                           \
    do {                                                                                                                                             \
        const int64_t row_[] = {__VA_ARGS__};                                                                                                        \
        nsys_out_ints(n, t, at, row_, sizeof row_ / sizeof *row_);                                                                                   \
        nsys_out_put(n, t);                                                                                                                          \
    } while (0)

static void kernel(struct nsys_out *n, const struct event *ev)
{
    static const struct ev_comm no_comm = {.peer = -1, .group_size = -1, .sequence = -1, .message_bytes = -1};
    static const struct ev_kernel no_kernel = {0};
    const struct ev_kernel *k = ev_kernel_of(n->d, ev), *g = k ? k : &no_kernel;
    const struct ev_comm *c = ev_comm_of(n->d, ev);
    int64_t name = nsys_out_string(n, ev->name), collective = NSYS_NULL;
    if (ev->kind == EV_COMM)
        collective = nsys_out_string(n, c && c->function ? c->function : ev->name);
    c = c ? c : &no_comm;
    PUT(n, OUT_KERNEL, 1, TIMES(n, ev), PLACE(n, ev), name, name, name, or_null(g->registers, 0), or_null(g->grid[0], 0), or_null(g->grid[1], 0),
        or_null(g->grid[2], 0), or_null(g->block[0], 0), or_null(g->block[1], 0), or_null(g->block[2], 0), k ? k->static_shared : NSYS_NULL,
        k ? k->dynamic_shared : NSYS_NULL, or_null(g->graph, 0), or_null(g->graph_node, 0), rank_of(n, ev), collective,
        nsys_out_string(n, c->communicator), nsys_out_string(n, c->dtype), or_null(c->peer, -1), or_null(c->group_size, -1), or_null(c->sequence, -1),
        or_null(c->message_bytes, -1), or_null(ev->bytes, -1));
}

static int64_t memory(int32_t kind)
{
    static const int numbers[] = {7, 0, 1, 2, 3, 4}; /* not the numbers of CUPTI */
    return (unsigned)kind < sizeof numbers / sizeof *numbers ? numbers[kind] : 7;
}

static void copy(struct nsys_out *n, const struct event *ev)
{
    static const int kinds[] = {0, 1, 2, 8, 9, 10, 0};
    const struct ev_copy *c = ev_copy_of(n->d, ev);
    int64_t kind = c && (unsigned)c->kind < sizeof kinds / sizeof *kinds ? kinds[c->kind] : 0;
    PUT(n, OUT_MEMCPY, 1, TIMES(n, ev), PLACE(n, ev), or_null(ev->bytes, -1), kind, memory(c ? c->src : 0), memory(c ? c->dst : 0), rank_of(n, ev));
}

static void fill(struct nsys_out *n, const struct event *ev)
{
    const struct ev_copy *c = ev_copy_of(n->d, ev);
    PUT(n, OUT_MEMSET, 1, TIMES(n, ev), PLACE(n, ev), NSYS_NULL, or_null(ev->bytes, -1), memory(c ? c->dst : 0), rank_of(n, ev));
}

static void sync(struct nsys_out *n, const struct event *ev)
{
    static const int types[] = {[SYNC_STREAM] = 3, [SYNC_EVENT] = 1, [SYNC_DEVICE] = 4};
    const struct ev_sync *s = ev_sync_of(n->d, ev);
    int64_t stream = ev->stream ? native(n, ev) : or_null(s ? s->wait_stream : -1, -1);
    int type = s && s->class >= SYNC_STREAM && s->class <= SYNC_DEVICE ? types[s->class] : 2;
    PUT(n, OUT_SYNC, 1, TIMES(n, ev), or_null(ev_kind_class((enum ev_kind)ev->kind) == EV_HOST ? ev->device : device_of(n, ev), -1), NSYS_NULL,
        stream, or_null(ev->correlation, -1), global_pid(n, ev), type, or_null(s ? s->wait_event : -1, -1), rank_of(n, ev),
        ev->kind == EV_SYNC ? nsys_out_string(n, ev->name) : NSYS_NULL,
        ev->kind != EV_SYNC ? NSYS_NULL
        : s                 ? s->class
                            : SYNC_NONE);
}

static int64_t wait_key(uint32_t process, const struct event *ev)
{
    return (int64_t)process << 32 ^ ev->correlation;
}

/* Waits that CUPTI has recorded, so that their calls do not stand there a second time; those of no stream belong to any process. */
static void find_waits(struct nsys_out *n)
{
    n->waits = (struct idmap){0};
    for (size_t i = 0; i < n->f->n; i++) {
        const struct event *ev = &n->d->ev[n->f->rows[i]];
        if (ev->kind == EV_SYNC && ev->correlation >= 0)
            idmap_set(&n->waits, wait_key(ev->stream ? export_process(n->d, ev) : 0, ev), 1);
    }
}

static bool has_wait(const struct nsys_out *n, const struct event *ev)
{
    return ev->correlation >= 0 && (idmap_get(&n->waits, wait_key(export_process(n->d, ev), ev)) || idmap_get(&n->waits, wait_key(0, ev)));
}

static void call(struct nsys_out *n, const struct event *ev)
{
    const struct ev_sync *s = ev_sync_of(n->d, ev);
    PUT(n, OUT_RUNTIME, 1, TIMES(n, ev), NSYS_NULL, global_tid(n, ev), or_null(ev->correlation, -1), nsys_out_string(n, ev->name), NSYS_NULL,
        chain_of(n, ev), rank_of(n, ev), s ? s->class : NSYS_NULL, s ? or_null(s->did_block, -1) : NSYS_NULL,
        s ? or_null(s->wait_stream, -1) : NSYS_NULL, s ? or_null(s->wait_event, -1) : NSYS_NULL);
    bool waits = s && s->class >= SYNC_STREAM && s->class <= SYNC_DEVICE;
    if (waits && !has_wait(n, ev))
        sync(n, ev);
}

static void overhead(struct nsys_out *n, const struct event *ev)
{
    PUT(n, OUT_OVERHEAD, 1, TIMES(n, ev), 103, global_tid(n, ev), or_null(ev->correlation, -1), nsys_out_string(n, ev->name), 0, rank_of(n, ev));
}

/* The domain's number in this process, and once a row that names it. */
static int64_t domain_of(struct nsys_out *n, const struct event *ev, uint32_t domain)
{
    uint32_t process = export_process(n->d, ev);
    int64_t key = (int64_t)(((uint64_t)n->file << 24 ^ process) << 32 | domain);
    uint32_t number = idmap_get(&n->domains, key);
    if (!domain || number)
        return domain ? number : 0;
    number = (uint32_t)n->domains.used + 1;
    idmap_set(&n->domains, key, number);
    int64_t text = nsys_out_string(n, domain);
    nsys_out_text(n, OUT_NVTX, 4, intern_str(&n->strings, (uint32_t)text));
    nsys_out_ints(n, OUT_NVTX, 1, (int64_t[]){0, NSYS_NULL, NVTX_DOMAIN}, 3);
    PUT(n, OUT_NVTX, 5, process ? n->f->pid[process] << TID_BITS : NSYS_NULL, text, number, NSYS_NULL);
    return number;
}

static void range(struct nsys_out *n, const struct event *ev)
{
    const struct ev_range *r = ev_range_of(n->d, ev);
    int flavour = r ? r->flavour : RANGE_PUSH_POP;
    int64_t domain = domain_of(n, ev, r ? r->domain : 0), text = nsys_out_string(n, ev->name);
    const int64_t head[] = {ev->start + n->f->shift, flavour == RANGE_MARK ? NSYS_NULL : ev->end + n->f->shift,
                            flavour == RANGE_MARK        ? NVTX_MARK
                            : flavour == RANGE_START_END ? NVTX_START_END
                                                         : NVTX_PUSH_POP};
    nsys_out_ints(n, OUT_NVTX, 1, head, 3);
    nsys_out_text(n, OUT_NVTX, 4, text == NSYS_NULL ? NULL : intern_str(&n->strings, (uint32_t)text));
    PUT(n, OUT_NVTX, 5, global_tid(n, ev), text, domain, rank_of(n, ev));
}

static void own(struct nsys_out *n, const struct event *ev)
{
    bool host = ev_kind_class((enum ev_kind)ev->kind) == EV_HOST;
    nsys_out_ints(n, OUT_OWN, 1, (int64_t[]){TIMES(n, ev)}, 2);
    nsys_out_text(n, OUT_OWN, 3, ev_kind_name((enum ev_kind)ev->kind));
    PUT(n, OUT_OWN, 4, nsys_out_string(n, ev->name), global_tid(n, ev), global_pid(n, ev), host ? NSYS_NULL : device_of(n, ev),
        host ? NSYS_NULL : native(n, ev), or_null(ev->correlation, -1), chain_of(n, ev), rank_of(n, ev));
}

static void (*const put[EV_NKINDS])(struct nsys_out *n, const struct event *ev) = {
    [EV_KERNEL] = kernel, [EV_COMM] = kernel, [EV_MEMCPY] = copy, [EV_MEMSET] = fill,   [EV_SYNC] = sync,         [EV_RUNTIME] = call,
    [EV_OP] = own,        [EV_RANGE] = range, [EV_FRAME] = own,   [EV_GPU_RANGE] = own, [EV_OVERHEAD] = overhead,
};

/* Thread numbers in 24 bits, different within a process. */
static void number_threads(struct nsys_out *n, struct arena *a)
{
    enum { LAST = 1 << TID_BITS };
    struct idmap taken = {0};
    int64_t next = 1;
    n->tid = arena_array(a, int64_t, n->d->nthreads);
    for (size_t i = 1; i < n->d->nthreads; i++) {
        int64_t process = (int64_t)n->d->threads[i].process << TID_BITS, tid = n->d->threads[i].tid;
        if (tid < 0 || tid >= LAST)
            tid = LAST - next++;
        while (idmap_get(&taken, process | tid) && next < LAST)
            tid = LAST - next++;
        idmap_set(&taken, process | tid, 1);
        n->tid[i] = tid;
    }
    idmap_free(&taken);
}

static void put_names(struct nsys_out *n)
{
    for (size_t i = 1; i < n->d->nprocesses; i++) {
        int64_t name = nsys_out_string(n, n->d->processes[i].name);
        nsys_out_text(n, OUT_PROCESSES, 3, name == NSYS_NULL ? NULL : intern_str(&n->strings, (uint32_t)name));
        PUT(n, OUT_PROCESSES, 1, n->f->pid[i] << TID_BITS, n->f->pid[i]);
    }
    for (size_t i = 1; i < n->d->nthreads; i++)
        if (n->d->threads[i].name)
            PUT(n, OUT_THREADS, 1, nsys_out_string(n, n->d->threads[i].name), 0, n->f->pid[n->d->threads[i].process] << TID_BITS | n->tid[i]);
}

static bool put_file(struct nsys_out *n)
{
    struct arena a = {0};
    n->f = &n->x->files[n->file];
    n->d = &n->f->f->d;
    n->string = arena_array(&a, uint32_t, n->d->strings.n + 1);
    n->chain = arena_array(&a, uint32_t, n->d->nsites);
    number_threads(n, &a);
    find_waits(n);
    for (size_t i = 0; i < n->f->n && n->e->kind == ERR_NONE; i++) {
        const struct event *ev = &n->d->ev[n->f->rows[i]];
        put[ev->kind](n, ev);
        if (n->scratch.total > 1 << 20)
            arena_free(&n->scratch);
    }
    put_names(n);
    idmap_free(&n->waits);
    arena_free(&a);
    return n->e->kind == ERR_NONE;
}

static void fact(struct nsys_out *n, const char *name, const char *value)
{
    nsys_out_text(n, OUT_EXPORT, 1, name);
    nsys_out_text(n, OUT_EXPORT, 2, value);
    nsys_out_put(n, OUT_EXPORT);
}

static void put_meta(struct nsys_out *n)
{
    const struct trace_file *f = n->x->files[0].f;
    fact(n, "EXPORT_PRODUCT_NAME", "cpscope");
    fact(n, "EXPORT_SCHEMA_VERSION", "3.25.0");
    fact(n, "EXPORT_SCHEMA_VERSION_MAJOR", "3");
    fact(n, "EXPORT_SCHEMA_VERSION_MINOR", "25");
    fact(n, "EXPORT_SCHEMA_VERSION_MICRO", "0");
    fact(n, "EXPORT_PARAM_EXPORT_TYPE", "SQLite");
    for (size_t i = 0; i < f->d.nmeta; i++)
        if (export_meta(f, trace_string(f, f->d.meta[i].key)))
            fact(n, arena_printf(&n->scratch, "CPSCOPE_%s", trace_string(f, f->d.meta[i].key)), trace_string(f, f->d.meta[i].value));
}

static bool put_facts(struct nsys_out *n)
{
    const struct trace_file *f = n->x->files[0].f;
    const char *utc = tracedata_meta_get(&f->d, "utc_epoch_ns");
    int64_t epoch, last = INT64_MIN;
    for (size_t i = 0; i < n->x->ndevices; i++) {
        nsys_out_text(n, OUT_GPU, 3, export_device_name(n->x, &n->x->devices[i]));
        PUT(n, OUT_GPU, 1, 0, n->x->devices[i].number);
    }
    for (size_t i = 0; i < n->x->nfiles; i++)
        for (size_t k = 0; k < n->x->files[i].n; k++) {
            int64_t end = n->x->files[i].f->d.ev[n->x->files[i].rows[k]].end + n->x->files[i].shift;
            last = end > last ? end : last;
        }
    PUT(n, OUT_DETAILS, 1, 0, last - n->x->first, n->x->first, last);
    if (utc && opt_int(utc, &epoch))
        PUT(n, OUT_SESSION, 1, epoch);
    put_meta(n);
    return n->e->kind == ERR_NONE;
}

static bool write(struct export_job *x, const char *path, struct err *e)
{
    struct nsys_out n = {.x = x, .e = e};
    bool ok = nsys_out_open(&n, path);
    for (n.file = 0; ok && n.file < x->nfiles; n.file++)
        ok = put_file(&n);
    ok = ok && put_facts(&n);
    return nsys_out_close(&n, ok) && ok;
}

const struct exporter export_nsys = {
    .name = "nsys", .what = "SQLite with the tables of an Nsight Systems export", .needs_path = true, .write = write};
