/* cmd_export.c - cpscope export FILE --to FORMAT -o OUT */
#include "analyzer/cmd.h"
#include "analyzer/export.h"
#include "analyzer/output.h"
#include "analyzer/progress.h"
#include "schemas/nearest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct args {
    struct opt_list files;
    const char *to, *out;
    bool force, quiet, no_progress;
};

static const struct opt opts[] = {
    {OPT_ARGS, "FILE", offsetof(struct args, files)},
    {OPT_TEXT, "to", offsetof(struct args, to), "nsys, perfetto, chrome, csv or folded", "FORMAT"},
    {OPT_TEXT, "output", offsetof(struct args, out), "the file to write; csv, folded and chrome without it go to standard output", "OUT", 'o'},
    {OPT_FLAG, "force", offsetof(struct args, force), "replace OUT when it exists"},
    {OPT_FLAG, "quiet", offsetof(struct args, quiet), "nothing on standard error but errors", NULL, 'q'},
    {OPT_FLAG, "no-progress", offsetof(struct args, no_progress), "no progress on standard error"},
    {0},
};

static const char doc[] =
    "Write a trace in a format of other tools.\v"
    "  nsys      SQLite with the tables of an Nsight Systems export (schema 3.25.0), for SQL, nsys stats and nsys analyze\n"
    "  perfetto  protobuf for ui.perfetto.dev and trace_processor; rows that overlap on one stream get tracks of their own\n"
    "  chrome    JSON as the PyTorch profiler writes it; importing it again gives the same rows\n"
    "  csv       every event, one row each, names in place of numbers\n"
    "  folded    stacks of host ranges, frames and calls with their own ns, for flame graphs\n\n"
    "Ranks are kept apart: one device number a rank. Files of several hosts are put on one clock as cpscope ranks does it: by readings of the wall "
    "clock and the ends of collectives; what is left is said. What is selected is written whole: nothing is clipped at a window's edge. "
    "Devices of modelled runs are called SIMULATED. OUT appears whole or not at all.\n\n"
    "  cpscope export run.sqlite --to perfetto --step 0 -o step0.pftrace\n"
    "  cpscope export run.sqlite --to folded | flamegraph.pl > host.svg";

static const struct exporter *find(const char *name, struct err *e)
{
    const char *names[32] = {0};
    for (size_t i = 0; exporters[i] && i < 31; i++) {
        names[i] = exporters[i]->name;
        if (name && strcmp(exporters[i]->name, name) == 0)
            return exporters[i];
    }
    const char *near = name ? nearest_name(name, names) : NULL;
    if (!name)
        fail(e, ERR_USAGE, "--to FORMAT is missing: nsys, perfetto, chrome, csv or folded");
    else
        fail(e, ERR_USAGE, "--to %s: no such format%s%s; there are nsys, perfetto, chrome, csv, folded", name, near ? "; did you mean " : "",
             near ? near : "");
    return NULL;
}

static bool may_write(const struct exporter *x, const struct args *a, struct err *e)
{
    if (!a->out && x->needs_path)
        return fail(e, ERR_USAGE, "-o OUT is missing: the file to write");
    if (a->out && !a->force && access(a->out, F_OK) == 0)
        return fail(e, ERR_FAIL, "%s: exists already; give another name, or --force to replace it", a->out);
    return true;
}

/* The file is written beside its name and gets it when it is whole. */
static bool write_file(const struct exporter *x, struct export_job *rows, const char *out, struct err *e)
{
    if (!out)
        return x->write(rows, NULL, e);
    char *tmp = NULL;
    if (asprintf(&tmp, "%s.tmp", out) < 0)
        return fail(e, ERR_FAIL, "%s: out of memory", out);
    bool ok = x->write(rows, tmp, e);
    if (ok && rename(tmp, out) != 0)
        ok = fail(e, ERR_FAIL, "%s: cannot write: %s", out, strerror(errno));
    if (!ok)
        unlink(tmp);
    free(tmp);
    return ok;
}

static void say(const struct trace *t, struct export_job *x, bool quiet)
{
    size_t bad = 0;
    const char *clocks = one_clock_text(&x->clock, t, &x->arena);
    for (size_t i = 0; i < t->nfiles; i++)
        bad += t->files[i].bad_rows;
    progress_end();
    if (clocks && !quiet)
        fprintf(stderr, "cpscope export: %s\n", clocks);
    if (bad && !quiet)
        fprintf(stderr, "cpscope export: %zu rows that cannot be (end before start, over an hour ...) are left out\n", bad);
}

static bool export_files(const struct args *a, const struct trace_opts *to, struct err *e)
{
    const struct exporter *x = find(a->to, e);
    struct trace t;
    struct export_job rows = {0};
    bool spared = x != NULL;
    for (size_t i = 0; spared && i < a->files.n; i++)
        spared = output_spares(a->out, a->files.v[i], e);
    if (!spared || !may_write(x, a, e) || !trace_open(a->files.v, a->files.n, to, &t, e))
        return false;
    bool ok = trace_spares(&t, a->out, e) && export_open(&rows, &t, e) && write_file(x, &rows, a->out, e);
    if (ok)
        say(&t, &rows, a->quiet);
    export_close(&rows);
    trace_close(&t);
    return ok;
}

static enum status run(int argc, char **argv, struct err *e)
{
    struct args a = {0};
    struct trace_opts to = TRACE_OPTS_NONE;
    struct arena arena = {0};
    const struct opt_group groups[] = {{opts, &a, NULL}, {trace_opt_rows, &to, "Which events:"}, {0}};
    bool ok = opt_parse(argc, argv, groups, doc, &arena, e);
    if (a.out && strcmp(a.out, "-") == 0)
        a.out = NULL;
    progress_enable(!a.quiet && !a.no_progress);
    to.quiet = a.quiet;
    ok = ok && export_files(&a, &to, e);
    arena_free(&arena);
    return ok ? STATUS_OK : err_status(e);
}

const struct cmd cmd_export = {.name = "export", .what = "write a trace for other tools: nsys, perfetto, chrome, csv, folded", .run = run};
