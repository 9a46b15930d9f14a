/* replay_order.c - what follows from what, and an order that respects it.
 *
 * Instants are visited depth first, their causes before them. A circle (two clocks that disagree) is cut where it closes:
 * that cause is not known yet when the instant's turn comes, in the first replay as in all others.
 */
#include "analyzer/replay.h"

#include <stdlib.h>
#include <string.h>

static bool edge(struct replay_edge *x, uint32_t instant, int64_t usual)
{
    *x = (struct replay_edge){instant, usual};
    return true;
}

/* What the start of a task follows from but for its list: the task before it in its queue, its cause. How many. */
static int start_edges(const struct replay *r, uint32_t task, struct replay_edge x[2])
{
    const struct replay_task *t = &r->tasks[task];
    const struct replay_queue *q = &r->queues[t->queue];
    bool host = q->lane == REPLAY_NONE;
    int n = 0;
    if (task > q->first) { /* work that overlaps the work before it in its stream follows its start */
        bool over = !host && replay_end(r, task - 1) > replay_start(r, task);
        edge(&x[n++], 2 * (task - 1) + !over, host ? 0 : q->usual[0]);
    }
    if (t->cause != REPLAY_NONE)
        edge(&x[n++], 2 * t->cause + host, host ? 0 : q->latency[t->kind]);
    return n;
}

int replay_edges(const struct replay *r, uint32_t instant, struct replay_edge x[2])
{
    if (instant >= 2 * r->n || r->tasks[instant / 2].tie)
        return -1;
    return instant & 1 ? edge(x, instant - 1, 0) : start_edges(r, instant / 2, x);
}

static bool listed(const struct replay *r, uint32_t task, size_t k, int64_t usual, struct replay_edge *x)
{
    for (const uint32_t *d = &r->dep[replay_tie(r, task)->deps]; *d != REPLAY_NONE; d++)
        if (k-- == 0)
            return edge(x, 2 * *d + 1, usual);
    return false;
}

static bool start_edge(const struct replay *r, uint32_t task, size_t k, struct replay_edge *x)
{
    const struct replay_queue *q = &r->queues[r->tasks[task].queue];
    struct replay_edge plain[2];
    size_t n = (size_t)start_edges(r, task, plain);
    if (k >= n)
        return q->lane != REPLAY_NONE && listed(r, task, k - n, q->usual[0], x);
    *x = plain[k];
    return true;
}

static bool end_edge(const struct replay *r, uint32_t task, size_t k, struct replay_edge *x)
{
    const struct replay_tie *t = replay_tie(r, task);
    const struct replay_queue *q = &r->queues[r->tasks[task].queue];
    if (k == 0)
        return t->group ? edge(x, (uint32_t)(2 * r->n) + t->group - 1, 0) : edge(x, 2 * task, t->deps ? q->usual[0] : 0);
    return q->lane == REPLAY_NONE && listed(r, task, k - 1, q->usual[1], x);
}

bool replay_edge(const struct replay *r, uint32_t instant, size_t k, struct replay_edge *x)
{
    if (instant >= 2 * r->n) {
        const struct replay_group *g = &r->groups[instant - 2 * r->n];
        return k < g->n && edge(x, 2 * r->member[g->first + k], r->drift[g->first + k]);
    }
    return instant & 1 ? end_edge(r, instant / 2, k, x) : start_edge(r, instant / 2, k, x);
}

struct visit {
    uint32_t instant, k;
};

struct visiting {
    uint32_t *mark;
    struct visit *stack;
    size_t n, cap;
};

static void enter(struct visiting *o, uint32_t instant)
{
    o->mark[instant] = REPLAY_NONE;
    ARRAY_PUSH(o->stack, o->n, o->cap, ((struct visit){instant, 0}));
}

/* The next cause of the instant that has not been seen; REPLAY_NONE: none. */
static uint32_t unseen_cause(const struct replay *r, const uint32_t *mark, struct visit *v)
{
    struct replay_edge x[2];
    uint32_t sole = replay_sole(r, v->instant);
    if (sole != REPLAY_NONE)
        return mark[sole] ? REPLAY_NONE : sole;
    int n = replay_edges(r, v->instant, x);
    for (int i = 0; i < n; i++)
        if (!mark[x[i].instant])
            return x[i].instant;
    while (n < 0 && replay_edge(r, v->instant, v->k, x)) {
        v->k++;
        if (!mark[x[0].instant])
            return x[0].instant;
    }
    return REPLAY_NONE;
}

void replay_visit(const struct replay *r, uint32_t *mark, uint32_t (*done)(void *ctx, uint32_t instant), void *ctx)
{
    size_t all = 2 * r->n + r->ngroups;
    struct visiting o = {.mark = mark};
    memset(mark, 0, all * sizeof *mark);
    for (uint32_t i = 0; i < all; i++) {
        if (mark[i])
            continue;
        uint32_t sole = replay_sole(r, i);
        if (sole != REPLAY_NONE && mark[sole])
            mark[i] = done(ctx, i);
        else
            enter(&o, i);
        while (o.n) {
            struct visit *v = &o.stack[o.n - 1];
            uint32_t cause = unseen_cause(r, mark, v);
            if (cause == REPLAY_NONE) {
                mark[v->instant] = done(ctx, v->instant);
                o.n--;
            } else {
                enter(&o, cause);
            }
        }
    }
    free(o.stack);
}

static uint32_t append(void *ctx, uint32_t instant)
{
    struct replay *r = ctx;
    r->order[r->norder++] = instant;
    return 1;
}

void replay_order(struct replay *r)
{
    size_t all = 2 * r->n + r->ngroups;
    struct arena a = {0};
    if (r->order)
        return;
    r->order = arena_array(&r->arena, uint32_t, all + 1);
    replay_visit(r, arena_array(&a, uint32_t, all + 1), append, r);
    arena_free(&a);
}

/* ---- usual distances ---- */

enum { SAMPLES = 4096 };

struct sample {
    int64_t v[SAMPLES];
    size_t n;
};

static void take(struct sample *s, int64_t ns)
{
    if (s->n < SAMPLES)
        s->v[s->n++] = ns > 0 ? ns : 0;
}

static int by_value(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

static int64_t median(struct sample *s)
{
    if (!s->n)
        return 0;
    qsort(s->v, s->n, sizeof *s->v, by_value);
    return s->v[(s->n - 1) / 2];
}

/* Latest end among what a task also waits for; INT64_MIN: nothing. */
static int64_t last_dep(const struct replay *r, uint32_t task)
{
    int64_t last = INT64_MIN;
    for (const uint32_t *d = &r->dep[replay_tie(r, task)->deps]; *d != REPLAY_NONE; d++)
        last = replay_end(r, *d) > last ? replay_end(r, *d) : last;
    return last;
}

static size_t stride_of(const struct replay_queue *q)
{
    return q->n / SAMPLES + 1;
}

/* A call that found nothing to wait for; copies and allocations do work of their own. */
static bool is_idle_wait(const struct replay *r, uint32_t task)
{
    uint32_t wait = replay_tie(r, task)->wait;
    return wait && r->waits.v[wait - 1].class != SYNC_COPY && r->waits.v[wait - 1].class != SYNC_ALLOC;
}

static void usual_waits(const struct replay *r, struct replay_queue *q, struct sample s[2])
{
    s[0].n = s[1].n = 0;
    for (uint32_t i = q->first; i < q->first + q->n; i += (uint32_t)stride_of(q)) {
        int64_t dep = last_dep(r, i), start = replay_start(r, i), end = replay_end(r, i);
        if (replay_tie(r, i)->deps && dep > start)
            take(&s[1], end - dep);
        else if (replay_tie(r, i)->deps || is_idle_wait(r, i))
            take(&s[0], end - start);
    }
    q->usual[0] = median(&s[0]);
    q->usual[1] = median(&s[1]);
}

/* When the stream was free for the task; INT64_MIN: from the beginning. */
static int64_t free_at(const struct replay *r, const struct replay_queue *q, uint32_t task)
{
    int64_t before = task > q->first ? replay_end(r, task - 1) : INT64_MIN, dep = last_dep(r, task);
    return dep > before ? dep : before;
}

enum { ANY_KIND = LAUNCHED_KINDS };

/* The launch latency shows where the stream was free when the work was launched; `none`: what it is where it never was. */
static int64_t usual_latency(const struct replay *r, const struct replay_queue *q, unsigned kind, int64_t none, struct sample *s)
{
    s->n = 0;
    for (uint32_t i = q->first; i < q->first + q->n; i += (uint32_t)stride_of(q)) {
        const struct replay_task *t = &r->tasks[i];
        if (t->cause != REPLAY_NONE && (kind == ANY_KIND || t->kind == kind) && replay_start(r, t->cause) >= free_at(r, q, i))
            take(s, replay_start(r, i) - replay_start(r, t->cause));
    }
    return s->n ? median(s) : none;
}

/* The gap behind work shows where the launch came a latency or more before the stream was free. Where none did, the gap is
 * no longer than the shortest that is seen of work which its launch alone would have let start earlier. */
static int64_t usual_gap(const struct replay *r, const struct replay_queue *q, struct sample *s)
{
    int64_t least = INT64_MAX;
    s->n = 0;
    for (uint32_t i = q->first; i < q->first + q->n; i += (uint32_t)stride_of(q)) {
        const struct replay_task *t = &r->tasks[i];
        int64_t before = free_at(r, q, i);
        if (t->cause == REPLAY_NONE || replay_start(r, t->cause) >= before)
            continue;
        int64_t gap = replay_start(r, i) - before, ahead = before - replay_start(r, t->cause), latency = q->latency[t->kind];
        least = gap < least && replay_start(r, i) - replay_start(r, t->cause) > latency ? gap : least;
        if (ahead >= latency)
            take(s, gap);
    }
    return s->n ? median(s) : least > 0 && least < INT64_MAX ? least : 0;
}

enum { UNSEEN = -1 };

/* The other streams of the device tell where a stream's own work does not: the one with most work. */
static int64_t latency_nearby(const struct replay *r, const struct replay_queue *q, struct sample *s)
{
    int64_t near = 0;
    uint32_t most = 0;
    for (size_t k = 0; k < r->nqueues; k++) {
        int64_t ns = r->queues[k].lane == q->lane && r->queues[k].n > most ? usual_latency(r, &r->queues[k], ANY_KIND, UNSEEN, s) : UNSEEN;
        if (ns != UNSEEN) {
            near = ns;
            most = r->queues[k].n;
        }
    }
    return near;
}

static void usual_stream(const struct replay *r, struct replay_queue *q, struct sample *s)
{
    int64_t any = usual_latency(r, q, ANY_KIND, UNSEEN, s);
    any = any == UNSEEN ? latency_nearby(r, q, s) : any;
    for (unsigned k = 0; k < LAUNCHED_KINDS; k++)
        q->latency[k] = usual_latency(r, q, k, any, s);
    q->usual[0] = usual_gap(r, q, s);
}

void replay_usual(struct replay *r)
{
    struct sample *s = arena_array(&r->arena, struct sample, 2);
    for (size_t q = 0; q < r->nqueues; q++)
        r->queues[q].lane == REPLAY_NONE ? usual_waits(r, &r->queues[q], s) : usual_stream(r, &r->queues[q], s);
}
