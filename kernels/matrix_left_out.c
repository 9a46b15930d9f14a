/* matrix_left_out.c - see matrix_left_out.h. */
#include "kernels/matrix_left_out.h"
#include "kernels/device/machine.h"
#include "schemas/keyvalue.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { CELLS_MOST = 64 };

struct cell_error {
    const struct matrix_run *run;
    char *measure;
    double error;
};

struct errors {
    struct cell_error v[CELLS_MOST];
    size_t n;
};

/* As the file shows it: a decimal. */
static double shown(double error)
{
    return round(error * 10) / 10;
}

/* ---- the hash ---- */

/* Calls `cell` for each fitted measure of each run that has a seed's figure, in order of the file. */
static void each_cell(const struct matrix *m, struct arena *a, void (*cell)(void *ctx, const struct matrix_run *run, char *measure), void *ctx)
{
    for (size_t i = 0; i < m->nruns; i++) {
        char *rest = m->runs[i].role == ROLE_FITTED ? arena_strdup(a, m->cells ? m->cells : "step_s") : NULL;
        for (char *word; (word = strsep(&rest, " ")) != NULL;)
            if (*word && !isnan(matrix_seed(&m->runs[i], word)))
                cell(ctx, &m->runs[i], word);
    }
}

struct hashing {
    XXH64_state_t *h;
    const struct errors *errors; /* NULL: those of the file */
};

static void hash_number(XXH64_state_t *h, const char *name, double v)
{
    char text[32];
    snprintf(text, sizeof text, "=%.17g\n", v);
    XXH64_update(h, name, strlen(name));
    XXH64_update(h, text, strlen(text));
}

static double error_of(const struct errors *of, const struct matrix_run *run, const char *measure)
{
    for (size_t i = 0; of && i < of->n; i++)
        if (of->v[i].run == run && !strcmp(of->v[i].measure, measure))
            return of->v[i].error;
    return of ? NAN : matrix_left_out(run, measure);
}

static void hash_cell(void *ctx, const struct matrix_run *run, char *measure)
{
    const struct hashing *x = ctx;
    XXH64_update(x->h, run->name, strlen(run->name));
    hash_number(x->h, measure, matrix_seed(run, measure));
    hash_number(x->h, "left out", error_of(x->errors, run, measure));
}

static uint64_t hash_of(const struct matrix *m, const struct machine *machine, const struct errors *errors)
{
    struct arena a = {0};
    XXH64_state_t state;
    struct hashing x = {&state, errors};
    XXH64_reset(&state, 0);
    for (size_t i = 0; machine_key(i); i++)
        hash_number(x.h, machine_key(i), machine_value(machine, machine_key(i)));
    each_cell(m, &a, hash_cell, &x);
    arena_free(&a);
    return XXH64_digest(&state);
}

char *left_out_stale(const struct matrix *m, struct arena *a)
{
    struct machine machine;
    struct err e = {0};
    bool any = false;
    for (size_t i = 0; i < m->nruns; i++)
        any |= m->runs[i].left_out.n > 0;
    if (!any || !m->machine || !machine_load(&machine, m->machine, &e))
        return NULL;
    char *now = arena_printf(a, "%016" PRIx64, hash_of(m, &machine, NULL));
    if (m->left_out_of && !strcmp(m->left_out_of, now))
        return NULL;
    return arena_printf(a,
                        "Left-out errors: not known to be of this fit: constants of %s, the seed's figures or the errors themselves "
                        "have changed since cpbench calibrate gave them.",
                        m->machine);
}

/* ---- from calibrate's csv ---- */

struct reading {
    const struct matrix *m;
    struct machine machine;
    const char *from;
    struct arena *a;
    struct errors errors;
};

static bool take_constant(struct reading *r, char **f, struct err *e)
{
    double v = strtod(f[1], NULL), has;
    size_t i = 0;
    while (machine_key(i) && strcmp(machine_key(i), f[0]) != 0)
        i++;
    if (!machine_key(i))
        return fail(e, ERR_USAGE, "%s: %s: no constant of a machine", r->from, f[0]);
    has = machine_value(&r->machine, f[0]);
    return v == has ||
           fail(e, ERR_USAGE, "%s: %s is %.17g, machine %s has %.17g: the errors are of another fit", r->from, f[0], v, r->m->machine, has);
}

/* Cells are named RUN or RUN.MEASURE. */
static bool take_cell(struct reading *r, char **f, struct err *e)
{
    char *name = arena_strdup(r->a, f[0]), *dot = strrchr(name, '.');
    const struct matrix_run *run = matrix_find(r->m, name);
    if (!run && dot) {
        *dot = '\0';
        run = matrix_find(r->m, name);
    }
    struct cell_error c = {run, run && dot && !*dot ? dot + 1 : arena_strdup(r->a, "step_s"), shown(strtod(f[4], NULL))};
    if (!run || run->role != ROLE_FITTED || matrix_seed(run, c.measure) != strtod(f[1], NULL))
        return fail(e, ERR_USAGE, "%s: cell %s, given %s: not one of %s", r->from, f[0], f[1], r->m->from);
    if (*f[4] && r->errors.n < CELLS_MOST)
        r->errors.v[r->errors.n++] = c;
    return true;
}

/* Two tables that an empty line parts. */
static bool read_fit(struct reading *r, FILE *in, struct err *e)
{
    static const char *const heads[] = {"constant,value,fitted", "cell,given,model,error_pct,left_out_error_pct"};
    char line[512], *f[5];
    int table = 0;
    while (!e->kind && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\r\n")] = '\0';
        char *rest = line;
        if (table < 2 && !strcmp(line, heads[table]))
            table++;
        else if (*line) {
            for (int i = 0; i < 5; i++)
                f[i] = (f[i] = strsep(&rest, ",")) ? f[i] : "";
            if (!table)
                break;
            (table == 1 ? take_constant : take_cell)(r, f, e);
        }
    }
    return !e->kind && (table == 2 || fail(e, ERR_USAGE, "%s: want what cpbench calibrate prints", r->from));
}

/* ---- into the file ---- */

static void put_line(const struct reading *r, const char *line, const struct matrix_run **run, FILE *out)
{
    char name[128];
    if (sscanf(line, "[run %127[^]]", name) == 1)
        *run = matrix_find(r->m, name);
    if (!strncmp(line, "left_out", 8))
        return;
    fprintf(out, "%s\n", line);
    if (!strncmp(line, "machine", 7))
        fprintf(out, "left_out_of = %016" PRIx64 "\n", hash_of(r->m, &r->machine, &r->errors));
    for (size_t i = 0; *run && i < r->errors.n; i++)
        if (r->errors.v[i].run == *run && sscanf(line, "seed.%127[^ =]", name) == 1 && !strcmp(name, r->errors.v[i].measure))
            fprintf(out, "left_out.%s = %.1f\n", name, r->errors.v[i].error);
}

extern const struct keyvalue_text matrix_files[];

bool left_out_write(const struct matrix *m, const char *fit, FILE *out, struct err *e)
{
    struct arena a = {0};
    struct reading r = {.m = m, .from = fit, .a = &a};
    FILE *in = m->machine ? fopen(fit, "r") : NULL;
    const struct matrix_run *run = NULL;
    if (!m->machine)
        fail(e, ERR_USAGE, "%s: has no machine that is fitted", m->from);
    else if (!in)
        fail(e, ERR_FAIL, "%s: %s", fit, strerror(errno));
    bool ok = in && machine_load(&r.machine, m->machine, e) && read_fit(&r, in, e);
    char *text = ok ? keyvalue_load(m->from, matrix_files, "experiment", e) : NULL, *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && (*line || rest);)
        put_line(&r, line, &run, out);
    free(text);
    if (in)
        fclose(in);
    arena_free(&a);
    return text != NULL;
}
