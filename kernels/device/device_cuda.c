/* device_cuda.c - GPUs, by a module that is loaded when they are asked for: cuda_module.h says what it does and who announces
 * what. Here are what a launch needs to find its kernel, the sizes of blocks, and what happens when CUDA fails.
 *
 * A failure of CUDA is final for its process: a line that names the call, and status 3.
 */
#include "kernels/device/blocks.h"
#include "kernels/device/cuda_module.h"
#include "kernels/device/modules.h"
#include "kernels/device/shadow.h"
#include "schemas/clock.h"
#include "schemas/tracedata.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct known { /* a kernel that was launched before */
    const struct kernel *kernel;
    const struct cuda_kernel *found;
};

enum { KNOWN_SLOTS = 512 }; /* a power of two, well over the number of kernels there are */

struct gpu { /* device.impl */
    struct cuda_gpu *handle;
    struct blocks blocks;
    struct shadow *shadow;          /* NULL: nobody compares */
    struct cuda_point *begin, *end; /* of a timed launch */
    struct known known[KNOWN_SLOTS];
};

/* ---- the module, once for all ranks ---- */

static struct {
    pthread_once_t once;
    const struct cuda_module *m; /* NULL: `why` says why */
    int devices;
    const char *what; /* what they are */
    struct err why;
} cuda = {.once = PTHREAD_ONCE_INIT};

static void load(void)
{
    const struct cuda_module *m = module_load(&(struct module_want){.who = "device cuda",
                                                                    .file = "device_cuda.so",
                                                                    .symbol = CUDA_MODULE_SYMBOL,
                                                                    .not_there = "build where nvcc is (make CUDA=/usr/local/cuda)",
                                                                    .not_loaded = "install the CUDA libraries"},
                                              &cuda.why);
    const char *wrong = m ? m->start(&cuda.devices, &cuda.what) : NULL;
    if (wrong)
        fail(&cuda.why, ERR_FAIL, "device cuda: %s", wrong);
    else
        cuda.m = m;
}

static bool available(void)
{
    pthread_once(&cuda.once, load);
    return cuda.m != NULL;
}

int cuda_devices(void)
{
    return available() ? cuda.devices : 0;
}

const char *cuda_missing(void)
{
    return available() ? NULL : cuda.why.msg;
}

static void why_not(struct err *e)
{
    fail(e, cuda.why.kind, "%s; --device cpu runs everywhere", cuda.why.msg);
}

static void check(const struct device *d, const char *wrong)
{
    if (!wrong)
        return;
    fprintf(stderr, "cuda device of rank %d: %s\n", d->rank, wrong);
    exit(STATUS_FAIL);
}

/* ---- devices and memory ---- */

static void read_block(struct device *d, void *host, const void *block, size_t bytes)
{
    struct cuda_lane *lane = d->standard->impl;
    for (struct stream *s = d->streams; s; s = s->next)
        check(d, cuda.m->wait(s->impl));
    check(d, cuda.m->download(lane, host, block, bytes));
    check(d, cuda.m->wait(lane));
}

/* What is asked of every launch: shadow.h. */
static bool watch(struct device *d, struct gpu *g)
{
    if (shadow_now() == SHADOW_COMPARE)
        return (g->shadow = shadow_open(d, &g->blocks, read_block)) != NULL;
    if (shadow_now() == SHADOW_TIME) {
        check(d, cuda.m->point_open(g->handle, &g->begin));
        check(d, cuda.m->point_open(g->handle, &g->end));
    }
    return true;
}

static bool open_device(struct device *d, struct err *e)
{
    struct gpu *g = calloc(1, sizeof *g);
    if (!g)
        return fail(e, ERR_FAIL, "cuda device: out of memory");
    d->ordinal %= cuda.devices; /* as CUPTI numbers them */
    const char *wrong = cuda.m->open(d->ordinal, &g->handle);
    if (wrong) {
        free(g);
        return fail(e, ERR_FAIL, "device cuda %d: %s", d->ordinal, wrong);
    }
    d->impl = g;
    if (d->rank == 0)
        dev_meta("gpu", cuda.what);
    return watch(d, g) || fail(e, ERR_FAIL, "cuda device: out of memory");
}

static void close_device(struct device *d)
{
    struct gpu *g = d->impl;
    shadow_close(g->shadow);
    if (g->begin) {
        cuda.m->point_close(g->begin);
        cuda.m->point_close(g->end);
    }
    cuda.m->close(g->handle);
    blocks_free(&g->blocks);
    free(g);
}

static void *alloc(struct device *d, size_t bytes)
{
    struct gpu *g = d->impl;
    void *p = cuda.m->alloc(g->handle, bytes);
    if (p && blocks_add(&g->blocks, p, bytes))
        return p;
    return NULL;
}

static size_t release(struct device *d, void *block)
{
    struct gpu *g = d->impl;
    if (g->shadow)
        shadow_freed(g->shadow, block);
    check(d, cuda.m->release(g->handle, block));
    return blocks_take(&g->blocks, block);
}

/* ---- streams ---- */

static bool lane_open(struct stream *s, struct err *e)
{
    const struct gpu *g = s->d->impl;
    struct cuda_lane *lane = NULL;
    const char *wrong = cuda.m->lane_open(g->handle, &lane);
    s->impl = lane;
    return !wrong || fail(e, ERR_FAIL, "device cuda: %s", wrong);
}

static void lane_close(struct stream *s)
{
    cuda.m->lane_close(s->impl);
}

static bool stream_busy(struct stream *s)
{
    return cuda.m->busy(s->impl);
}

static void stream_wait(struct stream *s)
{
    check(s->d, cuda.m->wait(s->impl));
}

/* ---- work ---- */

static const struct cuda_kernel *find(const struct device *d, const struct kernel *k)
{
    struct gpu *g = d->impl;
    size_t at = (uintptr_t)k / sizeof *k % KNOWN_SLOTS, looked = 0;
    for (; g->known[at].kernel && looked < KNOWN_SLOTS; at = (at + 1) % KNOWN_SLOTS, looked++)
        if (g->known[at].kernel == k)
            return g->known[at].found;
    const struct cuda_kernel *found = cuda.m->find(k->name);
    if (!found) {
        fprintf(stderr, "cuda device of rank %d: kernel %s has no CUDA version; --device cpu has it\n", d->rank, k->name);
        exit(STATUS_FAIL);
    }
    if (looked < KNOWN_SLOTS)
        g->known[at] = (struct known){k, found};
    return found;
}

static const char *launch(struct stream *s, const struct work *w)
{
    struct gpu *g = s->d->impl;
    const struct cuda_kernel *k = find(s->d, w->kernel);
    if (g->shadow)
        shadow_before(g->shadow, w->kernel, w->args, w->size);
    if (g->begin)
        check(s->d, cuda.m->record(s->impl, g->begin));
    const char *wrong = cuda.m->launch(s->impl, k, w->args);
    if (!wrong && g->begin) {
        check(s->d, cuda.m->record(s->impl, g->end));
        check(s->d, cuda.m->join(g->end));
        shadow_timed(w->kernel, w->args, cuda.m->time(g->end) - cuda.m->time(g->begin));
    }
    if (!wrong && g->shadow)
        shadow_after(g->shadow, w->kernel, w->args, w->size);
    return wrong;
}

static const char *submit_copy(struct stream *s, const struct work *w)
{
    switch (w->copy_kind) {
    case COPY_HTOD:
        return cuda.m->upload(s->impl, w->dst, w->src, (size_t)w->bytes);
    case COPY_DTOH:
        return cuda.m->download(s->impl, w->dst, w->src, (size_t)w->bytes);
    default:
        return cuda.m->copy(s->impl, w->dst, w->src, (size_t)w->bytes);
    }
}

/* The transfer is enqueued by this thread, which may wait here until the other ranks have come. */
static const char *submit_comm(struct stream *s, const struct work *w)
{
    _Alignas(64) unsigned char args[COMM_ARGS_MAX];
    memcpy(args, w->args, w->size);
    if (activity_on()) {
        struct activity a = *w->comm;
        a.what = ACT_COMM;
        a.stream = s->number;
        a.correlation = w->correlation;
        activity_emit(&a);
    }
    w->run(args);
    return NULL;
}

static bool submit(struct stream *s, const struct work *w)
{
    const struct gpu *g = s->d->impl;
    const char *wrong = NULL;
    if (g->shadow && w->kind == WORK_COMM)
        shadow_used(g->shadow, w->args, w->size);
    if (g->shadow && w->kind == WORK_COPY)
        shadow_used(g->shadow, &w->src, sizeof w->src);
    switch (w->kind) {
    case WORK_KERNEL:
        wrong = launch(s, w);
        break;
    case WORK_COPY:
        wrong = submit_copy(s, w);
        break;
    case WORK_SET:
        wrong = cuda.m->set(s->impl, w->dst, w->value, (size_t)w->bytes);
        break;
    case WORK_COMM:
        wrong = submit_comm(s, w);
        break;
    case WORK_RECORD:
        wrong = cuda.m->record(s->impl, w->event);
        break;
    case WORK_WAIT:
        wrong = cuda.m->await(s->impl, w->event);
        break;
    }
    check(s->d, wrong);
    return true;
}

/* ---- events: a record again takes the place of the one before, which those that wait for it have seen ---- */

static bool event_renew(struct dev_event *ev)
{
    const struct gpu *g = ev->d->impl;
    struct cuda_point *p = ev->impl;
    if (!p)
        check(ev->d, cuda.m->point_open(g->handle, &p));
    ev->impl = p;
    return true;
}

static void event_close(struct dev_event *ev)
{
    cuda.m->point_close(ev->impl);
}

static bool event_done(struct dev_event *ev)
{
    return cuda.m->reached(ev->impl);
}

static void event_wait(struct dev_event *ev)
{
    check(ev->d, cuda.m->join(ev->impl));
}

static int64_t event_time(const struct dev_event *ev)
{
    return cuda.m->time(ev->impl);
}

static int64_t now(struct device *d)
{
    (void)d;
    return clock_now();
}

static void host_row(struct device *d, int64_t correlation)
{
    (void)d;
    cuda.m->host_row(correlation);
}

/* ---- between the devices of ranks that are threads of this process ---- */

static void peer_copy(struct stream *s, void *to, const void *from, size_t bytes)
{
    check(s->d, cuda.m->copy(s->impl, to, from, bytes));
}

static void peer_clear(struct stream *s, void *to, size_t bytes)
{
    check(s->d, cuda.m->set(s->impl, to, 0, bytes));
}

static void peer_add(struct stream *s, bool f64, void *to, const void *const *parts, int nparts, int64_t n)
{
    check(s->d, nparts <= CUDA_PARTS_MAX ? cuda.m->add(s->impl, f64, to, parts, nparts, n) : "sums over more than 64 ranks");
}

static void peer_mark(struct stream *s, void **mark)
{
    const struct gpu *g = s->d->impl;
    struct cuda_point *p = *mark;
    if (!p)
        check(s->d, cuda.m->point_open(g->handle, &p));
    *mark = p;
    check(s->d, cuda.m->record(s->impl, p));
}

static void peer_await(struct stream *s, void *mark)
{
    check(s->d, cuda.m->await(s->impl, mark));
}

static void peer_close(void *mark)
{
    cuda.m->point_close(mark);
}

static const struct device_peer_ops peer = {
    .copy = peer_copy, .clear = peer_clear, .add = peer_add, .mark = peer_mark, .await = peer_await, .mark_close = peer_close};

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
    .host_row = host_row,
    .peer = &peer,
};

void *cuda_stream_native(const struct stream *s)
{
    return s->d->backend->ops == &ops ? cuda.m->native(s->impl) : NULL;
}

const struct device_backend device_cuda = {
    .name = "cuda",
    .what = "runs for real on NVIDIA GPUs, timed by their clock",
    .available = available,
    .why_not = why_not,
    .ops = &ops,
};
