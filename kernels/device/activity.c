/* activity.c - the one subscriber to what the devices of this process do (schemas/activity.h). */
#include "kernels/device/backend.h"

#include <stdatomic.h>

__attribute__((visibility("default"))) bool cpscope_activity_subscribe(int version, activity_fn *fn, void *ctx);

/* The context is stored before the function and read after it, so that a report never sees one without the other. */
static _Atomic(activity_fn *) subscriber;
static _Atomic(void *) context;

/* One subscriber at a time; a second one is refused, as one of another version is. */
bool cpscope_activity_subscribe(int version, activity_fn *fn, void *ctx)
{
    if (version != ACTIVITY_VERSION || (fn && activity_on()))
        return false;
    if (fn)
        atomic_store(&context, ctx);
    atomic_store(&subscriber, fn);
    return true;
}

bool activity_on(void)
{
    return atomic_load_explicit(&subscriber, memory_order_relaxed) != NULL;
}

void activity_emit(const struct activity *a)
{
    activity_fn *fn = atomic_load_explicit(&subscriber, memory_order_acquire);
    if (fn)
        fn(atomic_load_explicit(&context, memory_order_relaxed), a);
}

struct activity activity_of(const struct device *d, enum ev_kind kind, const char *name)
{
    struct activity a = ACTIVITY_NONE;
    a.what = ACT_EVENT;
    a.kind = (uint8_t)kind;
    a.name = name;
    a.rank = d->rank;
    a.device = d->ordinal;
    a.modelled = d->backend->modelled;
    a.thread = a.modelled ? d->rank + 1 : 0;
    return a;
}
