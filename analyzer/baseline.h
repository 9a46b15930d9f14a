/* baseline.h - what a gate compares with: a small text file meant to be committed, or a trace.
 *
 *     cpscope baseline 1
 *     fact backend cpu
 *     units steps=4 microbatches=40 sequences=160 ranks=4
 *     rule syncs.count per site
 *         240/6 kernels/layout/resolve.c:resolve_cu_seqlens
 *     rule summary.busy_pct min
 *         85.1
 *
 * Under a rule stands what it measured: VALUE KEY per key, or one VALUE a run; behind a slash the most in one micro-batch
 * (perbatch.h), where a sync site is met in micro-batches only. Counts are totals over ranks, divided by the
 * units when they are compared. Control characters, '%' and a leading or trailing space of keys are written %XX. Times
 * that go with counts are left out, so that the file changes only when a count does.
 */
#pragma once
#include "analyzer/facts.h"
#include "analyzer/runset.h"

struct baseline_rule {
    const char *subject;
    struct measured m;
};

struct baseline {
    struct facts facts;
    struct units units;
    struct baseline_rule *rule;
    size_t n, cap;
    struct arena arena;
};

/* A baseline file, or any trace: then each rule of `rules` is measured in it. */
bool baseline_open(const char *path, const struct trace_opts *o, const struct rules *rules, struct baseline *b, struct err *e);
/* From runs that are open: facts of all, units of the first. */
bool baseline_measure(const struct runset *runs, const struct rules *rules, struct baseline *b, struct err *e);
void baseline_write(const struct baseline *b, FILE *out);
const struct measured *baseline_find(const struct baseline *b, const char *subject); /* NULL: the baseline holds none */
void baseline_close(struct baseline *b);
