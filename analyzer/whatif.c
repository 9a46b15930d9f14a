/* whatif.c - headline numbers of a replay. */
#include "analyzer/whatif.h"
#include "analyzer/groups.h"

#include <stdlib.h>
#include <string.h>

static int by_value(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

/* The upper median of the rank's steps, as the replay has them; -1: no steps. */
static int64_t median_step(const struct replay *r, const struct scenario *s, const struct replayed *p, uint32_t rank)
{
    const struct steplist *l = &r->t->ranks[rank].steps;
    if (r->t->span != SPAN_STEP || !l->n || r->clock[rank] == REPLAY_NONE)
        return -1;
    struct arena a = {0};
    int64_t *ns = arena_array(&a, int64_t, l->n);
    for (size_t i = 0; i < l->n; i++)
        ns[i] = replay_host_time(r, s, p, rank, l->v[i].end) - replay_host_time(r, s, p, rank, l->v[i].start);
    qsort(ns, l->n, sizeof *ns, by_value);
    int64_t median = ns[l->n / 2];
    arena_free(&a);
    return median;
}

/* When the task runs, on its own clock. Where a circle was cut its end is the measured one, which its start may have passed. */
static struct ivl run_of(const struct replay *r, const struct replayed *p, const struct replay_queue *q, uint32_t task)
{
    int64_t start = replayed_at(r, p, 2 * task) - q->offset, end = replayed_at(r, p, 2 * task + 1) - q->offset;
    return (struct ivl){start, end > start ? end : start};
}

static void add_work(const struct replay *r, const struct replayed *p, const struct replay_queue *q, struct ivlset window, struct metrics *m,
                     struct ivl *v, size_t *n)
{
    for (uint32_t i = q->first; i < q->first + q->n; i++) {
        struct ivl run = run_of(r, p, q, i);
        int64_t ns = ivl_within(window, run.start, run.end);
        v[(*n)++] = run;
        m->comm_sum_ns += r->tasks[i].kind == LAUNCHED_COMM ? ns : 0;
        m->compute_sum_ns += r->tasks[i].kind == LAUNCHED_COMPUTE ? ns : 0;
    }
}

static int64_t blocked(const struct replay *r, const struct replayed *p, uint32_t rank, struct ivlset window)
{
    int64_t ns = 0;
    for (size_t q = 0; q < r->nqueues; q++) {
        const struct replay_queue *k = &r->queues[q];
        for (uint32_t i = k->first; k->rank == rank && k->lane == REPLAY_NONE && i < k->first + k->n; i++)
            if (replay_tie(r, i)->wait) {
                struct ivl run = run_of(r, p, k, i);
                ns += ivl_within(window, run.start, run.end);
            }
    }
    return ns;
}

struct metrics metrics_of(const struct replay *r, const struct scenario *s, const struct replayed *p, uint32_t lane)
{
    const struct lane *l = &r->t->lanes[lane];
    struct arena a = {0};
    struct metrics m = {0};
    struct ivlset window = replay_window(r, s, p, l->host, lane, &a);
    struct ivl *v = arena_array(&a, struct ivl, l->n + 1);
    size_t n = 0;
    for (size_t q = 0; q < r->nqueues; q++)
        if (r->queues[q].lane == lane)
            add_work(r, p, &r->queues[q], window, &m, v, &n);
    m.window_ns = ivl_len(window);
    m.busy_ns = ivl_len(ivl_and(&a, ivl_from(v, n), window));
    m.blocked_ns = blocked(r, p, l->host, replay_window(r, s, p, l->host, REPLAY_NONE, &a));
    m.step_ns = median_step(r, s, p, l->host);
    m.step_ns = m.step_ns < 0 ? m.window_ns : m.step_ns;
    arena_free(&a);
    return m;
}

void metrics_of_lanes(const struct replay *r, const struct scenario *s, struct metrics *m)
{
    struct arena a = {0};
    struct replayed p = s ? replay_run(r, s, &a) : (struct replayed){0};
    for (uint32_t l = 0; l < r->t->nlanes; l++)
        m[l] = metrics_of(r, s, &p, l);
    arena_free(&a);
}

int64_t window_of(const struct replay *r, const struct scenario *s, const struct replayed *p, uint32_t rank)
{
    struct arena a = {0};
    int64_t ns = ivl_len(replay_window(r, s, p, rank, REPLAY_NONE, &a));
    arena_free(&a);
    return ns;
}

static size_t kind_of_comm(struct groups *g, const struct replay_queue *q, const struct event *ev)
{
    uint64_t bytes = (uint64_t)ev->bytes;
    return groups_at(g, q->lane, ev->name, (uint32_t)bytes, (uint32_t)(bytes >> 32));
}

const int64_t *shortest_comms(const struct replay *r, struct arena *a)
{
    int64_t *of = arena_array(a, int64_t, r->n + 1), *least = NULL;
    size_t cap = 0, n = 0;
    struct groups g = {0};
    memset(of, 0xff, (r->n + 1) * sizeof *of);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < r->n; i++) {
            const struct replay_queue *q = &r->queues[r->tasks[i].queue];
            const struct trace_file *f = &r->t->files[q->file];
            const struct event *ev = &f->d.ev[r->tasks[i].row];
            int64_t ns = ev->end - ev->start;
            if (q->lane == REPLAY_NONE || replay_tie(r, (uint32_t)i)->group || !trace_is_comm(f, ev))
                continue;
            size_t k = kind_of_comm(&g, q, ev);
            if (k == n)
                ARRAY_PUSH(least, n, cap, INT64_MAX);
            least[k] = ns < least[k] ? ns : least[k];
            of[i] = least[k];
        }
    free(least);
    groups_free(&g);
    return of;
}
