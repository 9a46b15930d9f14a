/* cmd_import.c - foreign traces into our trace file.
 *
 * One file is streamed: the importer's events go to disk as they come. Several files are several ranks of one run; they are read
 * twice, for how their clocks lie to each other hangs on the collectives of all.
 */
#include "analyzer/cmd.h"
#include "analyzer/import.h"
#include "analyzer/merge.h"
#include "analyzer/oneclock.h"
#include "analyzer/output.h"
#include "analyzer/paths.h"
#include "analyzer/progress.h"
#include "analyzer/reduce.h"
#include "schemas/opt.h"
#include "schemas/tracefile.h"

#include <stdlib.h>

struct args {
    struct opt_list files;
    const char *out;
    bool force, quiet, no_progress;
};

static const struct opt opts[] = {
    {OPT_ARGS, "FILE", offsetof(struct args, files)},
    {OPT_TEXT, "output", offsetof(struct args, out), "the trace file to write", "OUT", 'o'},
    {OPT_FLAG, "force", offsetof(struct args, force), "replace OUT when it exists"},
    {OPT_FLAG, "quiet", offsetof(struct args, quiet), "nothing on standard error but errors", NULL, 'q'},
    {OPT_FLAG, "no-progress", offsetof(struct args, no_progress), "no progress on standard error"},
    {0},
};

static const char doc[] =
    "Turn foreign traces into a trace file of cpscope. Several files are the ranks of one run.\v"
    "Traces of PyTorch, Nsight Systems, ROCm and Ascend profilers are told apart by content, also packed (.gz, .zst); a "
    "folder or a tar archive stands for the traces in it. Ranks of several hosts are put on one clock as cpscope ranks does it, by readings of the "
    "wall clock and the ends of collectives; what is left is said. OUT appears whole or not at all. What could not be read is one "
    "warning line, and rows of the table `loss`.\n\n"
    "  cpscope import rank0.json.gz -o rank0.sqlite\n"
    "  cpscope import rank*.json.gz -o job.sqlite\n\n"
    "Importing is optional: every command takes foreign files directly.";

static bool one(const char *path, bool quiet, struct tracedata *d, struct err *e)
{
    return tracefile_is(path) ? tracefile_load(path, d, e) : import_file(path, quiet, d, e);
}

struct ranks_taken {
    struct rank_of_file {
        int32_t rank;
        size_t file;
    } * v;
    size_t n, cap;
};

/* The ranks of file `i`, each in one file only; a file that names none cannot be told from another one. */
static bool claim_ranks(const struct tracedata *d, const struct paths *files, size_t i, struct ranks_taken *taken, struct err *e)
{
    size_t before = taken->n;
    for (size_t p = 1; p < d->nprocesses; p++) {
        int32_t rank = d->processes[p].rank;
        size_t k = 0;
        while (k < taken->n && taken->v[k].rank != rank)
            k++;
        if (rank >= 0 && k < taken->n && taken->v[k].file != i)
            return fail(e, ERR_USAGE, "%s and %s are both rank %d: two runs; import them one by one", files->v[taken->v[k].file], files->v[i], rank);
        if (rank >= 0 && k == taken->n)
            ARRAY_PUSH(taken->v, taken->n, taken->cap, ((struct rank_of_file){rank, i}));
    }
    return taken->n > before || fail(e, ERR_UNDECIDED, "%s: does not say which rank it is; only files that do can be put together", files->v[i]);
}

/* ---- clocks: of all files' collectives, as tables look at them ---- */

struct clocks_of_job {
    struct one_clock *clock;
    const char **text;
    struct arena *a;
};

static bool no_rows(const struct trace *t, const void *args, struct table *out, struct err *e)
{
    (void)t, (void)args, (void)out, (void)e;
    return true;
}

static void find_clock(const struct trace *t, const void *args, struct table *out)
{
    const struct clocks_of_job *j = args;
    (void)out;
    one_clock_find(t, j->a, j->clock);
    *j->text = one_clock_text(j->clock, t, j->a);
}

static bool read_clocks(const struct paths *files, const struct clocks_of_job *job, struct err *e)
{
    static const struct column none[] = {{0}};
    static const struct table_desc desc = {.name = "clocks",
                                           .title = "",
                                           .columns = none,
                                           .spares = SIDE_SYNC | SIDE_KERNEL | SIDE_COPY | SIDE_RANGE | ROWS_ANY,
                                           .fill = no_rows,
                                           .joins = true,
                                           .finish = find_clock};
    struct trace_opts o = TRACE_OPTS_NONE;
    struct reduced r;
    struct table nothing;
    o.quiet = true;
    o.spared = desc.spares;
    bool ok = reduce_table(&desc, files->v, files->n, &o, job, &r, &nothing, e);
    table_free(&nothing);
    reduced_close(&r);
    return ok;
}

/* ---- ranks ---- */

static bool add_file(struct merge *m, const struct paths *files, size_t i, int64_t shift, bool quiet, struct ranks_taken *taken, struct err *e)
{
    struct tracedata from;
    tracedata_init(&from);
    bool ok = import_open(files->v[i], quiet, &from, e) && claim_ranks(&from, files, i, taken, e) && merge_add(m, &from, shift, e);
    tracedata_free(&from);
    return ok;
}

static bool several(const struct paths *files, bool quiet, struct tracedata *d, struct arena *a, struct err *e)
{
    struct ranks_taken taken = {0};
    struct merge m = {.to = d};
    struct one_clock clock;
    const char *text = NULL;
    bool ok = read_clocks(files, &(struct clocks_of_job){&clock, &text, a}, e);
    for (size_t i = 0; i < files->n && ok; i++)
        ok = add_file(&m, files, i, clock.shift[i], quiet, &taken, e);
    merge_end(&m);
    free(taken.v);
    if (!ok)
        return false;
    tracedata_meta(d, "aligned_by", one_clock_way(clock.weakest));
    if (clock.residual >= 0)
        tracedata_metaf(d, "aligned_residual_ns", "%lld", (long long)clock.residual);
    progress_end();
    if (text && !quiet)
        fprintf(stderr, "cpscope import: %s\n", text);
    return true;
}

static bool import(const struct args *a, struct arena *arena, struct err *e)
{
    struct tracedata d;
    struct paths files = {0};
    tracedata_init(&d);
    bool ok = paths_expand(&files, arena, a->files.v, a->files.n, e);
    if (ok && !a->quiet)
        paths_warn(&files);
    for (size_t i = 0; ok && i < files.n; i++)
        ok = output_spares(a->out, files.v[i], e);
    struct tracefile *out = ok ? tracefile_create(a->out, a->force, e) : NULL;
    ok = out != NULL;
    if (ok) {
        struct tracefile_behind *behind = tracefile_behind(out);
        d.spill = tracefile_append_behind;
        d.spill_ctx = behind;
        ok = files.n == 1 ? one(files.v[0], a->quiet, &d, e) : several(&files, a->quiet, &d, arena, e);
        ok = tracefile_behind_end(behind, e) && ok;
    }
    progress_end();
    if (ok)
        ok = tracefile_finish(out, &d, e);
    else
        tracefile_close(out);
    tracedata_free(&d);
    paths_free(&files);
    return ok;
}

static enum status run(int argc, char **argv, struct err *e)
{
    struct args a = {0};
    struct arena arena = {0};
    const struct opt_group groups[] = {{opts, &a, NULL}, {0}};
    bool ok = opt_parse(argc, argv, groups, doc, &arena, e);
    if (ok && !a.out)
        ok = fail(e, ERR_USAGE, "-o OUT is missing: the trace file to write");
    progress_enable(!a.quiet && !a.no_progress);
    ok = ok && import(&a, &arena, e);
    arena_free(&arena);
    return ok ? STATUS_OK : err_status(e);
}

const struct cmd cmd_import = {.name = "import", .what = "turn foreign traces into a trace file", .run = run};
