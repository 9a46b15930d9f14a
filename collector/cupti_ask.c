/* cupti_ask.c - see cupti_ask.h. A row for each kind of record: whose events it makes, and whether --lite wants it. */
#include "collector/cupti_ask.h"
#include "collector/cupti_buffers.h"
#include "collector/launches.h"
#include "collector/rows.h"
#include "schemas/clock.h"

#include <stdio.h>
#include <string.h>

void cupti_missing(const struct cupti *c, struct recorder *r, const char *what, const char *call, int result)
{
    char text[600];
    cupti_explain(c, what, call, result, text, sizeof text);
    recorder_degraded(r, text);
}

static uint64_t our_clock(void)
{
    return (uint64_t)clock_now();
}

static void set_attribute(const struct cupti *c, int attribute, uint8_t value)
{
    size_t size = sizeof value;
    c->set_attribute(attribute, &size, &value); /* an older release does without */
}

static bool start_clock(const struct cupti *c, struct recorder *r)
{
    int rc = c->timestamp_callback ? c->timestamp_callback(our_clock) : CUPTI_NOT_COMPATIBLE;
    bool own = rc == CUPTI_OK;
    recorder_meta(r, "cupti_clock", own ? "monotonic_raw" : "converted");
    return own;
}

/* A kind that cannot be had is said and does not keep the others away; true: it can. */
static bool start_kind(const struct cupti *c, int kind, const char *name, char *names, size_t size, int *result)
{
    int rc = c->enable(kind);
    size_t n = strlen(names);
    if (rc == CUPTI_OK)
        return true;
    snprintf(names + n, size - n, "%s%s", n ? ", " : "", name);
    *result = rc;
    return false;
}

static void start_kinds(const struct cupti *c, struct recorder *r, const struct record_options *o)
{
    static const struct {
        int kind;
        uint32_t for_kinds; /* of events */
        bool lite;
        const char *name;
    } kinds[] = {
        {CUPTI_CONCURRENT_KERNEL, 1u << EV_KERNEL | 1u << EV_COMM, false, "CONCURRENT_KERNEL"},
        {CUPTI_MEMCPY, 1u << EV_MEMCPY | 1u << EV_RUNTIME, true, "MEMCPY"}, /* the memory tells which calls wait */
        {CUPTI_MEMCPY2, 1u << EV_MEMCPY | 1u << EV_RUNTIME, true, "MEMCPY2"},
        {CUPTI_MEMSET, 1u << EV_MEMSET, false, "MEMSET"},
        {CUPTI_SYNCHRONIZATION, 1u << EV_SYNC, true, "SYNCHRONIZATION"},
        {CUPTI_CUDA_EVENT, 1u << EV_SYNC, true, "CUDA_EVENT"},
        {CUPTI_OVERHEAD, 1u << EV_OVERHEAD, false, "OVERHEAD"},
        {CUPTI_INTERNAL_LAUNCH, 1u << EV_RUNTIME, false, "INTERNAL_LAUNCH_API"},
        {CUPTI_CONTEXT, UINT32_MAX, true, "CONTEXT"},
        {CUPTI_DEVICE, UINT32_MAX, true, "DEVICE"},
    };
    char what[300], names[220] = "";
    int rc = CUPTI_OK;
    uint32_t of_comm = rows_listening() && (o->kinds & 1u << EV_COMM) ? 1u << EV_KERNEL | 1u << EV_MEMCPY | 1u << EV_MEMSET : 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bool wanted = ((o->kinds | of_comm) & kinds[i].for_kinds) && (!o->lite || kinds[i].lite);
        if (wanted && start_kind(c, kinds[i].kind, kinds[i].name, names, sizeof names, &rc) && kinds[i].kind == CUPTI_CONCURRENT_KERNEL)
            launch_collect(true);
    }
    snprintf(what, sizeof what, "records are missing of kind %s", names);
    if (*names)
        cupti_missing(c, r, what, "cuptiActivityEnable", rc);
    if (c->all_syncs)
        c->all_syncs(0); /* no queries that found nothing: polls are not waits */
}

bool cupti_ask(const struct cupti *c, struct recorder *r, const struct record_options *o)
{
    int rc = CUPTI_UNKNOWN;
    if (!buffers_open(c->api_version >= CUPTI_NULL_BUFFER_API)) {
        recorder_degraded(r, "no kernels or copies are recorded: no memory for their buffers");
        return false;
    }
    set_attribute(c, CUPTI_ATTR_ZEROED, 1);
    set_attribute(c, CUPTI_ATTR_PER_THREAD, 0);
    if (c->thread_id_type)
        c->thread_id_type(CUPTI_THREAD_ID_SYSTEM);
    bool own_clock = start_clock(c, r);
    if ((rc = c->register_callbacks(buffers_request, buffers_complete)) != CUPTI_OK)
        cupti_missing(c, r, "no kernels or copies are recorded", "cuptiActivityRegisterCallbacks", rc);
    else
        start_kinds(c, r, o);
    return own_clock;
}
