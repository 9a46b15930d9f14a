/* diff.h - two sides held against each other: headline metrics, or one row per site, kernel or collective.
 *
 * Each side is a trace that is open. Sums are over the ranks looked at; the step is the longest rank's window, by its steps;
 * busy is the sum of busy over the sum of windows. --rank N on both sides gives one rank's figures, as the seeds' tables do.
 * Where the sides have other numbers of steps, sums and counts are those of a step (units_divisors), counts then real.
 */
#pragma once
#include "analyzer/gitlines.h"
#include "analyzer/trace.h"

struct diff_side {
    const struct trace *before, *after;
    const char *ledger;             /* of the table syncs: wait (default), op */
    const struct gitlines *changed; /* NULL: not asked for */
};

struct diff_kind {
    const char *name; /* --table NAME */
    const char *title;
    bool (*fill)(const struct diff_side *s, struct table *out, struct err *e); /* out is initialised here */
};
extern const struct diff_kind diff_kinds[]; /* ends with {0}; the first is the default */

/* Why the two must not be compared; NULL when they may. Text in `a`. Backend, device, driver, world size, shape, the number
 * of ranks and the tokens of a step must agree. */
const char *diff_obstacle(const struct diff_side *s, struct arena *a);

/* Both sides' rows of a table folded by one column: the shape of --table syncs, kernels, comm. */
struct diff_key {
    const char *key;
    int64_t count[2], ns[2]; /* before, after */
};
struct diff_keys {
    struct diff_key *v; /* by effect: |ns after - ns before| of a step down, then counts, then key */
    size_t n;
    double divisor[2]; /* units_divisors() */
    struct arena arena;
};
bool diff_fold(const struct diff_side *s, const char *table, const char *key, const char *count, const char *ns, struct diff_keys *out,
               struct err *e);
void diff_keys_free(struct diff_keys *k);
const char *diff_status(const struct diff_key *k, const double divisor[2]); /* new, gone, changed, same */

/* One headline figure of both sides. */
struct diff_metric {
    const char *name;
    enum unit unit;
    bool there[2]; /* else not in that trace */
    double value[2];
};
enum { DIFF_METRICS_MAX = 24 };
bool diff_headline(const struct diff_side *s, struct diff_metric metrics[DIFF_METRICS_MAX], size_t *n, struct err *e);
