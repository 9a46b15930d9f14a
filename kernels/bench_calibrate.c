/* bench_calibrate.c - `cpbench calibrate`: a few constants of a machine chosen so that an experiment's fitted runs come out as
 * given; all other runs of it are not looked at.
 *
 *   minimise  sum over cells (log model/given)^2 + WEIGHT * sum over constants (log value/start)^2
 *
 * in logarithms, by Levenberg and Marquardt: slopes from a small step of each constant, damped steps that only ever go down.
 * The second term decides between constants that the cells do not tell apart, of which there should be none: more constants
 * than cells are refused. A cell's left-out error is what a fit without it would make of it, by the slopes at the fit of all.
 */
#include "kernels/bench.h"
#include "kernels/device/machine.h"
#include "kernels/matrix.h"
#include "schemas/opt.h"
#include "schemas/table.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONSTANTS_MOST = 6, CELLS_MOST = 32, ROUNDS = 10 };
#define WEIGHT 1e-4
#define SLOPE_STEP 0.05
#define STEP_MOST 0.7    /* of a constant in a round */
#define DONE 1e-3        /* relative gain of a round that is the last */
#define FROM_ZERO 0.5    /* where the search for a constant begins that is zero: a share, */
#define FROM_ZERO_NS 1e7 /* a time */

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

struct target { /* a figure of a run that is to come out as given */
    const struct matrix_run *run;
    const char *measure;
    double given;
};

struct fit {
    const struct matrix *m;
    struct machine start, now;
    const char *constants[CONSTANTS_MOST];
    struct target cells[CELLS_MOST]; /* those of a run follow each other */
    double model[CELLS_MOST], left_out[CELLS_MOST];
    int nconstants, ncells;
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

/* Makes the run of cell i unless the cell before had the same; recorded only for a cell that is read off a recording. */
static bool make_run(struct fit *f, int i, struct err *e)
{
    const struct matrix_run *run = f->cells[i].run;
    if (i > 0 && f->cells[i - 1].run == run)
        return true;
    f->job.plain = true;
    for (int k = i; k < f->ncells && f->cells[k].run == run; k++)
        f->job.plain &= !matrix_measure_find(f->cells[k].measure)->recorded;
    return matrix_run_one(f->m, run, &f->job, 0, e);
}

/* Runs every cell on f->now: their errors in r, and the sum to minimise; HUGE_VAL with an error when one fails. */
static double evaluate(struct fit *f, double *r, struct err *e)
{
    double sum = 0;
    f->tries++;
    if (!write_machine(&f->now, f->job.machine, e))
        return HUGE_VAL;
    for (int i = 0; i < f->ncells; i++) {
        const struct target *c = &f->cells[i];
        if (!make_run(f, i, e))
            return HUGE_VAL;
        f->model[i] = matrix_measure(f->m, c->run, c->measure, &f->job, 0);
        r[i] = log(f->model[i] / c->given);
        if (!isfinite(r[i])) {
            fail(e, ERR_FAIL, "run %s: %s is %g: a fit takes logarithms", c->run->name, c->measure, f->model[i]);
            return HUGE_VAL;
        }
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
        bool ok = evaluate(f, there, e) < HUGE_VAL;
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

/* The step from the normal equations with the damping on their diagonal; cell `without` does not count, -1: all do. */
static void propose(const struct fit *f, const double *r, double J[CELLS_MOST][CONSTANTS_MOST], double damping, int without, double *step)
{
    double A[CONSTANTS_MOST][CONSTANTS_MOST];
    for (int k = 0; k < f->nconstants; k++) {
        step[k] = -WEIGHT * away(f, k);
        for (int j = 0; j < f->nconstants; j++) {
            A[k][j] = k == j ? WEIGHT + damping : 0;
            for (int i = 0; i < f->ncells; i++)
                A[k][j] += i == without ? 0 : J[i][k] * J[i][j];
        }
        for (int i = 0; i < f->ncells; i++)
            step[k] -= i == without ? 0 : J[i][k] * r[i];
    }
    solve(A, step, f->nconstants);
}

/* Tries the step, and a more damped one when it does not help; true when the sum went down. */
static bool go_down(struct fit *f, double *r, double J[CELLS_MOST][CONSTANTS_MOST], double *damping, double *best, struct err *e)
{
    struct machine before = f->now;
    for (int tries = 0; tries < 6 && !e->kind; tries++, *damping *= 8) {
        double step[CONSTANTS_MOST], there[CELLS_MOST];
        propose(f, r, J, *damping, -1, step);
        for (int k = 0; k < f->nconstants; k++)
            shift(f, k, fmax(-STEP_MOST, fmin(STEP_MOST, step[k])));
        double got = evaluate(f, there, e);
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

/* What fits without each cell would make of it. */
static void leave_out(struct fit *f, const double *r, double J[CELLS_MOST][CONSTANTS_MOST])
{
    for (int i = 0; i < f->ncells; i++) {
        double step[CONSTANTS_MOST], there = r[i];
        propose(f, r, J, 0, i, step);
        for (int k = 0; k < f->nconstants; k++)
            there += J[i][k] * step[k];
        f->left_out[i] = 100 * (exp(there) - 1);
    }
}

static bool search(struct fit *f, struct err *e)
{
    double r[CELLS_MOST], J[CELLS_MOST][CONSTANTS_MOST], damping = 1e-3, best, last = HUGE_VAL;
    bool bar = isatty(STDERR_FILENO);
    f->now = f->start;
    best = evaluate(f, r, e);
    for (int round = 0; round < ROUNDS && !e->kind && last - best > DONE * best; round++) {
        if (bar)
            fprintf(stderr, "\r\033[Kround %d: errors of %.2f %%", round + 1, 100 * sqrt(best / f->ncells));
        last = best;
        if (!slopes(f, r, J, e) || !go_down(f, r, J, &damping, &best, e))
            break;
    }
    if (bar)
        fputs("\r\033[K", stderr);
    if (e->kind || !slopes(f, r, J, e) || !isfinite(evaluate(f, r, e)))
        return false;
    leave_out(f, r, J);
    return true;
}

static bool choose_constants(struct fit *f, struct arena *a, struct err *e)
{
    char *rest = f->m->fit ? arena_strdup(a, f->m->fit) : NULL;
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        if (!*word)
            continue;
        if (!machine_constant(&f->start, word) || f->nconstants == CONSTANTS_MOST)
            return fail(e, ERR_USAGE, "%s: fit: %s: want up to %d real constants of a machine", f->m->from, word, CONSTANTS_MOST);
        if (machine_value(&f->start, word) <= 0)
            machine_set(&f->start, word, strstr(word, "_ns") ? FROM_ZERO_NS : FROM_ZERO);
        f->constants[f->nconstants++] = word;
    }
    return true;
}

static void choose_cells(struct fit *f, struct arena *a)
{
    const char *measures = f->m->cells ? f->m->cells : "step_s";
    for (size_t i = 0; i < f->m->nruns; i++) {
        const struct matrix_run *run = &f->m->runs[i];
        char *rest = run->role == ROLE_FITTED ? arena_strdup(a, measures) : NULL;
        for (char *word; (word = strsep(&rest, " ")) != NULL;)
            if (*word && !isnan(matrix_seed(run, word)) && f->ncells < CELLS_MOST)
                f->cells[f->ncells++] = (struct target){run, word, matrix_seed(run, word)};
    }
}

static bool choose(struct fit *f, struct arena *a, struct err *e)
{
    if (!choose_constants(f, a, e))
        return false;
    choose_cells(f, a);
    if (!f->nconstants || !f->ncells)
        return fail(e, ERR_USAGE, "%s: want constants to fit and fitted runs with seed.%s", f->m->from, f->m->cells ? f->m->cells : "step_s");
    return f->nconstants <= f->ncells ||
           fail(e, ERR_USAGE, "%s: fit: %d constants for %d cells: want no more than there are cells", f->m->from, f->nconstants, f->ncells);
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

/* A cell that is not a step time has its measure in its name. */
static void print_cells(const struct fit *f)
{
    static const struct column columns[] = {
        {"cell", UNIT_TEXT}, {"given", UNIT_REAL}, {"model", UNIT_REAL}, {"error_pct", UNIT_REAL}, {"left_out_error_pct", UNIT_REAL}, {0}};
    struct table t;
    table_init(&t, "cells", "Cells", columns);
    for (int i = 0; i < f->ncells; i++) {
        const struct target *is = &f->cells[i];
        struct cell *c = table_row(&t);
        c[0] = cell_text(strcmp(is->measure, "step_s") ? table_text(&t, "%s.%s", is->run->name, is->measure) : is->run->name);
        c[1] = cell_real(is->given);
        c[2] = cell_real(f->model[i]);
        c[3] = cell_real(100 * (f->model[i] / is->given - 1));
        c[4] = cell_real(f->ncells > f->nconstants ? f->left_out[i] : NAN);
    }
    table_csv(&t, stdout);
    table_free(&t);
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

static void remove_folder(const char *folder)
{
    DIR *d = opendir(folder);
    for (struct dirent *entry; d && (entry = readdir(d)) != NULL;)
        unlinkat(dirfd(d), entry->d_name, 0);
    if (d)
        closedir(d);
    rmdir(folder);
}

static void calibrate(const struct calibrate_options *o, const struct matrix *m, struct arena *a, struct err *e)
{
    char folder[] = "/tmp/cpbench-calibrate-XXXXXX", here[4096];
    struct fit f = {.m = m};
    ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
    if (n < 0 || !mkdtemp(folder)) {
        fail(e, ERR_FAIL, "%s: %s", folder, strerror(errno));
        return;
    }
    here[n] = '\0';
    *strrchr(here, '/') = '\0';
    f.job = (struct matrix_job){
        .folder = folder, .machine = arena_printf(a, "%s/machine", folder), .programs = here, .extra = "--steps 1", .brief = true};
    if (machine_load(&f.start, o->machine, e) && choose(&f, a, e) && search(&f, e) && name_fitted(&f.now, o, e) &&
        (!o->out || write_machine(&f.now, o->out, e))) {
        print_constants(&f);
        putchar('\n');
        print_cells(&f);
        fprintf(stderr, "cpbench calibrate: %d evaluations\n", f.tries);
    }
    remove_folder(folder);
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
            "MEASUREMENTS is an experiment (cpbench matrix): of its runs with role = fitted, the seed's figures of the measures in its `cells` line "
            "(step_s) are matched; the constants are those of its `fit` line, six at most and no more than there are cells. Runs of other roles are "
            "neither made nor looked at. left_out_error_pct: what a fit without the cell would make of it, by the slopes at the fit.\n\n"
            "  cpbench calibrate h200x8-s0 --to s0 -o fitted.machine\n",
            &a, e) &&
        (o.to || fail(e, ERR_USAGE, "--to is missing: an experiment with fitted runs")) && matrix_load(&m, o.to, &a, e))
        calibrate(&o, &m, &a, e);
    matrix_free(&m);
    arena_free(&a);
    return STATUS_OK;
}

const struct bench_cmd bench_calibrate = {.name = "calibrate", .what = "fits a machine file to given step times", .run = run};
