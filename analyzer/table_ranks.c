/* table_ranks.c - one row a rank: its clock, how busy it is, how long it waits for others and how often others for it.
 *
 *   rank 0  |-------- collective --------|      a collective ends on all its ranks at once: the ends tell the clocks apart
 *   rank 1            |--- collective ---|      offset = median of the differences, residual = median of what is left
 *   rank 2                     |---------|      the shortest came last: everybody waited for rank 2
 *
 * What the files know of their clocks (clocks.h) goes before: one boot's clock is one, and readings of the wall take out
 * drift between hosts; the ends tell the rest.
 */
#include "analyzer/clocks.h"
#include "analyzer/collectives.h"
#include "analyzer/groups.h"
#include "analyzer/kernelrows.h"
#include "schemas/tracefile.h"

#include <stdlib.h>
#include <string.h>

enum { RANK, HOST, OFFSET, RESIDUAL, SPAN, BUSY, WAIT, LAST, BACKEND, TRACE, LAST_AT };

static const uint32_t NOT_A_MEMBER = UINT32_MAX;

struct member {          /* of one matched call */
    uint32_t call, rank; /* rank: entry of trace.ranks */
    int64_t end;         /* absolute, in the rank's own clock */
    uint32_t group, op;
    bool last, together;
};

struct standing { /* of one rank */
    int64_t wait, calls, last;
    bool unmatched; /* some call of its is not matched */
    bool twice;     /* several of its devices take part in one call */
    bool together;  /* it shares calls that end on all ranks at once with its base: only these tell its clock */
    uint32_t last_group, last_op;
    int64_t last_most;
    int64_t from, to; /* ends of its first and last matched call, in its clock */
};

struct ranking {
    const struct trace *t;
    struct collectives c;
    struct clocks clocks;
    struct member *v; /* by call, rank */
    size_t n;
    struct standing *of; /* by rank */
    struct groups lasts; /* rank, group, op */
    int64_t *counts;
    size_t counts_cap;
    uint32_t *base; /* by rank: the first rank of its run, whose clock is the measure; or NOT_A_MEMBER */
    int64_t *d;     /* differences of ends: those of rank r from first[r] on */
    size_t *first;
};

static int by_call(const void *x, const void *y)
{
    const struct member *a = x, *b = y;
    if (a->call != b->call)
        return a->call < b->call ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

static void collect(struct ranking *k, struct arena *a)
{
    k->v = arena_array(a, struct member, k->c.n + 1);
    for (size_t i = 0; i < k->c.n; i++) {
        const struct collective *c = &k->c.v[i];
        const struct lane *l = &k->t->lanes[c->lane];
        struct standing *s = &k->of[l->host];
        s->calls++;
        s->unmatched |= c->transfer_ns < 0;
        s->wait += c->transfer_ns >= 0 ? c->total_ns - c->transfer_ns : 0;
        int64_t end = c->end + k->t->files[l->file].d.t0;
        if (!c->call)
            continue;
        s->from = s->to && s->from < end ? s->from : end;
        s->to = s->to && s->to > end ? s->to : end;
        k->v[k->n++] = (struct member){c->call, l->host, end, c->group, c->op, c->last, c->together};
    }
    qsort(k->v, k->n, sizeof *k->v, by_call);
}

/* Several devices of a rank in one call: which one came last is not the rank's. */
static void find_twice(struct ranking *k)
{
    for (size_t i = 1; i < k->n; i++)
        if (k->v[i].call == k->v[i - 1].call && k->v[i].rank == k->v[i - 1].rank)
            k->of[k->v[i].rank].twice = true;
}

static void count_last(struct ranking *k, const struct member *v)
{
    struct standing *s = &k->of[v->rank];
    size_t at = groups_at(&k->lasts, v->rank, v->group, v->op, 0), was = k->counts_cap;
    if (at >= was) {
        k->counts = array_grow(k->counts, &k->counts_cap, at + 1, sizeof *k->counts);
        memset(k->counts + was, 0, (k->counts_cap - was) * sizeof *k->counts);
    }
    s->last++;
    if (++k->counts[at] > s->last_most) {
        s->last_most = k->counts[at];
        s->last_group = v->group, s->last_op = v->op;
    }
}

static int ascending(const void *x, const void *y)
{
    const int64_t *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

/* The lower median: a value that occurred. */
static int64_t median(int64_t *v, size_t n)
{
    qsort(v, n, sizeof *v, ascending);
    return v[(n - 1) / 2];
}

static uint32_t file_of(const struct ranking *k, uint32_t rank)
{
    return k->t->ranks[rank].file;
}

/* By the wall: in the middle of what is known of it. */
static int64_t wall_shift(const struct ranking *k, uint32_t r)
{
    const struct standing *s = &k->of[r];
    int64_t middle = s->to ? s->from + (s->to - s->from) / 2 : k->t->files[file_of(k, r)].d.t0;
    return clocks_shift(&k->clocks, file_of(k, r), file_of(k, k->base[r]), middle);
}

/* Differences of the ends of rank r's calls to those of its base, in place: k->d[first[r] ..]. */
static enum clock_tie fill_clock(struct ranking *k, uint32_t r, struct cell *row)
{
    enum clock_tie tie = clocks_tie(&k->clocks, file_of(k, r), file_of(k, k->base[r]));
    int64_t *d = k->d + k->first[r];
    size_t n = k->first[r + 1] - k->first[r];
    if (!n && tie == CLOCK_ALONE)
        return tie;
    int64_t left = n && tie != CLOCK_SHARED ? median(d, n) : 0;
    row[OFFSET] = cell_int(left - wall_shift(k, r));
    for (size_t i = 0; i < n; i++)
        d[i] = d[i] < left ? left - d[i] : d[i] - left;
    if (n)
        row[RESIDUAL] = cell_int(median(d, n));
    return tie;
}

/* The member of the call v[0 .. n-1] that is its run's first rank; NULL: not in it, or with several devices. */
static const struct member *base_in(const struct ranking *k, const struct member *v, size_t n)
{
    const struct member *found = NULL;
    for (size_t i = 0; i < n; i++)
        if (k->base[v[i].rank] == v[i].rank) {
            if (found)
                return NULL;
            found = &v[i];
        }
    return found;
}

/* The ranks that have such a call with their base. */
static void find_together(struct ranking *k, const struct member *v, size_t n)
{
    for (size_t m = 0; base_in(k, v, n) && m < n; m++)
        k->of[v[m].rank].together |= v[m].together;
}

/* Counts (to == NULL) or stores the differences of one call, v[0 .. n-1]; `at` is where the next of each rank goes. */
static void take_differences(struct ranking *k, const struct member *v, size_t n, size_t *at, int64_t *to)
{
    const struct member *base = base_in(k, v, n);
    for (size_t m = 0; base && m < n; m++) {
        if ((m && v[m - 1].rank == v[m].rank) || (m + 1 < n && v[m + 1].rank == v[m].rank))
            continue; /* several devices: which one is it? */
        if (k->of[v[m].rank].together && !v[m].together)
            continue;
        if (to)
            to[at[v[m].rank]] = v[m].end + clocks_shift(&k->clocks, file_of(k, v[m].rank), file_of(k, base->rank), v[m].end) - base->end;
        at[v[m].rank]++;
    }
}

static void for_calls(struct ranking *k, size_t *at, int64_t *to)
{
    for (size_t i = 0, j; i < k->n; i = j) {
        for (j = i + 1; j < k->n && k->v[j].call == k->v[i].call;)
            j++;
        at ? take_differences(k, k->v + i, j - i, at, to) : find_together(k, k->v + i, j - i);
    }
}

/* Passes over the calls: which of them tell of clocks, how many differences each rank has, then where each goes. */
static void find_differences(struct ranking *k, struct arena *a)
{
    size_t *at = arena_array(a, size_t, k->t->nranks + 1);
    k->first = arena_array(a, size_t, k->t->nranks + 1);
    k->d = arena_array(a, int64_t, k->n + 1);
    for_calls(k, NULL, NULL);
    for_calls(k, at, NULL);
    for (size_t r = 0; r < k->t->nranks; r++) {
        k->first[r + 1] = k->first[r] + at[r];
        at[r] = k->first[r];
    }
    for_calls(k, at, k->d);
}

static void fill_busy(const struct trace *t, const struct trace_rank *r, struct cell *row)
{
    int64_t best = -1;
    row[SPAN] = cell_int(ivl_len(r->window));
    for (uint32_t l = r->first_lane; l < r->first_lane + r->nlanes; l++) {
        struct arena a = {0};
        int64_t busy = ivl_len(trace_union(t, &a, &t->lanes[l], WORK_ANY)), span = ivl_len(t->lanes[l].window);
        if (busy > best) {
            best = busy;
            row[SPAN] = cell_int(span);
            row[BUSY] = cell_share(busy, span);
        }
        arena_free(&a);
    }
}

static const char *host_of(const struct trace *t, const struct trace_rank *r)
{
    const struct tracedata *d = &t->files[r->file].d;
    uint32_t process = 0;
    if (r->nthreads)
        process = d->threads[r->threads[0].thread].process;
    else if (r->nlanes && t->lanes[r->first_lane].n)
        process = d->streams[d->ev[t->lanes[r->first_lane].ev[0]].stream].process;
    const char *host = intern_str(&d->strings, d->processes[process].host);
    return *host ? host : tracedata_meta_get(d, "host");
}

static void fill_waiting(const struct ranking *k, uint32_t r, struct table *out, struct cell *row)
{
    const struct standing *s = &k->of[r];
    if (s->calls && !s->unmatched)
        row[WAIT] = cell_int(s->wait);
    if (s->calls && !s->unmatched && !s->twice) {
        const char *group = intern_str(&k->c.names, s->last_group), *op = intern_str(&k->c.names, s->last_op);
        row[LAST] = cell_int(s->last);
        if (s->last)
            row[LAST_AT] = cell_text(table_text(out, "%s%s%s", group, *group && *op ? " " : "", op));
    }
}

/* A helper rank without device rows, beside ranks that are known, is none of the job's. */
static bool is_member(const struct trace *t, const struct trace_rank *r)
{
    const struct trace_file *f = &t->files[r->file];
    bool known = false;
    for (uint32_t i = f->first_rank; i < f->first_rank + f->nranks; i++)
        known |= t->ranks[i].rank >= 0;
    return r->rank >= 0 || r->nlanes || !known;
}

/* The first rank of each run. */
static void find_bases(struct ranking *k, struct arena *a)
{
    const struct trace *t = k->t;
    uint32_t *first = arena_array(a, uint32_t, t->nfiles); /* by run: 1 + rank; there are at most as many runs as files */
    k->base = arena_array(a, uint32_t, t->nranks);
    for (uint32_t r = 0; r < t->nranks; r++) {
        int run = t->files[t->ranks[r].file].run;
        bool member = is_member(t, &t->ranks[r]);
        if (member && !first[run])
            first[run] = r + 1;
        k->base[r] = member ? first[run] - 1 : NOT_A_MEMBER;
    }
}

/* What a rank tells by itself. */
static bool fill(const struct trace *t, const void *args, struct table *out, struct err *e)
{
    (void)args;
    (void)e;
    for (uint32_t r = 0; r < t->nranks; r++) {
        if (!is_member(t, &t->ranks[r]))
            continue;
        const char *host = host_of(t, &t->ranks[r]);
        struct cell *row = trace_row(t, t->ranks[r].file, out);
        row[RANK] = cell_id(t->ranks[r].rank);
        row[HOST] = cell_text(host ? table_text(out, "%s", host) : NULL);
        fill_busy(t, &t->ranks[r], row);
    }
    struct err said = {0};
    kernels_in_window(t, out, &said);
    return true;
}

static void note_clocks(bool estimated, bool wall, bool shared, struct table *out)
{
    if (estimated)
        table_note(out, "offsets are estimated from the ends of matched collectives; times of ranks are compared nowhere without them");
    if (wall)
        table_note(out, "between hosts the recordings' readings of the wall clock take out drift, the ends of matched collectives the rest; without "
                        "such ends the offset is that of the walls, and the residual is not known");
    if (shared)
        table_note(out, "recordings of one boot of a host share its clock: offset 0");
    if (!estimated && !wall && !shared)
        table_note(out, "offset 0: ranks of one file share its clock; empty: no matched collective tells");
}

/* The rows are those of fill(), in order of the ranks. */
static void fill_rows(struct ranking *k, struct table *out)
{
    bool estimated = false, wall = false, shared = false;
    size_t at = 0;
    for (uint32_t r = 0; r < k->t->nranks; r++) {
        if (k->base[r] == NOT_A_MEMBER)
            continue;
        struct cell *row = table_at(out, at++);
        fill_waiting(k, r, out, row);
        enum clock_tie tie = fill_clock(k, r, row);
        estimated |= tie == CLOCK_ALONE && row[OFFSET].kind;
        wall |= tie == CLOCK_WALL;
        shared |= tie == CLOCK_SHARED && file_of(k, r) != file_of(k, k->base[r]);
    }
    note_clocks(estimated, wall, shared, out);
}

static void finish(const struct trace *t, const void *args, struct table *out)
{
    (void)args;
    struct arena a = {0};
    struct ranking k = {.t = t, .of = arena_array(&a, struct standing, t->nranks)};
    collectives_find(t, &k.c);
    clocks_find(t, &a, &k.clocks);
    collect(&k, &a);
    find_twice(&k);
    for (size_t i = 0; i < k.n; i++)
        if (k.v[i].last)
            count_last(&k, &k.v[i]);
    find_bases(&k, &a);
    find_differences(&k, &a);
    fill_rows(&k, out);
    if (!k.n)
        table_note(out, "no collective could be matched over ranks: waiting and last arrivals are not known");
    runs_note(t, out);
    groups_free(&k.lasts);
    free(k.counts);
    collectives_free(&k.c);
    arena_free(&a);
}

const struct table_desc table_ranks = {
    .name = "ranks",
    .title = "Ranks: clocks, waiting, stragglers",
    .what = "One row a rank. A collective ends on all its ranks at nearly one time, so the ends of matched calls tell how far a rank's clock is "
            "off the first rank's: the offset is the median difference, the residual the median of what is left; calls between two ranks or round "
            "a ring count where there are no others. Recordings of one boot of a "
            "host share its clock, and have offset 0; of two hosts, readings of the wall clock in both recordings take out drift first, and "
            "the offset is that in the middle of the calls. The rank whose call is the "
            "shortest arrived last, and the others waited for it; where several are equally short nobody did. Neither needs aligned clocks. "
            "Of a rank with several devices the busiest counts.",
    .columns =
        (const struct column[]){
            {"rank", UNIT_ID, .what = "rank of the job; empty where the trace does not say"},
            {"host", UNIT_TEXT, .what = "machine it ran on"},
            {"offset_ns", UNIT_NS, .what = "its clock less the first rank's"},
            {"residual_ns", UNIT_NS, .what = "median distance of collective ends after that"},
            {"span_ns", UNIT_NS, .what = "length of the window"},
            {"busy_pct", UNIT_PERCENT, .base = "span_ns", .what = "union of device work of span_ns"},
            {"comm_wait_ns", UNIT_NS, .what = "time in collectives before the last rank came; empty where not every call was matched"},
            {"last_arrivals", UNIT_COUNT, .what = "collectives at which it was the last to arrive"},
            COLUMNS_SOURCE,
            {"last_at", UNIT_TEXT, .what = "group and operation at which it was last most often"},
            {0},
        },
    .worst = "last_arrivals",
    .spares = SIDE_SYNC | SIDE_KERNEL | SIDE_COPY | SIDE_RANGE | ROWS_ANY,
    .fill = fill,
    .joins = true,
    .finish = finish,
};
