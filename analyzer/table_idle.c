/* table_idle.c - the idle time of each device by its cause and call site; the causes add up to span less busy exactly. */
#include "analyzer/groups.h"
#include "analyzer/idle.h"
#include "analyzer/kernelrows.h"
#include "analyzer/nest.h"
#include "schemas/tracefile.h"

#include <stdlib.h>
#include <string.h>

enum { RANK, DEVICE, CAUSE, SITE, GAPS, IDLE, SHARE };

struct sum {
    int64_t gaps, ns;
    uint32_t last; /* 1 + gap counted last */
};

static struct sum *tally(const struct idles *x, struct groups *g, int64_t *idle)
{
    struct sum *v = NULL;
    size_t cap = 0;
    for (size_t i = 0; i < x->n; i++) {
        const struct idle_piece *p = &x->v[i];
        size_t at = groups_at(g, p->lane, p->cause, p->site, 0);
        if (at >= cap) {
            size_t was = cap;
            v = array_grow(v, &cap, at + 1, sizeof *v);
            memset(v + was, 0, (cap - was) * sizeof *v);
        }
        v[at].gaps += v[at].last != p->gap + 1;
        v[at].last = p->gap + 1;
        v[at].ns += p->end - p->start;
        idle[p->lane] += p->end - p->start;
    }
    return v;
}

/* By rank, device, then the most time first. */
static int in_order(const struct cell *x, const struct cell *y)
{
    for (int i = RANK; i <= DEVICE; i++)
        if (x[i].kind != y[i].kind || (x[i].kind && x[i].i != y[i].i))
            return x[i].kind != y[i].kind ? (x[i].kind > y[i].kind) - (x[i].kind < y[i].kind) : x[i].i < y[i].i ? -1 : 1;
    return (x[IDLE].i < y[IDLE].i) - (x[IDLE].i > y[IDLE].i);
}

static void fill_row(const struct trace *t, const struct idles *x, const uint32_t key[4], const struct sum *s, int64_t idle, struct table *out)
{
    const struct lane *l = &t->lanes[key[0]];
    struct cell *row = trace_row(t, l->file, out);
    row[RANK] = cell_id(l->rank);
    row[DEVICE] = cell_id(l->device);
    row[CAUSE] = cell_text(idle_cause_name((enum idle_cause)key[1]));
    row[SITE] = cell_text(key[2] ? table_text(out, "%s", intern_str(&x->names, key[2])) : NULL);
    row[GAPS] = cell_int(s->gaps);
    row[IDLE] = cell_int(s->ns);
    row[SHARE] = cell_share(s->ns, idle);
}

static bool is_graph_launch(const struct trace_file *f, const struct event *ev)
{
    return ev->kind == EV_RUNTIME && ev->correlation >= 0 && strstr(trace_string(f, ev->name), "GraphLaunch");
}

/* Profilers have recorded the kernels of one replay of many: then a device is called idle that was not. */
static void note_graphs(const struct trace_file *f, struct table *out)
{
    struct arena a = {0};
    const struct tracedata *d = &f->d;
    size_t launches = 0, empty = 0;
    for (size_t i = 0; i < d->n; i++)
        launches += is_graph_launch(f, &d->ev[i]);
    uint32_t *call = launches ? launches_find(f, &a) : NULL;
    uint8_t *has = launches ? arena_array(&a, uint8_t, d->n) : NULL;
    for (size_t i = 0; launches && i < d->n; i++)
        if (call[i])
            has[call[i] - 1] = 1;
    for (size_t i = 0; launches && i < d->n; i++)
        empty += is_graph_launch(f, &d->ev[i]) && !has[i];
    if (empty)
        table_note(out,
                   "%s: %zu of %zu graph launches have no kernel in the trace: replays are under-recorded, and the device was less idle than this",
                   f->name, empty, launches);
    arena_free(&a);
}

static bool fill(const struct trace *t, const void *args, struct table *out, struct err *e)
{
    (void)args;
    size_t rows = 0;
    if (!kernels_in_window(t, out, e) || !kernels_known(t, e))
        return false;
    for (size_t i = 0; i < t->nlanes; i++)
        rows += t->lanes[i].n;
    if (!rows)
        return fail(e, ERR_UNDECIDED, "%s: no GPU rows in this trace", t->files[0].name);
    struct arena a = {0};
    struct idles x;
    struct groups g = {0};
    int64_t *idle = arena_array(&a, int64_t, t->nlanes);
    idles_find(t, &x);
    struct sum *sums = tally(&x, &g, idle);
    bool unknown = false;
    for (size_t i = 0; i < g.n; i++) {
        fill_row(t, &x, g.key[i], &sums[i], idle[g.key[i][0]], out);
        unknown |= g.key[i][1] == IDLE_UNKNOWN;
    }
    for (size_t i = 0; i < t->nfiles; i++)
        note_graphs(&t->files[i], out);
    if (unknown)
        table_note(out, "no cause: the trace has no host rows of that rank to tell");
    free(sums);
    groups_free(&g);
    idles_free(&x);
    arena_free(&a);
    return true;
}

const struct table_desc table_idle = {
    .name = "idle",
    .title = "Why each device was idle",
    .what = "Each ns in which a device did no work (span less busy, as in summary) is charged to one cause; the causes add up exactly. sync: from "
            "the drain that a blocking call waited for to the next work of its thread, or the thread that launches the next work is blocked; "
            "site is the call site. event: the next work is launched, and its stream was told to wait for an event of another stream. launch: "
            "the host is busy and not blocked, or the launch is on its way; site is the operator, else the range, that launches. none: no work "
            "comes any more, or the launching thread is in nothing that the trace shows (code between two of its rows up to 1 ms apart counts as "
            "busy). No cause: no host rows in the trace. A copy is work: no device is idle while one runs.",
    .columns =
        (const struct column[]){
            {"rank", UNIT_ID, .what = "rank of the job; empty where the trace does not say"},
            {"device", UNIT_ID, .what = "device number in its process"},
            {"cause", UNIT_TEXT, .what = "sync, launch, event, none"},
            {"site", UNIT_TEXT, .what = "of a sync the call site, of a launch the operator or range"},
            {"gaps", UNIT_COUNT, .what = "gaps that are this in part or whole; a gap may have several causes"},
            {"idle_ns", UNIT_NS, .what = "idle time of this cause and site"},
            {"share_pct", UNIT_PERCENT, .base = "the device's idle time", .what = "idle_ns of the device's idle time"},
            COLUMNS_SOURCE,
            {0},
        },
    .worst = "idle_ns",
    .spares = SIDE_KERNEL | SIDE_COMM | SIDE_RANGE,
    .fill = fill,
    .order = in_order,
};
