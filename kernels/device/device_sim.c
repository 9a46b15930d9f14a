/* device_sim.c - a modelled device: no work is done, clocks move. Counts follow from the code that runs; times from a model.
 *
 *   host clock    |launch|launch|....|  wait: until the stream has drained, then sync_ns  |
 *   stream clock      |--latency--| kernel: max(least, flops / rate, bytes / rate) | kernel | collective ...
 *
 * Every call moves the host's clock at once; ends of works are kept by lane.h, for those behind a collective follow from its
 * peers. Index kernels and copies between storage run for real, because hosts read what they compute; bulk tensors are
 * addresses without memory. While somebody listens every collective is waited for, so that rows come in the order of calls.
 */
#include "kernels/device/backend.h"
#include "kernels/device/lane.h"
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

/* stream.impl is a lane. */
static bool open_stream(struct stream *s, struct err *e)
{
    const struct sim *own = s->d->impl;
    s->impl = lane_open(sim_machine()->queue_depth, own->host);
    return s->impl || fail(e, ERR_FAIL, "sim device: out of memory");
}

static void close_stream(struct stream *s)
{
    lane_close(s->impl);
}

static int64_t now(struct device *d)
{
    const struct sim *s = d->impl;
    return s->host;
}

static void spend(struct device *d, int64_t ns)
{
    struct sim *s = d->impl;
    s->host += sim_host_ns(ns, d->rank);
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
    return lane_comm_start(s->impl);
}

void sim_comm_end(struct stream *s, int64_t end)
{
    lane_comm_end(s->impl, end);
}

void sim_comm_ended(void)
{
    lane_move();
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

/* Each does a work, which is ready at a time, and gives it to the stream's lane; false: out of memory. */

static bool do_kernel(struct stream *s, const struct work *w, int64_t ready)
{
    if (w->kernel->index)
        w->kernel->cpu(w->args);
    double ops = s->d->eager ? sim_eager_ops(w) : 0;
    int64_t ns = sim_kernel_ns(s->d, w, &own_of(s)->noise);
    if (ops >= 1) { /* small operators, one launched after the other: the host or the least time of a kernel, whichever is slower */
        int64_t each = s->d->host_cost + llround(sim_machine()->launch_ns), least = llround(sim_machine()->kernel_min_ns);
        own_of(s)->host += llround(ops * (double)each);
        ns = later(ns, llround(ops * (double)later(each, least)));
    }
    lane_push(s->impl, ready, ns);
    return true;
}

static bool do_copy(struct stream *s, const struct work *w, int64_t ready)
{
    move(w);
    lane_push(s->impl, ready, sim_copy_ns(w, &own_of(s)->noise));
    return true;
}

static bool do_set(struct stream *s, const struct work *w, int64_t ready)
{
    if (w->bytes && !simmem_is(w->dst))
        memset(w->dst, w->value, (size_t)w->bytes);
    lane_push(s->impl, ready, sim_copy_ns(w, &own_of(s)->noise));
    return true;
}

/* A rank's collectives have their turns in the order of its calls, whatever streams they are in: peers match them by it. */
static bool do_comm(struct stream *s, const struct work *w, int64_t ready)
{
    for (struct stream *other = s->d->streams; other; other = other->next)
        if (other != s)
            lane_settle(other->impl);
    return lane_push_comm(s->impl, ready, w->run, w->args, w->size);
}

static bool do_record(struct stream *s, const struct work *w, int64_t ready)
{
    (void)ready;
    ((struct record *)w->event)->when = lane_end(s->impl);
    lane_push(s->impl, 0, 0);
    return true;
}

static bool do_wait(struct stream *s, const struct work *w, int64_t ready)
{
    lane_push(s->impl, later(ready, ((const struct record *)w->event)->when), 0);
    return true;
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

static void announce(const struct stream *s, const struct work *w, int64_t start)
{
    struct activity a = describe(s->d, w);
    a.start = start;
    a.end = lane_end(s->impl);
    a.stream = s->number;
    a.correlation = w->correlation;
    activity_emit(&a);
}

/* A framework's collective costs its host more than an op, of which it paid one; in proportion where ops cost other than the
 * machine says. What it costs more is spent below Python: a profiler does not slow it. */
static int64_t comm_cost(const struct device *d)
{
    const struct machine *m = sim_machine();
    double ops = m->framework_op_ns > 0 ? m->framework_comm_ns / m->framework_op_ns : 1;
    return llround((double)d->host_cost / m->framework_slowdown * fmax(0, ops - 1));
}

/* What a work costs the host, which is at most the depth of the queue ahead. */
static void pay(struct stream *s, const struct work *w)
{
    const struct machine *m = sim_machine();
    sim_host_until(s->d, lane_room(s->impl));
    spend(s->d, llround(w->kind == WORK_COPY ? m->copy_ns : m->launch_ns));
    if (w->kind == WORK_COMM && s->d->host_cost > 0)
        spend(s->d, comm_cost(s->d));
}

static bool submit(struct stream *s, const struct work *w)
{
    static bool (*const doing[])(struct stream *, const struct work *,
                                 int64_t) = {[WORK_KERNEL] = do_kernel, [WORK_COPY] = do_copy,     [WORK_SET] = do_set,
                                             [WORK_COMM] = do_comm,     [WORK_RECORD] = do_record, [WORK_WAIT] = do_wait};
    bool heard = activity_on();
    if (heard || w->kind == WORK_RECORD)
        lane_settle(s->impl);
    pay(s, w);
    int64_t ready = now(s->d) + llround(sim_machine()->launch_latency_ns), start = heard ? later(lane_end(s->impl), ready) : 0;
    if (!doing[w->kind](s, w, ready))
        return false;
    if (heard)
        lane_settle(s->impl);
    if (heard && w->kind != WORK_RECORD)
        announce(s, w, start);
    return true;
}

/* ---- waits ---- */

static bool stream_busy(struct stream *s)
{
    lane_settle(s->impl);
    return lane_end(s->impl) > now(s->d);
}

static void stream_wait(struct stream *s)
{
    lane_settle(s->impl);
    sim_host_until(s->d, lane_end(s->impl));
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
    .stream_open = open_stream,
    .stream_close = close_stream,
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
    .ops = &ops,
    .modelled = true,
};
