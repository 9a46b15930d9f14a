/* source_activity.c - what the devices of ours report (schemas/activity.h): the program that has them exports a symbol. */
#include "collector/recorder.h"

#include <dlfcn.h>

static activity_subscribe_fn *subscribe;

static void on_activity(void *recorder, const struct activity *a)
{
    recorder_emit(recorder, a);
}

static bool start(struct recorder *r)
{
    *(void **)&subscribe = dlsym(RTLD_DEFAULT, CPSCOPE_SUBSCRIBE_SYMBOL);
    if (subscribe && !subscribe(ACTIVITY_VERSION, on_activity, r)) {
        recorder_degraded(r, "the devices of this program report in another version's form: use programs and library of one version");
        subscribe = NULL;
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
