/* bench_expect.c - `cpbench expect`: what one step of a mode must show, from formulas, without running it. */
#include "kernels/bench.h"
#include "kernels/model/groups.h"
#include "kernels/modes/expect.h"
#include "kernels/options.h"
#include "schemas/table.h"

#include <string.h>

static const struct column columns[] = {{"what", UNIT_TEXT},   {"kind", UNIT_TEXT},   {"rank", UNIT_ID},
                                        {"count", UNIT_COUNT}, {"bytes", UNIT_BYTES}, {0}};

static void add_rank(struct table *t, const struct run_config *c, int rank)
{
    struct expect x = {0};
    groups_expect(c, rank, &x);
    for (int i = 0; i < x.n; i++) {
        struct cell *row = table_row(t);
        row[0] = cell_text(x.rows[i].what);
        row[1] = cell_text(x.rows[i].kind);
        row[2] = cell_int(rank);
        row[3] = cell_int(x.rows[i].count);
        if (x.rows[i].bytes >= 0)
            row[4] = cell_int(x.rows[i].bytes);
    }
}

/* By what, kind, rank. */
static int order(const struct cell *x, const struct cell *y)
{
    for (int i = 0; i < 2; i++) {
        int c = strcmp(x[i].s, y[i].s);
        if (c)
            return c;
    }
    return (x[2].i > y[2].i) - (x[2].i < y[2].i);
}

static enum status run(int argc, char **argv, struct err *e)
{
    struct run_options o = run_options_default;
    const struct opt_group groups[] = {{run_option_rows, &o, "The run (defaults in brackets):"}, {0}};
    struct arena a = {0};
    struct run_config c;
    if (opt_parse(argc, argv, groups,
                  "Prints what one step of a mode shows on every rank: csv what,kind,rank,count,bytes.\v"
                  "comm: the mode's collectives and the bytes that the rank sends; comm_tp: those of a --tp group. op_sync, wait_sync: host reads by "
                  "function, "
                  "operators and waits. flops: floating point operations (projections and attention exactly, core and summary by the formulas of the "
                  "chunk form). "
                  "work: sum of q_len * k_len over the pieces of attention that the rank computes. "
                  "schedule: with --dynamic-cp, the micro-batches of each cp size that the rank works on. "
                  "Drawn lengths are those of step 0.\n\n"
                  "  cpbench expect --mode gdn.chunkwise --cp 4 --layers 4 --route naive",
                  &a, e) &&
        run_config_of(&o, &c, &a, e)) {
        struct table t;
        table_init(&t, "expect", "What one step shows", columns);
        for (int rank = 0; rank < config_ranks(&c); rank++)
            add_rank(&t, &c, rank);
        table_sort_by(&t, order);
        table_csv(&t, stdout);
        table_free(&t);
    }
    arena_free(&a);
    return STATUS_OK;
}

const struct bench_cmd bench_expect = {.name = "expect", .what = "what one step of a mode must show: collectives, host reads, flops", .run = run};
