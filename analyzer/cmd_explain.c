/* cmd_explain.c - cpscope explain FILE... */
#include "analyzer/cmd.h"
#include "analyzer/explain.h"
#include "analyzer/output.h"
#include "analyzer/progress.h"
#include "schemas/tracefile.h"

#include <stddef.h>

struct args {
    struct opt_list files;
    const char *path;
    bool quiet, no_progress;
};

static const struct opt opts[] = {
    {OPT_ARGS, "FILE", offsetof(struct args, files), "recordings, foreign traces or folders of them"},
    {OPT_TEXT, "output", offsetof(struct args, path), "write to FILE instead of standard output", "FILE", 'o'},
    {OPT_FLAG, "quiet", offsetof(struct args, quiet), "nothing on standard error but errors", NULL, 'q'},
    {OPT_FLAG, "no-progress", offsetof(struct args, no_progress), "no progress on standard error"},
    {0},
};

static const char doc[] = "Ten lines, the verdict first: what the step waits for, the site, and what a replay without it gains.\v"
                          "A sync is worth naming when the replay without it is at least 5 % shorter. Where one range holds all calls of "
                          "the worst site, the replay without that range (host time, syncs and kernels) is given too. Shares are of the "
                          "window; see cpscope help whatif for what the replay assumes.\n\n"
                          "  cpscope explain run.sqlite";

static enum status run(int argc, char **argv, struct err *e)
{
    struct args a = {0};
    struct trace_opts to = TRACE_OPTS_NONE;
    struct arena arena = {0};
    struct trace t = {0};
    struct output o = {0};
    const struct opt_group groups[] = {{opts, &a, NULL}, {trace_opt_rows, &to, "What is looked at:"}, {0}};
    bool ok = opt_parse(argc, argv, groups, doc, &arena, e);
    progress_enable(!a.quiet && !a.no_progress);
    to.quiet = a.quiet;
    to.spared = COLUMNS_ALL;
    if (ok && trace_open(a.files.v, a.files.n, &to, &t, e)) {
        ok = trace_spares(&t, a.path, e) && output_open(&o, a.path, e) && explain_trace(&t, o.f, e);
        output_close(&o, ok, e);
    }
    trace_close(&t);
    arena_free(&arena);
    return err_status(e);
}

const struct cmd cmd_explain = {.name = "explain", .what = "what the step waits for, in ten lines", .run = run};
