/* table_repeats.c - work that is derived again with the same result: once per micro-batch would do. */
#include "analyzer/repeat.h"
#include "schemas/tracefile.h"

#include <stdlib.h>
#include <string.h>

enum { RANK, SITE, CALLS, IDENTICAL, SYNCS, HOST, GPU };

static void fill_row(const struct trace *t, const struct repeats *x, const struct repeat *r, struct table *out)
{
    const struct trace_rank *rank = &t->ranks[r->rank];
    struct cell *row = trace_row(t, rank->file, out);
    row[RANK] = cell_id(rank->rank);
    row[SITE] = cell_text(table_text(out, "%s", intern_str(&x->names, r->site)));
    row[CALLS] = cell_int(r->calls);
    row[IDENTICAL] = cell_int(r->identical);
    row[SYNCS] = cell_int(r->syncs);
    row[HOST] = cell_int(r->host);
    if (x->linked)
        row[GPU] = cell_int(r->gpu);
}

/* By rank, then the most host time first. */
static int in_order(const struct cell *x, const struct cell *y)
{
    if (x[RANK].kind != y[RANK].kind || (x[RANK].kind && x[RANK].i != y[RANK].i))
        return x[RANK].kind != y[RANK].kind ? (x[RANK].kind > y[RANK].kind) - (x[RANK].kind < y[RANK].kind) : x[RANK].i < y[RANK].i ? -1 : 1;
    return (x[HOST].i < y[HOST].i) - (x[HOST].i > y[HOST].i);
}

static bool fill(const struct trace *t, const void *args, struct table *out, struct err *e)
{
    (void)args;
    struct repeats x;
    repeats_find(t, &x);
    for (size_t i = 0; i < x.n; i++)
        if (x.v[i].identical)
            fill_row(t, &x, &x.v[i], out);
    if (x.units & REPEAT_STEP)
        table_note(out, "no micro-batches are marked: repeats are counted inside each step");
    if (x.units & REPEAT_WHOLE)
        table_note(out, "neither micro-batches nor steps are marked on some rank: repeats are counted over all of its rows");
    bool recorded = x.recorded;
    repeats_free(&x);
    return recorded || fail(e, ERR_UNDECIDED, "%s: no blocking calls or operators were recorded", t->files[0].name);
}

const struct table_desc table_repeats = {
    .name = "repeats",
    .title = "Work repeated identically inside one micro-batch",
    .what = "One row per rank and call site that blocks the host and does the same work again: the same site, the same sequence of blocking "
            "calls, kernels and copies of the same names, shapes and sizes, within one micro-batch (range microbatch#N; else one step; else "
            "the whole trace, as a note says). Such work may be cached: the trace shows that the work is equal, not that its data is. A call "
            "is what one instance of the innermost range or user frame does for the site, from its previous blocking call to this one.",
    .columns =
        (const struct column[]){
            {"rank", UNIT_ID, .what = "rank of the host thread"},
            {"site", UNIT_TEXT, .what = "call site, as in syncs"},
            {"calls", UNIT_COUNT, .what = "calls of the site"},
            {"identical", UNIT_COUNT, .what = "calls equal to an earlier one of the same micro-batch"},
            {"syncs", UNIT_COUNT, .what = "blocking calls (where only operators are recorded: those) in the identical calls"},
            {"host_ns", UNIT_NS, .what = "host time of the identical calls"},
            {"gpu_ns", UNIT_NS, .what = "sum of device work launched by them; empty without launch rows"},
            COLUMNS_SOURCE,
            {0},
        },
    .worst = "host_ns",
    .spares = SIDE_COMM,
    .fill = fill,
    .order = in_order,
};
