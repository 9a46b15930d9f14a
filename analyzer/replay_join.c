/* replay_join.c - the ranks of a job put together: collectives into groups, clocks onto one.
 *
 *   rank 0  |====== arrived early ======|transfer|      ends together, whatever its clock says:
 *   rank 1              |== early ======|transfer|      clock 1 - clock 0 = median over calls of (end 1 - end 0)
 *
 * Ranks that one file holds were timed by one clock and are left alone.
 */
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

/* By file: what brings its times onto the clock of the first file of its calls. */
static int64_t *offsets(const struct trace *t, const struct collective *v, size_t n, struct arena *a)
{
    int64_t *offset = arena_array(a, int64_t, t->nfiles);
    struct shift *s = arena_array(a, struct shift, n + 1);
    size_t m = 0;
    const struct collective *first = v;
    for (size_t i = 0; i < n; i++) {
        first = v[i].call == first->call ? first : &v[i];
        uint32_t file = t->lanes[v[i].lane].file;
        if (file != t->lanes[first->lane].file)
            s[m++] = (struct shift){file, row_of(t, first)->end - row_of(t, &v[i])->end};
    }
    if (m)
        qsort(s, m, sizeof *s, by_shift);
    for (size_t i = 0, j; i < m; i = j) {
        for (j = i; j < m && s[j].file == s[i].file;)
            j++;
        offset[s[i].file] = s[i + (j - i) / 2].ns;
    }
    return offset;
}

static void move_clocks(struct replay *r, const int64_t *offset)
{
    for (size_t q = 0; q < r->nqueues; q++)
        r->queues[q].offset = offset[r->queues[q].file];
}

static void make_groups(struct replay_build *b, const struct collective *v, size_t n)
{
    struct replay *r = b->r;
    r->groups = arena_array(&r->arena, struct replay_group, n + 1);
    r->member = arena_array(&r->arena, uint32_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (!i || v[i].call != v[i - 1].call)
            r->groups[r->ngroups++] = (struct replay_group){.first = (uint32_t)i, .join = INT64_MIN, .transfer = INT64_MAX};
        struct replay_group *g = &r->groups[r->ngroups - 1];
        uint32_t task = b->task_of[r->t->lanes[v[i].lane].file][v[i].event] - 1;
        int64_t start = replay_start(r, task), ns = replay_end(r, task) - start;
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
    size_t n = matched_calls(r->t, &c, &r->unmatched);
    if (n)
        move_clocks(r, offsets(r->t, c.v, n, &a));
    make_groups(b, c.v, n);
    collectives_free(&c);
    arena_free(&a);
}
