/* matrix_write.c - an experiment's results as text, csv and one page: ours, the seed's, and how far apart.
 *
 *   run               | step s   seed   err % | tok/s   seed   err % | ...
 *
 * What a model gave is marked m, what ran for real is not; counts are exact on either.
 */
#include "kernels/matrix.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

static const char *const role_names[] = {[ROLE_MEASURED] = "measured", [ROLE_FITTED] = "fitted", [ROLE_PREDICTED] = "predicted"};

/* One figure beside the seed's. */
struct figure {
    const struct matrix_measure *measure;
    const char *name;
    double ours, seed, spread; /* spread: (largest - smallest) / smallest of the repeats, percent; NAN with one */
};

static struct figure figure_of(const struct matrix_result *r, const struct matrix_run *run, const char *name)
{
    struct figure f = {matrix_measure_find(name), name, matrix_measure(r->m, run, name, r->job, 0), matrix_seed(run, name), NAN};
    double low = f.ours, high = f.ours;
    for (int i = 1; i < r->repeats; i++) {
        double v = matrix_measure(r->m, run, name, r->job, i);
        low = fmin(low, v);
        high = fmax(high, v);
    }
    if (r->repeats > 1 && low != 0)
        f.spread = 100 * (high - low) / fabs(low);
    return f;
}

static double error_pct(const struct figure *f)
{
    return f->seed == 0 ? (f->ours == 0 ? 0 : NAN) : 100 * (f->ours / f->seed - 1);
}

static bool modelled(const struct matrix *m, const struct matrix_run *r)
{
    const char *said = r->command ? r->command : m->defaults;
    return (said && strstr(said, "--device sim")) || (r->args && strstr(r->args, "--device sim"));
}

/* A model measures nothing: what it gave without a role was not fitted. */
static const char *role_of(const struct matrix *m, const struct matrix_run *r)
{
    return role_names[r->role == ROLE_MEASURED && modelled(m, r) ? ROLE_PREDICTED : r->role];
}

/* Calls each for every figure of every run of a table. */
static void each_figure(const struct matrix_result *r, const struct matrix_table *t,
                        void (*row)(void *ctx, const struct matrix_run *run, bool begins), void (*figure)(void *ctx, const struct figure *f),
                        void *ctx)
{
    for (size_t i = 0; i < r->m->nruns; i++) {
        const struct matrix_run *run = &r->m->runs[i];
        if (!run->table || strcmp(run->table, t->name) != 0)
            continue;
        char *names = strdup(t->measures), *rest = names;
        row(ctx, run, true);
        for (char *name; (name = strsep(&rest, " ")) != NULL;)
            if (*name) {
                struct figure f = figure_of(r, run, name);
                figure(ctx, &f);
            }
        row(ctx, run, false);
        free(names);
    }
}

static void label_of(const struct figure *f, char *text, size_t size)
{
    const char *family = strchr(f->name, ':');
    snprintf(text, size, "%s%s%s", family ? family + 1 : f->measure->label, family ? " " : "", family ? f->measure->label : "");
}

static void number(const struct figure *f, double v, char *text, size_t size)
{
    if (isnan(v))
        snprintf(text, size, "-");
    else
        snprintf(text, size, f->measure->format, v); // NOLINT: formats are those of the measures
}

/* ---- the verdict on a table that must lie within another ---- */

/* The largest of a measure over a table's runs; NAN when none has it. */
static double largest(const struct matrix_result *r, const char *table, const char *measure)
{
    double most = NAN;
    for (size_t i = 0; i < r->m->nruns; i++)
        if (r->m->runs[i].table && !strcmp(r->m->runs[i].table, table))
            most = fmax(most, matrix_measure(r->m, &r->m->runs[i], measure, r->job, 0));
    return most;
}

/* "loss max |d| 1e-06, within the 2e-06 of AA; ..." into text; false: the table is not judged. */
static bool verdict(const struct matrix_result *r, const struct matrix_table *t, char *text, size_t size)
{
    static const char *const distances[] = {"loss_abs", "norm_abs"};
    size_t n = 0;
    for (size_t i = 0; t->within && i < sizeof distances / sizeof *distances; i++) {
        double ours = largest(r, t->name, distances[i]), theirs = largest(r, t->within, distances[i]);
        int put = snprintf(text + n, size - n, "%s%s %.2e, %s the %.2e of %s", n ? "; " : "Verdict: ", matrix_measure_find(distances[i])->label, ours,
                           ours <= theirs ? "within" : "OUTSIDE", theirs, t->within);
        n += put > 0 && (size_t)put < size - n ? (size_t)put : 0;
    }
    return n > 0;
}

/* ---- text ---- */

struct text {
    const struct matrix_result *r;
};

static void text_row(void *ctx, const struct matrix_run *run, bool begins)
{
    const struct text *t = ctx;
    if (begins)
        printf("  %-46s %s%s%s\n", run->title, role_of(t->r->m, run), modelled(t->r->m, run) ? ", modelled" : "",
               run->refuses ? ": refuses to start, as it should" : "");
}

static void text_figure(void *ctx, const struct figure *f)
{
    char label[96], ours[32], seed[32];
    (void)ctx;
    if (isnan(f->ours) && isnan(f->seed))
        return;
    label_of(f, label, sizeof label);
    number(f, f->ours, ours, sizeof ours);
    number(f, f->seed, seed, sizeof seed);
    printf("      %-34s %12s", label, ours);
    if (!isnan(f->seed))
        printf("   seed %12s", seed);
    if (!isnan(error_pct(f)))
        printf("   %+7.1f %%", error_pct(f));
    if (!isnan(f->spread))
        printf("   repeats within %.2f %%", f->spread);
    putchar('\n');
}

void matrix_print(const struct matrix_result *r)
{
    struct text t = {r};
    char said[256];
    printf("%s\n", r->m->title);
    if (r->m->intro)
        printf("%s\n", r->m->intro);
    for (size_t i = 0; i < r->m->ntables; i++) {
        printf("\n%s\n", r->m->tables[i].title);
        each_figure(r, &r->m->tables[i], text_row, text_figure, &t);
        if (verdict(r, &r->m->tables[i], said, sizeof said))
            printf("  %s\n", said);
        if (r->m->tables[i].note)
            printf("  %s\n", r->m->tables[i].note);
    }
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
    put_real(c->f, isnan(f->seed) ? NAN : error_pct(f));
    fprintf(c->f, ",%s,%s", role_of(c->r->m, c->run), f->measure->exact ? "counted" : modelled(c->r->m, c->run) ? "modelled" : "measured");
    put_real(c->f, f->spread);
    fputc('\n', c->f);
}

static bool finish(FILE *f, const char *path, struct err *e)
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
        fputs("table,run,measure,ours,seed,error_pct,role,kind,spread_pct\n", c.f);
    for (size_t i = 0; c.f && i < r->m->ntables; i++) {
        c.table = r->m->tables[i].name;
        each_figure(r, &r->m->tables[i], csv_row, csv_figure, &c);
    }
    bool ok = finish(c.f, path, e);
    arena_free(&a);
    return ok;
}

/* ---- page ---- */

static void escaped(FILE *f, const char *s)
{
    for (; *s; s++)
        if (*s == '<' || *s == '>' || *s == '&' || *s == '"')
            fprintf(f, "&#%d;", *s);
        else
            fputc(*s, f);
}

static void page_row(void *ctx, const struct matrix_run *run, bool begins)
{
    struct csv *c = ctx;
    c->run = run;
    if (!begins) {
        fputs("</tr>\n", c->f);
        return;
    }
    fputs("<tr><th scope=\"row\">", c->f);
    escaped(c->f, run->title);
    fprintf(c->f, "</th><td class=\"%s\">%s%s%s</td>", role_of(c->r->m, run), role_of(c->r->m, run), modelled(c->r->m, run) ? ", modelled" : "",
            run->refuses ? ": refuses to start" : "");
}

/* Does the seed give a figure for any run of the table? Columns for it are there only then. */
static bool seeded(const struct matrix *m, const char *table, const char *measure)
{
    for (size_t i = 0; i < m->nruns; i++)
        if (m->runs[i].table && !strcmp(m->runs[i].table, table) && !isnan(matrix_seed(&m->runs[i], measure)))
            return true;
    return false;
}

static void page_figure(void *ctx, const struct figure *f)
{
    struct csv *c = ctx;
    char ours[32], seed[32];
    number(f, f->ours, ours, sizeof ours);
    fprintf(c->f, "<td class=\"ours\">%s</td>", ours);
    if (!seeded(c->r->m, c->run->table, f->name))
        return;
    number(f, f->seed, seed, sizeof seed);
    fprintf(c->f, "<td class=\"seed\">%s</td><td>", seed);
    if (!isnan(f->seed) && !isnan(error_pct(f)))
        fprintf(c->f, "%+.1f%%", error_pct(f));
    fputs("</td>", c->f);
}

static void page_head(const struct matrix *m, const struct matrix_table *t, FILE *f)
{
    char *names = strdup(t->measures), *rest = names, label[96];
    fputs("<thead><tr><th scope=\"col\" rowspan=\"2\">run</th><th scope=\"col\" rowspan=\"2\">how</th>", f);
    int n = 0;
    for (char *name; (name = strsep(&rest, " ")) != NULL;)
        if (*name) {
            struct figure x = {matrix_measure_find(name), name, NAN, NAN, NAN};
            label_of(&x, label, sizeof label);
            bool both = seeded(m, t->name, name);
            fputs(both ? "<th scope=\"colgroup\" colspan=\"3\">" : "<th scope=\"col\" rowspan=\"2\">", f);
            escaped(f, label);
            fputs("</th>", f);
            n += both;
        }
    fputs("</tr><tr>", f);
    while (n-- > 0)
        fputs("<th scope=\"col\">ours</th><th scope=\"col\">seed</th><th scope=\"col\">error</th>", f);
    fputs("</tr></thead>", f);
    free(names);
}

/* The drawing inside an svg file, without what stands before it. */
static void include_svg(const char *path, FILE *f)
{
    FILE *in = fopen(path, "r");
    char buf[4096];
    bool inside = false;
    fputs("<figure>", f);
    while (in && fgets(buf, sizeof buf, in)) {
        char *start = inside ? buf : strstr(buf, "<svg");
        if (start)
            fputs(start, f);
        inside |= start != NULL;
    }
    fputs("</figure>\n", f);
    if (in)
        fclose(in);
}

/* The curves of a table's runs, drawn by cpscope; its svg goes into the page. */
static void page_curve(const struct matrix_result *r, const struct matrix_table *t, FILE *f)
{
    struct arena a = {0};
    char *svg = arena_printf(&a, "%s/%s.svg", r->job->folder, t->name),
         *argv[64] = {arena_printf(&a, "%s/cpscope", r->job->programs), "plot", "curves"};
    int n = 3, status;
    pid_t pid;
    for (size_t i = 0; i < r->m->nruns && n < 60; i++)
        if (r->m->runs[i].table && !strcmp(r->m->runs[i].table, t->name) && !r->m->runs[i].refuses)
            argv[n++] = matrix_path(r->job, &r->m->runs[i], 0, "csv", &a);
    argv[n++] = "-o";
    argv[n++] = svg;
    if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) == 0 && waitpid(pid, &status, 0) == pid && status == 0)
        include_svg(svg, f);
    arena_free(&a);
}

static const char head[] = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
                           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"><title>";
static const char style[] =
    "</title><style>\nbody{font:15px/1.45 system-ui,sans-serif;margin:0 auto;max-width:1200px;padding:1rem;color:#1a1a1a;background:#fff}\n"
    "h1{font-size:1.6rem;line-height:1.25}h2{font-size:1.2rem}div.wide,figure{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:"
    "tabular-nums;margin:.5rem 0}\n"
    "th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}th[scope=row],td:nth-child(2){text-align:left}\n"
    "th[scope=row]{white-space:normal;min-width:9rem}"
    "thead th{border-bottom:2px solid #888;text-align:center}.seed{color:#555}.ours{font-weight:600}.fitted{color:#7a4a00}.predicted{color:#0b4f9e}\n"
    ".note{color:#555}figure{margin:0}svg{min-width:620px;max-width:100%;height:auto}\n"
    "@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#161616}th,td{border-color:#444}.seed,.note{color:#aaa}.fitted{color:#e0a850}"
    ".predicted{color:#7fb8ff}svg{background:#fff}}\n</style></head><body><main>\n";

static void page_text(FILE *f, const char *before, const char *text, const char *after)
{
    fputs(before, f);
    escaped(f, text ? text : "");
    fputs(after, f);
}

static void page_table(struct csv *c, const struct matrix_table *t)
{
    page_text(c->f, "<h2>", t->title, "</h2>\n<div class=\"wide\"><table>");
    page_head(c->r->m, t, c->f);
    fputs("<tbody>\n", c->f);
    each_figure(c->r, t, page_row, page_figure, c);
    fputs("</tbody></table></div>\n", c->f);
    char said[256];
    if (verdict(c->r, t, said, sizeof said))
        page_text(c->f, "<p><b>", said, "</b></p>\n");
    if (t->note)
        page_text(c->f, "<p class=\"note\">", t->note, "</p>\n");
    if (t->curve)
        page_curve(c->r, t, c->f);
}

bool matrix_write_page(const struct matrix_result *r, struct err *e)
{
    static const char how[] = "<p class=\"note\">Counts follow from code that ran. Times marked modelled come from a model of a machine and were not "
                              "measured; fitted: constants of the model were chosen for them; predicted: they were not looked at.</p>\n";
    struct arena a = {0};
    char *path = arena_printf(&a, "%s/index.html", r->job->folder);
    struct csv c = {.r = r, .f = fopen(path, "w")};
    if (c.f) {
        page_text(c.f, head, r->m->title, style);
        page_text(c.f, "<h1>", r->m->title, "</h1>\n");
        page_text(c.f, "<p>", r->m->intro, "</p>\n");
        fputs(how, c.f);
        for (size_t i = 0; i < r->m->ntables; i++)
            page_table(&c, &r->m->tables[i]);
        fputs("</main></body></html>\n", c.f);
    }
    bool ok = finish(c.f, path, e);
    arena_free(&a);
    return ok;
}
