/* gate.h - rules against runs, with a baseline or without: pass, fail, or undecided. Never green by accident.
 *
 * A count that is compared with a baseline is compared by rate: it passes when one of the rates that can be formed on
 * both sides (per step, per micro-batch, per packed sequence) holds; so a longer run of the same code passes, and one
 * more call per layer does not. Counts are exact and need no repeats. A site that the data decides about (met more often
 * in some micro-batches than in others) also passes when no micro-batch met it more often than one of the baseline did.
 *
 * A time or a percentage is compared as it is, runs as samples (noise.h): with three runs a side or more, a verdict is
 * given when the 95 % interval of the difference excludes the limit, else undecided; with fewer, a rule that holds
 * passes and one that does not is undecided, for so few runs say nothing about noise.
 */
#pragma once
#include "analyzer/baseline.h"
#include "analyzer/gitlines.h"
#include "analyzer/places.h"

struct gate_result {
    size_t pass, fail, undecided;
};

struct gate_opts {
    const struct baseline *baseline; /* NULL: none was given */
    const struct gitlines *changed;  /* NULL: not asked for */
};

/* One row per rule, and one per key that fails; `out` is initialised here and holds its texts by itself. */
bool gate_run(const struct runset *runs, struct rules *rules, const struct gate_opts *o, struct table *out, struct gate_result *got, struct err *e);

const char *gate_losses(const struct trace *t, struct arena *a); /* why counts may be too low, text in `a`; NULL: they are not */

/* The noise floor of two or more runs of the same thing (A/A): per figure the median and the largest distance from it. */
bool gate_noise(const struct runset *runs, struct table *out, struct err *e);
