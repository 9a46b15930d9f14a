/* cmd_plot.c - cpscope plot KIND FILE... -o OUT.svg|png */
#include "analyzer/cmd.h"
#include "analyzer/output.h"
#include "analyzer/progress.h"
#include "analyzer/report.h"

#include <stddef.h>
#include <string.h>

struct args {
    struct opt_list files;
    const char *kind, *baseline, *path, *ledger;
    bool quiet, no_progress;
};

static const struct opt opts[] = {
    {OPT_ARG, "KIND", offsetof(struct args, kind)},
    {OPT_ARGS, "FILE", offsetof(struct args, files)},
    {OPT_TEXT, "baseline", offsetof(struct args, baseline), "the run before: drawn beside, in its own colour", "FILE"},
    {OPT_TEXT, "ledger", offsetof(struct args, ledger), "of syncs: wait (default) or op", "NAME"},
    {OPT_TEXT, "output", offsetof(struct args, path), "OUT.svg or OUT.png", "FILE", 'o'},
    {OPT_FLAG, "quiet", offsetof(struct args, quiet), "nothing on standard error but errors", NULL, 'q'},
    {OPT_FLAG, "no-progress", offsetof(struct args, no_progress), "no progress on standard error"},
    {0},
};

static const char doc[] =
    "Draw one picture of a trace.\v"
    "KIND: breakdown (compute, exposed communication, copies and idle of each device), syncs (the top sites), timeline (one step, "
    "streams as lanes).\n\n"
    "  cpscope plot breakdown run.sqlite -o breakdown.svg\n"
    "  cpscope plot syncs after.sqlite --baseline before.sqlite --ledger op -o syncs.png";

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

static const struct kind {
    const char *name;
    bool (*draw)(struct report *r, const struct args *a, enum plot_format f, struct plot *out, struct err *e);
} kinds[] = {{"breakdown", breakdown}, {"syncs", syncs}, {"timeline", timeline}, {0}};

static const struct kind *kind_find(const char *name, struct err *e)
{
    for (const struct kind *k = kinds; k->name; k++)
        if (strcmp(k->name, name) == 0)
            return k;
    fail(e, ERR_USAGE, "%s: no such kind of plot; there are breakdown, syncs, timeline", name);
    return NULL;
}

static bool format_of(const char *path, enum plot_format *f, struct err *e)
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (!dot || (strcmp(dot, ".svg") != 0 && strcmp(dot, ".png") != 0))
        return fail(e, ERR_USAGE, "where to? say -o OUT.svg or -o OUT.png");
    *f = strcmp(dot, ".png") == 0 ? PLOT_PNG : PLOT_SVG;
    return true;
}

static bool draw(const struct kind *k, const struct args *a, const struct trace_opts *to, enum plot_format f, struct err *e)
{
    struct report r = {0};
    struct plot plot = {0};
    struct output o = {0};
    bool ok =
        report_open(&r, &a->files, a->baseline, to, e) && report_spares(&r, a->path, e) && k->draw(&r, a, f, &plot, e) && output_open(&o, a->path, e);
    if (ok) {
        fwrite(plot.data, 1, plot.n, o.f);
        ok = output_close(&o, true, e);
    }
    report_close(&r);
    return ok;
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
    ok = k && format_of(a.path, &f, e) && draw(k, &a, &to, f, e);
    arena_free(&arena);
    return ok ? STATUS_OK : err_status(e);
}

const struct cmd cmd_plot = {.name = "plot", .what = "draw a trace: breakdown, syncs, timeline (svg or png)", .run = run};
