/* steps.h - the training steps of a rank, found by the names of host ranges.
 *
 * step#N (ours), ProfilerStep#N (PyTorch), or what --step-marker matches: its number is what follows the last '#', else
 * the position in time. warmup#N is left out. Of ranges that carry the same number the longest is taken; a step that
 * begins inside its predecessor is dropped (a marker used at two depths). Both are counted in `left`.
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
    size_t left; /* ranges that are called steps and are none of these */
};

/* ev: numbers of a rank's host events in d->ev. marker NULL: the built-in names. */
struct steplist steps_find(const struct tracedata *d, const uint32_t *ev, size_t n, const regex_t *marker, struct arena *a);

/* Steps of a device that nobody marked, ev its rows in order of time: of the stream with most kernels and collectives, the
 * longest tail that is one sequence of names repeated three times or more (it may be cut within the last), when that is at
 * least three quarters of the stream's rows and not one name alone. A step runs from its first row to the next step's, the
 * last to its last row's end; it begins at that row of the sequence before which the stream stood still longest in sum.
 * *period: rows of a step. Nothing of the kind: no steps. Linear. */
struct steplist steps_repeated(const struct tracedata *d, const uint32_t *ev, size_t n, size_t *period, struct arena *a);
