/* device_cpu.c - a device made of threads: a worker per stream that runs its queue in order, for real, by the wall clock.
 *
 *   host --- queue ---> worker: [kernel][copy][kernel][collective ...]   each timed on the worker, then announced, then done
 *
 * Device memory is host memory. A kernel runs whole on its worker; a wait of the host ends when the worker has popped
 * the last entry, so events of finished work have been announced by then.
 */
#include "kernels/device/backend.h"
#include "kernels/device/park.h"
#include "kernels/device/pool.h"
#include "kernels/device/queue.h"
#include "schemas/clock.h"
#include "schemas/tracedata.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUE_ENTRIES = 1024 };

struct entry {
    struct work w;
    struct activity comm;
    _Alignas(64) unsigned char args[KERNEL_ARGS_MAX];
};

/* Host memory that an upload was staged in; free again once the queue has passed `until`. */
struct staging {
    struct staging *next;
    uint64_t until;
    size_t size;
    _Alignas(64) unsigned char bytes[];
};

struct lane { /* stream.impl */
    struct stream *s;
    struct queue *q;
    pthread_t worker;
    struct staging *staged;
};

/* One record of an event: a later record, perhaps in another stream, is another one, as a wait is for the record that it
 * saw. Lives as long as the event or an entry of a queue needs it. */
struct record { /* dev_event.impl */
    _Atomic uint32_t done, waiters, users;
    int64_t when; /* set before `done` */
};

static bool open_device(struct device *d, struct err *e)
{
    d->impl = calloc(1, sizeof(struct pool));
    return d->impl || fail(e, ERR_FAIL, "cpu device: out of memory");
}

static void close_device(struct device *d)
{
    pool_close(d->impl);
    free(d->impl);
}

/* ---- events ---- */

static void drop(struct record *r)
{
    if (atomic_fetch_sub(&r->users, 1) == 1)
        free(r);
}

static void event_close(struct dev_event *ev)
{
    drop(ev->impl);
}

/* The last record is used again when nobody else knows it any more. */
static bool event_renew(struct dev_event *ev)
{
    struct record *r = ev->impl;
    if (!r || atomic_load(&r->users) > 1) {
        if (r)
            drop(r);
        ev->impl = r = calloc(1, sizeof *r);
        if (!r)
            return false;
        atomic_store(&r->users, 1);
    }
    atomic_store(&r->done, 0);
    return true;
}

static bool event_done(struct dev_event *ev)
{
    struct record *r = ev->impl;
    return atomic_load(&r->done);
}

static void wait_for(struct record *r)
{
    atomic_fetch_add(&r->waiters, 1);
    while (!atomic_load(&r->done))
        futex_wait(&r->done, 0);
    atomic_fetch_sub(&r->waiters, 1);
}

static void event_wait(struct dev_event *ev)
{
    wait_for(ev->impl);
}

static int64_t event_time(const struct dev_event *ev)
{
    const struct record *r = ev->impl;
    return r->when;
}

static void run_record(struct entry *x)
{
    struct record *r = x->w.event;
    r->when = clock_now();
    atomic_store(&r->done, 1);
    if (atomic_load(&r->waiters))
        futex_wake(&r->done, INT_MAX);
    drop(r);
}

static void run_wait(struct entry *x)
{
    wait_for(x->w.event);
    drop(x->w.event);
}

/* ---- the worker ---- */

static const char *copy_name(int kind)
{
    static const char *const names[] = {[COPY_HTOD] = "Memcpy HtoD", [COPY_DTOH] = "Memcpy DtoH", [COPY_DTOD] = "Memcpy DtoD"};
    return names[kind];
}

static void run_kernel(struct entry *x)
{
    x->w.kernel->cpu(x->args);
}

static void run_copy(struct entry *x)
{
    if (x->w.bytes)
        memmove(x->w.dst, x->w.src, (size_t)x->w.bytes);
}

static void run_set(struct entry *x)
{
    if (x->w.bytes)
        memset(x->w.dst, x->w.value, (size_t)x->w.bytes);
}

static void run_comm(struct entry *x)
{
    x->w.run(x->args);
}

/* What is announced of an entry, but for times. */
static struct activity describe(const struct device *d, const struct entry *x)
{
    switch (x->w.kind) {
    case WORK_KERNEL:
        return activity_of(d, EV_KERNEL, x->w.kernel->name);
    case WORK_COPY: {
        struct activity a = activity_of(d, EV_MEMCPY, copy_name(x->w.copy_kind));
        a.copy_kind = x->w.copy_kind;
        a.bytes = x->w.bytes;
        return a;
    }
    case WORK_SET: {
        struct activity a = activity_of(d, EV_MEMSET, "Memset");
        a.bytes = x->w.bytes;
        return a;
    }
    case WORK_COMM:
        return x->comm;
    case WORK_RECORD:
    case WORK_WAIT:
        break;
    }
    return activity_of(d, EV_SYNC, "Stream Wait Event");
}

static void run_announced(const struct stream *s, struct entry *x, void (*run)(struct entry *))
{
    struct activity a = describe(s->d, x);
    a.start = clock_now();
    run(x);
    a.end = clock_now();
    a.stream = s->number;
    a.correlation = x->w.correlation;
    activity_emit(&a);
}

static void execute(const struct stream *s, struct entry *x)
{
    static void (*const runs[])(struct entry *) = {[WORK_KERNEL] = run_kernel, [WORK_COPY] = run_copy,     [WORK_SET] = run_set,
                                                   [WORK_COMM] = run_comm,     [WORK_RECORD] = run_record, [WORK_WAIT] = run_wait};
    if (x->w.kind != WORK_RECORD && activity_on())
        run_announced(s, x, runs[x->w.kind]);
    else
        runs[x->w.kind](x);
}

static void *worker(void *arg)
{
    struct lane *l = arg;
    struct entry *x;
    while ((x = queue_front(l->q)) != NULL) {
        execute(l->s, x);
        queue_pop(l->q);
    }
    return NULL;
}

/* ---- streams ---- */

static bool lane_open(struct stream *s, struct err *e)
{
    struct lane *l = calloc(1, sizeof *l);
    struct queue *q = l ? queue_open(QUEUE_ENTRIES, sizeof(struct entry)) : NULL;
    if (!q) {
        free(l);
        return fail(e, ERR_FAIL, "cpu device: out of memory");
    }
    *l = (struct lane){.s = s, .q = q};
    s->impl = l;
    if (pthread_create(&l->worker, NULL, worker, l) != 0) {
        queue_free(q);
        free(l);
        return fail(e, ERR_FAIL, "cpu device: cannot start a thread for a stream");
    }
    char name[16];
    snprintf(name, sizeof name, "rank%d.%d", s->d->rank, s->number);
    pthread_setname_np(l->worker, name);
    return true;
}

static void lane_close(struct stream *s)
{
    struct lane *l = s->impl;
    queue_end(l->q);
    pthread_join(l->worker, NULL);
    queue_free(l->q);
    while (l->staged) {
        struct staging *g = l->staged;
        l->staged = g->next;
        free(g);
    }
    free(l);
}

static bool stream_busy(struct stream *s)
{
    struct lane *l = s->impl;
    return !queue_done(l->q, queue_pushed(l->q));
}

static void stream_wait(struct stream *s)
{
    struct lane *l = s->impl;
    queue_wait(l->q, queue_pushed(l->q));
    if (s == s->d->standard)
        pool_settle(s->d->impl);
}

/* A copy of host bytes that stays until the queue has passed the entry about to be pushed. NULL: no memory. */
static const void *stage(struct lane *l, const void *src, size_t bytes)
{
    struct staging *g = l->staged;
    while (g && (g->size < bytes || !queue_done(l->q, g->until)))
        g = g->next;
    if (!g) {
        g = aligned_alloc(64, sizeof *g + (bytes + 63) / 64 * 64);
        if (!g)
            return NULL;
        g->size = bytes;
        g->next = l->staged;
        l->staged = g;
    }
    g->until = queue_pushed(l->q) + 1;
    memcpy(g->bytes, src, bytes);
    return g->bytes;
}

static bool submit(struct stream *s, const struct work *w)
{
    struct lane *l = s->impl;
    struct entry *x = queue_slot(l->q);
    x->w = *w;
    if (w->size)
        memcpy(x->args, w->args, w->size);
    if (w->comm)
        x->comm = *w->comm;
    if (w->event)
        atomic_fetch_add(&((struct record *)w->event)->users, 1);
    if (w->stage && w->bytes && !(x->w.src = stage(l, w->src, (size_t)w->bytes)))
        return false;
    queue_push(l->q);
    return true;
}

static void *alloc(struct device *d, size_t bytes)
{
    return pool_alloc(d->impl, bytes);
}

static size_t release(struct device *d, void *block)
{
    return pool_release(d->impl, block);
}

static int64_t now(struct device *d)
{
    (void)d;
    return clock_now();
}

static const struct device_ops ops = {
    .open = open_device,
    .close = close_device,
    .stream_open = lane_open,
    .stream_close = lane_close,
    .alloc = alloc,
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
};

const struct device_backend device_cpu = {
    .name = "cpu",
    .what = "runs for real on this machine's cores: a worker thread per stream, timed by the wall clock",
    .ops = &ops,
};
