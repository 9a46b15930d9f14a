/* table_ranges.c - the tree of ranges: time on the host, device work that was launched inside, syncs inside.
 *
 *   host    |--------- outer ---------|        path "outer", "outer/inner"
 *             |-- inner --|
 *               launch  launch   launch
 *   device           |###|  |###|  |###|       inner: the first two; outer: all three
 *
 * Push/pop ranges nest per thread and domain. A start/end range stands apart: it has no outer and is nobody's outer, but
 * what its thread does meanwhile is inside it too.
 */
#include "analyzer/groups.h"
#include "analyzer/nest.h"
#include "analyzer/ranges.h"
#include "analyzer/waits.h"
#include "schemas/tracefile.h"

#include <stdlib.h>
#include <string.h>

enum { RANK, PATH, CALLS, HOST, GPU, OPS, WAITS };

#define MARK_PREFIX "cpscope." /* of marker.h */

struct sum {
    int64_t calls, host, gpu, until, ops, waits; /* until: end of the device work counted so far */
};

/* One file. A path is a node: (1 + parent, name, domain). What is open at a host row is a chain: (1 + chain below, node). */
struct walk {
    const struct trace *t;
    const struct trace_file *f;
    struct groups nodes, chains;
    uint32_t *plain; /* by string id: 1 + id in texts */
    struct intern texts;
    uint32_t *chain_of; /* by row: 1 + chain; 0: in no range */
    uint32_t *node_of;  /* by row: 1 + node of a range */
    uint32_t *rank_of;  /* by thread: entry of trace.ranks */
    const uint32_t *launched;
    struct sum **sums; /* by rank: by node */
    struct nest open;
    bool each;
};

static const struct ev_range *range_of(const struct walk *w, uint32_t row)
{
    static const struct ev_range plain = {.flavour = RANGE_PUSH_POP, .index = -1};
    const struct ev_range *r = ev_range_of(&w->f->d, &w->f->d.ev[row]);
    return r ? r : &plain;
}

static uint32_t plain_text(struct walk *w, uint32_t name)
{
    if (!w->plain[name]) {
        const char *s = trace_string(w->f, name);
        w->plain[name] = 1 + intern_id_n(&w->texts, s, w->each ? strlen(s) : range_plain(s));
    }
    return w->plain[name] - 1;
}

static uint32_t node_of(struct walk *w, uint32_t row)
{
    const struct event *ev = w->f->d.ev;
    const struct ev_range *r = range_of(w, row);
    uint32_t parent = 0;
    for (size_t i = w->open.n; !parent && r->flavour == RANGE_PUSH_POP && i-- > 0;) {
        const struct ev_range *o = range_of(w, w->open.v[i]);
        if (o->flavour == RANGE_PUSH_POP && o->domain == r->domain && ev[w->open.v[i]].end >= ev[row].end)
            parent = w->node_of[w->open.v[i]];
    }
    return (uint32_t)groups_at(&w->nodes, parent, plain_text(w, ev[row].name), r->domain, 0);
}

static bool chain_has(const struct walk *w, uint32_t chain, uint32_t node)
{
    for (; chain; chain = w->chains.key[chain - 1][0])
        if (w->chains.key[chain - 1][1] == node)
            return true;
    return false;
}

/* Does each open range enclose the one above it, and the uppermost the row? */
static bool is_nested(const struct walk *w, uint32_t row)
{
    const struct event *ev = w->f->d.ev;
    int64_t end = ev[row].end;
    for (size_t i = w->open.n; i-- > 0; end = ev[w->open.v[i]].end)
        if (ev[w->open.v[i]].end < end || ev[w->open.v[i]].end <= ev[row].start)
            return false;
    return true;
}

/* 1 + chain of the open ranges that enclose the row. */
static uint32_t chain_at(struct walk *w, uint32_t row)
{
    const struct event *ev = w->f->d.ev;
    if (is_nested(w, row))
        return w->open.n ? w->chain_of[w->open.v[w->open.n - 1]] : 0;
    uint32_t chain = 0; /* some range only overlaps the row: take them one by one */
    for (size_t i = 0; i < w->open.n; i++) {
        uint32_t r = w->open.v[i], node = w->node_of[r] - 1;
        if (ev[r].end >= ev[row].end && ev[r].end > ev[row].start && !chain_has(w, chain, node))
            chain = 1 + (uint32_t)groups_at(&w->chains, chain, node, 0, 0);
    }
    return chain;
}

/* Not a mark: a point, or one of ours that a format without marks turned into a range. */
static bool is_range(const struct walk *w, uint32_t row)
{
    const struct event *ev = &w->f->d.ev[row];
    if (ev->kind != EV_RANGE || range_of(w, row)->flavour == RANGE_MARK)
        return false;
    return ev->end > ev->start || strncmp(trace_string(w->f, ev->name), MARK_PREFIX, sizeof MARK_PREFIX - 1) != 0;
}

/* A range's chain ends in itself, when all that is open below encloses it. */
static void open_range(struct walk *w, uint32_t row)
{
    uint32_t below = chain_at(w, row), node = node_of(w, row);
    w->node_of[row] = 1 + node;
    w->chain_of[row] = chain_has(w, below, node) ? below : 1 + (uint32_t)groups_at(&w->chains, below, node, 0, 0);
    nest_push(&w->open, row);
}

static void walk_thread(struct walk *w, uint32_t rank, const struct thread_events *th)
{
    w->open.n = 0;
    w->rank_of[th->thread] = rank;
    for (size_t i = 0; i < th->n; i++) {
        nest_move(&w->open, w->f->d.ev, th->ev[i]);
        if (is_range(w, th->ev[i]))
            open_range(w, th->ev[i]);
        else
            w->chain_of[th->ev[i]] = chain_at(w, th->ev[i]);
    }
}

static void sum_ranges(struct walk *w, uint32_t rank)
{
    const struct trace_rank *r = &w->t->ranks[rank];
    for (size_t i = 0; i < r->n; i++) {
        const struct event *ev = &w->f->d.ev[r->ev[i]];
        if (!w->node_of[r->ev[i]] || !ivl_touches(r->window, ev->start, ev->end))
            continue;
        struct sum *s = &w->sums[rank][w->node_of[r->ev[i]] - 1];
        s->calls++;
        s->host += ivl_within(r->window, ev->start, ev->end);
    }
}

/* Device work by the ranges that it was launched in, each ns of a device once per path: rows come by start. */
static bool sum_lane(struct walk *w, const struct lane *l)
{
    bool linked = false;
    for (size_t r = 0; r < w->t->nranks; r++)
        for (size_t i = 0; w->sums[r] && i < w->nodes.n; i++)
            w->sums[r][i].until = INT64_MIN;
    for (size_t i = 0; i < l->n; i++) {
        const struct event *ev = &w->f->d.ev[l->ev[i]];
        uint32_t host = w->launched[l->ev[i]];
        linked |= host != 0;
        struct sum *sums = host ? w->sums[w->rank_of[w->f->d.ev[host - 1].thread]] : NULL;
        for (uint32_t c = sums ? w->chain_of[host - 1] : 0; c; c = w->chains.key[c - 1][0]) {
            struct sum *s = &sums[w->chains.key[c - 1][1]];
            int64_t from = ev->start > s->until ? ev->start : s->until;
            if (ev->end > from) {
                s->gpu += ivl_within(l->window, from, ev->end);
                s->until = ev->end;
            }
        }
    }
    return linked;
}

static void sum_waits(struct walk *w, const struct waits *v, bool op)
{
    for (size_t i = 0; i < v->n; i++) {
        struct sum *sums = w->sums[v->v[i].rank];
        if (w->t->ranks[v->v[i].rank].file != (uint32_t)(w->f - w->t->files))
            continue;
        for (uint32_t c = w->chain_of[v->v[i].event]; c; c = w->chains.key[c - 1][0]) {
            sums[w->chains.key[c - 1][1]].ops += op;
            sums[w->chains.key[c - 1][1]].waits += !op;
        }
    }
}

/* domain/outer/inner of a node; lives in the table. */
static const char *path_text(const struct walk *w, uint32_t node, struct table *out)
{
    const uint32_t *k = w->nodes.key[node];
    const char *name = intern_str(&w->texts, k[1]);
    if (k[0])
        return table_text(out, "%s/%s", path_text(w, k[0] - 1, out), name);
    return k[2] ? table_text(out, "%s/%s", trace_string(w->f, k[2]), name) : table_text(out, "%s", name);
}

struct ledgers {
    struct waits op, wait;
};

static void fill_rank(const struct walk *w, uint32_t rank, bool linked, const struct ledgers *l, struct table *out)
{
    for (uint32_t i = 0; i < w->nodes.n; i++) {
        const struct sum *s = &w->sums[rank][i];
        if (!s->calls)
            continue;
        struct cell *row = trace_row(w->t, w->t->ranks[rank].file, out);
        row[RANK] = cell_id(w->t->ranks[rank].rank);
        row[PATH] = cell_text(path_text(w, i, out));
        row[CALLS] = cell_int(s->calls);
        row[HOST] = cell_int(s->host);
        if (linked)
            row[GPU] = cell_int(s->gpu);
        if (l->op.recorded)
            row[OPS] = cell_int(s->ops);
        if (l->wait.recorded)
            row[WAITS] = cell_int(s->waits);
    }
}

static void fill_file(struct walk *w, const struct ledgers *l, struct arena *a, struct table *out)
{
    const struct tracedata *d = &w->f->d;
    uint32_t file = (uint32_t)(w->f - w->t->files);
    bool linked = false;
    w->chain_of = arena_array(a, uint32_t, d->n + 1);
    w->node_of = arena_array(a, uint32_t, d->n + 1);
    w->plain = arena_array(a, uint32_t, d->strings.n + 1);
    w->rank_of = arena_array(a, uint32_t, d->nthreads);
    w->sums = arena_array(a, struct sum *, w->t->nranks);
    w->launched = launches_of(w->f);
    for (uint32_t r = 0; r < w->t->nranks; r++)
        for (size_t i = 0; w->t->ranks[r].file == file && i < w->t->ranks[r].nthreads; i++)
            walk_thread(w, r, &w->t->ranks[r].threads[i]);
    for (uint32_t r = 0; r < w->t->nranks; r++)
        if (w->t->ranks[r].file == file) {
            w->sums[r] = arena_array(a, struct sum, w->nodes.n + 1);
            sum_ranges(w, r);
        }
    for (size_t i = 0; i < w->t->nlanes; i++)
        linked |= w->t->lanes[i].file == file && sum_lane(w, &w->t->lanes[i]);
    sum_waits(w, &l->op, true);
    sum_waits(w, &l->wait, false);
    for (uint32_t r = 0; r < w->t->nranks; r++)
        if (w->t->ranks[r].file == file)
            fill_rank(w, r, linked, l, out);
}

/* By rank, then by path: an outer range before its inner ones. */
static int in_order(const struct cell *x, const struct cell *y)
{
    if (x[RANK].kind != y[RANK].kind || (x[RANK].kind && x[RANK].i != y[RANK].i))
        return x[RANK].kind != y[RANK].kind ? (x[RANK].kind > y[RANK].kind) - (x[RANK].kind < y[RANK].kind) : x[RANK].i < y[RANK].i ? -1 : 1;
    return strcmp(x[PATH].s, y[PATH].s);
}

static bool fill(const struct trace *t, const void *args, struct table *out, struct err *e)
{
    const struct ranges_args *o = args;
    struct ledgers l;
    if (!trace_has(t, EV_RANGE))
        return fail(e, ERR_UNDECIDED, "%s: no ranges in this trace", t->files[0].name);
    waits_find(t, SITE_FUNCTION, &l.wait);
    waits_find_ops(t, SITE_FUNCTION, &l.op);
    for (size_t i = 0; i < t->nfiles; i++) {
        struct arena a = {0};
        struct walk w = {.t = t, .f = &t->files[i], .each = o && o->each};
        intern_init(&w.texts);
        fill_file(&w, &l, &a, out);
        groups_free(&w.nodes);
        groups_free(&w.chains);
        intern_free(&w.texts);
        nest_free(&w.open);
        arena_free(&a);
    }
    waits_free(&l.op);
    waits_free(&l.wait);
    return true;
}

static const struct opt opts[] = {
    {OPT_FLAG, "each", offsetof(struct ranges_args, each), "keep numbers apart: layer#3 and layer#4 are two paths"},
    {0},
};

const struct table_desc table_ranges = {
    .name = "ranges",
    .title = "Ranges: host time, device work, syncs",
    .what = "One row per rank and path: NVTX ranges and user annotations. The path is domain/outer/inner, nesting per thread and domain; the "
            "default domain has no part. Numbers at the end of a name are dropped, so that layer#3 and layer#4 are one path, unless --each is "
            "given. Start/end ranges stand apart from the nesting. Marks are no ranges. All numbers include inner ranges, so rows must not be "
            "added up over levels.",
    .columns =
        (const struct column[]){
            {"rank", UNIT_ID, .what = "rank of the host thread"},
            {"path", UNIT_TEXT, .what = "domain/outer/inner"},
            {"calls", UNIT_COUNT, .what = "ranges that touch the window"},
            {"host_ns", UNIT_NS, .what = "sum of their durations on the host, within the window"},
            {"gpu_ns", UNIT_NS,
             .what = "device work launched inside: union over the streams of a device, added over devices; empty without launch rows"},
            {"op_syncs", UNIT_COUNT, .what = "operators inside that read the device back (op ledger)"},
            {"wait_syncs", UNIT_COUNT, .what = "blocking API calls inside (wait ledger)"},
            COLUMNS_SOURCE,
            {0},
        },
    .worst = "host_ns",
    .opts = opts,
    .args_size = sizeof(struct ranges_args),
    .spares = SIDE_KERNEL | SIDE_COMM,
    .fill = fill,
    .order = in_order,
};
