/* cmd_plot.c - cpscope plot KIND FILE... -o OUT.svg|png */
#include "analyzer/cmd.h"
#include "analyzer/curves.h"
#include "analyzer/output.h"
#include "analyzer/progress.h"
#include "analyzer/report.h"
#include "analyzer/report_scaling.h"

#include <stddef.h>
#include <string.h>

struct args {
    struct opt_list files;
    struct opt_list columns;
    const char *kind, *baseline, *path, *ledger, *against;
    bool logarithmic, quiet, no_progress;
};

static const struct opt opts[] = {
    {OPT_ARG, "KIND", offsetof(struct args, kind)},
    {OPT_ARGS, "FILE", offsetof(struct args, files)},
    {OPT_TEXT, "baseline", offsetof(struct args, baseline), "the run before: drawn beside, in its own colour", "FILE"},
    {OPT_TEXT, "ledger", offsetof(struct args, ledger), "of syncs: wait (default) or op", "NAME"},
    {OPT_LIST, "column", offsetof(struct args, columns), "of curves: what to draw (default: loss, grad_norm, reward); may be given again", "NAME"},
    {OPT_FLAG, "log", offsetof(struct args, logarithmic), "of curves: a logarithmic axis"},
    {OPT_TEXT, "against", offsetof(struct args, against), "of scaling: ranks or tokens (default: ranks where they differ)", "WHAT"},
    {OPT_TEXT, "output", offsetof(struct args, path), "OUT.svg or OUT.png", "FILE", 'o'},
    {OPT_FLAG, "quiet", offsetof(struct args, quiet), "nothing on standard error but errors", NULL, 'q'},
    {OPT_FLAG, "no-progress", offsetof(struct args, no_progress), "no progress on standard error"},
    {0},
};

static const char doc[] =
    "Draw one picture of a trace.\v"
    "KIND: breakdown (compute, exposed communication, copies and idle of each device), syncs (the top sites), timeline (one step, "
    "streams as lanes), steps (the time of each step, outliers marked), wait (transfer and waiting in collectives, a bar a rank), curves (csv "
    "files of cpbench run or train --log: loss, grad_norm, reward, a curve a file), scaling (several recordings: step time, exposed "
    "communication and device idle time after host syncs, against ranks or tokens).\n\n"
    "  cpscope plot breakdown run.sqlite -o breakdown.svg\n"
    "  cpscope plot syncs after.sqlite --baseline before.sqlite -o syncs.png\n"
    "  cpscope plot curves a1.csv a2.csv b.csv --log -o loss.svg\n"
    "  cpscope plot scaling cp2.sqlite cp4.sqlite cp8.sqlite -o scaling.svg";

static bool breakdown(struct report *r, const struct args *a, enum plot_format f, struct plot *out, struct err *e)
{
    (void)a;
    return report_plot_breakdown(r, f, out, e);
}

static bool syncs(struct report *r, const struct args *a, enum plot_format f, struct plot *out, struct err *e)
{
    bool op = a->ledger && strcmp(a->ledger, "op") == 0;
    const char *why = NULL;
    struct table t = {0};
    if (a->ledger && !op && strcmp(a->ledger, "wait") != 0)
        return fail(e, ERR_USAGE, "--ledger %s: wait or op", a->ledger);
    if (!report_join(r, op ? &join_ops : &join_waits, "", &t, &why))
        return fail(e, ERR_UNDECIDED, "%s", why);
    bool ok = report_plot_syncs(r, &t, f, out, e);
    table_free(&t);
    return ok;
}

static bool timeline(struct report *r, const struct args *a, enum plot_format f, struct plot *out, struct err *e)
{
    const char *caption;
    if (a->baseline)
        return fail(e, ERR_USAGE, "timeline draws one run: leave out --baseline");
    return report_plot_timeline(r, &r->after, f, out, &caption, e);
}

static bool steps(struct report *r, const struct args *a, enum plot_format f, struct plot *out, struct err *e)
{
    (void)a;
    return report_plot_steps(r, f, out, e);
}

static bool waiting(struct report *r, const struct args *a, enum plot_format f, struct plot *out, struct err *e)
{
    (void)a;
    return report_plot_wait(r, f, out, e);
}

static bool curves(const struct args *a, const struct trace_opts *to, enum plot_format f, struct arena *arena, struct plot *out, struct err *e)
{
    (void)to;
    return curves_plot(&a->files, &a->columns, a->logarithmic, f, arena, out, e);
}

static bool scaling(const struct args *a, const struct trace_opts *to, enum plot_format f, struct arena *arena, struct plot *out, struct err *e)
{
    return report_plot_scaling(&a->files, a->against, to, f, arena, out, e);
}

/* A kind draws a report of one run or two, or its files by itself. */
static const struct kind {
    const char *name;
    bool (*draw)(struct report *r, const struct args *a, enum plot_format f, struct plot *out, struct err *e);
    bool (*draw_files)(const struct args *a, const struct trace_opts *to, enum plot_format f, struct arena *arena, struct plot *out, struct err *e);
    unsigned tables; /* that it is drawn from: bits of report_tabulate() */
} kinds[] = {{"breakdown", breakdown},
             {"syncs", syncs, .tables = 1 << RT_WAITS | 1 << RT_OPS},
             {"timeline", timeline},
             {"steps", steps, .tables = 1 << RT_STEPS},
             {"wait", waiting, .tables = 1 << RT_COMM},
             {"curves", .draw_files = curves},
             {"scaling", .draw_files = scaling},
             {0}};

static const struct kind *kind_find(const char *name, struct err *e)
{
    for (const struct kind *k = kinds; k->name; k++)
        if (strcmp(k->name, name) == 0)
            return k;
    fail(e, ERR_USAGE, "%s: no such kind of plot; there are breakdown, syncs, timeline, steps, wait, curves, scaling", name);
    return NULL;
}

static bool format_of(const char *path, enum plot_format *f, struct err *e)
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (!path)
        return fail(e, ERR_USAGE, "where to? say -o OUT.svg or -o OUT.png");
    if (!dot || (strcmp(dot, ".svg") != 0 && strcmp(dot, ".png") != 0))
        return fail(e, ERR_USAGE, "-o %s: the name must end in .svg or .png", path);
    *f = strcmp(dot, ".png") == 0 ? PLOT_PNG : PLOT_SVG;
    return true;
}

static bool write_plot(const struct plot *p, const char *path, struct err *e)
{
    struct output o = {0};
    if (!output_open(&o, path, e))
        return false;
    fwrite(p->data, 1, p->n, o.f);
    return output_close(&o, true, e);
}

static bool draw(const struct kind *k, const struct args *a, const struct trace_opts *to, enum plot_format f, struct err *e)
{
    struct report r = {0};
    struct plot plot = {0};
    bool ok = report_open(&r, &a->files, a->baseline, to, e) && report_spares(&r, a->path, e) && report_tabulate(&r, k->tables, e) &&
              k->draw(&r, a, f, &plot, e) && write_plot(&plot, a->path, e);
    report_close(&r);
    return ok;
}

static bool draw_files(const struct kind *k, const struct args *a, const struct trace_opts *to, enum plot_format f, struct arena *arena,
                       struct err *e)
{
    struct plot plot = {0};
    if (a->baseline)
        return fail(e, ERR_USAGE, "%s takes all its runs as files: leave out --baseline", k->name);
    for (size_t i = 0; i < a->files.n; i++)
        if (!output_spares(a->path, a->files.v[i], e))
            return false;
    return k->draw_files(a, to, f, arena, &plot, e) && write_plot(&plot, a->path, e);
}

static enum status run(int argc, char **argv, struct err *e)
{
    struct args a = {0};
    struct trace_opts to = TRACE_OPTS_NONE;
    struct arena arena = {0};
    enum plot_format f = PLOT_SVG;
    const struct opt_group groups[] = {{opts, &a, NULL}, {trace_opt_rows, &to, "What is looked at:"}, {0}};
    bool ok = opt_parse(argc, argv, groups, doc, &arena, e);
    progress_enable(!a.quiet && !a.no_progress);
    to.quiet = a.quiet;
    const struct kind *k = ok ? kind_find(a.kind, e) : NULL;
    ok = k && format_of(a.path, &f, e) && (k->draw ? draw(k, &a, &to, f, e) : draw_files(k, &a, &to, f, &arena, e));
    arena_free(&arena);
    return ok ? STATUS_OK : err_status(e);
}

const struct cmd cmd_plot = {.name = "plot", .what = "draw a trace (svg, png): breakdown, syncs, steps, timeline ...", .run = run};
