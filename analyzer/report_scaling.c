/* report_scaling.c - several recordings, each a run of its own: the time of a step, and what of it is exposed communication and
 * waiting for the host's next work after a sync, against ranks or tokens.
 *
 * Runs of other backends are no points of one curve: their clocks mean other things.
 */
#include "analyzer/report_scaling.h"
#include "analyzer/noise.h"
#include "analyzer/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MOST = 64 };

struct run {
    int64_t ranks, tokens; /* tokens of a step of the whole job; 0: not in the trace */
    struct plot_scale_point p;
    size_t file, steps;
    const char *backend;
};

static int64_t cell(const struct table *t, size_t row, const char *column)
{
    int c = table_column(t, column);
    return c >= 0 && table_at(t, row)[c].kind == CELL_INT ? table_at(t, row)[c].i : -1;
}

static void times_of(const struct table *t, struct run *run, struct arena *a)
{
    double *v = arena_array(a, double, t->nrows);
    run->p.low_ns = INT64_MAX;
    for (size_t i = 0; i < t->nrows; i++) {
        int64_t ns = cell(t, i, "duration_ns");
        v[i] = (double)ns;
        run->p.low_ns = ns < run->p.low_ns ? ns : run->p.low_ns;
        run->p.high_ns = ns > run->p.high_ns ? ns : run->p.high_ns;
    }
    run->p.median_ns = (int64_t)median_of(v, t->nrows);
    run->steps = t->nrows;
}

/* Mean over steps and devices, or ranks; not known where one's is not. */
static int64_t mean(struct cell sum, struct cell steps)
{
    return sum.kind && steps.kind && steps.i > 0 ? sum.i / steps.i : -1;
}

static bool measure_run(const char *path, const struct trace_opts *to, struct run *run, struct arena *a, struct err *e)
{
    struct report r = {0};
    const struct opt_list one = {&path, 1};
    bool ok = report_open(&r, &one, NULL, to, e) && report_tabulate(&r, 1 << RT_STEPS | 1 << RT_SUMMARY | 1 << RT_WAITS, e);
    if (ok && r.after.missing[RT_STEPS])
        ok = fail(e, ERR_UNDECIDED, "%s", r.after.missing[RT_STEPS]);
    if (ok) {
        const struct side *s = &r.after;
        times_of(&s->tables[RT_STEPS], run, a);
        run->ranks = (int64_t)s->t.nranks;
        int64_t steps = s->units.n[UNIT_STEPS] / (run->ranks ? run->ranks : 1);
        run->tokens = s->units.tokens > 0 && steps > 0 ? s->units.tokens / steps : 0;
        struct totals sum = report_totals(s);
        run->p.exposed_ns = mean(sum.exposed_ns, sum.device_steps);
        run->p.sync_ns = mean(sum.bubble_ns, sum.steps);
        run->backend = arena_strdup(a, s->t.files[0].backend ? s->t.files[0].backend : "unknown");
    }
    report_close(&r);
    return ok;
}

static int by_size(const void *x, const void *y)
{
    const struct run *a = x, *b = y;
    int larger = (a->p.x > b->p.x) - (a->p.x < b->p.x);
    return larger ? larger : (a->file > b->file) - (a->file < b->file);
}

static bool other_ranks(const struct run *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (v[i].ranks != v[0].ranks)
            return true;
    return false;
}

/* "ranks", "tokens", or NULL: ranks where they differ, else tokens. */
static bool place(struct run *v, size_t n, const char *against, const char **axis, struct err *e)
{
    bool tokens = against ? strcmp(against, "tokens") == 0 : !other_ranks(v, n);
    if (against && !tokens && strcmp(against, "ranks") != 0)
        return fail(e, ERR_USAGE, "--against %s: ranks or tokens", against);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(v[i].backend, v[0].backend) != 0)
            return fail(e, ERR_UNDECIDED, "scaling: not comparable: backend %s against %s", v[i].backend, v[0].backend);
        if (tokens && !v[i].tokens)
            return fail(e, ERR_UNDECIDED, "scaling: the tokens of a step are not in every trace: try --against ranks");
        v[i].p.x = tokens ? v[i].tokens : v[i].ranks;
    }
    *axis = tokens ? "tokens of a step" : "ranks";
    return true;
}

static const char *sample_of(const struct run *v, size_t n, struct arena *a)
{
    size_t low = SIZE_MAX, high = 0;
    for (size_t i = 0; i < n; i++) {
        size_t per_rank = v[i].ranks > 0 ? v[i].steps / (size_t)v[i].ranks : v[i].steps;
        low = per_rank < low ? per_rank : low;
        high = per_rank > high ? per_rank : high;
    }
    const char *steps = low == high ? arena_printf(a, "%zu", low) : arena_printf(a, "%zu to %zu", low, high);
    return arena_printf(a, "n: %zu recording%s, %s step%s a rank; backend %s%s", n, n == 1 ? "" : "s", steps, high == 1 ? "" : "s", v[0].backend,
                        strcmp(v[0].backend, "sim") == 0 ? " (modelled, not measured)" : "");
}

bool report_plot_scaling(const struct opt_list *files, const char *against, const struct trace_opts *to, enum plot_format f, struct arena *a,
                         struct plot *out, struct err *e)
{
    struct run v[RUNS_MOST] = {0};
    struct plot_scale_point points[RUNS_MOST];
    const char *axis = NULL;
    if (files->n > RUNS_MOST)
        return fail(e, ERR_USAGE, "%zu recordings: at most %d in one picture", files->n, RUNS_MOST);
    for (size_t i = 0; i < files->n; i++) {
        v[i].file = i;
        if (!measure_run(files->v[i], to, &v[i], a, e))
            return false;
    }
    if (!place(v, files->n, against, &axis, e))
        return false;
    qsort(v, files->n, sizeof *v, by_size);
    for (size_t i = 0; i < files->n; i++)
        points[i] = v[i].p;
    return plot_scaling(points, files->n, axis, sample_of(v, files->n, a), f, a, out, e);
}
