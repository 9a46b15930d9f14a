/* gate.h - rules against a trace, with a baseline or without: pass, fail, or undecided. Never green by accident.
 *
 * A count that is compared with a baseline is compared by rate: it passes when one of the rates that can be formed on
 * both sides (per step, per micro-batch, per packed sequence) holds; so a longer run of the same code passes, and one
 * more call per layer does not. Other columns are compared as they are; a time rule that does not hold with one run on
 * a side is undecided, never a failure, for one run says nothing about noise.
 */
#pragma once
#include "analyzer/baseline.h"

struct gate_result {
    size_t pass, fail, undecided;
};

/* One row per rule, and one per key that fails; `b` NULL: no baseline was given. `out` is initialised here. */
bool gate_run(const struct trace *t, const char *const *paths, size_t n, struct rules *rules, const struct baseline *b, struct table *out,
              struct gate_result *got, struct err *e);
