/* bench_calibrate.c - `cpbench calibrate`: a few constants of a machine chosen so that an experiment's fitted runs come out as
 * given; all other runs of it are not looked at.
 *
 *   minimise  sum over cells (log model/given)^2 + WEIGHT * sum over constants (log value/start)^2
 *
 * in logarithms, by Levenberg and Marquardt: slopes from a small step of each constant, damped steps that only ever go down.
 * The second term decides between constants that the cells do not tell apart. A cell's left-out error is that of a fit
 * without it.
 */
#include "kernels/bench.h"
#include "kernels/device/machine.h"
#include "kernels/matrix.h"
#include "schemas/opt.h"
#include "schemas/table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONSTANTS_MOST = 6, CELLS_MOST = 16, ROUNDS = 10 };
#define WEIGHT 1e-4
#define SLOPE_STEP 0.05
#define STEP_MOST 0.7 /* of a constant in a round */
#define DONE 1e-3     /* relative gain of a round that is the last */

struct calibrate_options {
    const char *machine, *to, *out, *name;
};

static const struct opt rows[] = {
    {OPT_ARG, "MACHINE", offsetof(struct calibrate_options, machine), "the machine to start from: a shipped one or a file"},
    {OPT_TEXT, "to", offsetof(struct calibrate_options, to), "an experiment whose fitted runs are matched; its `fit` names the constants",
     "MEASUREMENTS"},
    {OPT_TEXT, "output", offsetof(struct calibrate_options, out), "where the fitted machine file is written", "FILE", 'o'},
    {OPT_TEXT, "name", offsetof(struct calibrate_options, name), "its name [that of FILE]", "NAME"},
    {0},
};

struct fit {
    const struct matrix *m;
    struct machine start, now;
    const char *constants[CONSTANTS_MOST];
    const struct matrix_run *cells[CELLS_MOST]; /* with a given step time */
    double model[CELLS_MOST];                   /* of the last evaluation */
    int nconstants, ncells, left_out;           /* left_out: a cell that does not count; -1 none */
    struct matrix_job job;
    int tries;
};

/* How far a constant is from where it started, in logarithms. */
static double away(const struct fit *f, int i)
{
    return log(machine_value(&f->now, f->constants[i]) / machine_value(&f->start, f->constants[i]));
}

static bool write_machine(const struct machine *m, const char *path, struct err *e)
{
    char *text = machine_text(m);
    FILE *f = text ? fopen(path, "w") : NULL;
    bool ok = f && fputs(text, f) >= 0;
    if (f && fclose(f) != 0)
        ok = false;
    free(text);
    return ok || fail(e, ERR_FAIL, "%s: %s", path, strerror(errno));
}

/* Runs every cell that counts on f->now: their errors in r, and the sum to minimise; HUGE_VAL with an error when one fails. */
static double evaluate(struct fit *f, bool all, double *r, struct err *e)
{
    double sum = 0;
    f->tries++;
    if (!write_machine(&f->now, f->job.machine, e))
        return HUGE_VAL;
    for (int i = 0; i < f->ncells; i++) {
        r[i] = 0;
        if (i == f->left_out && !all)
            continue;
        if (!matrix_run_one(f->m, f->cells[i], &f->job, 0, e))
            return HUGE_VAL;
        f->model[i] = matrix_measure(f->m, f->cells[i], "step_s", &f->job, 0);
        r[i] = i == f->left_out ? 0 : log(f->model[i] / matrix_seed(f->cells[i], "step_s"));
        sum += r[i] * r[i];
    }
    for (int i = 0; i < f->nconstants; i++)
        sum += WEIGHT * away(f, i) * away(f, i);
    return sum;
}

static void shift(struct fit *f, int i, double step)
{
    machine_set(&f->now, f->constants[i], machine_value(&f->now, f->constants[i]) * exp(step));
}

/* d r[cell] / d log constant, by a step towards smaller values: shares do not go over 1. */
static bool slopes(struct fit *f, const double *r, double J[CELLS_MOST][CONSTANTS_MOST], struct err *e)
{
    for (int k = 0; k < f->nconstants; k++) {
        struct machine before = f->now;
        double there[CELLS_MOST];
        shift(f, k, -SLOPE_STEP);
        bool ok = evaluate(f, false, there, e) < HUGE_VAL;
        for (int i = 0; ok && i < f->ncells; i++)
            J[i][k] = (r[i] - there[i]) / SLOPE_STEP;
        f->now = before;
        if (!ok)
            return false;
    }
    return true;
}

/* x of A x = b, by elimination with pivots; A is n by n, positive definite here, and used up. */
static void solve(double A[CONSTANTS_MOST][CONSTANTS_MOST], double *b, int n)
{
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            double factor = A[i][k] / A[k][k];
            for (int j = k; j < n; j++)
                A[i][j] -= factor * A[k][j];
            b[i] -= factor * b[k];
        }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            b[k] -= A[k][j] * b[j];
        b[k] /= A[k][k];
    }
}

/* The step from the normal equations with the damping on their diagonal. */
static void propose(const struct fit *f, const double *r, double J[CELLS_MOST][CONSTANTS_MOST], double damping, double *step)
{
    double A[CONSTANTS_MOST][CONSTANTS_MOST];
    for (int k = 0; k < f->nconstants; k++) {
        step[k] = -WEIGHT * away(f, k);
        for (int j = 0; j < f->nconstants; j++) {
            A[k][j] = k == j ? WEIGHT + damping : 0;
            for (int i = 0; i < f->ncells; i++)
                A[k][j] += J[i][k] * J[i][j];
        }
        for (int i = 0; i < f->ncells; i++)
            step[k] -= J[i][k] * r[i];
    }
    solve(A, step, f->nconstants);
}

/* Tries the step, and a more damped one when it does not help; true when the sum went down. */
static bool go_down(struct fit *f, double *r, double J[CELLS_MOST][CONSTANTS_MOST], double *damping, double *best, struct err *e)
{
    struct machine before = f->now;
    for (int tries = 0; tries < 6 && !e->kind; tries++, *damping *= 8) {
        double step[CONSTANTS_MOST], there[CELLS_MOST];
        propose(f, r, J, *damping, step);
        for (int k = 0; k < f->nconstants; k++)
            shift(f, k, fmax(-STEP_MOST, fmin(STEP_MOST, step[k])));
        double got = evaluate(f, false, there, e);
        if (got < *best) {
            *best = got;
            *damping /= 8;
            memcpy(r, there, sizeof there);
            return true;
        }
        f->now = before;
    }
    return false;
}

static bool search(struct fit *f, struct err *e)
{
    double r[CELLS_MOST], J[CELLS_MOST][CONSTANTS_MOST], damping = 1e-3, best, last = HUGE_VAL;
    f->now = f->start;
    best = evaluate(f, false, r, e);
    for (int round = 0; round < ROUNDS && !e->kind && last - best > DONE * best; round++) {
        last = best;
        if (!slopes(f, r, J, e) || !go_down(f, r, J, &damping, &best, e))
            break;
    }
    return !e->kind && isfinite(evaluate(f, true, r, e));
}

static bool choose(struct fit *f, struct arena *a, struct err *e)
{
    char *rest = f->m->fit ? arena_strdup(a, f->m->fit) : NULL;
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        if (!*word)
            continue;
        if (!machine_constant(&f->start, word) || f->nconstants == CONSTANTS_MOST)
            return fail(e, ERR_USAGE, "%s: fit: %s: want up to %d real constants of a machine", f->m->from, word, CONSTANTS_MOST);
        f->constants[f->nconstants++] = word;
    }
    for (size_t i = 0; i < f->m->nruns; i++)
        if (f->m->runs[i].role == ROLE_FITTED && !isnan(matrix_seed(&f->m->runs[i], "step_s")) && f->ncells < CELLS_MOST)
            f->cells[f->ncells++] = &f->m->runs[i];
    return (f->nconstants && f->ncells) || fail(e, ERR_USAGE, "%s: want constants to fit and fitted runs with seed.step_s", f->m->from);
}

static void print_constants(const struct fit *f)
{
    static const struct column columns[] = {{"constant", UNIT_TEXT}, {"value", UNIT_REAL}, {"fitted", UNIT_COUNT}, {0}};
    struct table t;
    table_init(&t, "constants", "Constants", columns);
    for (size_t i = 0; machine_key(i); i++) {
        bool fitted = false;
        for (int k = 0; k < f->nconstants; k++)
            fitted |= !strcmp(f->constants[k], machine_key(i));
        struct cell *c = table_row(&t);
        c[0] = cell_text(machine_key(i));
        c[1] = cell_real(machine_value(&f->now, machine_key(i)));
        c[2] = cell_int(fitted);
    }
    table_csv(&t, stdout);
    table_free(&t);
}

static void print_cells(const struct fit *f, const double *left_out)
{
    static const struct column columns[] = {
        {"cell", UNIT_TEXT}, {"given", UNIT_REAL}, {"model", UNIT_REAL}, {"error_pct", UNIT_REAL}, {"left_out_error_pct", UNIT_REAL}, {0}};
    struct table t;
    table_init(&t, "cells", "Cells", columns);
    for (int i = 0; i < f->ncells; i++) {
        double given = matrix_seed(f->cells[i], "step_s");
        struct cell *c = table_row(&t);
        c[0] = cell_text(f->cells[i]->name);
        c[1] = cell_real(given);
        c[2] = cell_real(f->model[i]);
        c[3] = cell_real(100 * (f->model[i] / given - 1));
        c[4] = cell_real(left_out[i]);
    }
    table_csv(&t, stdout);
    table_free(&t);
}

/* Fits without each cell in turn, then with all. */
static bool fit_all(struct fit *f, double *left_out, struct err *e)
{
    bool bar = isatty(STDERR_FILENO);
    for (int i = f->ncells > 1 ? 0 : f->ncells; i <= f->ncells; i++) {
        f->left_out = i < f->ncells ? i : -1;
        if (bar)
            fprintf(stderr, "\r\033[Kfit %d of %d", i + 1, f->ncells + 1);
        if (!search(f, e))
            return false;
        if (i < f->ncells)
            left_out[i] = 100 * (f->model[i] / matrix_seed(f->cells[i], "step_s") - 1);
    }
    if (bar)
        fputs("\r\033[K", stderr);
    return true;
}

static bool name_fitted(struct machine *m, const struct calibrate_options *o, struct err *e)
{
    const char *slash = o->out ? strrchr(o->out, '/') : NULL, *name = o->name ? o->name : slash ? slash + 1 : o->out;
    if (!name)
        return true;
    if (!*name || strlen(name) >= sizeof m->name)
        return fail(e, ERR_USAGE, "%s: want a name of 1 to %zu characters", name, sizeof m->name - 1);
    snprintf(m->name, sizeof m->name, "%s", name);
    return true;
}

static void calibrate(const struct calibrate_options *o, const struct matrix *m, struct arena *a, struct err *e)
{
    char folder[] = "/tmp/cpbench-calibrate-XXXXXX", here[4096];
    double left_out[CELLS_MOST];
    struct fit f = {.m = m, .left_out = -1};
    ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
    for (int i = 0; i < CELLS_MOST; i++)
        left_out[i] = NAN;
    if (n < 0 || !mkdtemp(folder)) {
        fail(e, ERR_FAIL, "%s: %s", folder, strerror(errno));
        return;
    }
    here[n] = '\0';
    *strrchr(here, '/') = '\0';
    f.job = (struct matrix_job){folder, arena_printf(a, "%s/machine", folder), here, "--steps 1", true};
    if (machine_load(&f.start, o->machine, e) && choose(&f, a, e) && fit_all(&f, left_out, e) && name_fitted(&f.now, o, e) &&
        (!o->out || write_machine(&f.now, o->out, e))) {
        print_constants(&f);
        putchar('\n');
        print_cells(&f, left_out);
        fprintf(stderr, "cpbench calibrate: %d evaluations\n", f.tries);
    }
    for (int i = 0; i < f.ncells; i++) {
        unlink(matrix_path(&f.job, f.cells[i], 0, "csv", a));
        unlink(matrix_path(&f.job, f.cells[i], 0, "err", a));
    }
    unlink(f.job.machine);
    rmdir(folder);
}

static enum status run(int argc, char **argv, struct err *e)
{
    struct calibrate_options o = {0};
    const struct opt_group groups[] = {{rows, &o, NULL}, {0}};
    struct arena a = {0};
    struct matrix m = {0};
    if (opt_parse(
            argc, argv, groups,
            "Fits a few constants of a machine file to given step times: csv constant,value,fitted, an empty line, then "
            "cell,given,model,error_pct,left_out_error_pct.\v"
            "MEASUREMENTS is an experiment (cpbench matrix): its runs with role = fitted and seed.step_s are matched, the constants are those of its "
            "`fit` line, six at most. Runs of other roles are neither made nor looked at.",
            &a, e) &&
        (o.to || fail(e, ERR_USAGE, "--to is missing: an experiment with fitted runs")) && matrix_load(&m, o.to, &a, e))
        calibrate(&o, &m, &a, e);
    matrix_free(&m);
    arena_free(&a);
    return STATUS_OK;
}

const struct bench_cmd bench_calibrate = {.name = "calibrate", .what = "fits a machine file to given step times", .run = run};
