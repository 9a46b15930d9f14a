/* sync_lib.c - a library whose calls report a wait of the host, as a device of ours does (schemas/activity.h); to be preloaded
 * into any program. wait_ns(t) waits and reports; its caller is the call site. report_cost(n) is the CPU time of one of n reports
 * of waits that took no time, in ns; report_cost_apart(n) of one of n from different depths of the stack. */
#include "schemas/activity.h"
#include "schemas/clock.h"

static activity_fn *report;
static void *context;

__attribute__((visibility("default"))) bool cpscope_activity_subscribe(int version, activity_fn *fn, void *ctx);
__attribute__((visibility("default"))) void wait_ns(int64_t ns);
__attribute__((visibility("default"))) double report_cost(int n);
__attribute__((visibility("default"))) double report_cost_apart(int n);

bool cpscope_activity_subscribe(int version, activity_fn *fn, void *ctx)
{
    context = ctx;
    report = version == ACTIVITY_VERSION ? fn : NULL;
    return version == ACTIVITY_VERSION;
}

static struct activity a_wait(void)
{
    struct activity a = ACTIVITY_NONE;
    a.what = ACT_EVENT;
    a.kind = EV_RUNTIME;
    a.name = "deviceStreamSynchronize";
    a.sync_class = SYNC_STREAM;
    a.did_block = 1;
    a.start = a.end = clock_now();
    return a;
}

void wait_ns(int64_t ns)
{
    struct activity a = a_wait();
    while (a.end - a.start < ns)
        a.end = clock_now();
    if (report)
        report(context, &a);
}

double report_cost(int n)
{
    struct activity a = a_wait();
    int64_t began = clock_of(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < n && report; i++)
        report(context, &a);
    return (double)(clock_of(CLOCK_THREAD_CPUTIME_ID) - began) / n;
}

__attribute__((noinline)) static void report_below(const struct activity *a, int depth)
{
    if (depth)
        report_below(a, depth - 1);
    else
        report(context, a);
    __asm__ volatile("" ::: "memory");
}

double report_cost_apart(int n)
{
    struct activity a = a_wait();
    int64_t began = clock_of(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < n && report; i++)
        report_below(&a, i * 5 % 8);
    return (double)(clock_of(CLOCK_THREAD_CPUTIME_ID) - began) / n;
}
