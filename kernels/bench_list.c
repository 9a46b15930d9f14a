/* bench_list.c - `cpbench list`: the modes that this build has. */
#include "kernels/bench.h"
#include "kernels/modes/mode.h"
#include "schemas/opt.h"
#include "schemas/table.h"

static const struct column columns[] = {{"id", UNIT_TEXT}, {"op", UNIT_TEXT}, {"entry_layout", UNIT_TEXT}, {"what", UNIT_TEXT}, {0}};

static enum status run(int argc, char **argv, struct err *e)
{
    static const struct opt none[] = {{0}};
    const struct opt_group groups[] = {{none, NULL, NULL}, {0}};
    struct arena a = {0};
    if (opt_parse(argc, argv, groups, "Prints the modes, one a row: csv id,op,entry_layout,what.\v  cpbench list\n", &a, e)) {
        struct table t;
        table_init(&t, "list", "Modes", columns);
        for (const struct cp_mode *const *m = modes; *m; m++) {
            struct cell *row = table_row(&t);
            row[0] = cell_text((*m)->name);
            row[1] = cell_text(cp_op_name((*m)->op));
            row[2] = cell_text(layout_name((*m)->entry_layout));
            row[3] = cell_text((*m)->what);
        }
        table_csv(&t, stdout);
        table_free(&t);
    }
    arena_free(&a);
    return STATUS_OK;
}

const struct bench_cmd bench_list = {.name = "list", .what = "the modes of this build", .run = run};
