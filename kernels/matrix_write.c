/* matrix_write.c - an experiment's results as text and csv: ours, the seed's, and how far apart.
 *
 *   run               | step s   seed   err % | tok/s   seed   err % | ...
 *
 * What a model gave is marked so, what ran for real is not; counts are exact on either.
 */
#include "kernels/matrix_figure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- text ---- */

struct text {
    const struct matrix_result *r;
    const struct matrix_table *t;
};

static void text_row(void *ctx, const struct matrix_run *run, bool begins)
{
    const struct text *t = ctx;
    struct arena a = {0};
    if (begins)
        printf("  %-46s %s%s\n", figure_row_title(t->t, run, &a), figure_row_role(t->r->m, t->t, run, &a),
               run->refuses ? ": refuses to start, as it should" : "");
    arena_free(&a);
}

static void text_figure(void *ctx, const struct figure *f)
{
    char label[96], ours[32], seed[32];
    (void)ctx;
    if (isnan(f->ours) && isnan(f->seed))
        return;
    figure_label(f->name, label, sizeof label);
    figure_number(f->measure, f->ours, ours, sizeof ours);
    figure_number(f->measure, f->seed, seed, sizeof seed);
    printf("      %-34s %12s", label, ours);
    if (!isnan(f->seed))
        printf("   seed %12s", seed);
    if (!isnan(f->error))
        printf("   %+7.1f %%%s", f->error, f->outside ? " OUTSIDE" : "");
    if (!isnan(f->left_out))
        printf("   left out %+.1f %%", f->left_out);
    if (!isnan(f->spread))
        printf("   repeats within %.2f %%", f->spread);
    putchar('\n');
}

static void line(const char *text)
{
    if (text)
        printf("  %s\n", text);
}

void matrix_print(const struct matrix_result *r)
{
    struct arena a = {0};
    struct text t = {.r = r};
    printf("%s\n", r->m->title);
    for (struct verdict *said = figures_verdict(r, &a); said->text; said++)
        line(said->detail ? arena_printf(&a, "%s: %s.", said->text, said->detail) : said->text);
    if (r->m->intro)
        printf("%s\n", r->m->intro);
    for (size_t i = 0; i < r->m->ntables; i++) {
        t.t = &r->m->tables[i];
        printf("\n%s\n", t.t->title);
        figures_each(r, t.t, text_row, text_figure, &t);
        line(t.t->note);
        line(figures_repeats(r, t.t, &a));
    }
    arena_free(&a);
}

/* ---- csv ---- */

struct csv {
    const struct matrix_result *r;
    FILE *f;
    const char *table;
    const struct matrix_run *run;
};

static void csv_row(void *ctx, const struct matrix_run *run, bool begins)
{
    struct csv *c = ctx;
    (void)begins;
    c->run = run;
}

static void put_real(FILE *f, double v)
{
    if (isnan(v))
        fputc(',', f);
    else
        fprintf(f, ",%.17g", v);
}

static void csv_figure(void *ctx, const struct figure *f)
{
    struct csv *c = ctx;
    fprintf(c->f, "%s,%s,%s", c->table, c->run->name, f->name);
    put_real(c->f, f->ours);
    put_real(c->f, f->seed);
    put_real(c->f, f->error);
    fprintf(c->f, ",%s,%s", figure_role(c->r->m, c->run, f->name),
            f->measure->exact                  ? "counted"
            : matrix_modelled(c->r->m, c->run) ? "modelled"
                                               : "measured");
    put_real(c->f, f->spread);
    put_real(c->f, f->left_out);
    fputc('\n', c->f);
}

bool matrix_close(FILE *f, const char *path, struct err *e)
{
    bool ok = f && !ferror(f);
    if (f && fclose(f) != 0)
        ok = false;
    return ok || fail(e, ERR_FAIL, "%s: %s", path, strerror(errno));
}

bool matrix_write_csv(const struct matrix_result *r, struct err *e)
{
    struct arena a = {0};
    char *path = arena_printf(&a, "%s/results.csv", r->job->folder);
    struct csv c = {.r = r, .f = fopen(path, "w")};
    if (c.f)
        fputs("table,run,measure,ours,seed,error_pct,role,kind,spread_pct,left_out_error_pct\n", c.f);
    for (size_t i = 0; c.f && i < r->m->ntables; i++) {
        c.table = r->m->tables[i].name;
        figures_each(r, &r->m->tables[i], csv_row, csv_figure, &c);
    }
    bool ok = matrix_close(c.f, path, e);
    arena_free(&a);
    return ok;
}
