/* cmd_reduce.c - the traces of one host into a part: small, and as good as the traces for every table. */
#include "analyzer/cmd.h"
#include "analyzer/part.h"
#include "analyzer/progress.h"
#include "analyzer/reduce_part.h"

struct args {
    struct opt_list files;
    const char *out;
    bool force, no_rows, quiet;
};

static const struct opt opts[] = {
    {OPT_ARGS, "FILE", offsetof(struct args, files), "recordings, foreign traces, folders of them, or parts"},
    {OPT_TEXT, "output", offsetof(struct args, out), "the part to write", "PART", 'o'},
    {OPT_FLAG, "no-rows", offsetof(struct args, no_rows), "results only: smaller, but options that are not given now, and replays, need the traces"},
    {OPT_FLAG, "force", offsetof(struct args, force), "replace PART when it exists"},
    {OPT_FLAG, "quiet", offsetof(struct args, quiet), "nothing on standard error but errors", NULL, 'q'},
    {0},
};

static const char doc[] =
    "Make one small file of the traces of a host, which every command takes as it takes traces.\v"
    "Several parts, or parts and traces, are the ranks of one job; what a table says of them is the same, to the byte, as of the traces. A part "
    "holds each table with its default options, the collectives that ranks are matched by, and all rows, packed. The options given here hold for "
    "the tables that take the part.\n\n"
    "  cpscope reduce traces/ -o host1.part\n"
    "  srun --ntasks-per-node 1 sh -c 'cpscope reduce /run -o $(hostname).part'\n"
    "  cpscope summary *.part\n"
    "  cpscope ranks *.part";

static enum status run(int argc, char **argv, struct err *e)
{
    struct args a = {0};
    struct trace_opts to = TRACE_OPTS_NONE;
    struct arena arena = {0};
    const struct opt_group groups[] = {{opts, &a, NULL}, {trace_opt_rows, &to, "Which events the tables are to look at:"}, {0}};
    bool ok = opt_parse(argc, argv, groups, doc, &arena, e);
    if (ok && !a.out)
        ok = fail(e, ERR_USAGE, "-o PART is missing: the file to write");
    if (ok) {
        progress_enable(!a.quiet);
        to.quiet = a.quiet;
        ok = reduce_part(a.files.v, a.files.n, &to, !a.no_rows, a.out, a.force, e);
    }
    arena_free(&arena);
    return ok ? STATUS_OK : err_status(e);
}

const struct cmd cmd_reduce = {.name = "reduce", .what = "the traces of one host as a small part of the job, for every table", .run = run};
