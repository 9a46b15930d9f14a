/* source_api.c - what a program says of itself through cpscope.h. */
#include "collector/cpscope.h"
#include "collector/ranges.h"
#include "collector/text.h"
#include "schemas/clock.h"
#include "schemas/marker.h"
#include "schemas/version.h"

#include <stdatomic.h>
#include <stdio.h>

static _Atomic(struct recorder *) recorder;
static const char range_owner, step_owner;

static void range_push(const char *name)
{
    struct recorder *r = atomic_load_explicit(&recorder, memory_order_relaxed);
    if (r)
        ranges_push(r, &range_owner, NULL, text_keep(name));
}

static void range_pop(void)
{
    struct recorder *r = atomic_load_explicit(&recorder, memory_order_relaxed);
    if (r)
        ranges_pop(r, &range_owner);
}

static void mark(const char *text)
{
    struct recorder *r = atomic_load_explicit(&recorder, memory_order_relaxed);
    struct activity a = ACTIVITY_NONE;
    a.what = ACT_EVENT;
    a.kind = EV_RANGE;
    a.start = a.end = clock_now();
    a.text = a.name = text;
    a.transient = true;
    if (r && text)
        recorder_emit_as(r, &a, &(struct emit_as){.flavour = RANGE_MARK});
}

static void step(int64_t n)
{
    struct recorder *r = atomic_load_explicit(&recorder, memory_order_relaxed);
    static _Thread_local bool inside;
    char name[40];
    snprintf(name, sizeof name, MARK_STEP "#%lld", (long long)n);
    if (r && inside)
        ranges_pop(r, &step_owner);
    inside = r && n >= 0 && ranges_push(r, &step_owner, NULL, text_keep(name)) >= 0;
}

__attribute__((visibility("default"))) extern const struct cpscope_api cpscope_api;
const struct cpscope_api cpscope_api = {CPSCOPE_API_VERSION, CPSCOPE_VERSION, range_push, range_pop, mark, step};

static bool start(struct recorder *r)
{
    atomic_store(&recorder, r);
    return true;
}

static void stop(struct recorder *r)
{
    ranges_end(r);
    atomic_store(&recorder, NULL);
}

static void forked(struct recorder *r)
{
    (void)r;
    ranges_forked();
    text_forked();
}

const struct event_source source_api = {
    .name = "api",
    .what = "ranges, marks and steps that a program gives through cpscope.h",
    .start = start,
    .stop = stop,
    .forked = forked,
};
