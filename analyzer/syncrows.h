/* syncrows.h - what a blocking call waited for, where the device's side says so: profilers keep a row of the wait beside the
 * call, with the call's correlation id and the stream.
 */
#pragma once
#include "analyzer/sortkey.h"
#include "analyzer/trace.h"

struct syncrows {
    const struct tracedata *d;
    struct sortkey *v; /* rows of EV_SYNC that name a stream, by correlation */
    size_t n;
};

void syncrows_find(const struct trace_file *f, struct arena *a, struct syncrows *x);
/* Native number of the stream that the rows of this correlation name; -1: there is none, or they name several. */
int64_t syncrows_stream(const struct syncrows *x, int64_t correlation);
