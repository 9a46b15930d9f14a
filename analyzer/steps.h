/* steps.h - the training steps of a rank, found by the names of host ranges.
 *
 * step#N (ours), ProfilerStep#N (PyTorch), or what --step-marker matches: its number is what follows the last '#', else
 * the position in time. warmup#N is left out. Of ranges that carry the same number the longest is taken; a step that
 * begins inside its predecessor is dropped (a marker used at two depths).
 */
#pragma once
#include "schemas/tracedata.h"

#include <regex.h>

struct step {
    int64_t number, start, end;
};

struct steplist {
    const struct step *v; /* in order of time, not overlapping */
    size_t n;
};

/* ev: numbers of a rank's host events in d->ev. marker NULL: the built-in names. */
struct steplist steps_find(const struct tracedata *d, const uint32_t *ev, size_t n, const regex_t *marker, struct arena *a);
