/* table_cp.c - context parallelism layer by layer: compute, exchanges, what waits between them, padding, caches.
 *
 *   layer#7 on the device   |compute|halo|compute|state|   |compute|swap|      bubble: idle between its first and last row
 *
 * Device rows belong to the layer, micro-batch and phase that launched them; several steps of the window add up.
 */
#include "analyzer/classes.h"
#include "analyzer/collectives.h"
#include "analyzer/commop.h"
#include "analyzer/cpwalk.h"
#include "analyzer/nest.h"
#include "analyzer/ringsteps.h"
#include "analyzer/units.h"
#include "schemas/marker.h"
#include "schemas/tracefile.h"

#include <stdlib.h>
#include <string.h>

enum { RANK, LAYER, MICROBATCH, PHASE, KIND, CALLS, TIME, WORK, PADDING, HITS, MISSES, BACKEND, TRACE, WAIT };

struct sum {
    int64_t calls, time, comms;   /* comms: of the calls, collectives */
    int64_t work, tokens, padded; /* of batch marks */
    int64_t hits, misses;
    int64_t marks;
    bool cache;
};

/* A row: (rank, 1 + layer, 1 + micro-batch, kind << 2 | phase). */
struct look {
    const struct trace *t;
    const struct trace_file *f;
    uint32_t file;
    struct cpwalk walk;
    struct groups keys, instances; /* instances: lane, layer range, key */
    struct sum *v;
    size_t cap;
    struct ivl *extent; /* by instance */
    size_t extent_cap;
    struct intern kinds;
    const uint32_t *launched;
    uint32_t *key_of;  /* by device row: 1 + key */
    uint32_t *rank_of; /* by thread */
    bool by_ring_step;
    struct ring_row *ring; /* of the lane at hand; pass: number of the instance */
    size_t nring, ring_cap;
    bool any;
};

static size_t key_at(struct look *x, uint32_t rank, const struct cp_place *p, const char *kind)
{
    uint32_t k = intern_id(&x->kinds, kind) << 2 | (uint32_t)p->phase;
    size_t at = groups_at(&x->keys, rank, (uint32_t)(p->layer + 1), (uint32_t)(p->microbatch + 1), k), was = x->cap;
    if (at >= was) {
        x->v = array_grow(x->v, &x->cap, at + 1, sizeof *x->v);
        memset(x->v + was, 0, (x->cap - was) * sizeof *x->v);
    }
    return at;
}

/* Valid until the next key is made. */
static struct sum *sum_at(struct look *x, uint32_t rank, const struct cp_place *p, const char *kind)
{
    size_t at = key_at(x, rank, p, kind);
    return &x->v[at];
}

/* Of a collective that is no part of the layer's own exchanges: its operation. */
static const char *operation(const struct look *x, const struct event *ev)
{
    const struct ev_comm *m = ev_comm_of(&x->f->d, ev);
    const char *op = commop_of(m && m->function ? trace_string(x->f, m->function) : trace_string(x->f, ev->name));
    bool ring = op && (strcmp(op, "send") == 0 || strcmp(op, "recv") == 0 || strcmp(op, "send_recv") == 0);
    return ring ? "ring" : op ? op : "comm";
}

static const char *kind_of(const struct look *x, const struct event *ev, enum cp_part part)
{
    static const char *const exchanges[] = {[CP_HALO] = "halo", [CP_STATE] = "state", [CP_SWAP] = "swap", [CP_ROUTE] = "route"};
    enum work work = trace_work(x->f, ev);
    if (part == CP_ROUTE)
        return exchanges[part];
    if (work & (WORK_COPY | WORK_SET))
        return "copy";
    if (work == WORK_COMPUTE)
        return part == CP_SWAP ? "pack" : "compute";
    return part != CP_NO_PART ? exchanges[part] : operation(x, ev);
}

static size_t stretch(struct look *x, uint32_t lane, const struct cp_place *p, uint32_t key, const struct event *ev)
{
    size_t at = groups_at(&x->instances, lane, p->instance, key, 0), was = x->extent_cap;
    if (at >= was) {
        x->extent = array_grow(x->extent, &x->extent_cap, at + 1, sizeof *x->extent);
        for (size_t i = was; i < x->extent_cap; i++)
            x->extent[i] = (struct ivl){INT64_MAX, INT64_MIN};
    }
    x->extent[at].start = ev->start < x->extent[at].start ? ev->start : x->extent[at].start;
    x->extent[at].end = ev->end > x->extent[at].end ? ev->end : x->extent[at].end;
    return at;
}

/* Attention and the exchanges that feed it. */
static void take_ring_row(struct look *x, size_t pass, const char *kind, const struct event *ev)
{
    const struct ev_comm *m = ev_comm_of(&x->f->d, ev);
    bool exchange = strcmp(kind, "ring") == 0;
    if (exchange || (ev->kind == EV_KERNEL && x->f->class[ev->name] == KCLASS_ATTENTION))
        ARRAY_PUSH(x->ring, x->nring, x->ring_cap,
                   ((struct ring_row){(uint32_t)pass, exchange, m && m->group_size > 0 ? m->group_size : -1, ev->start, ev->end, 0}));
}

static void take_row(struct look *x, uint32_t lane, uint32_t row)
{
    const struct lane *l = &x->t->lanes[lane];
    const struct event *ev = &x->f->d.ev[row];
    uint32_t host = x->launched[row];
    struct cp_place p = host ? cpwalk_place(&x->walk, host - 1) : (struct cp_place){.layer = -1, .microbatch = -1};
    if ((p.layer < 0 && p.microbatch < 0) || !ivl_touches(l->window, ev->start, ev->end))
        return;
    uint32_t rank = x->rank_of[x->f->d.ev[host - 1].thread];
    const char *kind = kind_of(x, ev, p.part);
    size_t key = key_at(x, rank, &p, kind);
    x->key_of[row] = (uint32_t)key + 1;
    x->v[key].calls++;
    x->v[key].time += ivl_within(l->window, ev->start, ev->end);
    if (!p.instance)
        return;
    size_t pass = stretch(x, lane, &p, (uint32_t)key_at(x, rank, &p, "bubble"), ev);
    if (x->by_ring_step)
        take_ring_row(x, pass, kind, ev);
}

static void take_bubbles(struct look *x, uint32_t lane)
{
    struct arena a = {0};
    struct ivlset idle = trace_idle(x->t, &a, &x->t->lanes[lane]);
    for (size_t i = 0; i < x->instances.n; i++) {
        if (x->instances.key[i][0] != lane)
            continue;
        struct sum *s = &x->v[x->instances.key[i][2]];
        s->calls++;
        s->time += ivl_within(idle, x->extent[i].start, x->extent[i].end);
    }
    arena_free(&a);
}

/* One part of a ring step of the pass. */
static void add_ring(struct look *x, uint32_t pass, uint32_t step, const char *part, int64_t ns)
{
    struct arena a = {0};
    uint32_t k[4];
    memcpy(k, x->keys.key[x->instances.key[pass][2]], sizeof k);
    struct cp_place p = {.layer = (int64_t)k[1] - 1, .microbatch = (int64_t)k[2] - 1, .phase = (enum cp_phase)(k[3] & 3)};
    struct sum *s = sum_at(x, k[0], &p, arena_printf(&a, "ring#%u %s", step, part));
    s->calls++;
    s->time += ns;
    arena_free(&a);
}

/* Step by step: a step lasts from its first attention kernel to the next one's, the last one to the end of the ring's rows. */
static void take_pass(struct look *x, const struct lane *l, struct ivlset compute, const struct ring_row *v, size_t n)
{
    int64_t from = INT64_MIN, end = v[0].end;
    for (size_t i = 0; i < n; i++) {
        bool begins = !v[i].exchange && (from == INT64_MIN || v[i].step != v[i - 1].step);
        if (begins && from != INT64_MIN)
            add_ring(x, v[i].pass, v[i - 1].step, "bubble", ivl_within(l->window, from, v[i].start) - ivl_within(compute, from, v[i].start));
        from = begins ? v[i].start : from;
        end = v[i].end > end ? v[i].end : end;
        add_ring(x, v[i].pass, v[i].step, v[i].exchange ? "exchange" : "attention", ivl_within(l->window, v[i].start, v[i].end));
    }
    add_ring(x, v[0].pass, v[n - 1].step, "bubble", ivl_within(l->window, from, end) - ivl_within(compute, from, end));
}

static void take_rings(struct look *x, const struct lane *l)
{
    struct arena a = {0};
    struct ivlset compute = trace_union(x->t, &a, l, WORK_COMPUTE);
    ringsteps_sort(x->ring, x->nring);
    for (size_t i = 0, j; i < x->nring; i = j) {
        for (j = i + 1; j < x->nring && x->ring[j].pass == x->ring[i].pass;)
            j++;
        if (ringsteps_tell(x->ring + i, j - i))
            take_pass(x, l, compute, x->ring + i, j - i);
    }
    x->nring = 0;
    arena_free(&a);
}

/* Calls of a row are marked with its number: what they wait is known when all ranks are there. */
static void mark_calls(struct look *x)
{
    struct calls *k = x->t->calls;
    for (size_t i = 0; i < k->n; i++) {
        k->v[i].c.row = k->v[i].counts ? x->key_of[k->v[i].c.event] : 0;
        if (k->v[i].c.row)
            x->v[k->v[i].c.row - 1].comms++;
    }
}

static int64_t or_zero(int64_t v)
{
    return v > 0 ? v : 0;
}

static void take_batch(struct look *x, uint32_t rank, const struct cp_place *p, const char *mark)
{
    struct cp_place whole = {.layer = -1, .microbatch = p->microbatch};
    struct sum *s = sum_at(x, rank, &whole, "batch");
    int64_t work = mark_value(mark, "work"), cp = mark_value(mark, "cp");
    s->marks++;
    s->work += work > 0 && cp > 0 ? work / cp : 0;
    s->tokens += or_zero(mark_value(mark, "tokens"));
    s->padded += or_zero(mark_value(mark, "padded"));
}

static void take_cache(struct look *x, uint32_t rank, const struct cp_place *p, const char *mark)
{
    struct arena a = {0};
    struct cp_place whole = {.layer = -1, .microbatch = p->microbatch};
    const char *name = strstr(mark, " name=");
    name = name ? name + 6 : "";
    struct sum *s = sum_at(x, rank, &whole, arena_printf(&a, "cache %.*s", (int)strcspn(name, " "), name));
    int64_t hits = or_zero(mark_value(mark, "hits")), misses = or_zero(mark_value(mark, "misses"));
    misses += or_zero(mark_value(mark, "rebuilds")) + or_zero(mark_value(mark, "uncached"));
    s->cache = true;
    s->hits += hits;
    s->misses += misses;
    s->calls += hits + misses;
    arena_free(&a);
}

/* Marks and the micro-batches themselves. */
static void take_host(struct look *x, uint32_t rank)
{
    const struct trace_rank *r = &x->t->ranks[rank];
    for (size_t i = 0; i < r->n; i++) {
        const struct event *ev = &x->f->d.ev[r->ev[i]];
        if (ev->kind != EV_RANGE || !ivl_touches(r->window, ev->start, ev->end))
            continue;
        const char *name = trace_string(x->f, ev->name);
        struct cp_place p = cpwalk_place(&x->walk, r->ev[i]), self = {.layer = -1, .microbatch = marked_number(name, MARK_MICROBATCH)};
        if (self.microbatch >= 0 && ev->end > ev->start) {
            struct sum *s = sum_at(x, rank, &self, "batch");
            s->calls++;
            s->time += ivl_within(r->window, ev->start, ev->end);
        }
        if (strncmp(name, MARK_BATCH " ", sizeof MARK_BATCH) == 0)
            take_batch(x, rank, &p, name);
        if (strncmp(name, MARK_CACHE " ", sizeof MARK_CACHE) == 0)
            take_cache(x, rank, &p, name);
    }
}

static void fill_key(const struct look *x, const uint32_t key[4], struct table *out, struct cell *row)
{
    static const char *const phases[] = {NULL, MARK_FORWARD, MARK_RECOMPUTE, MARK_BACKWARD};
    row[RANK] = cell_id(x->t->ranks[key[0]].rank);
    row[LAYER] = cell_id((int64_t)key[1] - 1);
    row[MICROBATCH] = cell_id((int64_t)key[2] - 1);
    row[PHASE] = cell_text(phases[key[3] & 3]);
    row[KIND] = cell_text(table_text(out, "%s", intern_str(&x->kinds, key[3] >> 2)));
}

/* What only marks tell. */
static void fill_marks(const struct sum *s, struct cell *row)
{
    if (s->marks)
        row[PADDING] = cell_share(s->padded, s->tokens + s->padded);
    if (s->cache) {
        row[HITS] = cell_int(s->hits);
        row[MISSES] = cell_int(s->misses);
    }
}

static void fill_row(struct look *x, size_t at, bool linked, struct table *out)
{
    uint32_t k[4];
    memcpy(k, x->keys.key[at], sizeof k);
    struct cp_place whole = {.layer = -1, .microbatch = (int64_t)k[2] - 1};
    size_t batch = key_at(x, k[0], &whole, "batch"); /* a new one stays empty and has no row */
    const struct sum *s = &x->v[at];
    bool compute = k[1] && strcmp(intern_str(&x->kinds, k[3] >> 2), "compute") == 0;
    struct cell *row = trace_row(x->t, x->file, out);
    fill_key(x, k, out, row);
    row[CALLS] = cell_int(s->calls ? s->calls : s->marks);
    if (!s->cache && (batch == at ? s->calls > 0 : linked))
        row[TIME] = cell_int(s->time);
    if (x->v[batch].work && (batch == at || compute))
        row[WORK] = cell_int(x->v[batch].work);
    fill_marks(s, row);
    if (s->comms && s->comms == s->calls)
        row[WAIT] = cell_int((int64_t)at + 1);
}

static void look_file(struct look *x, struct arena *a, struct table *out)
{
    const struct trace *t = x->t;
    bool linked = false;
    x->launched = launches_of(x->f);
    x->key_of = arena_array(a, uint32_t, x->f->d.n + 1);
    x->rank_of = arena_array(a, uint32_t, x->f->d.nthreads);
    cpwalk_make(t, x->file, x->launched, &x->walk, a);
    for (uint32_t r = 0; r < t->nranks; r++)
        for (size_t i = 0; i < t->ranks[r].nthreads; i++)
            x->rank_of[t->ranks[r].threads[i].thread] = r;
    for (uint32_t l = 0; l < t->nlanes; l++) {
        for (size_t i = 0; i < t->lanes[l].n; i++) {
            take_row(x, l, t->lanes[l].ev[i]);
            linked |= x->launched[t->lanes[l].ev[i]] != 0;
        }
        take_bubbles(x, l);
        if (x->by_ring_step)
            take_rings(x, &t->lanes[l]);
    }
    mark_calls(x);
    for (uint32_t r = 0; r < t->nranks; r++)
        take_host(x, r);
    for (size_t i = 0, n = x->keys.n; i < n; i++)
        fill_row(x, i, linked, out);
    x->any = x->walk.marked || x->keys.n;
}

static int id_order(struct cell x, struct cell y)
{
    if (x.kind != y.kind)
        return (x.kind > y.kind) - (x.kind < y.kind); /* absent first: the micro-batch before its layers */
    return x.kind == CELL_INT ? (x.i > y.i) - (x.i < y.i) : 0;
}

static int in_order(const struct cell *x, const struct cell *y)
{
    static const int columns[] = {RANK, MICROBATCH, LAYER};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        int d = id_order(x[columns[i]], y[columns[i]]);
        if (d)
            return d;
    }
    /* "forward" < "recompute" in time, "backward" last; absent first */
    const char *p = x[PHASE].kind ? x[PHASE].s : "", *q = y[PHASE].kind ? y[PHASE].s : "";
    bool back_p = strcmp(p, MARK_BACKWARD) == 0, back_q = strcmp(q, MARK_BACKWARD) == 0;
    if (back_p != back_q)
        return back_p ? 1 : -1;
    int d = strcmp(p, q);
    return d ? d : strcmp(x[KIND].s, y[KIND].s);
}

struct cp_args {
    bool by_ring_step;
};

static const struct opt opts[] = {
    {OPT_FLAG, "ring-steps", offsetof(struct cp_args, by_ring_step), "rows for each step of a ring: attention, exchange, bubble"},
    {0},
};

static bool fill(const struct trace *t, const void *args, struct table *out, struct err *e)
{
    const struct cp_args *o = args;
    struct arena a = {0};
    struct look x = {.t = t, .f = &t->files[0], .by_ring_step = o && o->by_ring_step};
    intern_init(&x.kinds);
    look_file(&x, &a, out);
    cpwalk_free(&x.walk);
    groups_free(&x.keys);
    groups_free(&x.instances);
    free(x.v);
    free(x.extent);
    free(x.ring);
    intern_free(&x.kinds);
    arena_free(&a);
    return x.any || fail(e, ERR_UNDECIDED, "%s: no layers, micro-batches or batch marks in this trace (layer#N, microbatch#N, %s)", t->files[0].name,
                         MARK_BATCH);
}

const struct table_desc table_cp = {
    .name = "cp",
    .title = "Context parallelism by layer, micro-batch and phase",
    .what =
        "Device work by the ranges it was launched in: microbatch#N, forward, recompute or backward, layer#N; several steps add up. Kinds: "
        "compute; halo, state, swap (collectives of conv_halo, state_exchange and the layout changes), ring (send and receive elsewhere), "
        "other collectives by their operation; pack (kernels of the layout changes), route (all device work of thd_route), copy; bubble: "
        "the device idle between the layer's first and last row; batch: the micro-batch itself, host time, from cpscope.batch marks; cache "
        "NAME: use of a cache, from cpscope.cache marks. With --ring-steps also, for each step K of a ring and summed over passes: ring#K attention "
        "(its kernels), ring#K exchange (sends and receives that began in it), ring#K bubble (from its first attention kernel to that of the "
        "next step, the last to the end of the ring's rows: the time in which the device computes nothing). A kernel's step is told by the "
        "exchanges before it where the two never overlap, else by its turn where each of the group's ranks has equally many kernels; a pass "
        "in which neither holds has no such rows. Balanced ranks have equal compute time where expected_work is equal.",
    .columns =
        (const struct column[]){
            {"rank", UNIT_ID, .what = "rank of the host thread"},
            {"layer", UNIT_ID, .what = "number of the layer; empty: outside of layers"},
            {"microbatch", UNIT_ID, .what = "number of the micro-batch in its step"},
            {"phase", UNIT_TEXT, .what = "forward, recompute, backward"},
            {"kind", UNIT_TEXT, .what = "what the time went to"},
            {"calls", UNIT_COUNT, .what = "device rows; bubble: layer passes; batch: micro-batches; cache: uses"},
            {"time_ns", UNIT_NS, .what = "sum of durations within the window"},
            {"expected_work", UNIT_COUNT, .what = "equal share of a rank: sum of q_len*kv_len over cp, of the batch mark"},
            {"padding_pct", UNIT_PERCENT, .base = "tokens and padding rows", .what = "padding rows of all rows of the micro-batch"},
            {"cache_hits", UNIT_COUNT, .what = "uses that found what they needed"},
            {"cache_misses", UNIT_COUNT, .what = "uses that built it: misses, rebuilds and uncached ones"},
            COLUMNS_SOURCE,
            {"wait_ns", UNIT_NS, .what = "of time_ns: waiting for the last rank; empty where a call was not matched over ranks"},
            {0},
        },
    .worst = "time_ns",
    .opts = opts,
    .args_size = sizeof(struct cp_args),
    .spares = SIDE_SYNC | SIDE_KERNEL | SIDE_COPY | SIDE_RANGE,
    .fill = fill,
    .joins = true,
    .waits = "wait_ns",
    .order = in_order,
};
