/* replay_join.c - the ranks of a job put together: collectives into groups, clocks onto one (align.h).
 *
 * Ranks that one file holds were timed by one clock and are left alone. Each file is moved as a whole; what its clock drifts away
 * from there is added where its times meet those of others, at the collectives.
 */
#include "analyzer/align.h"
#include "analyzer/replay.h"

static uint32_t file_of(const struct trace *t, const struct collective *c)
{
    return t->lanes[c->lane].file;
}

/* How many collectives of the window are not matched. Ranks keep step outside the window as well, or their skew would come
 * into it. */
static size_t unmatched_calls(const struct trace *t, const struct collectives *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += c->v[i].transfer_ns < 0 && ivl_touches(t->lanes[c->v[i].lane].window, c->v[i].start, c->v[i].end);
    return n;
}

/* Files without a matched call have nothing to do with the others, whenever they ran. */
static void move_clocks(struct replay *r, const struct align *x)
{
    for (size_t q = 0; q < r->nqueues; q++) {
        uint32_t file = r->queues[q].file;
        r->queues[q].offset = x->of[x->of[file].first].to ? align_shift(x, file) : 0;
    }
}

/* How far the clock of the call's file has drifted from where its file was moved by. */
static int64_t drift_at(const struct align *x, const struct collective *c)
{
    uint32_t file = file_of(x->t, c);
    return align_told(x, file, align_end(x, c)) - align_as_whole(x, file);
}

static void make_groups(struct replay_build *b, const struct align *x)
{
    struct replay *r = b->r;
    r->groups = arena_array(&r->arena, struct replay_group, x->n + 1);
    r->member = arena_array(&r->arena, uint32_t, x->n + 1);
    r->drift = arena_array(&r->arena, int64_t, x->n + 1);
    for (size_t i = 0; i < x->n; i++) {
        if (!i || x->v[i].call != x->v[i - 1].call)
            r->groups[r->ngroups++] = (struct replay_group){.first = (uint32_t)i, .join = INT64_MIN, .transfer = INT64_MAX};
        struct replay_group *g = &r->groups[r->ngroups - 1];
        uint32_t task = b->task_of[r->t->lanes[x->v[i].lane].file][x->v[i].event] - 1;
        int64_t start = replay_start(r, task), ns = replay_end(r, task) - start;
        r->drift[i] = drift_at(x, &x->v[i]);
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
    struct align x;
    struct arena a = {0};
    collectives_find_all(r->t, &c);
    r->unmatched += unmatched_calls(r->t, &c);
    align_files(r->t, c.v, align_calls(&c), NULL, &a, &x);
    move_clocks(r, &x);
    make_groups(b, &x);
    collectives_free(&c);
    arena_free(&a);
}
