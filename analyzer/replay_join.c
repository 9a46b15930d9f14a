/* replay_join.c - the ranks of a job put together: collectives into groups, clocks onto one.
 *
 *   rank 0  |====== arrived early ======|transfer|      ends together, whatever its clock says:
 *   rank 1              |== early ======|transfer|      clock 1 - clock 0 = median over calls of (end 1 - end 0)
 *
 * Ranks that one file holds were timed by one clock and are left alone, and so are files of one boot of a host. Between hosts
 * readings of the wall clock go before (clocks.h): each file is moved as a whole, by what holds in the middle of its calls;
 * what its clock drifts away from there is added where its times meet those of others, at the collectives.
 */
#include "analyzer/clocks.h"
#include "analyzer/replay.h"

#include <stdlib.h>

static int by_value(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

static int by_call(const void *x, const void *y)
{
    const struct collective *a = x, *b = y;
    if (a->call != b->call)
        return a->call < b->call ? -1 : 1;
    return (a->lane > b->lane) - (a->lane < b->lane);
}

struct cluster {          /* files that share a clock; known by the first of them */
    uint32_t first, base; /* of a file: of its cluster; of a cluster: 1 + the one that its calls are measured by, 0 none */
    int64_t from, to;     /* ends of its first and last call, absolute; to 0: no call */
    int64_t left;         /* what the ends say after the wall */
};

struct joining {
    const struct trace *t;
    const struct collective *v; /* matched, by call and lane */
    size_t n;
    struct clocks clocks;
    struct cluster *of; /* by file */
    uint32_t *root;     /* by file: the first file of its run, whose clock is the common one */
};

static const struct event *row_of(const struct trace *t, const struct collective *c)
{
    return &t->files[t->lanes[c->lane].file].d.ev[c->event];
}

/* Calls that are matched, by call and lane; how many collectives of the window are not. Ranks keep step outside the window
 * as well, or their skew would come into it. */
static size_t matched_calls(const struct trace *t, struct collectives *c, size_t *unmatched)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct event *ev = row_of(t, &c->v[i]);
        if (c->v[i].call)
            c->v[n++] = c->v[i];
        else
            *unmatched += ivl_touches(t->lanes[c->v[i].lane].window, ev->start, ev->end);
    }
    if (n)
        qsort(c->v, n, sizeof *c->v, by_call);
    return n;
}

struct shift {
    uint32_t file;
    int64_t ns;
};

/* Of each end to the end in the call's first file. */
static int by_shift(const void *x, const void *y)
{
    const struct shift *a = x, *b = y;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return by_value(&a->ns, &b->ns);
}

static uint32_t file_of(const struct joining *j, const struct collective *c)
{
    return j->t->lanes[c->lane].file;
}

/* Absolute. A hostile time zero must not overflow. */
static int64_t end_of(const struct joining *j, const struct collective *c)
{
    int64_t end;
    return __builtin_add_overflow(row_of(j->t, c)->end, j->t->files[file_of(j, c)].d.t0, &end) ? 0 : end;
}

static void find_clusters(struct joining *j)
{
    for (uint32_t f = 0; f < j->t->nfiles; f++) {
        uint32_t root = f, first = f;
        for (uint32_t k = f; k-- > 0;)
            if (j->t->files[k].run == j->t->files[f].run) {
                root = k;
                first = clocks_tie(&j->clocks, f, k) == CLOCK_SHARED ? k : first;
            }
        j->root[f] = root;
        j->of[f].first = first;
    }
}

/* What brings a time of the file, at `own`, onto the root's clock, as far as the files tell: of relative times. */
static int64_t told(const struct joining *j, uint32_t file, int64_t own)
{
    uint32_t root = j->root[file], first = j->of[file].first;
    bool alone = clocks_tie(&j->clocks, first, root) == CLOCK_ALONE;
    int64_t zeros;
    if (__builtin_sub_overflow(j->t->files[file].d.t0, j->t->files[alone ? first : root].d.t0, &zeros))
        return 0;
    return zeros + clocks_shift(&j->clocks, first, root, own);
}

static int64_t told_end(const struct joining *j, const struct collective *c)
{
    return row_of(j->t, c)->end + told(j, file_of(j, c), end_of(j, c));
}

/* Each cluster's calls with the first one that it meets; an earlier file comes first, so bases are done before. */
static size_t find_shifts(struct joining *j, struct shift *s)
{
    const struct collective *first = j->v;
    size_t m = 0;
    for (size_t i = 0; i < j->n; i++) {
        first = j->v[i].call == first->call ? first : &j->v[i];
        uint32_t base = j->of[file_of(j, first)].first, own = j->of[file_of(j, &j->v[i])].first;
        struct cluster *k = &j->of[own];
        int64_t end = end_of(j, &j->v[i]);
        k->from = k->to && k->from < end ? k->from : end;
        k->to = k->to && k->to > end ? k->to : end;
        if (base < own && (!k->base || k->base == base + 1)) {
            k->base = base + 1;
            s[m++] = (struct shift){own, told_end(j, first) - told_end(j, &j->v[i])};
        }
    }
    return m;
}

static void find_rest(struct joining *j, struct arena *a)
{
    struct shift *s = arena_array(a, struct shift, j->n + 1);
    size_t m = find_shifts(j, s);
    if (m)
        qsort(s, m, sizeof *s, by_shift);
    for (size_t i = 0, k; i < m; i = k) {
        for (k = i; k < m && s[k].file == s[i].file;)
            k++;
        struct cluster *c = &j->of[s[i].file];
        c->left = s[i + (k - i) / 2].ns + j->of[c->base - 1].left;
    }
}

/* In the middle of its cluster's calls. */
static int64_t told_as_whole(const struct joining *j, uint32_t file)
{
    const struct cluster *k = &j->of[j->of[file].first];
    return k->to ? told(j, file, k->from + (k->to - k->from) / 2) : 0;
}

static void move_clocks(struct replay *r, const struct joining *j)
{
    for (size_t q = 0; q < r->nqueues; q++) {
        uint32_t file = r->queues[q].file;
        r->queues[q].offset = told_as_whole(j, file) + j->of[j->of[file].first].left;
    }
}

/* How far the clock of the call's file has drifted from where its file was moved by. */
static int64_t drift_at(const struct joining *j, const struct collective *c)
{
    return told(j, file_of(j, c), end_of(j, c)) - told_as_whole(j, file_of(j, c));
}

static void make_groups(struct replay_build *b, const struct joining *j)
{
    struct replay *r = b->r;
    r->groups = arena_array(&r->arena, struct replay_group, j->n + 1);
    r->member = arena_array(&r->arena, uint32_t, j->n + 1);
    r->drift = arena_array(&r->arena, int64_t, j->n + 1);
    for (size_t i = 0; i < j->n; i++) {
        if (!i || j->v[i].call != j->v[i - 1].call)
            r->groups[r->ngroups++] = (struct replay_group){.first = (uint32_t)i, .join = INT64_MIN, .transfer = INT64_MAX};
        struct replay_group *g = &r->groups[r->ngroups - 1];
        uint32_t task = b->task_of[r->t->lanes[j->v[i].lane].file][j->v[i].event] - 1;
        int64_t start = replay_start(r, task), ns = replay_end(r, task) - start;
        r->drift[i] = drift_at(j, &j->v[i]);
        start += r->drift[i];
        r->member[g->first + g->n++] = task;
        replay_tied(r, task)->group = (uint32_t)r->ngroups;
        g->join = start > g->join ? start : g->join;
        g->transfer = ns < g->transfer ? ns : g->transfer;
    }
}

void replay_join(struct replay_build *b)
{
    struct replay *r = b->r;
    struct collectives c;
    struct arena a = {0};
    collectives_find_all(r->t, &c);
    struct joining j = {.t = r->t, .v = c.v, .n = matched_calls(r->t, &c, &r->unmatched)};
    j.of = arena_array(&a, struct cluster, r->t->nfiles + 1);
    j.root = arena_array(&a, uint32_t, r->t->nfiles + 1);
    clocks_find(r->t, &a, &j.clocks);
    find_clusters(&j);
    find_rest(&j, &a);
    move_clocks(r, &j);
    make_groups(b, &j);
    collectives_free(&c);
    arena_free(&a);
}
