/* table_whatif.c - what the step would be without a range, a wait, a kernel or a collective: measured against replayed. */
#include "analyzer/kernelrows.h"
#include "analyzer/thin.h"
#include "analyzer/whatif.h"
#include "schemas/tracefile.h"

#include <string.h>

enum { RANK, DEVICE, METRIC, MEASURED, PREDICTED, DELTA, BACKEND, TRACE, LOW, HIGH };

/* By lane: as measured; with the change; with it, and unmatched collectives without their waiting. */
struct outcome {
    struct metrics *was, *high, *low;
};

static void fill_row(const struct trace *t, const struct lane *l, const char *name, const double v[4], struct table *out)
{
    bool points = strcmp(name, "busy_pct") == 0;
    enum unit u = points ? UNIT_PERCENT : UNIT_NS;
    struct cell *row = trace_row(t, l->file, out);
    row[RANK] = cell_id(l->rank);
    row[DEVICE] = cell_id(l->device);
    row[METRIC] = cell_text(name);
    row[MEASURED] = cell_measure(cell_real(v[0]), u);
    row[PREDICTED] = cell_measure(cell_real(v[1]), u);
    if (points)
        row[DELTA] = cell_measure(cell_real(v[1] - v[0]), UNIT_POINTS);
    else if (v[0] != 0)
        row[DELTA] = cell_real(100 * (v[1] - v[0]) / v[0]);
    row[LOW] = cell_measure(cell_real(v[2] < v[3] ? v[2] : v[3]), u);
    row[HIGH] = cell_measure(cell_real(v[2] < v[3] ? v[3] : v[2]), u);
}

static double percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void fill_lane(const struct trace *t, const struct outcome *o, uint32_t lane, struct table *out)
{
    const struct lane *l = &t->lanes[lane];
    struct metrics was = o->was[lane], high = o->high[lane], low = o->low[lane];
#define NUMBERS(field) (const double[]){(double)was.field, (double)high.field, (double)low.field, (double)high.field}
    fill_row(t, l, "step_ns", NUMBERS(step_ns), out);
    fill_row(t, l, "busy_pct",
             (const double[]){percent(was.busy_ns, was.window_ns), percent(high.busy_ns, high.window_ns), percent(low.busy_ns, low.window_ns),
                              percent(high.busy_ns, high.window_ns)},
             out);
    fill_row(t, l, "comm_sum_ns", NUMBERS(comm_sum_ns), out);
    fill_row(t, l, "compute_sum_ns", NUMBERS(compute_sum_ns), out);
    fill_row(t, l, "blocked_ns", NUMBERS(blocked_ns), out);
#undef NUMBERS
}

static bool oversubscribed(const struct trace *t)
{
    for (size_t i = 0; i < t->nfiles; i++)
        if (t->files[i].backend && strcmp(t->files[i].backend, "cpu") == 0)
            return true;
    return false;
}

static void notes(const struct replay *r, const struct touched *n, struct table *out)
{
    table_note(out, "changed: %zu ranges, %zu blocking calls, %zu device rows (%zu of them collectives)", n->ranges, n->waits, n->work, n->comms);
    table_note(out, "step_ns is the %s; the other times are sums over the window, busy_pct is of it",
               r->t->span == SPAN_STEP ? "median step" : "window");
    table_note(out, "assumed: host time between calls, durations of kernels and transfers, and delays that nothing explains stay as recorded; a host "
                    "that need not wait runs on, and its launch queue does not fill up");
    if (r->t->span == SPAN_STEP)
        table_note(out, "a step ends when the host says so: without a wait at its end, work that still runs counts to no step");
    if (r->unmatched)
        table_note(out,
                   "%zu collectives could not be matched over ranks: high keeps their measured durations, low gives them the shortest one "
                   "of the same name and size",
                   r->unmatched);
    if (!r->linked)
        table_note(out, "no device row is linked to its launch in this trace: host and device are tied by blocking calls only");
    if (r->handed)
        table_note(out, "threads of a rank that take turns are taken for one flow of control");
    if (oversubscribed(r->t))
        table_note(out, "cpu backend: streams are threads, timed by the wall clock: what the system ran on their cores in between is part "
                        "of their durations and stays");
}

/* One after the other: each takes as much memory as the tasks. */
static struct outcome replays(struct replay *r, const struct scenario *s, struct arena *a)
{
    size_t n = r->t->nlanes;
    struct scenario least = *s;
    struct metrics *v = arena_array(a, struct metrics, 3 * n);
    struct outcome o = {v, v + n, r->unmatched ? v + 2 * n : v + n};
    least.shortest = r->unmatched ? shortest_comms(r, a) : NULL;
    replay_let_go(r);
    replay_order(r);
    metrics_of_lanes(r, NULL, o.was);
    metrics_of_lanes(r, s, o.high);
    if (r->unmatched)
        metrics_of_lanes(r, &least, o.low);
    return o;
}

static bool fill(const struct trace *t, const void *args, struct table *out, struct err *e)
{
    static const struct whatif_args none;
    struct replay r;
    struct scenario s;
    struct arena a = {0};
    struct touched n;
    if (!kernels_known(t, e))
        return false;
    if (!t->nlanes)
        return fail(e, ERR_UNDECIDED, "%s: no device rows to replay", t->files[0].name);
    replay_graph(t, SITE_FUNCTION, &r);
    bool ok = scenario_make(&r, args ? args : &none, &a, &s, &n, e);
    if (ok) {
        struct outcome o = replays(&r, &s, &a);
        for (uint32_t l = 0; l < t->nlanes; l++)
            fill_lane(t, &o, l, out);
        notes(&r, &n, out);
    }
    replay_free(&r);
    arena_free(&a);
    return ok;
}

static const struct opt opts[] = {
    {OPT_TEXT, "drop-range", offsetof(struct whatif_args, drop_range), "without these ranges: their host time, waits and device work together", "RE"},
    {OPT_TEXT, "drop-syncs", offsetof(struct whatif_args, drop_syncs), "the host does not wait in these blocking calls", "RE"},
    {OPT_TEXT, "drop-kernels", offsetof(struct whatif_args, drop_kernels), "these kernels, copies and fills take no time", "RE"},
    {OPT_TEXT, "drop-comm", offsetof(struct whatif_args, drop_comm), "these collectives take no time and wait for nobody", "RE"},
    {OPT_TEXT, "scale", offsetof(struct whatif_args, scale), "these take X times as long: device work, host time of ranges", "RE=X"},
    {0},
};

static bool whole(const void *args)
{
    (void)args;
    return true;
}

static void thins(const void *args, struct thin *t, struct arena *a)
{
    const struct whatif_args *o = args;
    if (o)
        *t = (struct thin){{o->drop_range, o->scale ? scale_pattern(o->scale, a) : NULL}};
}

const struct table_desc table_whatif = {
    .name = "whatif",
    .title = "What the step would be without it",
    .what = "A replay of the trace's dependencies with something left out. A call begins when the thread's call before it has ended and the host "
            "time between has passed; work begins when its launch, the work before it in its stream and the streams that it was told to wait for "
            "allow; a blocking call ends when the work that it waits for has; a matched collective moves when the last rank has come, for the "
            "shortest duration over the ranks. What the trace does not explain is kept as a delay, so that a replay without a change gives the "
            "measured times exactly. RE matches the call site, the range path or the name.",
    .columns =
        (const struct column[]){
            {"rank", UNIT_ID, .what = "rank of the job; empty where the trace does not say"},
            {"device", UNIT_ID, .what = "device number in its process"},
            {"metric", UNIT_TEXT,
             .what = "step_ns (the median step, else the window), busy_pct (of the window), comm_sum_ns, compute_sum_ns, blocked_ns"},
            {"measured", UNIT_REAL, .what = "as in steps, summary and syncs"},
            {"predicted", UNIT_REAL, .what = "by the replay with the change"},
            {"delta_pct", UNIT_PERCENT, "measured", "predicted less measured; of busy_pct in points"},
            COLUMNS_SOURCE,
            {"predicted_low", UNIT_REAL, .what = "where collectives are not matched: when they need not wait"},
            {"predicted_high", UNIT_REAL, .what = "where collectives are not matched: when they wait as measured"},
            {0},
        },
    .example = "--drop-range thd_route",
    .opts = opts,
    .args_size = sizeof(struct whatif_args),
    .spares = SIDE_KERNEL | ROWS_OP,
    .fill = fill,
    .whole = whole,
    .thins = thins,
};
