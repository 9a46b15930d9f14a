/* cmd_gate.c - cpscope gate FILE... [--rules FILE] [--baseline FILE] [--update-baseline FILE] [--aa] [--git BASE] */
#include "analyzer/cmd.h"
#include "analyzer/gatecmd.h"
#include "analyzer/progress.h"
#include "schemas/arena.h"

#include <stddef.h>

struct args {
    struct opt_list files;
};

static const struct opt opts[] = {{OPT_ARGS, "FILE", offsetof(struct args, files)}, {0}};

static const char doc[] = "Fail when a host-device sync appears at a call site that did not have it.\v"
                          "Exit status: 0 all rules pass, 1 a rule fails, 4 a rule cannot be judged. Files that hold the same rank twice are "
                          "several runs: their times are samples.\n\n"
                          "  cpscope gate good.sqlite --update-baseline sync.baseline\n"
                          "  cpscope gate new.sqlite --baseline sync.baseline\n"
                          "  cpscope gate --aa run1.sqlite run2.sqlite run3.sqlite\n\n"
                          "Deliberate syncs: `allow PATTERN # why` in the rules file, a comment `gpu-sync-ok: why` in the source line, or a range "
                          "named cpscope.allow_sync around the call. The rule language: cpscope help rules";

static enum status run(int argc, char **argv, struct err *e)
{
    struct args a = {0};
    struct rules rules = {0};
    struct gate_args g = {.read = &rules};
    struct trace_opts to = TRACE_OPTS_NONE;
    struct output_opts oo = {0};
    struct arena arena = {0};
    enum status status = STATUS_OK;
    const struct opt_group groups[] = {
        {opts, &a, NULL}, {gate_opt_rows, &g, "Rules:"}, {trace_opt_rows, &to, "What is looked at:"}, {output_gate_rows, &oo, "Output:"}, {0}};
    bool ok = opt_parse(argc, argv, groups, doc, &arena, e) && gate_ready(&g, &oo, e);
    progress_enable(!oo.quiet && !oo.no_progress);
    to.quiet = oo.quiet;
    if (ok)
        status = gate_files(a.files.v, a.files.n, &g, &to, &oo, e);
    rules_free(&rules);
    arena_free(&arena);
    return e->kind ? err_status(e) : status;
}

const struct cmd cmd_gate = {.name = "gate", .what = "judge recordings by rules; fails when a sync comes back", .run = run};
