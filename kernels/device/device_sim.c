/* device_sim.c - a modelled device: no work is done, clocks move. Counts follow from the code that runs; times from a model.
 *
 *   host clock    |launch|launch|....|  wait: until the stream has drained, then sync_ns  |
 *   stream clock      |--latency--| kernel: max(least, flops / rate, bytes / rate) | kernel | collective ...
 *
 * Every call moves the clocks at once, so an event's times are known when it is submitted. Index kernels and copies
 * between storage run for real, because hosts read what they compute; bulk tensors are addresses without memory.
 * A collective's end depends on its peers: its run() (comm_sim.c) gives way to the other ranks until all have come.
 */
#include "kernels/device/backend.h"
#include "kernels/device/sim.h"
#include "kernels/device/sim_cost.h"
#include "kernels/device/simmem.h"
#include "schemas/arena.h"
#include "schemas/tracedata.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INDEX_HEAD = 64, INDEX_TINY = 1 };

static struct simmem bulk; /* of all devices: an address says nothing but a size */

struct sim {      /* device.impl */
    int64_t host; /* the host's clock */
    uint64_t noise;
};

struct lane {        /* stream.impl */
    int64_t drained; /* when all that was submitted has ended */
    int64_t start;   /* of the collective that is being entered */
    int64_t *ends;   /* a ring of queue_depth: when the latest works ended */
    int64_t n, queue_depth;
};

static struct sim *own_of(const struct stream *s)
{
    return s->d->impl;
}

struct record { /* dev_event.impl */
    int64_t when;
};

/* ---- the device ---- */

static struct device **devices; /* by rank */
static size_t ndevices;

struct device *sim_device(int rank)
{
    return (size_t)rank < ndevices ? devices[rank] : NULL;
}

static void remember(struct device *d)
{
    if ((size_t)d->rank >= ndevices) {
        size_t before = ndevices;
        devices = array_grow(devices, &ndevices, (size_t)d->rank + 1, sizeof(struct device *));
        memset(devices + before, 0, (ndevices - before) * sizeof(struct device *));
    }
    devices[d->rank] = d;
}

/* The list goes with the last device. */
static void forget(const struct device *d)
{
    devices[d->rank] = NULL;
    for (size_t i = 0; i < ndevices; i++)
        if (devices[i])
            return;
    free(devices);
    devices = NULL;
    ndevices = 0;
}

static bool available(void)
{
    return true;
}

static bool open_device(struct device *d, struct err *e)
{
    struct sim *s = calloc(1, sizeof *s);
    if (!s)
        return fail(e, ERR_FAIL, "sim device: out of memory");
    s->noise = sim_noise(d->rank);
    d->impl = s;
    remember(d);
    return true;
}

static void close_device(struct device *d)
{
    struct sim *s = d->impl;
    forget(d);
    if (!ndevices)
        simmem_free(&bulk);
    free(s);
}

static bool lane_open(struct stream *s, struct err *e)
{
    struct lane *l = calloc(1, sizeof *l);
    int64_t depth = sim_machine()->queue_depth;
    int64_t *ends = l ? calloc((size_t)depth, sizeof *ends) : NULL;
    if (!ends) {
        free(l);
        return fail(e, ERR_FAIL, "sim device: out of memory");
    }
    const struct sim *own = s->d->impl;
    *l = (struct lane){.drained = own->host, .ends = ends, .queue_depth = depth};
    s->impl = l;
    return true;
}

static void lane_close(struct stream *s)
{
    struct lane *l = s->impl;
    free(l->ends);
    free(l);
}

static int64_t now(struct device *d)
{
    const struct sim *s = d->impl;
    return s->host;
}

static void spend(struct device *d, int64_t ns)
{
    struct sim *s = d->impl;
    s->host += ns;
}

int64_t sim_host_clock(const struct device *d)
{
    const struct sim *s = d->impl;
    return s->host;
}

void sim_host_until(struct device *d, int64_t clock)
{
    struct sim *s = d->impl;
    if (s->host < clock)
        s->host = clock;
}

int64_t sim_comm_start(const struct stream *s)
{
    const struct lane *l = s->impl;
    return l->start;
}

void sim_comm_end(struct stream *s, int64_t end)
{
    struct lane *l = s->impl;
    assert(end >= l->start);
    l->drained = end;
}

/* ---- memory ---- */

static void *alloc(struct device *d, size_t bytes)
{
    (void)d;
    return simmem_alloc(&bulk, bytes);
}

static void *alloc_index(struct device *d, size_t bytes)
{
    (void)d;
    unsigned char *block = aligned_alloc(INDEX_HEAD, (INDEX_HEAD + bytes + INDEX_TINY + INDEX_HEAD - 1) / INDEX_HEAD * INDEX_HEAD);
    if (!block)
        return NULL;
    memcpy(block, &bytes, sizeof bytes);
    return block + INDEX_HEAD;
}

static size_t release(struct device *d, void *block)
{
    (void)d;
    if (simmem_is(block))
        return simmem_release(&bulk, block);
    unsigned char *head = (unsigned char *)block - INDEX_HEAD;
    size_t bytes;
    memcpy(&bytes, head, sizeof bytes);
    free(head);
    return bytes;
}

/* ---- work ---- */

/* The host is at most queue_depth works ahead: then it waits for the oldest of them to end. */
static void wait_for_room(struct sim *own, struct lane *l)
{
    int64_t *oldest = &l->ends[l->n % l->queue_depth];
    if (l->n >= l->queue_depth && own->host < *oldest)
        own->host = *oldest;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void move(const struct work *w)
{
    if (!w->bytes || simmem_is(w->dst))
        return;
    if (simmem_is(w->src))
        memset(w->dst, 0, (size_t)w->bytes);
    else
        memmove(w->dst, w->src, (size_t)w->bytes);
}

static int64_t do_kernel(struct stream *s, const struct work *w, int64_t start)
{
    if (w->kernel->index)
        w->kernel->cpu(w->args);
    double ops = s->d->eager ? sim_eager_ops(w) : 0;
    if (ops < 1)
        return start + sim_kernel_ns(s->d, w, &own_of(s)->noise);
    /* Small operators, one launched after the other: the host or the least time of a kernel, whichever is slower. */
    int64_t each = s->d->host_cost + llround(sim_machine()->launch_ns), least = llround(sim_machine()->kernel_min_ns);
    own_of(s)->host += llround(ops * (double)each);
    return start + later(sim_kernel_ns(s->d, w, &own_of(s)->noise), llround(ops * (double)later(each, least)));
}

static int64_t do_copy(struct stream *s, const struct work *w, int64_t start)
{
    move(w);
    return start + sim_copy_ns(w, &own_of(s)->noise);
}

static int64_t do_set(struct stream *s, const struct work *w, int64_t start)
{
    if (w->bytes && !simmem_is(w->dst))
        memset(w->dst, w->value, (size_t)w->bytes);
    return start + sim_copy_ns(w, &own_of(s)->noise);
}

static int64_t do_comm(struct stream *s, const struct work *w, int64_t start)
{
    struct lane *l = s->impl;
    unsigned char args[COMM_ARGS_MAX];
    memcpy(args, w->args, w->size);
    l->start = start;
    w->run(args);
    return l->drained;
}

static int64_t do_record(struct stream *s, const struct work *w, int64_t start)
{
    (void)start;
    const struct lane *l = s->impl;
    ((struct record *)w->event)->when = l->drained;
    return l->drained;
}

static int64_t do_wait(struct stream *s, const struct work *w, int64_t start)
{
    (void)s;
    return later(start, ((const struct record *)w->event)->when);
}

static const char *copy_name(int kind)
{
    static const char *const names[] = {[COPY_HTOD] = "Memcpy HtoD", [COPY_DTOH] = "Memcpy DtoH", [COPY_DTOD] = "Memcpy DtoD"};
    return names[kind];
}

static struct activity describe(const struct device *d, const struct work *w)
{
    static const enum ev_kind kinds[] = {[WORK_KERNEL] = EV_KERNEL, [WORK_COPY] = EV_MEMCPY, [WORK_SET] = EV_MEMSET, [WORK_WAIT] = EV_SYNC};
    const char *name = w->kind == WORK_KERNEL ? w->kernel->name
                       : w->kind == WORK_COPY ? copy_name(w->copy_kind)
                       : w->kind == WORK_SET  ? "Memset"
                                              : "Stream Wait Event";
    struct activity a = activity_of(d, w->kind == WORK_COMM ? EV_COMM : kinds[w->kind], name);
    if (w->kind == WORK_COMM) {
        a = *w->comm;
        a.modelled = true;
    } else if (w->kind == WORK_COPY || w->kind == WORK_SET)
        a.bytes = w->bytes;
    if (w->kind == WORK_COPY)
        a.copy_kind = w->copy_kind;
    return a;
}

static void announce(const struct stream *s, const struct work *w, int64_t start, int64_t end)
{
    struct activity a = describe(s->d, w);
    a.start = start;
    a.end = end;
    a.stream = s->number;
    a.correlation = w->correlation;
    activity_emit(&a);
}

static bool submit(struct stream *s, const struct work *w)
{
    static int64_t (*const doing[])(struct stream *, const struct work *,
                                    int64_t) = {[WORK_KERNEL] = do_kernel, [WORK_COPY] = do_copy,     [WORK_SET] = do_set,
                                                [WORK_COMM] = do_comm,     [WORK_RECORD] = do_record, [WORK_WAIT] = do_wait};
    const struct machine *m = sim_machine();
    struct sim *own = s->d->impl;
    struct lane *l = s->impl;
    wait_for_room(own, l);
    own->host += llround(w->kind == WORK_COPY ? m->copy_ns : m->launch_ns);
    if (w->kind == WORK_COMM && s->d->host_cost > 0) /* a framework's collective costs its host more than an op, of which it paid one */
        own->host += later(0, llround(m->framework_comm_ns) - s->d->host_cost);
    int64_t start = later(l->drained, own->host + llround(m->launch_latency_ns)), end = doing[w->kind](s, w, start);
    l->drained = end;
    l->ends[l->n++ % l->queue_depth] = end;
    if (w->kind != WORK_RECORD && activity_on())
        announce(s, w, start, end);
    return true;
}

/* ---- waits ---- */

static bool stream_busy(struct stream *s)
{
    const struct lane *l = s->impl;
    return l->drained > now(s->d);
}

static void stream_wait(struct stream *s)
{
    const struct lane *l = s->impl;
    sim_host_until(s->d, l->drained);
    spend(s->d, llround(sim_machine()->sync_ns));
}

static bool event_renew(struct dev_event *ev)
{
    if (!ev->impl)
        ev->impl = calloc(1, sizeof(struct record));
    return ev->impl != NULL;
}

static void event_close(struct dev_event *ev)
{
    free(ev->impl);
}

static int64_t event_time(const struct dev_event *ev)
{
    const struct record *r = ev->impl;
    return r->when;
}

static bool event_done(struct dev_event *ev)
{
    return event_time(ev) <= now(ev->d);
}

static void event_wait(struct dev_event *ev)
{
    sim_host_until(ev->d, event_time(ev));
    spend(ev->d, llround(sim_machine()->sync_ns));
}

static const struct device_ops ops = {
    .open = open_device,
    .close = close_device,
    .stream_open = lane_open,
    .stream_close = lane_close,
    .alloc = alloc,
    .alloc_index = alloc_index,
    .release = release,
    .submit = submit,
    .stream_busy = stream_busy,
    .stream_wait = stream_wait,
    .event_renew = event_renew,
    .event_close = event_close,
    .event_done = event_done,
    .event_wait = event_wait,
    .event_time = event_time,
    .now = now,
    .spend = spend,
};

const struct device_backend device_sim = {
    .name = "sim",
    .what = "a model of a machine: host and stream clocks advance by a machine file's constants; the same bits every time",
    .available = available,
    .ops = &ops,
    .modelled = true,
};
