/* table_comm.c - collectives by process group and operation: how often, how much, waiting against transfer. */
#include "analyzer/collectives.h"
#include "analyzer/commop.h"
#include "analyzer/groups.h"
#include "analyzer/kernelrows.h"
#include "schemas/tracefile.h"

#include <stdlib.h>
#include <string.h>

enum { RANK, DEVICE, GROUP, OP, CALLS, BYTES, TOTAL, WAIT, TRANSFER, BUSBW };

struct sum {
    int64_t calls, bytes, sized, total, transfer, matched;
    double bus; /* bus bytes, of calls whose size and group are known */
    int64_t bused;
};

static void count(const struct collectives *c, const struct collective *v, struct sum *s)
{
    const char *op = intern_str(&c->names, v->op);
    double factor = v->sent ? 1 : commop_bus_factor(op, v->ranks); /* what a rank of ours sent is bus traffic already */
    s->calls++;
    s->total += v->total_ns;
    s->bytes += v->bytes >= 0 ? v->bytes : 0;
    s->sized += v->bytes >= 0;
    s->transfer += v->transfer_ns >= 0 ? v->transfer_ns : 0;
    s->matched += v->transfer_ns >= 0;
    s->bus += v->bytes >= 0 ? factor * (double)v->bytes : 0;
    s->bused += v->bytes >= 0 && factor > 0;
}

static const char *text_or_none(struct table *out, const struct collectives *c, uint32_t id)
{
    return id ? table_text(out, "%s", intern_str(&c->names, id)) : NULL;
}

static void fill_row(const struct trace *t, const struct collectives *c, const uint32_t key[4], const struct sum *s, struct table *out)
{
    const struct lane *l = &t->lanes[key[0]];
    struct cell *row = trace_row(t, l->file, out);
    row[RANK] = cell_id(l->rank);
    row[DEVICE] = cell_id(l->device);
    row[GROUP] = cell_text(text_or_none(out, c, key[1]));
    row[OP] = cell_text(text_or_none(out, c, key[2]));
    row[CALLS] = cell_int(s->calls);
    row[TOTAL] = cell_int(s->total);
    if (s->sized == s->calls)
        row[BYTES] = cell_int(s->bytes);
    if (s->matched == s->calls) {
        row[TRANSFER] = cell_int(s->transfer);
        row[WAIT] = cell_int(s->total - s->transfer);
        if (s->bused == s->calls && s->transfer > 0)
            row[BUSBW] = cell_real(s->bus / (double)s->transfer); /* bytes a ns = GB a second */
    }
}

/* By rank, device, then the most time first. */
static int in_order(const struct cell *x, const struct cell *y)
{
    for (int i = RANK; i <= DEVICE; i++)
        if (x[i].kind != y[i].kind || (x[i].kind && x[i].i != y[i].i))
            return x[i].kind != y[i].kind ? (x[i].kind > y[i].kind) - (x[i].kind < y[i].kind) : x[i].i < y[i].i ? -1 : 1;
    return (x[TOTAL].i < y[TOTAL].i) - (x[TOTAL].i > y[TOTAL].i);
}

static bool fill(const struct trace *t, const void *args, struct table *out, struct err *e)
{
    (void)args;
    if (!trace_has(t, EV_KERNEL) && !trace_has(t, EV_COMM))
        return fail(e, ERR_UNDECIDED, "%s: no kernels or collectives were recorded", t->files[0].name);
    return kernels_in_window(t, out, e);
}

static void finish(const struct trace *t, const void *args, struct table *out)
{
    (void)args;
    struct collectives c;
    struct groups g = {0};
    struct sum *sums = NULL;
    size_t cap = 0;
    bool varying = false;
    collectives_find(t, &c);
    for (size_t i = 0; i < c.n; i++) {
        size_t k = groups_at(&g, c.v[i].lane, c.v[i].group, c.v[i].op, 0);
        if (k >= cap) {
            size_t was = cap;
            sums = array_grow(sums, &cap, k + 1, sizeof *sums);
            memset(sums + was, 0, (cap - was) * sizeof *sums);
        }
        count(&c, &c.v[i], &sums[k]);
        varying |= c.v[i].transfer_ns >= 0 && strcmp(intern_str(&c.names, c.v[i].op), "all_to_all_v") == 0;
    }
    for (size_t i = 0; i < g.n; i++)
        fill_row(t, &c, g.key[i], &sums[i], out);
    if (!c.n)
        table_note(out, "no collective was found among the kernels; --patterns FILE names custom ones");
    for (size_t i = 0; i < t->nfiles; i++)
        if (tracedata_meta_get(&t->files[i].d, "comm_data"))
            table_note(out, "%s: %s", t->files[i].name, tracedata_meta_get(&t->files[i].d, "comm_data"));
    runs_note(t, out);
    if (varying)
        table_note(out, "all_to_all_v: ranks send different amounts, so transfer_ns is at least, wait_ns at most what is shown");
    free(sums);
    groups_free(&g);
    collectives_free(&c);
}

const struct table_desc table_comm = {
    .name = "comm",
    .title = "Collectives by process group and operation",
    .what = "One row per device, process group and operation. The transfer of a call is its shortest duration over the ranks of the group; "
            "what a rank spent beyond that it waited for the last one. Known only where all ranks are given: call by call where calls have "
            "sequence numbers, else where all agree in names and counts; sizes agree, too. A send is held against the receive of its peer. "
            "Without group data all devices whose sequences agree are one job, also of files that do not say their rank; of a rank that is "
            "given twice the second file is another run.",
    .columns =
        (const struct column[]){
            {"rank", UNIT_ID, .what = "rank of the job; empty where the trace does not say"},
            {"device", UNIT_ID, .what = "device number in its process"},
            {"group", UNIT_TEXT, .what = "process group; our runs: cp the mode's collectives, tp, grad"},
            {"op", UNIT_TEXT, .what = "all_gather, all_to_all_v ...; empty where a generic kernel does not tell"},
            {"calls", UNIT_COUNT, .what = "calls that touch the window"},
            {"bytes", UNIT_BYTES, .what = "sent by the rank in our own runs, else the message size in the trace"},
            {"total_ns", UNIT_NS, .what = "sum of the calls' durations"},
            {"wait_ns", UNIT_NS, .what = "total_ns less transfer_ns: waiting for the last rank"},
            {"transfer_ns", UNIT_NS, .what = "sum over calls of the shortest duration over ranks"},
            {"busbw_gbps", UNIT_REAL, .what = "bus bandwidth over transfer_ns, 10^9 bytes a second, bytes counted as in nccl-tests"},
            COLUMNS_SOURCE,
            {0},
        },
    .worst = "wait_ns",
    .spares = SIDE_SYNC | SIDE_KERNEL | SIDE_COPY | SIDE_RANGE | ROWS_ANY,
    .fill = fill,
    .joins = true,
    .finish = finish,
    .order = in_order,
};
