/* source_activity.c - what the devices of ours report (schemas/activity.h): the program that has them exports a symbol. */
#include "collector/recorder.h"
#include "collector/rows.h"
#include "collector/stack.h"

#include <dlfcn.h>

static activity_subscribe_fn *subscribe;

/* Virtual time starts where the recording does. */
static void emit_modelled(struct recorder *r, const struct activity *a)
{
    struct activity here = *a;
    here.start += recorder_epoch(r);
    here.end += recorder_epoch(r);
    recorder_emit_as(r, &here, &(struct emit_as){.tid = a->thread, .flavour = a->kind == EV_RANGE && a->text ? RANGE_MARK : RANGE_PUSH_POP});
}

/* A device that reports a wait of the host does so in the thread that waited. */
static bool wants_stack(const struct activity *a)
{
    return a->sync_class != SYNC_NONE && !a->site && stack_due(a->end - a->start);
}

/* A call of the host: what CUPTI knows of it becomes one row with what the device says. */
static void emit_call(struct recorder *r, const struct activity *a)
{
    struct activity here = *a;
    rows_end(r, &here);
    recorder_emit_as(r, &here, &(struct emit_as){.stack = wants_stack(a) ? stack_capture(r) : 0});
}

static void on_activity(void *recorder, const struct activity *a)
{
    if (a->modelled)
        emit_modelled(recorder, a);
    else if (a->what == ACT_COMM)
        rows_comm(recorder, a);
    else if (a->what == ACT_EVENT && a->kind == EV_RUNTIME)
        emit_call(recorder, a);
    else
        recorder_emit(recorder, a);
}

static bool start(struct recorder *r)
{
    *(void **)&subscribe = dlsym(RTLD_DEFAULT, CPSCOPE_SUBSCRIBE_SYMBOL);
    if (subscribe && !subscribe(ACTIVITY_VERSION, on_activity, r)) {
        recorder_degraded(r, "the devices of this program report in another version's form: use programs and library of one version");
        subscribe = NULL;
    }
    if (subscribe) {
        rows_listen(true);
        stack_start(r);
    }
    return subscribe != NULL;
}

static void stop(struct recorder *r)
{
    (void)r;
    if (subscribe)
        subscribe(ACTIVITY_VERSION, NULL, NULL);
}

const struct event_source source_activity = {
    .name = "activity",
    .what = "kernels, copies, collectives, API calls and ranges of cpbench's devices",
    .start = start,
    .stop = stop,
};
