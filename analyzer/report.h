/* report.h - what goes on the page of `cpscope report`, for report_*.c, cmd_report.c and cmd_plot.c.
 *
 *   traces -> side (before, after): its tables, units and facts
 *          -> joined tables, headline, verdict, data of the plots       here
 *          -> page                                                      reports/page.h
 *
 * A page of one run has the side `after` only; then it is called "this run".
 */
#pragma once
#include "analyzer/facts.h"
#include "analyzer/gate.h"
#include "analyzer/units.h"
#include "reports/page.h"
#include "reports/plot.h"

enum report_table { /* those that take long first, but for what goes by a graph that the first of them builds */
                    RT_WAITS,
                    RT_IDLE,
                    RT_OPS,
                    RT_OP_LINES,
                    RT_WAIT_LINES,
                    RT_WAIT_STACKS,
                    RT_SUMMARY,
                    RT_CLASSES,
                    RT_KERNELS,
                    RT_COMM,
                    RT_OVERLAP,
                    RT_STEPS,
                    RT_RANKS,
                    RT_CRITICAL,
                    RT_N
};

struct side {
    const char *label; /* "before", "after", "this run" */
    struct trace t;
    struct units units;
    struct facts facts;
    double divisor; /* of sums in joined tables and plots: 1, or the steps of a rank where the two sides have other numbers of them */
    struct table tables[RT_N];
    const char *missing[RT_N]; /* why the table could not be made, "" without a word; NULL: it is there */
    char *explain;             /* the lines of cpscope explain; from malloc */
    const char *explain_missing;
};

struct report {
    struct side before, after;
    bool pair;
    const char *differ; /* why the two are not comparable; NULL: they are */
    const char *source; /* where the source is to be read: a prefix of links to path#Lline, with a slash at its end; NULL: no links */
    bool gate;          /* a baseline file was given: `judged` is what its rules say */
    struct table judged;
    struct gate_result verdict;
    struct rules rules;
    struct arena arena;
};

/* Opens `after`, and `before` where baseline is not NULL. Frees nothing on failure: call report_close. */
bool report_open(struct report *r, const struct opt_list *files, const char *baseline, const struct trace_opts *o, struct err *e);
/* Builds the tables whose bits (1 << RT_x; 1 << RT_N: what explain says) are set, on all cores; the others are missing. */
bool report_tabulate(struct report *r, unsigned tables, struct err *e);
enum { REPORT_ALL = (2 << RT_N) - 1 };
/* The shipped rules against the baseline file at `path`. */
bool report_gate(struct report *r, const struct opt_list *files, const char *path, const struct trace_opts *o, struct err *e);
bool report_is_baseline(const char *path); /* NULL: no */
void report_close(struct report *r);
bool report_spares(const struct report *r, const char *path, struct err *e); /* as trace_spares, of both sides */

/* ---- joined tables ---- */

enum { JOIN_KEYS = 3, JOIN_VALUES = 5 };

/* Rows of a table, summed over ranks by their keys; both sides in one row where there are two, per step where their steps differ. */
struct join {
    enum report_table of;
    const char *keys[JOIN_KEYS], *values[JOIN_VALUES]; /* columns of the source; NULL ends */
    size_t order;                                      /* rows go by the larger side of this value, down */
    bool rate;                                         /* values[0] is also given per rank and step */
};
extern const struct join join_ops, join_ops_by_api, join_waits, join_classes, join_kernels, join_comm, join_idle, join_op_lines, join_wait_lines,
    join_wait_stacks, join_critical;

/* *out is initialised here and freed by the caller. False when neither side has the source; *why (of the report) says so. */
bool report_join(struct report *r, const struct join *j, const char *title, struct table *out, const char **why);

/* Summed over ranks, and divided as side.divisor says: of one site. Rows of a joined table of syncs, largest first. */
struct site_change {
    const char *site, *api;
    double before_count, after_count; /* -1: not on that side */
    int64_t before_ns, after_ns;
};
bool report_per_step(const struct report *r); /* sums are divided by steps */
size_t report_sites(const struct table *joined, bool pair, struct arena *a, struct site_change **sites);

/* ---- headline and verdict ---- */

/* Sums over ranks and steps; absent where the side does not have it. */
struct totals {
    struct cell steps;          /* of all ranks: what "per rank and step" divides host rows by */
    struct cell device_steps;   /* of all devices: the same for device rows */
    struct cell one, median_ns; /* median_ns: of all steps of all ranks; absent unless ranks have several. one: what it divides by */
    struct cell span_ns, busy_ns, useful_ns, comm_wait_ns, kernel_ns, compute_ns, comm_ns, exposed_ns, copy_ns, set_ns;
    struct cell ops, op_ns, waits, wait_ns, bubble_ns;
};
struct totals report_totals(const struct side *s);
void report_headline(struct report *r, struct table *out);
void report_verdict(struct report *r, const struct table *ops, const struct table *waits, struct page *p);
bool report_whole(const struct report *r); /* no steps are marked on one of the sides: its window counts as one */
/* Times are on record but mean nothing as speed: the program had more runnable threads than cores. */
bool report_oversubscribed(const struct side *s);

/* ---- plots ---- */

bool side_simulated(const struct side *s); /* its times come from a model */
/* Which of n values to draw when at most `most` fit: half of them the least, half the greatest. */
const bool *report_extremes(const double *v, size_t n, size_t most, struct arena *a);
const char *report_sample(struct report *r); /* "1 step of 4 ranks a side": how much was measured */

bool report_plot_breakdown(struct report *r, enum plot_format f, struct plot *out, struct err *e);
bool report_plot_syncs(struct report *r, const struct table *joined, enum plot_format f, struct plot *out, struct err *e);
bool report_plot_steps(struct report *r, enum plot_format f, struct plot *out, struct err *e);
bool report_plot_wait(struct report *r, enum plot_format f, struct plot *out, struct err *e);
/* One step of one side, on an axis that fits the step of either side. */
bool report_plot_timeline(struct report *r, const struct side *s, enum plot_format f, struct plot *out, const char **caption, struct err *e);

/* ---- the rest of the page ---- */

/* Of two sides: what they differ in (and always trace, backend, window, events and losses), and the rest in *same. Of one run
 * all in *out; *same is not touched. Both are initialised here and freed by the caller. */
void report_provenance(struct report *r, struct table *out, struct table *same);
bool report_page(struct report *r, FILE *out, struct err *e);
