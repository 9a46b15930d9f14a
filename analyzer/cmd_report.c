/* cmd_report.c - cpscope report FILE... [--baseline FILE] -o OUT.html */
#include "analyzer/cmd.h"
#include "analyzer/output.h"
#include "analyzer/progress.h"
#include "analyzer/report.h"

#include <stddef.h>
#include <string.h>

struct args {
    struct opt_list files;
    const char *baseline, *path, *source;
    bool quiet, no_progress;
};

static const struct opt opts[] = {
    {OPT_ARGS, "FILE", offsetof(struct args, files)},
    {OPT_TEXT, "baseline", offsetof(struct args, baseline),
     "the run before, a trace or a folder of one; or a baseline file, then the gate's verdict is on the page", "FILE"},
    {OPT_TEXT, "source", offsetof(struct args, source), "where the source is to be read: call sites become links to URL/path#Lline", "URL"},
    {OPT_TEXT, "output", offsetof(struct args, path), "the page to write; - is stdout", "FILE", 'o'},
    {OPT_FLAG, "quiet", offsetof(struct args, quiet), "nothing on standard error but errors", NULL, 'q'},
    {OPT_FLAG, "no-progress", offsetof(struct args, no_progress), "no progress on standard error"},
    {0},
};

static const char doc[] = "One HTML page that a reviewer reads: what changed, what it cost, the site to look at.\v"
                          "The page needs no network: open it from disk, attach it to a pull request.\n\n"
                          "  cpscope report run.sqlite -o report.html\n"
                          "  cpscope report after.sqlite --baseline before.sqlite -o report.html\n"
                          "  cpscope report run.sqlite --source https://github.com/OWNER/REPO/blob/COMMIT -o report.html";

static bool write_page(struct report *r, const char *path, struct err *e)
{
    struct output o = {0};
    if (!output_open(&o, path, e))
        return false;
    bool ok = report_page(r, o.f, e);
    return output_close(&o, ok, e) && ok;
}

/* A link must go to a page, not run something: http, https, or a path beside the page. */
static const char *prefix_of(const char *source, struct arena *a, struct err *e)
{
    bool web = strncmp(source, "https://", 8) == 0 || strncmp(source, "http://", 7) == 0;
    if (!*source || (!web && strcspn(source, ":") < strcspn(source, "/")) || strncmp(source, "//", 2) == 0) {
        fail(e, ERR_USAGE, "--source %s: neither a http(s) address nor a folder", source);
        return NULL;
    }
    return source[strlen(source) - 1] == '/' ? source : arena_printf(a, "%s/", source);
}

static bool make(struct report *r, const struct args *a, const struct trace_opts *to, struct err *e)
{
    bool gate = report_is_baseline(a->baseline);
    return report_open(r, &a->files, gate ? NULL : a->baseline, to, e) && (!gate || report_gate(r, &a->files, a->baseline, to, e)) &&
           report_spares(r, a->path, e) && (!gate || output_spares(a->path, a->baseline, e)) && report_tabulate(r, REPORT_ALL, e) &&
           write_page(r, strcmp(a->path, "-") == 0 ? NULL : a->path, e);
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
    ok = ok && (!a.source || (r.source = prefix_of(a.source, &arena, e)));
    ok = ok && make(&r, &a, &to, e);
    report_close(&r);
    arena_free(&arena);
    return ok ? STATUS_OK : err_status(e);
}

const struct cmd cmd_report = {.name = "report", .what = "one self-contained HTML page, of one run or of before and after", .run = run};
