/* cmd_diff.c - cpscope diff A B [--table headline|syncs|kernels|comm] */
#include "analyzer/cmd.h"
#include "analyzer/diff.h"
#include "analyzer/facts.h"
#include "analyzer/output.h"
#include "analyzer/progress.h"
#include "schemas/nearest.h"

#include <stddef.h>
#include <string.h>

struct args {
    const char *before, *after, *table, *ledger, *git;
};

static const struct opt opts[] = {
    {OPT_ARG, "BEFORE", offsetof(struct args, before)},
    {OPT_ARG, "AFTER", offsetof(struct args, after)},
    {OPT_TEXT, "table", offsetof(struct args, table), "headline (default), syncs, kernels, comm", "NAME"},
    {OPT_TEXT, "ledger", offsetof(struct args, ledger), "of --table syncs: wait (default), op", "NAME"},
    {OPT_TEXT, "git", offsetof(struct args, git), "of --table syncs: mark the sites in lines changed since this commit", "BASE"},
    {0},
};

static const char doc[] = "Two runs held against each other; each side is a trace or a folder of traces of one job.\v"
                          "Exit status 4 when the two are not comparable (other backend, device, world size, shape or tokens of a step).\n\n"
                          "  cpscope diff before.sqlite after.sqlite --rank 0\n"
                          "  cpscope diff before.sqlite after.sqlite --table syncs --ledger op --top 10";

static const struct diff_kind *kind_named(const char *name, struct err *e)
{
    const char *names[16] = {NULL};
    size_t n = 0;
    for (const struct diff_kind *k = diff_kinds; k->name; k++) {
        if (!name || strcmp(k->name, name) == 0)
            return k;
        names[n++] = k->name;
    }
    const char *near = nearest_name(name, names);
    fail(e, ERR_USAGE, "--table %s: no such table%s%s%s", name, near ? "; did you mean " : ": headline, syncs, kernels, comm", near ? near : "",
         near ? "?" : "");
    return NULL;
}

/* NULL: a table or a ledger that there is not. */
static const struct diff_kind *kind_asked(const struct args *a, struct err *e)
{
    const struct diff_kind *k = kind_named(a->table, e);
    bool known = !a->ledger || strcmp(a->ledger, "wait") == 0 || strcmp(a->ledger, "op") == 0;
    if (k && !known)
        fail(e, ERR_USAGE, "--ledger %s: not op or wait", a->ledger);
    return known ? k : NULL;
}

/* What made the two sides, and what they are compared for. */
static void note_sides(const struct diff_side *s, struct table *out)
{
    struct facts x = facts_of(s->before, &out->arena), y = facts_of(s->after, &out->arena);
    const char *before = facts_get(&x, "backend"), *after = facts_get(&y, "backend"), *varied = facts_varied(s->before, s->after, &out->arena);
    table_note(out, "backend: %s before, %s after", before ? before : "unknown", after ? after : "unknown");
    if (varied)
        table_note(out, "after against before: %s", varied);
}

static bool print(const struct diff_side *s, const struct diff_kind *k, const struct output_opts *oo, struct arena *arena, struct err *e)
{
    const char *why = diff_obstacle(s, arena);
    if (why)
        return fail(e, ERR_UNDECIDED, "%s", why);
    struct table out = {0};
    bool ok = k->fill(s, &out, e);
    note_sides(s, &out);
    table_note_files(s->before, &out);
    table_note_files(s->after, &out);
    ok = ok && output_table(&out, NULL, oo, e);
    table_free(&out);
    return ok;
}

static enum status run(int argc, char **argv, struct err *e)
{
    struct args a = {0};
    struct trace_opts to = TRACE_OPTS_NONE;
    struct output_opts oo = {0};
    struct arena arena = {0};
    struct trace before = {0}, after = {0};
    struct gitlines changed = {0};
    const struct opt_group groups[] = {{opts, &a, NULL}, {trace_opt_rows, &to, "What is looked at:"}, {output_opt_rows, &oo, "Output:"}, {0}};
    const struct diff_kind *k = NULL;
    bool ok = opt_parse(argc, argv, groups, doc, &arena, e) && output_ready(&oo, false, e) && (k = kind_asked(&a, e));
    progress_enable(!oo.quiet && !oo.no_progress);
    to.quiet = oo.quiet;
    ok = ok && trace_open(&a.before, 1, &to, &before, e) && trace_open(&a.after, 1, &to, &after, e) && trace_spares(&before, oo.path, e) &&
         trace_spares(&after, oo.path, e);
    ok = ok && (!a.git || gitlines_open(a.git, &changed, e));
    if (ok)
        ok = print(&(struct diff_side){&before, &after, a.ledger, a.git ? &changed : NULL}, k, &oo, &arena, e);
    gitlines_close(&changed);
    trace_close(&before);
    trace_close(&after);
    arena_free(&arena);
    return err_status(e);
}

const struct cmd cmd_diff = {.name = "diff", .what = "two runs held against each other: headline, syncs, kernels, comm", .run = run};
