/* device.c - devices, streams, memory and work, the same on every backend: a host row for each call, then the backend. */
#include "kernels/device/backend.h"
#include "schemas/tracedata.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STANDARD_STREAM = 7, FIRST_FURTHER_STREAM = 13 };

_Noreturn void dev_out_of_memory(const struct device *d, size_t bytes)
{
    fprintf(stderr, "%s device of rank %d: out of memory, %zu bytes wanted and %lld in use; take fewer tokens or layers\n", d->backend->name, d->rank,
            bytes, (long long)d->in_use);
    exit(STATUS_FAIL);
}

/* ---- devices and streams ---- */

static const struct device_backend *find(const char *name)
{
    for (size_t i = 0; device_backends[i]; i++)
        if (strcmp(device_backends[i]->name, name) == 0)
            return device_backends[i];
    return NULL;
}

const char *device_auto(void)
{
    const struct device_backend *b = find("cuda");
    return b && b->available() ? b->name : "cpu";
}

static const struct device_backend *find_available(const char *name, struct err *e)
{
    const struct device_backend *b = find(strcmp(name, "auto") == 0 ? device_auto() : name);
    if (!b)
        fail(e, ERR_USAGE, "device %s: not in this build", name);
    else if (b->available && !b->available())
        b->why_not(e);
    return e->kind ? NULL : b;
}

static struct stream *add_stream(struct device *d, int number, struct err *e)
{
    struct stream *s = calloc(1, sizeof *s);
    if (!s) {
        fail(e, ERR_FAIL, "device: out of memory");
        return NULL;
    }
    *s = (struct stream){.d = d, .number = number, .next = d->streams};
    if (!d->backend->ops->stream_open(s, e)) {
        free(s);
        return NULL;
    }
    return d->streams = s;
}

struct device *device_open(const char *backend, int rank, int ordinal, struct err *e)
{
    const struct device_backend *b = find_available(backend, e);
    struct device *d = b ? calloc(1, sizeof *d) : NULL;
    if (!d) {
        fail(e, ERR_FAIL, "device: out of memory");
        return NULL;
    }
    *d = (struct device){.backend = b, .rank = rank, .ordinal = ordinal, .next_number = FIRST_FURTHER_STREAM};
    if (!b->ops->open(d, e)) {
        free(d);
        return NULL;
    }
    d->standard = add_stream(d, STANDARD_STREAM, e);
    if (!d->standard) {
        b->ops->close(d);
        free(d);
        return NULL;
    }
    return d;
}

void device_close(struct device *d)
{
    if (!d)
        return;
    while (d->streams)
        stream_close(d->streams);
    if (activity_on()) {
        struct activity a = activity_of(d, EV_RUNTIME, "peak");
        a.what = ACT_MEMORY;
        a.bytes = d->peak_ever;
        a.start = a.end = dev_now(d);
        activity_emit(&a);
    }
    d->backend->ops->close(d);
    free(d);
}

const char *device_backend_name(const struct device *d)
{
    return d->backend->name;
}

int device_rank(const struct device *d)
{
    return d->rank;
}

void device_number(struct device *d, enum dev_number number)
{
    d->number = number;
}

bool device_stores_narrow(const struct device *d)
{
    return d->backend->modelled && d->number != DEV_FP32;
}

bool device_has_storage(const struct device *d)
{
    return !d->backend->modelled;
}

void device_eager(struct device *d, bool eager)
{
    d->eager = eager;
}

void device_host_cost(struct device *d, int64_t ns_per_op)
{
    d->host_cost = ns_per_op;
}

struct stream *device_stream(struct device *d)
{
    return d->standard;
}

struct stream *stream_open(struct device *d)
{
    struct err e = {0};
    struct stream *s = add_stream(d, d->next_number++, &e);
    if (!s)
        dev_out_of_memory(d, 0);
    return s;
}

void stream_close(struct stream *s)
{
    if (!s)
        return;
    const struct device_ops *ops = s->d->backend->ops;
    struct stream **link = &s->d->streams;
    while (*link != s)
        link = &(*link)->next;
    *link = s->next;
    ops->stream_wait(s);
    ops->stream_close(s);
    free(s);
}

struct device *stream_device(const struct stream *s)
{
    return s->d;
}

void dev_capture_begin(struct stream *s)
{
    s->capturing = true;
}

void dev_capture_end(struct stream *s)
{
    s->capturing = false;
}

bool dev_capturing(const struct stream *s)
{
    return s->capturing;
}

int64_t dev_now(struct device *d)
{
    return d->backend->ops->now(d);
}

/* ---- memory ---- */

static void *allocate(struct device *d, void *(*alloc)(struct device *d, size_t bytes), size_t bytes)
{
    void *p = alloc(d, bytes);
    if (!p)
        dev_out_of_memory(d, bytes);
    d->in_use += (int64_t)bytes;
    if (d->in_use > d->peak)
        d->peak = d->in_use;
    if (d->in_use > d->peak_ever)
        d->peak_ever = d->in_use;
    return p;
}

void *dev_alloc(struct device *d, size_t bytes)
{
    return allocate(d, d->backend->ops->alloc, bytes);
}

static size_t row_bytes(const struct device *d, int64_t n)
{
    return (size_t)n * sizeof(float) / (device_stores_narrow(d) ? 2 : 1);
}

void *dev_alloc_rows(struct device *d, int64_t n)
{
    return dev_alloc(d, row_bytes(d, n));
}

void *dev_alloc_index(struct device *d, size_t bytes)
{
    const struct device_ops *ops = d->backend->ops;
    return allocate(d, ops->alloc_index ? ops->alloc_index : ops->alloc, bytes);
}

void dev_free(struct device *d, void *p)
{
    if (p)
        d->in_use -= (int64_t)d->backend->ops->release(d, p);
}

int64_t dev_memory_peak(const struct device *d)
{
    return d->peak;
}

void dev_memory_reset_peak(struct device *d)
{
    d->peak = d->in_use;
}

/* ---- work ---- */

static void submit(struct stream *s, const struct work *w)
{
    if (!s->d->backend->ops->submit(s, w))
        dev_out_of_memory(s->d, (size_t)w->bytes);
}

void dev_launch(struct stream *s, const struct kernel *k, const void *args, size_t size)
{
    assert(size <= KERNEL_ARGS_MAX);
    struct api_call c = api_begin(s->d, true);
    submit(s, &(struct work){.kind = WORK_KERNEL, .correlation = c.correlation, .kernel = k, .args = args, .size = (uint32_t)size});
    api_end(&c, "deviceLaunchKernel");
}

void dev_enqueue_comm(struct stream *s, const struct activity *a, void (*run)(void *args), const void *args, size_t size)
{
    assert(size <= COMM_ARGS_MAX);
    struct api_call c = api_begin(s->d, true);
    struct activity comm = *a;
    comm.what = ACT_EVENT;
    comm.kind = EV_COMM;
    comm.rank = s->d->rank;
    comm.device = s->d->ordinal;
    submit(s, &(struct work){.kind = WORK_COMM, .correlation = c.correlation, .comm = &comm, .run = run, .args = args, .size = (uint32_t)size});
    api_end(&c, "deviceLaunchKernel");
}

void dev_set_async(struct stream *s, void *dst, int value, size_t bytes)
{
    struct api_call c = api_begin(s->d, true);
    submit(s, &(struct work){.kind = WORK_SET, .correlation = c.correlation, .dst = dst, .value = value, .bytes = (int64_t)bytes});
    api_end(&c, "deviceMemsetAsync");
}

static void submit_copy(struct stream *s, const struct api_call *c, enum copy_kind kind, bool stage, void *dst, const void *src, size_t bytes)
{
    submit(s, &(struct work){.kind = WORK_COPY,
                             .correlation = c->correlation,
                             .copy_kind = (uint8_t)kind,
                             .stage = stage,
                             .dst = dst,
                             .src = src,
                             .bytes = (int64_t)bytes});
}

static void copy_async(struct stream *s, enum copy_kind kind, bool stage, void *dst, const void *src, size_t bytes)
{
    struct api_call c = api_begin(s->d, true);
    submit_copy(s, &c, kind, stage, dst, src, bytes);
    api_end(&c, "deviceMemcpyAsync");
}

void dev_copy_async(struct stream *s, void *dst, const void *src, size_t bytes)
{
    copy_async(s, COPY_DTOD, false, dst, src, bytes);
}

void dev_clear_rows(struct stream *s, float *rows, int64_t n)
{
    dev_set_async(s, rows, 0, row_bytes(s->d, n));
}

void dev_copy_rows(struct stream *s, float *dst, const float *src, int64_t n)
{
    dev_copy_async(s, dst, src, row_bytes(s->d, n));
}

void dev_upload_async(struct stream *s, void *dst, const void *src, size_t bytes)
{
    copy_async(s, COPY_HTOD, true, dst, src, bytes);
}

/* One row for copy and wait together: the wait ledger counts calls, and this is one call. */
static void copy_and_wait(struct stream *s, enum copy_kind kind, void *dst, const void *src, size_t bytes, const struct site *site)
{
    const struct device_ops *ops = s->d->backend->ops;
    struct api_call c = api_begin(s->d, true);
    bool busy = ops->stream_busy(s);
    submit_copy(s, &c, kind, false, dst, src, bytes);
    ops->stream_wait(s);
    api_end_wait(&c, "deviceMemcpy", SYNC_COPY, busy, s, site);
}

void dev_upload(struct stream *s, void *dst, const void *src, size_t bytes, const struct site *site)
{
    copy_and_wait(s, COPY_HTOD, dst, src, bytes, site);
}

void dev_download(struct stream *s, void *dst, const void *src, size_t bytes, const struct site *site)
{
    copy_and_wait(s, COPY_DTOH, dst, src, bytes, site);
}
