/* tablecmd.c - options, trace, table, print: the same for every table. */
#include "analyzer/tablecmd.h"
#include "analyzer/output.h"
#include "analyzer/progress.h"
#include "analyzer/reduce.h"

struct files {
    struct opt_list v;
};

static const struct opt file_rows[] = {
    {OPT_ARGS, "FILE", offsetof(struct files, v), "recordings, foreign traces or folders of them"},
    {0},
};

static bool show(const struct table_desc *d, const struct files *files, const struct trace_opts *to, const void *args, const struct output_opts *oo,
                 struct err *e)
{
    struct reduced r;
    struct table out = {0};
    bool ok =
        reduce_table(d, files->v.v, files->v.n, to, args, &r, &out, e) && trace_spares(&r.t, oo->path, e) && output_table(&out, d->worst, oo, e);
    table_free(&out);
    reduced_close(&r);
    return ok;
}

enum status table_main(const struct table_desc *d, int argc, char **argv, struct err *e)
{
    static const struct opt none[] = {{0}};
    struct arena a = {0};
    struct trace_opts to = TRACE_OPTS_NONE;
    struct output_opts oo = {0};
    struct files files = {0};
    void *args = arena_alloc(&a, d->args_size ? d->args_size : 1);
    const struct opt_group groups[] = {
        {d->opts ? d->opts : none, args, d->opts ? "This table:" : NULL},
        {trace_opt_rows, &to, "Which events:"},
        {output_opt_rows, &oo, "How they are shown:"},
        {file_rows, &files},
        {0},
    };
    const char *doc = arena_printf(&a, "%s.\v%s\n\n  cpscope %s run.sqlite %s\n\nWhat its columns mean: cpscope help %s", d->title,
                                   d->what ? d->what : "", d->name, d->example ? d->example : "--rank 0 --top 10", d->name);
    if (opt_parse(argc, argv, groups, doc, &a, e) && output_ready(&oo, false, e)) {
        progress_enable(!oo.quiet && !oo.no_progress);
        to.quiet = oo.quiet;
        to.spared = table_spares(d, &to, d->args_size ? args : NULL);
        show(d, &files, &to, d->args_size ? args : NULL, &oo, e);
    }
    arena_free(&a);
    return err_status(e);
}
