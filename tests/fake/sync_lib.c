/* sync_lib.c - a library whose calls report a wait of the host, as a device of ours does (schemas/activity.h); to be preloaded
 * into any program. wait_ns(t) waits and reports; its caller is the call site. */
#include "schemas/activity.h"
#include "schemas/clock.h"

static activity_fn *report;
static void *context;

__attribute__((visibility("default"))) bool cpscope_activity_subscribe(int version, activity_fn *fn, void *ctx);
__attribute__((visibility("default"))) void wait_ns(int64_t ns);

bool cpscope_activity_subscribe(int version, activity_fn *fn, void *ctx)
{
    context = ctx;
    report = version == ACTIVITY_VERSION ? fn : NULL;
    return version == ACTIVITY_VERSION;
}

void wait_ns(int64_t ns)
{
    struct activity a = ACTIVITY_NONE;
    a.what = ACT_EVENT;
    a.kind = EV_RUNTIME;
    a.name = "deviceStreamSynchronize";
    a.sync_class = SYNC_STREAM;
    a.did_block = 1;
    a.start = clock_now();
    while (clock_now() - a.start < ns)
        ;
    a.end = clock_now();
    if (report)
        report(context, &a);
}
