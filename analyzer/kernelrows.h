/* kernelrows.h - does the trace know what its devices did? A recording may leave kernels out (record --lite, --kinds), a
 * CPU-only trace has no device rows: then the device's idle time, a path through it and what a step would be without a wait are not
 * known, whatever rows there are of collectives and copies.
 */
#pragma once
#include "analyzer/trace.h"

/* False with ERR_UNDECIDED and what is missing. Of several files the first one that left its kernels out is named. */
bool kernels_known(const struct trace *t, struct err *e);

/* Does any row of a device lie in the steps that the host marked? Where none does, the clocks of host and device disagree, and
 * "busy 0 %" would be no answer: false with ERR_UNDECIDED, and a note in `out` (NULL: none) for when other files have rows. True
 * without device rows, and for a part of the trace that the user chose. */
bool kernels_in_window(const struct trace *t, struct table *out, struct err *e);
