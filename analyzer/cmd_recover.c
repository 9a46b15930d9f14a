/* cmd_recover.c - finishes recordings that were cut off. */
#include "analyzer/cmd.h"
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

static enum status run(int argc, char **argv, struct err *e)
{
    struct arena a = {0};
    struct args args = {0};
    const struct opt_group groups[] = {{opts, &args}, {0}};
    bool ok = opt_parse(argc, argv, groups,
                        "Finishes an unfinished recording in place.\vOther commands do this by themselves. Every event "
                        "that the program had reported is kept, and info shows clean_end 0. A recording that still runs is left "
                        "alone; one that another host may still be writing is finished by this command only.",
                        &a, e);
    for (size_t i = 0; ok && i < args.files.n; i++) {
        bool done;
        ok = tracefile_recover(args.files.v[i], &done, e);
        if (ok)
            printf("%s: %s\n", args.files.v[i], done ? "finished" : "nothing to do");
    }
    arena_free(&a);
    return err_status(e);
}

const struct cmd cmd_recover = {"recover", "finish an unfinished recording", run};
