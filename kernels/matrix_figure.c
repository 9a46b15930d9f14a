/* matrix_figure.c - see matrix_figure.h. */
#include "kernels/matrix_figure.h"
#include "kernels/matrix_left_out.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double error_pct(double ours, double seed)
{
    return seed == 0 ? (ours == 0 ? 0 : NAN) : 100 * (ours / seed - 1);
}

static struct figure figure_of(const struct matrix_result *r, const struct matrix_run *run, const char *name)
{
    struct figure f = {matrix_measure_find(name), name, matrix_measure(r->m, run, name, r->job, 0), matrix_seed(run, name), NAN, NAN, NAN, false};
    double low = f.ours, high = f.ours;
    for (int i = 1; i < r->repeats; i++) {
        double v = matrix_measure(r->m, run, name, r->job, i);
        low = fmin(low, v);
        high = fmax(high, v);
    }
    if (r->repeats > 1 && !isnan(low))
        f.spread = low == high ? 0 : 100 * (high - low) / fabs(low);
    f.error = f.measure->distance ? NAN : error_pct(f.ours, f.seed);
    f.left_out = matrix_left_out(run, name);
    f.fitted = matrix_fitted(r->m, run, name);
    f.judged = r->m->limit > 0 && !f.fitted && !f.measure->exact && !isnan(f.error) && matrix_modelled(r->m, run);
    f.outside = f.judged && fabs(f.error) > r->m->limit;
    return f;
}

bool figure_shown(const struct matrix_table *t, const struct matrix_run *run)
{
    return (run->table && !strcmp(run->table, t->name)) || (t->also && matrix_listed(t->also, run->name));
}

void figures_each(const struct matrix_result *r, const struct matrix_table *t, void (*row)(void *ctx, const struct matrix_run *run, bool begins),
                  void (*figure)(void *ctx, const struct figure *f), void *ctx)
{
    struct arena a = {0};
    for (size_t i = 0; i < r->m->nruns; i++) {
        const struct matrix_run *run = &r->m->runs[i];
        if (!figure_shown(t, run))
            continue;
        char *rest = arena_strdup(&a, t->measures);
        row(ctx, run, true);
        for (char *name; (name = strsep(&rest, " ")) != NULL;)
            if (*name) {
                struct figure f = figure_of(r, run, name);
                figure(ctx, &f);
            }
        row(ctx, run, false);
    }
    arena_free(&a);
}

const char *figure_row_title(const struct matrix_table *t, const struct matrix_run *r, struct arena *a)
{
    return r->table && strcmp(r->table, t->name) != 0 ? arena_printf(a, "%s %s", r->table, r->title) : r->title;
}

void figure_label(const char *measure, char *text, size_t size)
{
    const char *family = strchr(measure, ':');
    snprintf(text, size, "%s%s%s", family ? family + 1 : "", family ? " " : "", matrix_measure_find(measure)->label);
}

void figure_number(const struct matrix_measure *is, double v, char *text, size_t size)
{
    if (isnan(v))
        snprintf(text, size, "-");
    else
        snprintf(text, size, is->format, v); // NOLINT: formats are those of the measures
}

/* ---- roles ---- */

/* A model measures nothing: what it gave without a role was not fitted. */
const char *figure_role(const struct matrix *m, const struct matrix_run *r, const char *measure)
{
    if (r->role == ROLE_FITTED)
        return matrix_fitted(m, r, measure) ? "fitted" : "predicted";
    return r->role == ROLE_PREDICTED || matrix_modelled(m, r) ? "predicted" : "measured";
}

static bool all_counted(const struct matrix_table *t, struct arena *a)
{
    char *rest = arena_strdup(a, t->measures);
    bool counted = true;
    for (char *name; (name = strsep(&rest, " ")) != NULL;)
        counted &= !*name || matrix_measure_find(name)->exact;
    return counted;
}

/* Labels of the fitted measures of a table, NULL: none; *others: the seed gives some that are not. */
static char *fitted_labels(const struct matrix *m, const struct matrix_table *t, const struct matrix_run *r, bool *others, struct arena *a)
{
    char *rest = arena_strdup(a, t->measures), *fitted = NULL, label[96];
    for (char *name; (name = strsep(&rest, " ")) != NULL;) {
        if (!*name || isnan(matrix_seed(r, name)))
            continue;
        figure_label(name, label, sizeof label);
        *others |= !matrix_fitted(m, r, name);
        if (matrix_fitted(m, r, name))
            fitted = fitted ? arena_printf(a, "%s, %s", fitted, label) : arena_strdup(a, label);
    }
    return fitted;
}

char *figure_row_role(const struct matrix *m, const struct matrix_table *t, const struct matrix_run *r, struct arena *a)
{
    const char *model = matrix_modelled(m, r) ? ", modelled" : "";
    bool others = false;
    if (all_counted(t, a))
        return arena_strdup(a, "counted");
    if (r->role != ROLE_FITTED)
        return arena_printf(a, "%s%s", figure_role(m, r, "step_s"), model);
    char *fitted = fitted_labels(m, t, r, &others, a);
    if (fitted && others)
        return arena_printf(a, "%s fitted, rest predicted%s", fitted, model);
    return arena_printf(a, "%s%s", fitted ? "fitted" : "predicted", model);
}

/* ---- what figures say together ---- */

struct spreads {
    double most;
    char run[128], label[96];
    const struct matrix_run *now;
};

static void spread_row(void *ctx, const struct matrix_run *run, bool begins)
{
    struct spreads *s = ctx;
    s->now = begins ? run : s->now;
}

static void spread_figure(void *ctx, const struct figure *f)
{
    struct spreads *s = ctx;
    if (!(f->spread > s->most))
        return;
    s->most = f->spread;
    snprintf(s->run, sizeof s->run, "%s", s->now->title);
    figure_label(f->name, s->label, sizeof s->label);
}

char *figures_repeats(const struct matrix_result *r, const struct matrix_table *t, struct arena *a)
{
    struct spreads s = {.most = 0};
    if (r->repeats < 2)
        return NULL;
    figures_each(r, t, spread_row, spread_figure, &s);
    return s.most > 0 ? arena_printf(a, "%d runs of each: at most %.2f %% apart (%s of %s).", r->repeats, s.most, s.label, s.run)
                      : arena_printf(a, "%d runs of each: every figure the same.", r->repeats);
}

struct tally {
    const struct matrix *m;
    struct arena *a;
    const struct matrix_table *t;
    const struct matrix_run *run;
    int fitted, predicted, inside, counts, equal, formulas, agree;
    double most; /* of the fitted */
    char *outside, *wrong;
};

static void tally_row(void *ctx, const struct matrix_run *run, bool begins)
{
    struct tally *y = ctx;
    y->run = begins ? run : y->run;
}

static char *listed_with(struct tally *y, char *list, const struct figure *f)
{
    char label[96];
    figure_label(f->name, label, sizeof label);
    return arena_printf(y->a, "%s%s%s %s, %s %+.1f %%", list ? list : "", list ? "; " : "", y->t->name, y->run->title, label, f->error);
}

/* A figure that only is another form of one that the seed gives too says nothing further. */
static void tally_figure(void *ctx, const struct figure *f)
{
    struct tally *y = ctx;
    const char *follows = f->measure->follows;
    if (isnan(f->seed) || isnan(f->ours) || (follows && !isnan(matrix_seed(y->run, follows))))
        return;
    if (f->measure->slack > 0) {
        y->formulas++;
        y->agree += fabs(f->error) <= f->measure->slack;
    } else if (f->measure->exact) {
        y->counts++;
        y->equal += f->ours == f->seed;
        if (f->ours != f->seed)
            y->wrong = listed_with(y, y->wrong, f);
    } else if (f->fitted) {
        y->fitted++;
        y->most = fmax(y->most, fabs(f->error));
    } else if (f->judged) {
        y->predicted++;
        y->inside += !f->outside;
        if (f->outside)
            y->outside = listed_with(y, y->outside, f);
    }
}

static void tally_lines(const struct tally *y, double limit, struct verdict *line)
{
    if (y->counts)
        *line++ = (struct verdict){.text = arena_printf(y->a, "Counts: %d of %d are the seed's%s%s.", y->equal, y->counts, y->wrong ? "; not " : "",
                                                        y->wrong ? y->wrong : ""),
                                   .bad = y->wrong != NULL};
    if (y->formulas)
        *line++ =
            (struct verdict){.text = arena_printf(y->a, "MFU by our formula at the seed's tok/s: %d of %d agree within 2 %%.", y->agree, y->formulas),
                             .bad = y->agree < y->formulas};
    if (y->predicted)
        *line++ = (struct verdict){.text = arena_printf(y->a, "Predicted times, modelled: %d of %d within %g %% of the seed's%s%s.", y->inside,
                                                        y->predicted, limit, y->outside ? "; outside: " : "", y->outside ? y->outside : ""),
                                   .bad = y->outside != NULL};
    if (y->fitted)
        *line++ = (struct verdict){.text = arena_printf(y->a, "Fitted times, modelled: %d, at most %.1f %% off.", y->fitted, y->most)};
    *line = (struct verdict){.text = left_out_stale(y->m, y->a), .bad = true};
}

struct verdict *figures_verdict(const struct matrix_result *r, struct arena *a)
{
    struct tally y = {.m = r->m, .a = a};
    struct verdict *lines = arena_array(a, struct verdict, r->m->nclaims + 6);
    for (size_t i = 0; i < r->m->nclaims; i++)
        lines[i] = claim_judge(r, &r->m->claims[i], a);
    for (size_t i = 0; i < r->m->ntables; i++) {
        y.t = &r->m->tables[i];
        figures_each(r, y.t, tally_row, tally_figure, &y);
    }
    tally_lines(&y, r->m->limit, lines + r->m->nclaims);
    return lines;
}
