/* matrix_page.c - an experiment's results as one page: the verdict, then every table, ours beside the seed's. */
#include "kernels/matrix_figure.h"

#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

static void escaped(FILE *f, const char *s)
{
    for (; *s; s++)
        if (*s == '<' || *s == '>' || *s == '&' || *s == '"')
            fprintf(f, "&#%d;", *s);
        else
            fputc(*s, f);
}

struct page {
    const struct matrix_result *r;
    FILE *f;
    struct arena *a;
    const struct matrix_table *t;
    const struct matrix_run *run;
};

static void page_text(FILE *f, const char *before, const char *text, const char *after)
{
    fputs(before, f);
    escaped(f, text ? text : "");
    fputs(after, f);
}

static void page_row(void *ctx, const struct matrix_run *run, bool begins)
{
    struct page *p = ctx;
    p->run = run;
    if (!begins) {
        fputs("</tr>\n", p->f);
        return;
    }
    bool modelled = matrix_modelled(p->r->m, run);
    page_text(p->f, "<tr><th scope=\"row\">", figure_row_title(p->t, run, p->a), "</th>");
    fprintf(p->f, "<td class=\"%s\">", modelled ? "modelled" : "measured");
    page_text(p->f, "", figure_row_role(p->r->m, p->t, run, p->a), run->refuses ? ": refuses to start, as it should" : "");
    fputs("</td>", p->f);
}

/* Does a run of the table have such a value of the measure? Columns for it are there only then. */
static bool any(const struct page *p, const char *measure, double (*value)(const struct matrix_run *r, const char *measure))
{
    for (size_t i = 0; i < p->r->m->nruns; i++)
        if (figure_shown(p->t, &p->r->m->runs[i]) && !isnan(value(&p->r->m->runs[i], measure)))
            return true;
    return false;
}

static void percent(const struct page *p, double v, const char *class)
{
    if (isnan(v))
        fputs("<td></td>", p->f);
    else
        fprintf(p->f, "<td class=\"%s\">%+.1f%%</td>", class, v);
}

static void page_figure(void *ctx, const struct figure *f)
{
    struct page *p = ctx;
    char text[32];
    figure_number(f->measure, f->ours, text, sizeof text);
    fprintf(p->f, "<td class=\"ours\">%s</td>", text);
    if (!any(p, f->name, matrix_seed))
        return;
    figure_number(f->measure, f->seed, text, sizeof text);
    fprintf(p->f, "<td class=\"seed\">%s</td>", text);
    if (!f->measure->distance)
        percent(p, f->error, f->outside ? "outside" : f->fitted ? "fitted" : "");
    if (any(p, f->name, matrix_left_out))
        percent(p, f->left_out, "seed");
}

static void page_head(struct page *p)
{
    char *rest = arena_strdup(p->a, p->t->measures), label[96], *below = arena_strdup(p->a, "");
    fputs("<thead><tr><th scope=\"col\" rowspan=\"2\">run</th><th scope=\"col\" rowspan=\"2\">how</th>", p->f);
    for (char *name; (name = strsep(&rest, " ")) != NULL;) {
        if (!*name)
            continue;
        bool both = any(p, name, matrix_seed), left_out = both && any(p, name, matrix_left_out), error = !matrix_measure_find(name)->distance;
        figure_label(name, label, sizeof label);
        if (both)
            fprintf(p->f, "<th scope=\"colgroup\" colspan=\"%d\">", 2 + error + left_out);
        page_text(p->f, both ? "" : "<th scope=\"col\" rowspan=\"2\">", label, "</th>");
        below = arena_printf(p->a, "%s%s%s%s", below, both ? "<th scope=\"col\">ours</th><th scope=\"col\">seed</th>" : "",
                             both && error ? "<th scope=\"col\">error</th>" : "", left_out ? "<th scope=\"col\">left out</th>" : "");
    }
    fprintf(p->f, "</tr><tr>%s</tr></thead>", below);
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

/* The curves of a table's runs on one kind of axis, drawn by cpscope; its svg goes into the page. */
static void page_curve(const struct matrix_result *r, const struct matrix_table *t, const char *axis, FILE *f)
{
    struct arena a = {0};
    char *svg = arena_printf(&a, "%s/%s.%s.svg", r->job->folder, t->name, axis),
         *argv[64] = {arena_printf(&a, "%s/cpscope", r->job->programs), "plot", "curves"};
    int n = 3, status;
    pid_t pid;
    for (size_t i = 0; i < r->m->nruns && n < 59; i++)
        if (figure_shown(t, &r->m->runs[i]) && !r->m->runs[i].refuses)
            argv[n++] = matrix_path(r->job, &r->m->runs[i], 0, "csv", &a);
    if (!strcmp(axis, "log"))
        argv[n++] = "--log";
    argv[n++] = "-o";
    argv[n++] = svg;
    if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) == 0 && waitpid(pid, &status, 0) == pid && status == 0)
        include_svg(svg, f);
    arena_free(&a);
}

static const char head[] = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
                           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"><title>";
static const char style[] =
    "</title><style>\nbody{font:15px/1.45 system-ui,sans-serif;margin:0 auto;max-width:1240px;padding:1rem;color:#1a1a1a;background:#fff}\n"
    "h1{font-size:1.6rem;line-height:1.25}h2{font-size:1.2rem;margin:1.6rem 0 .3rem}div.wide,figure{overflow-x:auto}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.5rem 0}\n"
    "th,td{padding:.25rem .36rem;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}th[scope=row],td:nth-child(2){text-align:left}\n"
    "th[scope=row],td:nth-child(2){white-space:normal;min-width:6.8rem}"
    "thead th{border-bottom:2px solid "
    "#888;text-align:center;white-space:normal}.seed{color:#555}.ours{font-weight:600}.modelled{color:#0b4f9e}.measured{color:#1c6b2a}\n"
    ".fitted{color:#7a4a00}.outside{color:#b00020;font-weight:700}.note{color:#555;max-width:60rem}.verdict{border-left:4px solid #888;padding:.2rem "
    ".8rem}"
    ".verdict p{margin:.3rem 0;font-weight:400}figure{margin:0}svg{min-width:620px;max-width:100%;height:auto}\n"
    "@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#161616}th,td{border-color:#444}.seed,.note{color:#aaa}.fitted{color:#e0a850}"
    ".modelled{color:#7fb8ff}.measured{color:#7fd68f}.outside{color:#ff8a80}svg{background:#fff}}\n</style></head><body><main>\n";

static void page_table(struct page *p)
{
    const struct matrix_table *t = p->t;
    page_text(p->f, "<h2>", t->title, "</h2>\n<div class=\"wide\"><table>");
    page_head(p);
    fputs("<tbody>\n", p->f);
    figures_each(p->r, t, page_row, page_figure, p);
    fputs("</tbody></table></div>\n", p->f);
    char *repeats = figures_repeats(p->r, t, p->a);
    if (t->note)
        page_text(p->f, "<p class=\"note\">", t->note, "</p>\n");
    if (repeats)
        page_text(p->f, "<p class=\"note\">", repeats, "</p>\n");
    char *rest = arena_strdup(p->a, t->curve);
    for (char *axis; (axis = strsep(&rest, " ")) != NULL;)
        if (*axis)
            page_curve(p->r, t, axis, p->f);
}

/* What counts first: the verdict, then where its numbers come from. */
static void page_top(struct page *p)
{
    static const char how[] =
        "<p class=\"note\">Counts follow from code that ran. Times marked modelled come from a model of a machine and were not "
        "measured; fitted: constants of the model were chosen for them; predicted: they were not looked at; left out: the error "
        "of a fit without that figure. Errors are of the seed's figure.</p>\n";
    page_text(p->f, head, p->r->m->title, style);
    page_text(p->f, "<h1>", p->r->m->title, "</h1>\n<div class=\"verdict\">");
    for (struct verdict *line = figures_verdict(p->r, p->a); line->text; line++) {
        page_text(p->f, line->bad ? "<p class=\"outside\">" : "<p>", line->text, "");
        page_text(p->f, line->detail ? "<br><span class=\"note\">" : "", line->detail, line->detail ? "</span></p>" : "</p>");
    }
    fputs("</div>\n", p->f);
    page_text(p->f, "<p>", p->r->m->intro, "</p>\n");
    fputs(how, p->f);
}

bool matrix_write_page(const struct matrix_result *r, struct err *e)
{
    struct arena a = {0};
    char *path = arena_printf(&a, "%s/index.html", r->job->folder);
    struct page p = {.r = r, .f = fopen(path, "w"), .a = &a};
    if (p.f) {
        page_top(&p);
        for (size_t i = 0; i < r->m->ntables; i++) {
            p.t = &r->m->tables[i];
            page_table(&p);
        }
        fputs("</main></body></html>\n", p.f);
    }
    bool ok = matrix_close(p.f, path, e);
    arena_free(&a);
    return ok;
}
