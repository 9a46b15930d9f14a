/* table_critical.c - the chain of causes that the step's length is made of, by what it spends its time in. */
#include "analyzer/critical.h"
#include "analyzer/kernelrows.h"
#include "schemas/tracefile.h"

enum { RANK, KIND, NAME, SITE, COUNT, TOTAL, SHARE };

static bool fill(const struct trace *t, const void *args, struct table *out, struct err *e)
{
    (void)args;
    struct replay r;
    struct path p;
    if (!kernels_known(t, e))
        return false;
    replay_graph(t, SITE_FUNCTION, &r);
    critical_path(&r, &p);
    bool any = p.window_ns > 0;
    for (size_t i = 0; i < p.n; i++) {
        const struct path_part *k = &p.v[i];
        struct cell *row = trace_row(t, t->ranks[k->rank].file, out);
        row[RANK] = cell_id(t->ranks[k->rank].rank);
        row[KIND] = cell_text(path_kind_name(k->kind));
        row[NAME] = cell_text(table_text(out, "%s", intern_str(&p.names, k->name)));
        row[SITE] = k->site ? cell_text(table_text(out, "%s", intern_str(&p.names, k->site))) : cell_text("");
        row[COUNT] = cell_int(k->count);
        row[TOTAL] = cell_int(k->total_ns);
        row[SHARE] = cell_share(k->total_ns, p.window_ns);
    }
    table_note(out, "share is of the window of the rank that ends last, %lld ns: the path adds up to it", (long long)p.window_ns);
    if (r.ngroups)
        table_note(out, "at %zu matched collectives the path goes over to the rank that came last", r.ngroups);
    if (!r.linked)
        table_note(out, "no device row is linked to its launch in this trace: delays between rows may be the host's");
    path_free(&p);
    replay_free(&r);
    return any || fail(e, ERR_UNDECIDED, "%s: no API calls that start work or wait, and no device rows", t->files[0].name);
}

static bool whole(const void *args)
{
    (void)args;
    return true;
}

static void thins(const void *args, struct thin *t, struct arena *a)
{
    (void)args, (void)t, (void)a;
}

const struct table_desc table_critical = {
    .name = "critical",
    .title = "What the step's length is made of",
    .what = "The critical path, backwards from the end of each window: from each instant to the one it had to wait for. host: code between "
            "API calls, by its range, and calls that do not wait; sync: what a blocking call takes after the work it waits for has ended; "
            "launch: from the launching call to the work's start; delay: between the work before in the stream and the work; compute, comm, "
            "copy, set: work; of a matched collective the transfer only, for the path goes over to the rank that came last. The parts add up to the "
            "window.",
    .columns =
        (const struct column[]){
            {"rank", UNIT_ID, .what = "where that part of the path lies"},
            {"kind", UNIT_TEXT, .what = "host, sync, launch, delay, compute, comm, copy, set, unknown"},
            {"name", UNIT_TEXT, .what = "the range's path, the API call or the device row's name"},
            {"site", UNIT_TEXT, .what = "call site of a blocking call, empty for the rest"},
            {"count", UNIT_COUNT, .what = "pieces of the path"},
            {"total_ns", UNIT_NS, .what = "their length"},
            {"share_pct", UNIT_PERCENT, .base = "window", .what = "of the windows that the paths were walked in"},
            COLUMNS_SOURCE,
            {0},
        },
    .worst = "total_ns",
    .spares = SIDE_KERNEL | ROWS_OP,
    .fill = fill,
    .whole = whole,
    .thins = thins,
};
