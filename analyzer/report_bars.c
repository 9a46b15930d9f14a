/* report_bars.c - data of two plots: where each device's window went, and the sync sites before and after.
 *
 *     window   |-----------------------------------|
 *     compute  |#####    ######|                        compute
 *     comm        |####|     |#####|                    less compute: exposed communication
 *     copies                     |####|                 less both: copies alone
 *                                     |-------------|   idle is the rest
 */
#include "analyzer/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BARS_MOST = 16, SITES_MOST = 10 };

static struct plot_bar bar_of(const struct trace *t, const struct lane *l, struct arena *a)
{
    struct arena scratch = {0};
    struct ivlset compute = trace_union(t, &scratch, l, WORK_COMPUTE);
    struct ivlset comm = trace_union(t, &scratch, l, WORK_COMM), copy = trace_union(t, &scratch, l, WORK_COPY | WORK_SET);
    int64_t kernels = ivl_len(ivl_or(&scratch, compute, comm)), all = ivl_len(ivl_or(&scratch, ivl_or(&scratch, compute, comm), copy));
    struct plot_bar b = {.compute_ns = ivl_len(compute)};
    b.comm_ns = kernels - b.compute_ns;
    b.copy_ns = all - kernels;
    b.idle_ns = ivl_len(l->window) - all;
    arena_free(&scratch);
    if (l->rank < 0)
        b.label = arena_printf(a, "device %d", l->device);
    else if (l->rank == l->device)
        b.label = arena_printf(a, "rank %d", l->rank);
    else
        b.label = arena_printf(a, "rank %d, device %d", l->rank, l->device);
    return b;
}

/* The same rank is there more than once. */
static bool several_runs(const struct trace *t)
{
    for (size_t i = 1; i < t->nfiles; i++)
        if (t->files[i].run != t->files[0].run)
            return true;
    return false;
}

/* Of many devices those that compute least and most: a straggler computes longer, and what waits for it is busy, too. In the
 * order of the devices. */
static size_t bars_of(const struct side *s, bool pair, struct plot_bar *v, struct arena *a)
{
    size_t all = s->t.nlanes, n = 0;
    struct plot_bar *bars = arena_array(a, struct plot_bar, all + 1);
    double *compute = arena_array(a, double, all + 1);
    for (size_t i = 0; i < all; i++) {
        bars[i] = bar_of(&s->t, &s->t.lanes[i], a);
        compute[i] = (double)bars[i].compute_ns;
    }
    const bool *kept = report_extremes(compute, all, BARS_MOST, a);
    for (size_t i = 0; i < all; i++) {
        if (!kept[i])
            continue;
        v[n] = bars[i];
        if (pair)
            v[n].label = arena_printf(a, "%s: %s", s->label, v[n].label);
        else if (several_runs(&s->t))
            v[n].label = arena_printf(a, "%s: %s", s->t.files[s->t.lanes[i].file].name, v[n].label);
        n++;
    }
    return n;
}

struct ranked {
    double value;
    size_t i;
};

static int by_value(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    int more = (a->value > b->value) - (a->value < b->value);
    return more ? more : (a->i > b->i) - (a->i < b->i);
}

const bool *report_extremes(const double *v, size_t n, size_t most, struct arena *a)
{
    bool *kept = arena_array(a, bool, n + 1);
    struct ranked *order = arena_array(a, struct ranked, n + 1);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct ranked){v[i], i};
    qsort(order, n, sizeof *order, by_value);
    for (size_t i = 0; i < n; i++)
        kept[order[i].i] = n <= most || i < most / 2 || i >= n - (most - most / 2);
    return kept;
}

static const char *sample_of(const struct side *s, struct arena *a)
{
    size_t ranks = s->t.nranks;
    const char *of = arena_printf(a, "%zu rank%s", ranks, ranks == 1 ? "" : "s"), *how = side_simulated(s) ? "modelled " : "";
    if (s->units.whole || !ranks)
        return arena_printf(a, "the whole %swindow of %s", how, of);
    int64_t steps = s->units.n[UNIT_STEPS] / (int64_t)ranks;
    return arena_printf(a, "%" PRId64 " %sstep%s of %s", steps, how, steps == 1 ? "" : "s", of);
}

const char *report_sample(struct report *r)
{
    const char *after = sample_of(&r->after, &r->arena), *before = r->pair ? sample_of(&r->before, &r->arena) : NULL;
    if (!before)
        return arena_printf(&r->arena, "n: %s", after);
    if (strcmp(before, after) == 0)
        return arena_printf(&r->arena, "n: %s on each side", after);
    return arena_printf(&r->arena, "n: %s before, %s after", before, after);
}

/* The sample, and that not everything is drawn where that is so. */
static const char *shown_of(struct report *r, size_t n, size_t all, const char *what)
{
    const char *sample = report_sample(r);
    return n == all ? sample : arena_printf(&r->arena, "%s; %zu of %zu %s shown", sample, n, all, what);
}

bool report_plot_breakdown(struct report *r, enum plot_format f, struct plot *out, struct err *e)
{
    struct plot_bar bars[2 * BARS_MOST];
    size_t n = r->pair ? bars_of(&r->before, true, bars, &r->arena) : 0;
    n += bars_of(&r->after, r->pair, bars + n, &r->arena);
    size_t all = r->after.t.nlanes + (r->pair ? r->before.t.nlanes : 0);
    return plot_breakdown(bars, n, shown_of(r, n, all, "devices, those that compute least and most,"), f, &r->arena, out, e);
}

static int longest_first(const void *x, const void *y)
{
    const struct site_change *a = x, *b = y;
    int64_t of_a = a->before_ns > a->after_ns ? a->before_ns : a->after_ns, of_b = b->before_ns > b->after_ns ? b->before_ns : b->after_ns;
    int order = (of_a < of_b) - (of_a > of_b);
    order = order ? order : strcmp(a->site, b->site);
    return order ? order : strcmp(a->api, b->api);
}

bool report_plot_syncs(struct report *r, const struct table *joined, enum plot_format f, struct plot *out, struct err *e)
{
    struct site_change *v;
    struct plot_site sites[SITES_MOST];
    size_t all = report_sites(joined, r->pair, &r->arena, &v), n = all < SITES_MOST ? all : SITES_MOST;
    qsort(v, all, sizeof *v, longest_first);
    for (size_t i = 0; i < n; i++)
        sites[i] =
            (struct plot_site){*v[i].api && strcmp(v[i].api, v[i].site) != 0 ? arena_printf(&r->arena, "%s: %s", v[i].site, v[i].api) : v[i].site,
                               v[i].before_ns, v[i].after_ns, v[i].before_count, v[i].after_count};
    const char *sample = arena_printf(&r->arena, "%s%s", shown_of(r, n, all, "sites"), report_per_step(r) ? "; per step" : "");
    return plot_syncs(sites, n, r->pair, sample, f, &r->arena, out, e);
}
