/* recorder_run.h - a recorder for a test, events for it, and what it left. */
#pragma once
#include "unit.h"

#include "collector/recorder.h"
#include "schemas/clock.h"
#include "schemas/tracefile.h"

#include <unistd.h>

static char path[64];

static inline struct recorder *open_recorder(size_t cap)
{
    snprintf(path, sizeof path, "recorder-%d.sqlite", (int)getpid());
    unlink(path);
    return recorder_open(&(struct recorder_config){.out = path, .memory_cap = cap});
}

/* The trace, whose file is gone then. */
static inline void load(struct tracedata *d)
{
    struct err e = {0};
    tracedata_init(d);
    assert_ok(tracefile_load(path, d, &e), &e);
    unlink(path);
}

static inline struct activity event(int rank, int64_t i)
{
    struct activity a = ACTIVITY_NONE;
    a.what = ACT_EVENT;
    a.kind = EV_OP;
    a.name = "item";
    a.rank = rank;
    a.correlation = i;
    a.start = clock_now();
    a.end = a.start + 1;
    return a;
}
