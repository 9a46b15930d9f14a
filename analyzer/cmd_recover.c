/* cmd_recover.c - finishes recordings that were cut off. */
#include "analyzer/cmd.h"
#include "analyzer/import.h"
#include "schemas/arena.h"
#include "schemas/opt.h"
#include "schemas/tracefile.h"

#include <stdio.h>

struct args {
    struct opt_list files;
};

static const struct opt opts[] = {
    {OPT_ARGS, "FILE", offsetof(struct args, files), "recordings"},
    {0},
};

/* Else what it is, as the other commands would say. */
static bool is_recording(const char *path, struct err *e)
{
    struct input in = {0};
    if (tracefile_is(path))
        return true;
    if (!input_is_file(path, e) || !input_open(&in, path, e))
        return false;
    const struct importer *imp = import_choose(&in);
    fail(e, ERR_FAIL,
         imp ? "%s: not a recording of cpscope: it looks like one of %s, which needs no finishing" : "%s: not a recording of cpscope: it is %s", path,
         imp ? imp->name : import_looks_like(&in));
    input_close(&in);
    return false;
}

static enum status run(int argc, char **argv, struct err *e)
{
    struct arena a = {0};
    struct args args = {0};
    const struct opt_group groups[] = {{opts, &args}, {0}};
    bool ok = opt_parse(argc, argv, groups,
                        "Finishes an unfinished recording in place.\vOther commands do this by themselves. Every event "
                        "that the program had reported is kept, and info shows clean_end 0. A recording that still runs is left "
                        "alone; one that another host may still be writing is finished by this command only.\n\n"
                        "  cpscope recover run.sqlite",
                        &a, e);
    for (size_t i = 0; ok && i < args.files.n; i++) {
        bool done;
        ok = is_recording(args.files.v[i], e) && tracefile_recover(args.files.v[i], &done, e);
        if (ok)
            printf("%s: %s\n", args.files.v[i], done ? "finished" : "nothing to do");
    }
    arena_free(&a);
    return err_status(e);
}

const struct cmd cmd_recover = {"recover", "finish an unfinished recording", run};
