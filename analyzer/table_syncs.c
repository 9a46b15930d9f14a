/* table_syncs.c - where the host waits for the device: one row per rank, call site, API and class. */
#include "analyzer/groups.h"
#include "analyzer/recover.h"
#include "analyzer/syncs.h"
#include "schemas/tracefile.h"

#include <stdlib.h>
#include <string.h>

enum { RANK, SITE, API, CLASS, COUNT, BLOCKED, STALL, BUBBLE, DID_BLOCK, PER_STEP, BACKEND, TRACE, RECOVERABLE };

struct sum {
    int64_t count, blocked, stall, bubble, did, known_did, devices;
    int64_t recoverable; /* -1: not replayed */
};

static void fill_row(const struct trace *t, const struct waits *w, const uint32_t key[4], const struct sum *s, bool op, struct table *out)
{
    const struct trace_rank *r = &t->ranks[key[0]];
    struct cell *row = trace_row(t, r->file, out);
    row[RANK] = cell_id(r->rank);
    row[SITE] = cell_text(table_text(out, "%s", intern_str(&w->names, key[1])));
    row[API] = cell_text(table_text(out, "%s", intern_str(&w->names, key[2])));
    row[CLASS] = cell_text(op ? op_class_name((enum op_class)key[3]) : sync_class_name((enum sync_class)key[3]));
    row[COUNT] = cell_int(s->count);
    row[BLOCKED] = cell_int(s->blocked);
    if (s->devices == s->count) {
        row[STALL] = cell_int(s->stall);
        row[BUBBLE] = cell_int(s->bubble);
        row[RECOVERABLE] = cell_id(s->recoverable);
    }
    if (s->known_did == s->count)
        row[DID_BLOCK] = cell_int(s->did);
    if (t->span == SPAN_STEP && r->steps.n)
        row[PER_STEP] = cell_real((double)s->count / (double)r->steps.n);
}

static int by_cost(const struct cell *x, const struct cell *y)
{
    static const int columns[] = {BUBBLE, BLOCKED};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const struct cell *p = &x[columns[i]], *q = &y[columns[i]];
        if (p->kind != q->kind)
            return p->kind == CELL_ABSENT ? 1 : -1;
        if (p->kind && p->i != q->i)
            return (p->i < q->i) - (p->i > q->i);
    }
    return 0;
}

static void sum_up(const struct waits *w, struct groups *g, struct sum **sums)
{
    size_t cap = 0;
    for (size_t i = 0; i < w->n; i++) {
        const struct wait *v = &w->v[i];
        if (v->outside)
            continue;
        size_t k = groups_at(g, v->rank, v->site, v->api, (uint32_t)v->class);
        if (k == cap || !*sums) {
            size_t was = cap;
            *sums = array_grow(*sums, &cap, k + 1, sizeof **sums);
            memset(*sums + was, 0, (cap - was) * sizeof **sums);
        }
        struct sum *s = *sums + k;
        s->count++;
        s->blocked += v->blocked_ns;
        s->stall += v->stall_ns;
        s->bubble += v->bubble_ns;
        s->did += v->did_block == 1;
        s->known_did += v->did_block >= 0;
        s->devices += v->has_device;
        s->recoverable = -1;
    }
}

/* What each row's place gives back, as far as it was replayed. Both lists are of the same waits in order of first use. */
static void recover(struct replay *r, const struct groups *g, struct sum *sums, struct table *out)
{
    struct recoveries x;
    replay_let_go(r);
    recover_find(r, &x);
    for (size_t i = 0; i < g->n; i++)
        sums[i].recoverable = x.v[i].recoverable_ns;
    if (x.replayed < x.sites)
        table_note(out, "recoverable_ns: the %zu places with the largest bubbles were replayed, of %zu", x.replayed, x.sites);
    recover_free(&x);
}

static bool parse_ledger(const char *text, bool *op, struct err *e)
{
    *op = text && strcmp(text, "op") == 0;
    return !text || *op || strcmp(text, "wait") == 0 || fail(e, ERR_USAGE, "--ledger %s: not op or wait", text);
}

/* The calls of the ledger into r->waits; true: with the replay that they are part of. */
static bool find(const struct trace *t, enum site_by by, bool op, bool no_replay, struct replay *r)
{
    if (op)
        waits_find_ops(t, by, &r->waits);
    else if (no_replay)
        waits_find(t, by, &r->waits);
    else
        replay_graph(t, by, r);
    return !op && !no_replay;
}

static bool fill(const struct trace *t, const void *args, struct table *out, struct err *e)
{
    const struct syncs_args *o = args;
    enum site_by by;
    bool op;
    if (!parse_ledger(o ? o->ledger : NULL, &op, e) || !site_by_parse(o ? o->by : NULL, &by, e))
        return false;
    struct replay r = {0};
    struct groups g = {0};
    struct sum *sums = NULL;
    const struct waits *w = &r.waits;
    bool replayed = find(t, by, op, o && o->no_replay, &r);
    sum_up(w, &g, &sums);
    if (replayed)
        recover(&r, &g, sums, out);
    for (size_t i = 0; i < g.n; i++)
        fill_row(t, w, g.key[i], &sums[i], op, out);
    table_note(out, "ledger: %s",
               op ? "op, framework operators that read the device back; blocked_ns is self time" : "wait, outermost host-blocking API calls");
    bool recorded = w->recorded;
    free(sums);
    groups_free(&g);
    replay_free(&r);
    return recorded || fail(e, ERR_UNDECIDED, "%s: no %s were recorded", t->files[0].name, op ? "framework operators" : "API calls of the host");
}

/* A replay is of all ranks together. */
static bool whole(const void *args)
{
    const struct syncs_args *o = args;
    return !o || (!o->no_replay && !(o->ledger && strcmp(o->ledger, "op") == 0));
}

static const struct opt opts[] = {
    {OPT_TEXT, "ledger", offsetof(struct syncs_args, ledger), "wait (default): blocking API calls; op: operators that read back", "op|wait"},
    {OPT_TEXT, "by", offsetof(struct syncs_args, by), "sites by function (default), line or stack", "WHAT"},
    {OPT_FLAG, "no-replay", offsetof(struct syncs_args, no_replay), "recoverable_ns is left out, which is faster"},
    {0},
};

const struct table_desc table_syncs = {
    .name = "syncs",
    .title = "Host-device syncs by call site",
    .what = "Two ledgers, never added together. wait: host-blocking API calls, the outermost of nested ones, told by API and memory kind and "
            "never by how long they took; allocation calls that can wait are a class of their own. op: framework operators by which the host "
            "reads the device (item, is_nonzero, nonzero, boolean index), each counted, times without the ones inside. A site is the "
            "innermost user frame, else the innermost range, else the API.",
    .columns =
        (const struct column[]){
            {"rank", UNIT_ID, .what = "rank of the host thread"},
            {"site", UNIT_TEXT, .what = "call site: path:function, a range or the API"},
            {"api", UNIT_TEXT, .what = "outermost blocking call, without version suffix; op ledger: the operator"},
            {"class", UNIT_TEXT, .what = "stream, event, device, copy, alloc; op ledger: item, is_nonzero, nonzero"},
            {"count", UNIT_COUNT, .what = "calls that touch the window"},
            {"blocked_ns", UNIT_NS, .what = "host time inside the calls; op ledger: self time"},
            {"stall_ns", UNIT_NS, .what = "blocked time during which the device was idle: a lower bound of the cost"},
            {"bubble_ns", UNIT_NS, .what = "device idle from the drain the call waited for to the thread's next work: an upper bound"},
            {"did_block", UNIT_COUNT, .what = "calls that found the device at work; op ledger: operators that enclose a blocking call"},
            {"per_step", UNIT_REAL, .what = "count divided by the complete steps of the rank"},
            COLUMNS_SOURCE,
            {"recoverable_ns", UNIT_NS,
             .what = "what a replay gains in which no rank waits there; at most bubble_ns; empty beyond the 20 largest bubbles", .asked = true},
            {0},
        },
    .worst = "blocked_ns",
    .opts = opts,
    .args_size = sizeof(struct syncs_args),
    .spares = SIDE_KERNEL | SIDE_RANGE | ROWS_OP,
    .fill = fill,
    .whole = whole,
    .order = by_cost,
};
