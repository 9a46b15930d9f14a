/* waitcost.c - what the waits of a rank cost its devices (drawing in waits.h).
 *
 * The device of a wait is the one its thread launched most work on. The drain is the last time within the call at which
 * the device ran dry; where it is still busy when the call returns (another stream), the return. A call during which the
 * device never worked waited for nothing: no bubble. A bubble ends where the thread's next wait begins when it launches
 * nothing in between: that wait's drain is the one that counts from there. Bubbles of one device are dealt with in order
 * of their drain, each beginning no earlier than the one before ended, so that an idle ns is charged once.
 */
#include "analyzer/nest.h"
#include "analyzer/sortkey.h"
#include "analyzer/waits.h"

#include <stdlib.h>

struct bubble {
    int64_t drain, next; /* next: start of the thread's next work; next <= drain: none */
    uint32_t lane;       /* UINT32_MAX: no device */
    bool waited;
};

struct lanecost {
    struct ivlset busy, idle;
};

struct costing {
    const struct trace *t;
    const struct trace_rank *r;
    const struct event *ev;
    struct lanecost *lanes;
    uint32_t *first;  /* by host row: 1 + the first device row that it started */
    bool linked;      /* some host row started some device row */
    struct bubble *b; /* by wait */
    struct arena arena;
};

static struct ivlset busy_of(const struct trace *t, struct arena *a, const struct lane *l)
{
    const struct event *ev = t->files[l->file].d.ev;
    struct ivl *v = arena_array(a, struct ivl, l->n);
    for (size_t i = 0; i < l->n; i++)
        v[i] = (struct ivl){ev[l->ev[i]].start, ev[l->ev[i]].end};
    return ivl_from(v, l->n);
}

static void link_rows(struct costing *c, const uint32_t *launched)
{
    c->first = arena_array(&c->arena, uint32_t, c->t->files[c->r->file].d.n + 1);
    for (uint32_t l = 0; l < c->r->nlanes; l++) {
        const struct lane *lane = &c->t->lanes[c->r->first_lane + l];
        for (size_t i = 0; i < lane->n; i++) {
            uint32_t host = launched[lane->ev[i]];
            if (host && !c->first[host - 1])
                c->first[host - 1] = lane->ev[i] + 1;
            c->linked |= host != 0;
        }
    }
}

static uint32_t lane_of_device(const struct costing *c, int32_t device)
{
    for (uint32_t l = 0; l < c->r->nlanes; l++)
        if (c->t->lanes[c->r->first_lane + l].device == device)
            return l;
    return UINT32_MAX;
}

/* Of a thread that launched nothing: the one device that its process works on. */
static uint32_t lane_of_process(const struct costing *c, uint32_t thread)
{
    const struct tracedata *d = &c->t->files[c->r->file].d;
    uint32_t process = d->threads[thread].process, found = UINT32_MAX;
    for (uint32_t l = 0; l < c->r->nlanes; l++) {
        const struct lane *lane = &c->t->lanes[c->r->first_lane + l];
        bool mine = false;
        for (size_t i = 0; i < lane->n && !mine; i++)
            mine = d->streams[c->ev[lane->ev[i]].stream].process == process;
        if (mine && found != UINT32_MAX)
            return UINT32_MAX;
        found = mine ? l : found;
    }
    return found;
}

/* Lane (of this rank) of a thread; UINT32_MAX: it cannot be told. */
static uint32_t lane_of_thread(const struct costing *c, const struct thread_events *th)
{
    if (c->r->nlanes <= 1)
        return c->r->nlanes ? 0 : UINT32_MAX;
    struct arena a = {0};
    size_t *count = arena_array(&a, size_t, c->r->nlanes), most = 0;
    uint32_t lane = UINT32_MAX;
    for (size_t i = 0; i < th->n; i++) {
        uint32_t l = c->first[th->ev[i]] ? lane_of_device(c, c->ev[c->first[th->ev[i]] - 1].device) : UINT32_MAX;
        if (l != UINT32_MAX && ++count[l] > most) {
            most = count[l];
            lane = l;
        }
    }
    arena_free(&a);
    return lane != UINT32_MAX ? lane : lane_of_process(c, th->thread);
}

/* When the device ran dry within the call; false: it did no work during it. */
static bool drain_of(struct ivlset busy, const struct event *call, int64_t *drain)
{
    size_t i = ivl_find(busy, call->start);
    if (i == busy.n || busy.v[i].start >= call->end)
        return false;
    *drain = busy.v[i].end;
    for (; i < busy.n && busy.v[i].start < call->end; i++)
        *drain = busy.v[i].end < call->end ? busy.v[i].end : call->end;
    return true;
}

static void cost_one(struct costing *c, struct wait *w, struct bubble *b, uint32_t lane, int64_t next)
{
    const struct event *call = &c->ev[w->event];
    uint32_t own = call->device >= 0 ? lane_of_device(c, call->device) : UINT32_MAX;
    b->lane = own != UINT32_MAX ? own : lane;
    w->has_device = b->lane != UINT32_MAX && c->lanes[b->lane].busy.n;
    if (!w->has_device) {
        b->lane = UINT32_MAX;
        return;
    }
    const struct lanecost *k = &c->lanes[b->lane];
    bool worked = drain_of(k->busy, call, &b->drain);
    bool waited = worked && (w->class != SYNC_ALLOC || b->drain < call->end); /* an allocation beside work need not wait for it */
    w->stall_ns = ivl_within(k->idle, call->start, call->end);
    if (w->did_block < 0)
        w->did_block = waited;
    b->waited = waited;
    b->next = waited ? next : INT64_MIN;
    if (waited && !c->linked) { /* nothing says who launched what: the next work of the device */
        size_t i = ivl_find(k->busy, b->drain);
        b->next = i < k->busy.n ? k->busy.v[i].start : INT64_MIN;
    }
}

/* The waits v[0 .. n-1] of one thread, backwards, so that the next launch is known. */
static void cost_thread(struct costing *c, const struct thread_events *th, struct wait *v, struct bubble *b, size_t n)
{
    uint32_t lane = lane_of_thread(c, th);
    int64_t next = INT64_MIN, later = INT64_MIN; /* later: start of the next wait, when nothing is launched in between */
    size_t i = th->n;
    while (n-- > 0) {
        for (; i && c->ev[th->ev[i - 1]].start >= c->ev[v[n].event].end; i--)
            if (c->first[th->ev[i - 1]]) {
                next = c->ev[c->first[th->ev[i - 1]] - 1].start;
                later = INT64_MIN;
            }
        cost_one(c, &v[n], &b[n], lane, later != INT64_MIN ? later : next);
        if (b[n].waited)
            later = c->ev[v[n].event].start;
    }
}

static void charge(struct costing *c, struct wait *v, size_t n)
{
    struct sortkey *order = arena_array(&c->arena, struct sortkey, 2 * n + 1);
    int64_t *until = arena_array(&c->arena, int64_t, c->r->nlanes + 1);
    size_t m = 0;
    for (uint32_t l = 0; l < c->r->nlanes; l++)
        until[l] = INT64_MIN;
    for (size_t i = 0; i < n; i++)
        if (c->b[i].lane != UINT32_MAX && c->b[i].next > c->b[i].drain)
            order[m++] = (struct sortkey){c->b[i].drain, (uint32_t)i};
    sortkeys(order, order + n, m);
    for (size_t i = 0; i < m; i++) {
        const struct bubble *b = &c->b[order[i].at];
        int64_t from = b->drain > until[b->lane] ? b->drain : until[b->lane];
        if (b->next <= from)
            continue;
        struct wait *w = &v[order[i].at];
        w->bubble_ns = ivl_within(c->lanes[b->lane].idle, from, b->next);
        w->lane = c->r->first_lane + b->lane;
        w->bubble_start = from, w->bubble_end = b->next;
        until[b->lane] = b->next;
    }
}

void waits_cost(const struct trace *t, uint32_t rank, const uint32_t *launched, struct wait *v, size_t n)
{
    const struct trace_rank *r = &t->ranks[rank];
    if (!n || !r->nlanes)
        return;
    struct costing c = {.t = t, .r = r, .ev = t->files[r->file].d.ev};
    c.lanes = arena_array(&c.arena, struct lanecost, r->nlanes);
    c.b = arena_array(&c.arena, struct bubble, n);
    for (uint32_t l = 0; l < r->nlanes; l++) {
        const struct lane *lane = &t->lanes[r->first_lane + l];
        struct ivlset busy = busy_of(t, &c.arena, lane);
        c.lanes[l] = (struct lanecost){busy, ivl_sub(&c.arena, lane->window, busy)};
    }
    link_rows(&c, launched);
    size_t at = 0;
    for (size_t i = 0; i < r->nthreads; i++) {
        size_t first = at;
        while (at < n && c.ev[v[at].event].thread == r->threads[i].thread)
            at++;
        if (at > first)
            cost_thread(&c, &r->threads[i], v + first, c.b + first, at - first);
    }
    charge(&c, v, n);
    arena_free(&c.arena);
}
