/* cmd_gate.c - cpscope gate FILE... [--rules FILE] [--baseline FILE] [--update-baseline FILE] */
#include "analyzer/cmd.h"
#include "analyzer/gate.h"
#include "analyzer/output.h"
#include "reports/asset.h"

#include <stddef.h>

struct args {
    struct opt_list files;
    const char *rules, *baseline, *update;
};

static const struct opt opts[] = {
    {OPT_ARGS, "FILE", offsetof(struct args, files)},
    {OPT_TEXT, "rules", offsetof(struct args, rules), "rules file (default: no new sync site, no site with a higher rate)", "FILE"},
    {OPT_TEXT, "baseline", offsetof(struct args, baseline), "baseline file, or a trace to compare with", "FILE"},
    {OPT_TEXT, "update-baseline", offsetof(struct args, update), "write the baseline from these files and end with 0", "FILE"},
    {0},
};

static const char doc[] = "Fail when a host-device sync appears at a call site that did not have it.\v"
                          "Exit status: 0 all rules pass, 1 a rule fails, 4 a rule cannot be judged.\n\n"
                          "  cpscope gate good.sqlite --update-baseline sync.baseline\n"
                          "  cpscope gate new.sqlite --baseline sync.baseline\n\n"
                          "The rule language: cpscope help rules";

static bool update(const struct trace *t, const struct args *a, const struct rules *rules, struct err *e)
{
    struct baseline b = {0};
    struct output o = {0};
    bool ok = baseline_measure(t, a->files.v, a->files.n, rules, &b, e) && output_open(&o, a->update, e);
    if (ok) {
        baseline_write(&b, o.f);
        ok = output_close(&o, true, e);
    }
    baseline_close(&b);
    return ok;
}

static enum status judge(const struct trace *t, const struct args *a, struct rules *rules, const struct output_opts *out, struct err *e)
{
    struct baseline b = {0};
    struct table table = {0};
    struct gate_result got = {0};
    bool ok = (!a->baseline || baseline_open(a->baseline, &t->opts, rules, &b, e)) &&
              gate_run(t, a->files.v, a->files.n, rules, a->baseline ? &b : NULL, &table, &got, e) && output_table(&table, NULL, out, e);
    table_free(&table);
    baseline_close(&b);
    if (!ok)
        return err_status(e);
    return got.fail ? STATUS_NO : got.undecided ? STATUS_UNDECIDED : STATUS_OK;
}

static enum status run(int argc, char **argv, struct err *e)
{
    struct args a = {0};
    struct trace_opts to = TRACE_OPTS_NONE;
    struct output_opts oo = {0};
    struct arena arena = {0};
    struct rules rules = {0};
    struct trace t = {0};
    enum status status = STATUS_OK;
    const struct opt_group groups[] = {{opts, &a, NULL}, {trace_opt_rows, &to, "What is looked at:"}, {output_opt_rows, &oo, "Output:"}, {0}};
    bool ok = opt_parse(argc, argv, groups, doc, &arena, e);
    ok = ok && (a.rules ? rules_read(a.rules, &rules, e) : rules_parse("default.rules", asset_text("default.rules"), &rules, e));
    ok = ok && trace_open(a.files.v, a.files.n, &to, &t, e);
    if (ok && a.update)
        ok = update(&t, &a, &rules, e);
    else if (ok)
        status = judge(&t, &a, &rules, &oo, e);
    trace_close(&t);
    rules_free(&rules);
    arena_free(&arena);
    return ok ? status : err_status(e);
}

const struct cmd cmd_gate = {.name = "gate", .what = "judge recordings by rules; fails when a sync comes back", .run = run};
