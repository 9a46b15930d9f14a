/* runset.h - the files of a command, taken apart into runs: files that hold the same rank twice are two runs.
 *
 * Counts of several runs are held together key by key, the largest counts; times of several runs are samples.
 */
#pragma once
#include "analyzer/measure.h"

struct run_files {
    struct trace t;
    const char **paths; /* its files */
    size_t n;
};

struct runset {
    struct run_files *v;
    size_t n;
    struct arena arena;
};

bool runset_open(const char *const *paths, size_t n, const struct trace_opts *o, struct runset *s, struct err *e);
void runset_close(struct runset *s);

/* One rule in every run: per key the largest value; else one value a run, in order of runs. `missing` when any run lacks
 * it. A rule inside a range opens each run again. */
bool runset_measure(const struct rule *r, const struct runset *s, struct arena *a, struct measured *m, struct err *e);
