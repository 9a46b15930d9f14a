/* report_steps.c - data of two plots: the time of each step, and what each rank waits for in its collectives. */
#include "analyzer/noise.h"
#include "analyzer/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { POINTS_MOST = 2000, WAIT_BARS_MOST = 32 };

static int64_t number(const struct table *t, size_t row, const char *column)
{
    int c = table_column(t, column);
    return c >= 0 && table_at(t, row)[c].kind == CELL_INT ? table_at(t, row)[c].i : -1;
}

static int64_t median_ns(const struct table *t, struct arena *a)
{
    double *v = arena_array(a, double, t->nrows);
    for (size_t i = 0; i < t->nrows; i++)
        v[i] = (double)number(t, i, "duration_ns");
    return (int64_t)median_of(v, t->nrows);
}

/* The first POINTS_MOST steps, and all outliers beyond them. */
static struct plot_steps_run run_of(const struct side *s, struct arena *a)
{
    const struct table *t = &s->tables[RT_STEPS];
    struct plot_step *v = arena_array(a, struct plot_step, t->nrows + 1);
    struct plot_steps_run run = {s->label, v, 0, 0};
    if (s->missing[RT_STEPS] || !t->nrows)
        return run;
    run.median_ns = median_ns(t, a);
    for (size_t i = 0; i < t->nrows; i++) {
        bool outlier = number(t, i, "outlier") == 1;
        if (i < POINTS_MOST || outlier)
            v[run.n++] = (struct plot_step){number(t, i, "step"), number(t, i, "duration_ns"), outlier};
    }
    return run;
}

static size_t outliers_of(const struct plot_steps_run *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        n += r->v[i].outlier;
    return n;
}

bool report_plot_steps(struct report *r, enum plot_format f, struct plot *out, struct err *e)
{
    struct plot_steps_run runs[2];
    size_t n = 0, all = 0, shown = 0, outliers = 0;
    struct side *sides[] = {&r->before, &r->after};
    for (int i = r->pair ? 0 : 1; i < 2; i++) {
        runs[n] = run_of(sides[i], &r->arena);
        if (sides[i]->missing[RT_STEPS])
            return fail(e, ERR_UNDECIDED, "%s", sides[i]->missing[RT_STEPS]);
        all += sides[i]->tables[RT_STEPS].nrows;
        shown += runs[n].n;
        outliers += outliers_of(&runs[n++]);
    }
    const char *sample = report_sample(r);
    sample = arena_printf(&r->arena, "%s; %zu outlier%s (over 1.6 x median)", sample, outliers, outliers == 1 ? "" : "s");
    if (shown < all)
        sample = arena_printf(&r->arena, "%s; %zu of %zu shown", sample, shown, all);
    return plot_steps(runs, n, sample, f, &r->arena, out, e);
}

/* ---- waiting in collectives ---- */

struct wait_key {
    const char *trace;
    int64_t rank, device;
};

static const char *wait_label(const struct side *s, bool pair, const struct wait_key *k, struct arena *a)
{
    const char *run = pair ? arena_printf(a, "%s: ", s->label) : "";
    if (k->rank < 0)
        return arena_printf(a, "%sdevice %" PRId64, run, k->device);
    if (k->rank == k->device || k->device < 0)
        return arena_printf(a, "%srank %" PRId64, run, k->rank);
    return arena_printf(a, "%srank %" PRId64 ", device %" PRId64, run, k->rank, k->device);
}

struct wait_bars {
    struct wait_key *keys; /* as many as the table has rows, and their bars */
    struct plot_wait_bar *v;
    size_t n;
    int64_t calls;
};

static bool same_bar(const struct wait_key *a, const struct wait_key *b)
{
    return a->rank == b->rank && a->device == b->device && strcmp(a->trace, b->trace) == 0;
}

static size_t bar_at(const struct wait_bars *b, const struct wait_key *key)
{
    size_t k = b->n && same_bar(&b->keys[b->n - 1], key) ? b->n - 1 : 0; /* rows of a device follow each other */
    while (k < b->n && !same_bar(&b->keys[k], key))
        k++;
    return k;
}

static void add_row(struct wait_bars *b, const struct table *t, size_t row)
{
    int c = table_column(t, "trace");
    const struct cell *cells = table_at(t, row);
    struct wait_key key = {c >= 0 && cells[c].kind == CELL_TEXT ? cells[c].s : "", number(t, row, "rank"), number(t, row, "device")};
    size_t k = bar_at(b, &key);
    if (k == b->n) {
        b->keys[b->n] = key;
        b->v[b->n++] = (struct plot_wait_bar){.known = true};
    }
    int64_t wait = number(t, row, "wait_ns"), transfer = number(t, row, "transfer_ns");
    b->v[k].known &= wait >= 0 && transfer >= 0;
    b->v[k].wait_ns += wait > 0 ? wait : 0;
    b->v[k].transfer_ns += transfer > 0 ? transfer : 0;
    b->calls += number(t, row, "calls");
}

/* The bars of a side behind the n at `out`; of many devices those that wait least and most. Returns how many there are then. */
static size_t side_bars(const struct side *s, bool pair, struct plot_wait_bar *out, size_t n, int64_t *calls, struct arena *a)
{
    const struct table *t = &s->tables[RT_COMM];
    size_t rows = s->missing[RT_COMM] ? 0 : t->nrows;
    struct wait_bars b = {arena_array(a, struct wait_key, rows + 1), arena_array(a, struct plot_wait_bar, rows + 1), 0, 0};
    double *waits = arena_array(a, double, rows + 1);
    for (size_t i = 0; i < rows; i++)
        add_row(&b, t, i);
    for (size_t i = 0; i < b.n; i++)
        waits[i] = (double)b.v[i].wait_ns;
    const bool *kept = report_extremes(waits, b.n, WAIT_BARS_MOST, a);
    for (size_t i = 0; i < b.n; i++)
        if (kept[i])
            out[n++] = (struct plot_wait_bar){.label = wait_label(s, pair, &b.keys[i], a),
                                              .known = b.v[i].known,
                                              .wait_ns = llround((double)b.v[i].wait_ns / s->divisor),
                                              .transfer_ns = llround((double)b.v[i].transfer_ns / s->divisor)};
    *calls += b.calls;
    return n;
}

bool report_plot_wait(struct report *r, enum plot_format f, struct plot *out, struct err *e)
{
    struct plot_wait_bar v[2 * WAIT_BARS_MOST];
    int64_t calls = 0;
    size_t n = r->pair ? side_bars(&r->before, true, v, 0, &calls, &r->arena) : 0;
    n = side_bars(&r->after, r->pair, v, n, &calls, &r->arena);
    size_t all = r->after.t.nlanes + (r->pair ? r->before.t.nlanes : 0);
    const char *sample = arena_printf(&r->arena, "%s; %" PRId64 " calls%s", report_sample(r), calls, report_per_step(r) ? "; per step" : "");
    if (n < all)
        sample = arena_printf(&r->arena, "%s; %zu of %zu devices, those that wait least and most", sample, n, all);
    return plot_wait(v, n, sample, f, &r->arena, out, e);
}
