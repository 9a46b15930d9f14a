/* wait.c - events, and the calls in which the host waits: each is exactly one row of the wait ledger. */
#include "kernels/device/backend.h"

#include <stdlib.h>

void dev_stream_sync(struct stream *s, const struct site *site)
{
    const struct device_ops *ops = s->d->backend->ops;
    struct api_call c = api_begin(s->d, false);
    bool busy = ops->stream_busy(s);
    ops->stream_wait(s);
    api_end_wait(&c, "deviceStreamSynchronize", SYNC_STREAM, busy, s, site);
}

void dev_device_sync(struct device *d, const struct site *site)
{
    const struct device_ops *ops = d->backend->ops;
    struct api_call c = api_begin(d, false);
    bool busy = false;
    for (struct stream *s = d->streams; s; s = s->next)
        busy |= ops->stream_busy(s);
    for (struct stream *s = d->streams; s; s = s->next)
        ops->stream_wait(s);
    api_end_wait(&c, "deviceSynchronize", SYNC_DEVICE, busy, NULL, site);
}

struct dev_event *dev_event_open(struct device *d)
{
    struct dev_event *ev = calloc(1, sizeof *ev);
    if (!ev)
        dev_out_of_memory(d, sizeof *ev);
    ev->d = d;
    return ev;
}

void dev_event_close(struct dev_event *ev)
{
    if (ev && ev->impl)
        ev->d->backend->ops->event_close(ev);
    free(ev);
}

static void submit(struct stream *s, enum work_kind kind, const struct dev_event *ev, int64_t correlation)
{
    if (!s->d->backend->ops->submit(s, &(struct work){.kind = kind, .correlation = correlation, .event = ev->impl}))
        dev_out_of_memory(s->d, 0);
}

void dev_event_record(struct dev_event *ev, struct stream *s)
{
    struct api_call c = api_begin(s->d, false);
    if (!s->d->backend->ops->event_renew(ev))
        dev_out_of_memory(s->d, 0);
    submit(s, WORK_RECORD, ev, c.correlation);
    api_end(&c, "deviceEventRecord");
}

/* An event that was never recorded is waited for by nobody, as on every GPU. */
void dev_stream_wait_event(struct stream *s, struct dev_event *ev)
{
    struct api_call c = api_begin(s->d, false);
    if (ev->impl)
        submit(s, WORK_WAIT, ev, c.correlation);
    api_end(&c, "deviceStreamWaitEvent");
}

void dev_event_sync(struct dev_event *ev, const struct site *site)
{
    const struct device_ops *ops = ev->d->backend->ops;
    struct api_call c = api_begin(ev->d, false);
    bool busy = ev->impl && !ops->event_done(ev);
    if (busy)
        ops->event_wait(ev);
    api_end_wait(&c, "deviceEventSynchronize", SYNC_EVENT, busy, NULL, site);
}

int64_t dev_event_time(const struct dev_event *ev)
{
    return ev->impl ? ev->d->backend->ops->event_time(ev) : 0;
}
