/* cmd_import.c - foreign traces into our trace file.
 *
 * One file is streamed: the importer's events go to disk as they come. Several files are several ranks of one run; each
 * is read into memory, one after the other, for when its clock is known its events are past.
 */
#include "analyzer/cmd.h"
#include "analyzer/import.h"
#include "analyzer/merge.h"
#include "analyzer/progress.h"
#include "schemas/opt.h"
#include "schemas/tracefile.h"

struct args {
    struct opt_list files;
    const char *out;
    bool force;
};

static const struct opt opts[] = {
    {OPT_ARGS, "FILE", offsetof(struct args, files)},
    {OPT_TEXT, "output", offsetof(struct args, out), "the trace file to write", "OUT", 'o'},
    {OPT_FLAG, "force", offsetof(struct args, force), "replace OUT when it exists"},
    {0},
};

static const char doc[] = "Turn foreign traces into a trace file of cpscope. Several files are the ranks of one run.\v"
                          "PyTorch profiler JSON (also .gz, .zst) and Nsight Systems SQLite exports are told apart by content. OUT appears whole "
                          "or not at all. What could not be read is one warning line, and rows of the table `loss`.\n\n"
                          "  cpscope import rank0.json.gz -o rank0.sqlite\n"
                          "  cpscope import rank*.json.gz -o job.sqlite\n\n"
                          "Importing is optional: every command takes foreign files directly.";

static bool one(const char *path, struct tracefile *out, struct tracedata *d, struct err *e)
{
    if (tracefile_is(path))
        return tracefile_load(path, d, e);
    d->spill = tracefile_append;
    d->spill_ctx = out;
    return import_file(path, d, e);
}

struct rank_of_file {
    int32_t rank;
    size_t file;
};

/* The ranks of file `i`, each in one file only; a file that names none cannot be told from another one. */
static bool claim_ranks(const struct tracedata *d, const struct opt_list *files, size_t i, struct rank_of_file *taken, size_t *n, struct err *e)
{
    size_t before = *n;
    for (size_t p = 1; p < d->nprocesses; p++) {
        int32_t rank = d->processes[p].rank;
        size_t k = 0;
        while (k < *n && taken[k].rank != rank)
            k++;
        if (rank >= 0 && k < *n && taken[k].file != i)
            return fail(e, ERR_USAGE, "%s and %s are both rank %d: two runs; import them one by one", files->v[taken[k].file], files->v[i], rank);
        if (rank >= 0 && k == *n && k < OPT_LIST_MAX)
            taken[(*n)++] = (struct rank_of_file){rank, i};
    }
    return *n > before || fail(e, ERR_UNDECIDED, "%s: does not say which rank it is; only files that do can be put together", files->v[i]);
}

static bool several(const struct opt_list *files, struct arena *a, struct tracedata *d, struct err *e)
{
    struct rank_of_file *taken = arena_array(a, struct rank_of_file, OPT_LIST_MAX);
    struct merge m = {.to = d};
    size_t n = 0;
    bool ok = true;
    for (size_t i = 0; i < files->n && ok; i++) {
        struct tracedata from;
        tracedata_init(&from);
        ok = import_open(files->v[i], &from, e) && claim_ranks(&from, files, i, taken, &n, e) && merge_add(&m, &from, e);
        tracedata_free(&from);
    }
    merge_end(&m);
    return ok;
}

static bool import(const struct args *a, struct arena *arena, struct err *e)
{
    struct tracedata d;
    tracedata_init(&d);
    struct tracefile *out = tracefile_create(a->out, a->force, e);
    bool ok = out != NULL;
    if (ok && a->files.n == 1)
        ok = one(a->files.v[0], out, &d, e);
    else if (ok) {
        d.spill = tracefile_append;
        d.spill_ctx = out;
        ok = several(&a->files, arena, &d, e);
    }
    progress_end();
    if (ok)
        ok = tracefile_finish(out, &d, e);
    else
        tracefile_close(out);
    tracedata_free(&d);
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
    ok = ok && import(&a, &arena, e);
    arena_free(&arena);
    return ok ? STATUS_OK : err_status(e);
}

const struct cmd cmd_import = {.name = "import", .what = "turn foreign traces into a trace file", .run = run};
