/* gatecmd.c - rules, baseline and runs brought together. */
#include "analyzer/gatecmd.h"
#include "analyzer/gate.h"
#include "reports/asset.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

const struct opt gate_opt_rows[] = {
    {OPT_TEXT, "rules", offsetof(struct gate_args, rules), "rules file (default: no new sync site, no site with a higher rate)", "FILE"},
    {OPT_TEXT, "baseline", offsetof(struct gate_args, baseline), "baseline file, or a trace or folder of traces to compare with", "FILE"},
    {OPT_TEXT, "update-baseline", offsetof(struct gate_args, update), "write the baseline from these files and end with 0", "FILE"},
    {OPT_TEXT, "git", offsetof(struct gate_args, git), "say which failing sites lie in lines changed since this commit", "BASE"},
    {OPT_FLAG, "aa", offsetof(struct gate_args, noise), "the files are runs of the same thing: print the noise between them"},
    {0},
};

static enum status update(const struct runset *runs, const char *path, const struct rules *rules, struct err *e)
{
    struct baseline b = {0};
    struct output o = {0};
    if (baseline_measure(runs, rules, &b, e) && output_open(&o, path, e)) {
        baseline_write(&b, o.f);
        output_close(&o, true, e);
    }
    baseline_close(&b);
    return err_status(e);
}

static enum status noise(const struct runset *runs, const struct output_opts *oo, struct err *e)
{
    struct table table = {0};
    bool ok = gate_noise(runs, &table, e) && output_table(&table, NULL, oo, e);
    table_free(&table);
    return ok ? STATUS_OK : err_status(e);
}

/* Rules against runs into *table. */
static bool verdicts(const struct runset *runs, const struct gate_args *a, struct table *table, struct gate_result *got, struct err *e)
{
    struct baseline b = {0};
    struct gitlines changed = {0};
    struct gate_opts o = {a->baseline ? &b : NULL, a->git ? &changed : NULL};
    bool ok = (!a->baseline || baseline_open(a->baseline, &runs->v[0].t.opts, a->read, &b, e)) && (!a->git || gitlines_open(a->git, &changed, e)) &&
              gate_run(runs, a->read, &o, table, got, e);
    gitlines_close(&changed);
    baseline_close(&b);
    return ok;
}

static enum status judge(const struct runset *runs, const struct gate_args *a, const struct output_opts *oo, struct err *e)
{
    struct table table = {0};
    struct gate_result got = {0};
    bool ok = verdicts(runs, a, &table, &got, e);
    if (ok && a->note)
        table_note(&table, "%s", a->note);
    ok = ok && output_table(&table, NULL, oo, e);
    table_free(&table);
    if (!ok)
        return err_status(e);
    return got.fail ? STATUS_NO : got.undecided ? STATUS_UNDECIDED : STATUS_OK;
}

/* What is written must not be what is read; a baseline may be written where it was. */
static bool spares(const struct runset *runs, const struct gate_args *a, const struct output_opts *oo, struct err *e)
{
    const char *const texts[] = {a->rules, a->baseline};
    bool ok = true;
    for (size_t i = 0; ok && i < runs->n; i++)
        ok = trace_spares(&runs->v[i].t, oo->path, e) && trace_spares(&runs->v[i].t, a->update, e);
    for (size_t i = 0; ok && i < sizeof texts / sizeof *texts; i++)
        ok = !texts[i] || output_spares(oo->path, texts[i], e);
    return ok && (!a->rules || output_spares(a->update, a->rules, e));
}

static bool one_task(const struct gate_args *a, struct err *e)
{
    if (a->update && a->baseline)
        return fail(e, ERR_USAGE, "--update-baseline writes and --baseline compares: one of the two");
    return !a->noise || (!a->update && !a->baseline) || fail(e, ERR_USAGE, "--aa compares the files with each other: no baseline goes with it");
}

static bool read_rules(const struct gate_args *a, struct err *e)
{
    return a->rules ? rules_read(a->rules, a->read, e) : rules_parse("default.rules", asset_text("default.rules"), a->read, e);
}

bool gate_ready(const struct gate_args *a, const struct output_opts *oo, struct err *e)
{
    struct gitlines changed = {0};
    bool ok = one_task(a, e) && output_ready(oo, !a->noise, e) && read_rules(a, e);
    if (ok && a->baseline && access(a->baseline, R_OK) != 0)
        ok = fail(e, ERR_FAIL, "%s: cannot open: %s", a->baseline, strerror(errno));
    ok = ok && (!a->git || gitlines_open(a->git, &changed, e));
    gitlines_close(&changed);
    return ok;
}

enum status gate_files(const char *const *paths, size_t n, const struct gate_args *a, const struct trace_opts *to, const struct output_opts *oo,
                       struct err *e)
{
    struct runset runs = {0};
    enum status status = STATUS_OK;
    bool ok = runset_open(paths, n, to, &runs, e) && spares(&runs, a, oo, e);
    if (ok)
        status = a->noise ? noise(&runs, oo, e) : a->update ? update(&runs, a->update, a->read, e) : judge(&runs, a, oo, e);
    runset_close(&runs);
    return ok ? status : err_status(e);
}
