/* matrix_measure.c - what is read off a run: from its rows, its recording's tables, or its curves against the base's.
 *
 * Steps over 1.6 times the median are left out of means and counted (seeds/000 4.1). Rows of a run are its measured steps.
 */
#include "kernels/matrix_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STALL 1.6

struct source { /* where a measure finds its figures */
    const struct matrix *m;
    const struct matrix_run *r, *base;
    const struct matrix_job *job;
    int copy;
    const struct matrix_csv *rows;
};

typedef double measure_fn(const struct source *s);

/* ---- rows ---- */

static double median_step(const struct matrix_csv *c)
{
    double *v = calloc(c->rows + 1, sizeof *v);
    size_t n = 0;
    for (size_t i = 0; v && i < c->rows; i++)
        if (!isnan(matrix_csv_at(c, i, "step_ns")))
            v[n++] = matrix_csv_at(c, i, "step_ns");
    double median = curve_median(v, n);
    free(v);
    return median;
}

static bool stalled(const struct matrix_csv *c, size_t row, double median)
{
    return matrix_csv_at(c, row, "step_ns") > STALL * median;
}

/* Sum over the rows that count; NAN when a row lacks it. */
static double sum(const struct source *s, const char *column, double *n)
{
    double median = median_step(s->rows), total = 0;
    *n = 0;
    for (size_t i = 0; i < s->rows->rows; i++)
        if (!stalled(s->rows, i, median)) {
            total += matrix_csv_at(s->rows, i, column);
            ++*n;
        }
    return total;
}

static double mean(const struct source *s, const char *column)
{
    double n, total = sum(s, column, &n);
    return n > 0 ? total / n : NAN;
}

static double step_s(const struct source *s)
{
    return mean(s, "step_ns") / 1e9;
}

static double step_ms(const struct source *s)
{
    return mean(s, "step_ns") / 1e6;
}

static double fwd_ms(const struct source *s)
{
    return mean(s, "fwd_ns") / 1e6;
}

static double pass_ms(const struct source *s)
{
    return mean(s, "pass_ns") / 1e6;
}

static double tok_per_s(const struct source *s)
{
    double n;
    return sum(s, "tokens", &n) / (sum(s, "step_ns", &n) / 1e9);
}

static double mfu(const struct source *s)
{
    return mean(s, "mfu");
}

/* What our formula makes of the seed's tokens per second. */
static double mfu_at_seed(const struct source *s)
{
    return mfu(s) * matrix_seed(s->r, "tok_per_s") / tok_per_s(s);
}

static double loss(const struct source *s)
{
    return mean(s, "loss");
}

static double loss_last(const struct source *s)
{
    return s->rows->rows ? matrix_csv_at(s->rows, s->rows->rows - 1, "loss") : NAN;
}

static double loss_first(const struct source *s)
{
    return s->rows->rows ? matrix_csv_at(s->rows, 0, "loss") : NAN;
}

static double grad_norm(const struct source *s)
{
    return mean(s, "grad_norm");
}

static double peak_mib(const struct source *s)
{
    double most = NAN;
    for (size_t i = 0; i < s->rows->rows; i++)
        most = fmax(most, matrix_csv_at(s->rows, i, "peak_bytes"));
    return most / (1024 * 1024);
}

static double rejected(const struct source *s)
{
    double n = 0, median = median_step(s->rows);
    for (size_t i = 0; i < s->rows->rows; i++)
        n += stalled(s->rows, i, median);
    return n;
}

/* ---- against the base ---- */

/* A measure of the run by that of its base. */
static double to_base(const struct source *s, const char *measure)
{
    if (!s->base)
        return NAN;
    return matrix_measure(s->m, s->r, measure, s->job, s->copy) / matrix_measure(s->m, s->base, measure, s->job, s->copy);
}

static double ratio(const struct source *s)
{
    return to_base(s, "tok_per_s");
}

static double fwd_ratio(const struct source *s)
{
    return to_base(s, "fwd_ms");
}

static double pass_ratio(const struct source *s)
{
    return to_base(s, "pass_ms");
}

/* Change of the time in micro-batches against the base's, in percent. */
static double change_pct(const struct source *s)
{
    return 100 * (pass_ratio(s) - 1);
}

static double distance(const struct source *s, const char *column, enum curve_how how)
{
    struct matrix_csv base;
    struct arena a = {0};
    struct err e = {0};
    double v = NAN;
    if (s->base && matrix_csv_read(&base, matrix_path(s->job, s->base, s->copy, "csv", &a), &e)) {
        v = curve_distance(s->rows, &base, column, how);
        matrix_csv_free(&base);
    }
    arena_free(&a);
    return v;
}

#define DISTANCE(NAME, COLUMN, HOW)                                                                                                                  \
    static double NAME(const struct source *s)                                                                                                       \
    {                                                                                                                                                \
        return distance(s, COLUMN, HOW);                                                                                                             \
    }
DISTANCE(loss_abs, "loss", CURVE_ABS_MAX)
DISTANCE(loss_mean_abs, "loss", CURVE_ABS_MEAN)
DISTANCE(loss_median_abs, "loss", CURVE_ABS_MEDIAN)
DISTANCE(loss_rel, "loss", CURVE_REL_MAX)
DISTANCE(loss_slope, "loss", CURVE_SLOPE)
DISTANCE(norm_abs, "grad_norm", CURVE_ABS_MAX)
DISTANCE(norm_rel, "grad_norm", CURVE_REL_MAX)
DISTANCE(norm_slope, "grad_norm", CURVE_SLOPE)

/* The first loss against the base's: equal starts. */
static double first_rel(const struct source *s)
{
    return s->base ? matrix_measure(s->m, s->r, "loss_first", s->job, s->copy) / matrix_measure(s->m, s->base, "loss_first", s->job, s->copy) - 1
                   : NAN;
}

/* ---- recordings ---- */

/* Sum of a column over the rows of a table of the recording whose `key` column contains `word`; NULL: all rows. */
static double table_sum(const struct source *s, const char *table, const char *column, const char *key, const char *word)
{
    struct arena a = {0};
    struct err e = {0};
    struct matrix_csv c;
    double total = 0;
    if (!s->r->record || !matrix_csv_read(&c, matrix_path(s->job, s->r, s->copy, arena_printf(&a, "%s.csv", table), &a), &e))
        total = NAN;
    else {
        for (size_t i = 0; i < c.rows; i++)
            if (!word || strstr(matrix_csv_text(&c, i, key), word))
                total += isnan(matrix_csv_at(&c, i, column)) ? 0 : matrix_csv_at(&c, i, column);
        matrix_csv_free(&c);
    }
    arena_free(&a);
    return total;
}

static double summary(const struct source *s, const char *column)
{
    return table_sum(s, "summary", column, NULL, NULL);
}

/* Sums over the recorded steps, of one of them: a row is a step. */
#define PER_STEP(NAME, COLUMN, UNIT)                                                                                                                 \
    static double NAME(const struct source *s)                                                                                                       \
    {                                                                                                                                                \
        return summary(s, COLUMN) / (UNIT) / (double)s->rows->rows;                                                                                  \
    }
PER_STEP(span_s, "span_ns", 1e9)
PER_STEP(kernel_s, "kernel_sum_ns", 1e9)
PER_STEP(comm_s, "comm_sum_ns", 1e9)
PER_STEP(compute_s, "compute_sum_ns", 1e9)
PER_STEP(memset_ms, "memset_ns", 1e6)

static double busy_pct(const struct source *s)
{
    return summary(s, "busy_pct");
}

static double kernels(const struct source *s)
{
    return summary(s, "kernels");
}

static double comm_calls(const struct source *s)
{
    return table_sum(s, "comm", "calls", "group", "cp");
}

static double comm_mib(const struct source *s)
{
    return table_sum(s, "comm", "bytes", "group", "cp") / (1024 * 1024);
}

static double op_syncs(const struct source *s)
{
    return table_sum(s, "syncs", "count", NULL, NULL);
}

/* How far the ranks' times in attention kernels are apart, in percent of the largest. */
static double work_apart(const struct source *s)
{
    struct arena a = {0};
    struct err e = {0};
    struct matrix_csv c;
    double least = NAN, most = NAN;
    if (s->r->record && matrix_csv_read(&c, matrix_path(s->job, s->r, s->copy, "ranks.csv", &a), &e)) {
        for (size_t i = 0; i < c.rows; i++)
            if (!strcmp(matrix_csv_text(&c, i, "name"), "attention")) {
                least = fmin(least, matrix_csv_at(&c, i, "total_ns"));
                most = fmax(most, matrix_csv_at(&c, i, "total_ns"));
            }
        matrix_csv_free(&c);
    }
    arena_free(&a);
    return 100 * (most - least) / most;
}

static const struct row {
    struct matrix_measure is;
    measure_fn *of;
} measures[] = {
    {{"step_s", "step s", "%.2f", false}, step_s},
    {{"step_ms", "step ms", "%.2f", false, .follows = "step_s"}, step_ms},
    {{"fwd_ms", "forward ms", "%.1f", false}, fwd_ms},
    {{"pass_ms", "fwd+bwd ms", "%.1f", false}, pass_ms},
    {{"tok_per_s", "tok/s", "%.0f", false, .follows = "step_s"}, tok_per_s},
    {{"mfu", "MFU", "%.3f", false, .follows = "step_s"}, mfu},
    {{"mfu_at_seed", "MFU at the seed's tok/s", "%.4f", true, .slack = 2}, mfu_at_seed},
    {{"loss", "mean loss", "%.5f", false}, loss},
    {{"loss_first", "first loss", "%.6f", false}, loss_first},
    {{"loss_last", "last loss", "%.6f", false}, loss_last},
    {{"grad_norm", "mean grad norm", "%.4f", false}, grad_norm},
    {{"peak_mib", "peak MiB", "%.1f", false}, peak_mib},
    {{"first_rel", "first loss rel", "%.1e", false}, first_rel},
    {{"rejected", "stalled", "%.0f", false}, rejected},
    {{"ratio", "tok/s to base", "%.3f", false, .follows = "step_s"}, ratio},
    {{"fwd_ratio", "forward to base", "%.3f", false, .follows = "fwd_ms"}, fwd_ratio},
    {{"pass_ratio", "fwd+bwd to base", "%.3f", false, .follows = "pass_ms"}, pass_ratio},
    {{"change_pct", "fwd+bwd to base %", "%+.1f", false}, change_pct},
    {{"loss_abs", "loss max |d|", "%.2e", false, .distance = true}, loss_abs},
    {{"loss_mean_abs", "loss mean |d|", "%.2e", false, .distance = true}, loss_mean_abs},
    {{"loss_median_abs", "loss median |d|", "%.2e", false, .distance = true}, loss_median_abs},
    {{"loss_rel", "loss max rel", "%.2e", false, .distance = true}, loss_rel},
    {{"loss_slope", "loss rel per step", "%+.1e", false}, loss_slope},
    {{"norm_abs", "norm max |d|", "%.2e", false, .distance = true}, norm_abs},
    {{"norm_rel", "norm max rel", "%.2e", false, .distance = true}, norm_rel},
    {{"norm_slope", "norm rel per step", "%+.1e", false}, norm_slope},
    {{"span_s", "span s", "%.2f", false, .recorded = true}, span_s},
    {{"busy_pct", "busy %", "%.1f", false, .recorded = true}, busy_pct},
    {{"kernel_s", "kernels s", "%.2f", false, .recorded = true}, kernel_s},
    {{"comm_s", "comm s", "%.2f", false, .recorded = true}, comm_s},
    {{"compute_s", "non-comm s", "%.2f", false, .recorded = true}, compute_s},
    {{"memset_ms", "memset ms", "%.1f", false, .recorded = true}, memset_ms},
    {{"work_apart_pct", "attention work apart %", "%.1f", false, .recorded = true, .extra = "ranks"}, work_apart},
    {{"kernels", "kernel calls", "%.0f", true, .recorded = true}, kernels},
    {{"comm_calls", "cp collectives", "%.0f", true, .recorded = true}, comm_calls},
    {{"comm_mib", "cp MiB sent", "%.1f", true, .recorded = true}, comm_mib},
    {{"op_syncs", "op syncs", "%.0f", true, .recorded = true}, op_syncs},
};

/* PREFIX:WORD counts the rows of a table whose `key` contains the word. */
static const struct family {
    const char *prefix, *table, *column, *key;
    struct matrix_measure is;
} families[] = {{"sync:", "syncs", "count", "site", {"sync:", "syncs", "%.0f", true, .recorded = true}},
                {"wait:", "waits", "count", "site", {"wait:", "waits", "%.0f", true, .recorded = true, .extra = "waits"}},
                {"calls:", "kernels", "calls", "name", {"calls:", "calls", "%.0f", true, .recorded = true}}};

static const struct family *family_of(const char *name)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (!strncmp(name, families[i].prefix, strlen(families[i].prefix)) && name[strlen(families[i].prefix)])
            return &families[i];
    return NULL;
}

const struct matrix_measure *matrix_measure_find(const char *name)
{
    const struct family *family = family_of(name);
    if (family)
        return &family->is;
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
        if (!strcmp(measures[i].is.name, name))
            return &measures[i].is;
    return NULL;
}

static const struct matrix_run *base_of(const struct matrix *m, const struct matrix_run *r)
{
    for (size_t i = 0; r->table && i < m->ntables; i++)
        if (!strcmp(m->tables[i].name, r->table) && m->tables[i].base)
            return matrix_find(m, m->tables[i].base);
    return NULL;
}

static double of_row(const struct source *s, const char *name)
{
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
        if (!strcmp(measures[i].is.name, name))
            return measures[i].of(s);
    return NAN;
}

double matrix_measure(const struct matrix *m, const struct matrix_run *r, const char *name, const struct matrix_job *job, int copy)
{
    struct source s = {m, r, base_of(m, r), job, copy, NULL};
    struct arena a = {0};
    struct err e = {0};
    struct matrix_csv rows;
    double v = NAN;
    const struct family *family = family_of(name);
    if (family)
        v = table_sum(&s, family->table, family->column, family->key, name + strlen(family->prefix));
    else if (!r->refuses && matrix_csv_read(&rows, matrix_path(job, r, copy, "csv", &a), &e)) {
        s.rows = &rows;
        v = of_row(&s, name);
        matrix_csv_free(&rows);
    }
    arena_free(&a);
    return v;
}
