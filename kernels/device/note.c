/* note.c - what the host announces of itself: API calls, ranges, marks, ops, facts; and the emulated dispatch cost. */
#include "kernels/device/backend.h"
#include "kernels/device/nvtx.h"

#include <assert.h>
#include <stdatomic.h>

enum { CORRELATIONS = 4096 }; /* ids that a device takes at a time, so that ranks do not share a counter per call */

static int64_t correlation(struct device *d)
{
    static _Atomic int64_t given = 1;
    if (d->correlation_next == d->correlation_end) {
        d->correlation_next = atomic_fetch_add(&given, CORRELATIONS);
        d->correlation_end = d->correlation_next + CORRELATIONS;
    }
    return d->correlation_next++;
}

void dev_host_work(struct device *d, int64_t ns)
{
    if (d->backend->ops->spend) {
        d->backend->ops->spend(d, ns);
        return;
    }
    for (int64_t until = dev_now(d) + ns; dev_now(d) < until;)
        ;
}

/* ---- API calls ---- */

struct api_call api_begin(struct device *d, bool op)
{
    if (op && d->host_cost > 0)
        dev_host_work(d, d->host_cost);
    if (!activity_on())
        return (struct api_call){d, 0, -1};
    struct api_call c = {d, dev_now(d), correlation(d)};
    if (d->backend->ops->host_row)
        d->backend->ops->host_row(d, c.correlation);
    return c;
}

static struct activity row_of(const struct api_call *c, const char *name)
{
    if (c->d->backend->ops->host_row)
        c->d->backend->ops->host_row(c->d, -1);
    struct activity a = activity_of(c->d, EV_RUNTIME, name);
    a.start = c->start;
    a.end = dev_now(c->d);
    a.correlation = c->correlation;
    return a;
}

void api_end(struct api_call *c, const char *name)
{
    if (c->correlation < 0)
        return;
    struct activity a = row_of(c, name);
    activity_emit(&a);
}

void api_end_wait(struct api_call *c, const char *name, enum sync_class sync, bool did_block, const struct stream *stream, const struct site *site)
{
    if (c->correlation < 0)
        return;
    struct activity a = row_of(c, name);
    a.sync_class = (uint8_t)sync;
    a.did_block = did_block;
    a.stream = stream ? stream->number : -1;
    a.site = site;
    activity_emit(&a);
}

/* ---- ranges, marks and ops ---- */

static void begin(struct device *d, struct open_note *stack, int *n, struct open_note note)
{
    assert(*n < DEVICE_NEST_MAX);
    note.start = activity_on() ? dev_now(d) : -1; /* -1: began while nobody listened, so it is not announced */
    stack[(*n)++] = note;
}

static void end(struct device *d, const struct open_note *stack, int *n, enum ev_kind kind)
{
    assert(*n > 0);
    const struct open_note *note = &stack[--*n];
    if (note->start < 0)
        return;
    struct activity a = activity_of(d, kind, note->name);
    a.start = note->start;
    a.end = dev_now(d);
    a.sequence = note->index;
    a.site = note->site;
    activity_emit(&a);
}

void dev_range_push(struct device *d, const char *name, int64_t index)
{
    begin(d, d->ranges, &d->nranges, (struct open_note){.name = name, .index = index});
    nvtx_push(name, index);
}

void dev_range_pop(struct device *d)
{
    nvtx_pop();
    end(d, d->ranges, &d->nranges, EV_RANGE);
}

void dev_op_begin(struct device *d, const char *name, const struct site *site)
{
    begin(d, d->ops, &d->nops, (struct open_note){.name = name, .index = -1, .site = site});
}

void dev_op_end(struct device *d)
{
    end(d, d->ops, &d->nops, EV_OP);
}

void dev_mark(struct device *d, const char *text)
{
    nvtx_mark(text);
    if (!activity_on())
        return;
    struct activity a = activity_of(d, EV_RANGE, text);
    a.start = a.end = dev_now(d);
    a.text = text;
    a.transient = true;
    activity_emit(&a);
}

void dev_meta(const char *key, const char *value)
{
    struct activity a = ACTIVITY_NONE;
    a.what = ACT_META;
    a.name = key;
    a.text = value;
    a.transient = true;
    activity_emit(&a);
}
