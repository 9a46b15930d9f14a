/* cmd_report.c - cpscope report FILE... [--baseline FILE] -o OUT.html */
#include "analyzer/cmd.h"
#include "analyzer/output.h"
#include "analyzer/progress.h"
#include "analyzer/report.h"

#include <stddef.h>
#include <string.h>

struct args {
    struct opt_list files;
    const char *baseline, *path;
    bool quiet, no_progress;
};

static const struct opt opts[] = {
    {OPT_ARGS, "FILE", offsetof(struct args, files)},
    {OPT_TEXT, "baseline", offsetof(struct args, baseline), "the run before: a trace or a folder of one", "FILE"},
    {OPT_TEXT, "output", offsetof(struct args, path), "the page to write; - is stdout", "FILE", 'o'},
    {OPT_FLAG, "quiet", offsetof(struct args, quiet), "nothing on standard error but errors", NULL, 'q'},
    {OPT_FLAG, "no-progress", offsetof(struct args, no_progress), "no progress on standard error"},
    {0},
};

static const char doc[] = "One HTML page that a reviewer reads: what changed, what it cost, the site to look at.\v"
                          "The page needs no network: open it from disk, attach it to a pull request.\n\n"
                          "  cpscope report run.sqlite -o report.html\n"
                          "  cpscope report after.sqlite --baseline before.sqlite -o report.html";

static bool write_page(struct report *r, const char *path, struct err *e)
{
    struct output o = {0};
    if (!output_open(&o, path, e))
        return false;
    bool ok = report_page(r, o.f, e);
    return output_close(&o, ok, e) && ok;
}

static enum status run(int argc, char **argv, struct err *e)
{
    struct args a = {0};
    struct trace_opts to = TRACE_OPTS_NONE;
    struct arena arena = {0};
    struct report r = {0};
    const struct opt_group groups[] = {{opts, &a, NULL}, {trace_opt_rows, &to, "What is looked at:"}, {0}};
    bool ok = opt_parse(argc, argv, groups, doc, &arena, e);
    progress_enable(!a.quiet && !a.no_progress);
    to.quiet = a.quiet;
    if (ok && !a.path)
        ok = fail(e, ERR_USAGE, "where to? say -o OUT.html (or -o - for stdout)");
    ok = ok && report_open(&r, &a.files, a.baseline, &to, e) && report_spares(&r, a.path, e) &&
         write_page(&r, strcmp(a.path, "-") == 0 ? NULL : a.path, e);
    report_close(&r);
    arena_free(&arena);
    return ok ? STATUS_OK : err_status(e);
}

const struct cmd cmd_report = {.name = "report", .what = "one self-contained HTML page, of one run or of before and after", .run = run};
