/* table_summary.c - one row a device: how long the window is, how much of it the device worked, and on what.
 *
 *   busy      |#### ####### ###|   union over streams of kernels, collectives, copies, fills; never a sum
 *   compute   |##   ####    ## |   kernels that are not collectives
 *   comm      |  ##   ##### #  |   overlap = both at once; exposed = comm less overlap
 */
#include "analyzer/collectives.h"
#include "analyzer/kernelrows.h"
#include "schemas/tracefile.h"

enum {
    RANK,
    DEVICE,
    SPAN,
    BUSY,
    BUSY_PCT,
    KERNELS,
    COMM_KERNELS,
    STREAMS,
    KERNEL_SUM,
    KERNEL_UNION,
    COMM_SUM,
    COMM_UNION,
    COMPUTE_SUM,
    COMPUTE_UNION,
    OVERLAP,
    EXPOSED,
    MEMCPY,
    MEMSET,
    BAD_ROWS,
    BACKEND,
    TRACE,
    USEFUL,
    COMM_WAIT,
};

/* Which work the unions are of. */
enum { ALL, KERNEL, COMM, COMPUTE, USEFUL_WORK, UNIONS };
static const unsigned kinds[UNIONS] = {WORK_ANY, WORK_KERNEL, WORK_COMM, WORK_COMPUTE, WORK_USEFUL};

struct sums {
    int64_t kernels, comms, streams;
    int64_t comm_ns, compute_ns, copy_ns, set_ns;
    int64_t union_ns[UNIONS], until[UNIONS]; /* rows come by start: a union is known up to its last end */
};

static void cover(struct sums *s, struct ivlset window, enum work work, const struct event *ev, int64_t ns)
{
    for (int u = 0; u < UNIONS; u++) {
        if (!(kinds[u] & work) || ev->end <= s->until[u])
            continue;
        s->union_ns[u] += ev->start >= s->until[u] ? ns : ivl_within(window, s->until[u], ev->end);
        s->until[u] = ev->end;
    }
}

static struct sums add_up(const struct trace *t, const struct lane *l, struct arena *a)
{
    const struct trace_file *f = &t->files[l->file];
    uint8_t *seen = arena_array(a, uint8_t, f->d.nstreams);
    struct sums s = {0};
    for (int u = 0; u < UNIONS; u++)
        s.until[u] = INT64_MIN;
    for (size_t i = 0; i < l->n; i++) {
        const struct event *ev = &f->d.ev[l->ev[i]];
        if (!ivl_touches(l->window, ev->start, ev->end))
            continue;
        int64_t ns = ivl_within(l->window, ev->start, ev->end);
        enum work work = trace_work(f, ev);
        cover(&s, l->window, work, ev, ns);
        s.comm_ns += work == WORK_COMM ? ns : 0;
        s.compute_ns += work == WORK_COMPUTE ? ns : 0;
        s.copy_ns += work == WORK_COPY ? ns : 0;
        s.set_ns += work == WORK_SET ? ns : 0;
        s.comms += work == WORK_COMM;
        if (work & WORK_KERNEL) {
            s.kernels++;
            s.streams += !seen[ev->stream];
            seen[ev->stream] = 1;
        }
    }
    return s;
}

static void fill_lane(const struct trace *t, const struct lane *l, struct table *out)
{
    struct arena a = {0};
    struct sums s = add_up(t, l, &a);
    int64_t span = ivl_len(l->window), busy = s.union_ns[ALL], kernel = s.union_ns[KERNEL];
    int64_t comm = s.union_ns[COMM], compute = s.union_ns[COMPUTE];
    int64_t overlap = compute + comm - kernel; /* what both cover is in the two unions twice, in theirs once */
    struct cell *row = trace_row(t, l->file, out);
    row[RANK] = cell_id(l->rank);
    row[DEVICE] = cell_id(l->device);
    row[SPAN] = cell_int(span);
    row[BUSY] = cell_int(busy);
    row[BUSY_PCT] = cell_share(busy, span);
    row[KERNELS] = cell_int(s.kernels);
    row[COMM_KERNELS] = cell_int(s.comms);
    row[STREAMS] = cell_int(s.streams);
    row[KERNEL_SUM] = cell_int(s.compute_ns + s.comm_ns);
    row[KERNEL_UNION] = cell_int(kernel);
    row[COMM_SUM] = cell_int(s.comm_ns);
    row[COMM_UNION] = cell_int(comm);
    row[COMPUTE_SUM] = cell_int(s.compute_ns);
    row[COMPUTE_UNION] = cell_int(compute);
    row[OVERLAP] = cell_int(overlap);
    row[EXPOSED] = cell_int(comm - overlap);
    row[MEMCPY] = cell_int(s.copy_ns);
    row[MEMSET] = cell_int(s.set_ns);
    row[BAD_ROWS] = cell_int((int64_t)l->bad_rows);
    row[USEFUL] = cell_int(s.union_ns[USEFUL_WORK]);
    row[COMM_WAIT] = cell_int(1 + (l - t->lanes));
    arena_free(&a);
}

static bool fill(const struct trace *t, const void *args, struct table *out, struct err *e)
{
    (void)args;
    size_t rows = 0;
    for (size_t i = 0; i < t->nlanes; i++)
        rows += t->lanes[i].n;
    if (!rows)
        return fail(e, ERR_UNDECIDED, "%s: no GPU rows in this trace", t->files[0].name);
    if (!kernels_in_window(t, out, e))
        return false;
    for (size_t i = 0; i < t->nlanes; i++)
        fill_lane(t, &t->lanes[i], out);
    for (size_t i = 0; i < t->calls->n; i++)
        t->calls->v[i].c.row = t->calls->v[i].counts ? 1 + t->calls->v[i].c.lane : 0;
    return true;
}

static void finish(const struct trace *t, const void *args, struct table *out)
{
    int64_t comms = 0;
    (void)t;
    (void)args;
    for (size_t i = 0; i < out->nrows; i++)
        comms += table_at(out, i)[COMM_KERNELS].i;
    if (!comms)
        table_note(out, "no collective was found among the kernels; --patterns FILE names custom ones");
}

const struct table_desc table_summary = {
    .name = "summary",
    .title = "Where the time of each device went",
    .what = "One row a device. Busy is the length of the union of its kernels, collectives, copies and fills over all streams, within the "
            "window; sums are sums of durations and may exceed it. Waits, annotations and overhead rows are not work. A collective that "
            "spins for a peer is busy; useful_busy_ns leaves collectives out.",
    .columns =
        (const struct column[]){
            {"rank", UNIT_ID, .what = "rank of the job; empty where the trace does not say"},
            {"device", UNIT_ID, .what = "device number in its process; rank is not device"},
            {"span_ns", UNIT_NS, .what = "length of the window"},
            {"busy_ns", UNIT_NS, .what = "union of all work over streams"},
            {"busy_pct", UNIT_PERCENT, .base = "span_ns", .what = "busy_ns of span_ns"},
            {"kernels", UNIT_COUNT, .what = "kernels, collectives included"},
            {"comm_kernels", UNIT_COUNT, .what = "collectives and point-to-point transfers"},
            {"streams", UNIT_COUNT, .what = "streams on which kernels ran"},
            {"kernel_sum_ns", UNIT_NS, .what = "sum of all kernels' durations"},
            {"kernel_union_ns", UNIT_NS, .what = "union of all kernels"},
            {"comm_sum_ns", UNIT_NS, .what = "sum of the collectives' durations"},
            {"comm_union_ns", UNIT_NS, .what = "union of the collectives"},
            {"compute_sum_ns", UNIT_NS, .what = "sum of the other kernels' durations"},
            {"compute_union_ns", UNIT_NS, .what = "union of the other kernels"},
            {"overlap_ns", UNIT_NS, .what = "collectives and other kernels at once"},
            {"exposed_comm_ns", UNIT_NS, .what = "comm_union_ns less overlap_ns"},
            {"memcpy_ns", UNIT_NS, .what = "sum of copies"},
            {"memset_ns", UNIT_NS, .what = "sum of fills"},
            {"bad_rows", UNIT_COUNT, .what = "impossible rows of this device, left out"},
            COLUMNS_SOURCE,
            {"useful_busy_ns", UNIT_NS, .what = "union of other kernels, copies and fills"},
            {"comm_wait_ns", UNIT_NS, .what = "of comm_sum_ns: waiting for the last rank; empty where not every call could be matched over ranks"},
            {0},
        },
    .worst = "useful_busy_ns", /* the rank that the others wait for */
    .spares = SIDE_SYNC | SIDE_KERNEL | SIDE_COPY | SIDE_RANGE | ROWS_ANY,
    .fill = fill,
    .joins = true,
    .waits = "comm_wait_ns",
    .finish = finish,
};
