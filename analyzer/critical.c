/* critical.c - walking the path and adding up its parts. */
#include "analyzer/critical.h"
#include "analyzer/groups.h"
#include "analyzer/nest.h"

#include <stdlib.h>
#include <string.h>

const char *path_kind_name(enum path_kind k)
{
    static const char *const names[] = {"host", "sync", "launch", "delay", "compute", "comm", "copy", "set", "unknown"};
    return (unsigned)k < PATH_NKINDS ? names[k] : "";
}

struct walk {
    const struct replay *r;
    struct path *p;
    struct groups g;
    size_t cap;
    uint32_t *pos;      /* by instant: place in the order, from 1 on; a cause lies before */
    uint32_t **path_of; /* by file: range_paths() */
    int64_t from, now;  /* the window's start; how far back the walk is */
    struct arena arena;
};

static uint32_t name_id(struct walk *w, const char *text)
{
    return intern_id(&w->p->names, text);
}

/* [to, now) belongs to a part of the path; clipped to the window. */
static void charge(struct walk *w, const struct replay_queue *q, enum path_kind kind, const char *name, uint32_t site, int64_t to)
{
    int64_t from = to > w->from ? to : w->from;
    if (from >= w->now)
        return;
    uint32_t id = name_id(w, name);
    size_t k = groups_at(&w->g, q->rank, kind, id, site);
    if (k == w->p->n)
        ARRAY_PUSH(w->p->v, w->p->n, w->cap, ((struct path_part){.rank = q->rank, .kind = kind, .name = id, .site = site}));
    w->p->v[k].count++;
    w->p->v[k].total_ns += w->now - from;
    w->now = from;
}

static const char *name_of(const struct walk *w, uint32_t task)
{
    const struct replay_queue *q = &w->r->queues[w->r->tasks[task].queue];
    return trace_string(&w->r->t->files[q->file], replay_name(w->r, task));
}

static enum path_kind work_kind(const struct walk *w, uint32_t task)
{
    static const enum path_kind kinds[] = {
        [LAUNCHED_COMPUTE] = PATH_COMPUTE, [LAUNCHED_COMM] = PATH_COMM, [LAUNCHED_COPY] = PATH_COPY, [LAUNCHED_SET] = PATH_SET};
    return kinds[w->r->tasks[task].kind];
}

static void charge_host_code(struct walk *w, uint32_t task, int64_t to)
{
    const struct replay_task *k = &w->r->tasks[task];
    const struct replay_queue *q = &w->r->queues[k->queue];
    uint32_t path = w->path_of[q->file][k->row];
    charge(w, q, PATH_HOST, path ? intern_str(&w->p->names, path) : "host code", 0, to);
}

static void charge_call(struct walk *w, uint32_t task, bool waited, int64_t to)
{
    const struct replay_queue *q = &w->r->queues[w->r->tasks[task].queue];
    size_t n;
    const char *api = wait_api(name_of(w, task), &n);
    uint32_t wait = replay_tie(w->r, task)->wait;
    uint32_t site = wait ? name_id(w, intern_str(&w->r->waits.names, w->r->waits.v[wait - 1].site)) : 0;
    uint32_t id = intern_id_n(&w->p->names, api, n);
    charge(w, q, waited ? PATH_SYNC : PATH_HOST, intern_str(&w->p->names, id), site, to);
}

/* What lies between the instant and the one `from` that it followed from. */
static void charge_edge(struct walk *w, uint32_t instant, uint32_t from)
{
    uint32_t task = instant / 2;
    int64_t to = replay_measured(w->r, from);
    if (instant >= 2 * w->r->n)
        return; /* the arrival of the last rank is that rank's start */
    const struct replay_queue *q = &w->r->queues[w->r->tasks[task].queue];
    const char *name = name_of(w, task);
    if (q->lane != REPLAY_NONE && (instant & 1))
        charge(w, q, work_kind(w, task), name, 0, to);
    else if (q->lane != REPLAY_NONE)
        charge(w, q, from / 2 == w->r->tasks[task].cause ? PATH_LAUNCH : PATH_DELAY, name, 0, to);
    else if (instant & 1)
        charge_call(w, task, from / 2 != task, to);
    else
        charge_host_code(w, task, to);
}

/* The instant that explains this one best; REPLAY_NONE: none. */
static uint32_t explain(const struct walk *w, uint32_t instant)
{
    struct replay_edge e;
    uint32_t best = REPLAY_NONE;
    int64_t most = INT64_MIN;
    for (size_t k = 0; replay_edge(w->r, instant, k, &e); k++) {
        int64_t m = replay_measured(w->r, e.instant) + e.usual;
        if (m > most && w->pos[e.instant] < w->pos[instant]) {
            most = m;
            best = e.instant;
        }
    }
    return best;
}

/* Of a member of a matched collective, see struct replay; 0 of all else. */
static int64_t drift_of(const struct replay *r, uint32_t task)
{
    uint32_t group = replay_tie(r, task)->group;
    for (uint32_t i = 0; group && i < r->groups[group - 1].n; i++)
        if (r->member[r->groups[group - 1].first + i] == task)
            return r->drift[r->groups[group - 1].first + i];
    return 0;
}

/* The walk goes on by a clock that is ns ahead: what is left of the window stays as long. */
static void change_clock(struct walk *w, int64_t ns)
{
    w->from += ns;
    w->now += ns;
}

static void walk_back(struct walk *w, uint32_t instant)
{
    uint32_t task = instant / 2; /* the last one that was passed; an arrival belongs to none */
    while (w->now > w->from) {
        uint32_t cause = explain(w, instant);
        task = instant < 2 * w->r->n ? instant / 2 : task;
        if (cause == REPLAY_NONE)
            break;
        if (cause >= 2 * w->r->n)
            change_clock(w, drift_of(w->r, instant / 2));
        charge_edge(w, instant, cause);
        if (instant >= 2 * w->r->n)
            change_clock(w, -drift_of(w->r, cause / 2));
        instant = cause;
    }
    const struct replay_queue *q = &w->r->queues[w->r->tasks[task].queue];
    if (q->lane == REPLAY_NONE)
        charge_host_code(w, task, w->from);
    else
        charge(w, q, PATH_UNKNOWN, "before the first row that was recorded", 0, w->from);
}

/* The queue's last instant at or before t; REPLAY_NONE: none. */
static uint32_t last_instant(const struct replay *r, const struct replay_queue *q, int64_t t)
{
    uint32_t task = replay_last(r, q, t);
    return task == REPLAY_NONE ? REPLAY_NONE : 2 * task + (replay_end(r, task) <= t);
}

/* Where the path ends: on the thread that tells the steps; of another window on whatever is last. */
static uint32_t last_of_rank(const struct replay *r, uint32_t rank, int64_t t)
{
    uint32_t clock = r->t->span == SPAN_STEP ? r->clock[rank] : REPLAY_NONE, best = REPLAY_NONE;
    for (uint32_t i = 0; i < r->nqueues; i++) {
        const struct replay_queue *q = &r->queues[i];
        bool counts = clock != REPLAY_NONE ? i == clock : q->rank == rank && (q->lane != REPLAY_NONE || r->t->span == SPAN_ALL);
        uint32_t k = counts ? last_instant(r, q, t) : REPLAY_NONE;
        if (k != REPLAY_NONE && (best == REPLAY_NONE || replay_measured(r, k) > replay_measured(r, best)))
            best = k;
    }
    return best;
}

static int64_t offset_of(const struct replay *r, uint32_t rank)
{
    for (size_t i = 0; i < r->nqueues; i++)
        if (r->queues[i].file == r->t->ranks[rank].file)
            return r->queues[i].offset;
    return 0;
}

static void rank_paths(struct walk *w, uint32_t rank)
{
    const struct replay *r = w->r;
    struct ivlset window = r->t->ranks[rank].window;
    int64_t offset = offset_of(r, rank);
    for (size_t i = window.n; i-- > 0;) {
        w->from = window.v[i].start + offset;
        w->now = window.v[i].end + offset;
        uint32_t last = last_of_rank(r, rank, w->now);
        if (last == REPLAY_NONE)
            continue;
        w->p->window_ns += w->now - w->from;
        const struct replay_queue *q = &r->queues[r->tasks[last / 2].queue];
        if (q->lane == REPLAY_NONE)
            charge_host_code(w, last / 2, replay_measured(r, last));
        else
            charge(w, q, PATH_DELAY, "after the last row", 0, replay_measured(r, last));
        walk_back(w, last);
    }
}

static bool has_rows(const struct trace *t, uint32_t rank)
{
    bool any = t->ranks[rank].n > 0;
    for (uint32_t l = 0; l < t->ranks[rank].nlanes; l++)
        any |= t->lanes[t->ranks[rank].first_lane + l].n > 0;
    return any && t->ranks[rank].window.n;
}

/* Of the ranks that matched collectives tie together the one that ends last has the path; the others have none of their
 * own. A rank without matched collectives is a job of its own. */
static void choose_ranks(const struct replay *r, uint8_t *has_path)
{
    struct arena a = {0};
    int64_t *end = arena_array(&a, int64_t, r->t->nfiles + 1);
    uint32_t *last = arena_array(&a, uint32_t, r->t->nfiles + 1); /* by run: 1 + rank */
    uint8_t *tied = arena_array(&a, uint8_t, r->t->nranks + 1);
    for (size_t g = 0; g < r->ngroups; g++)
        for (uint32_t i = 0; i < r->groups[g].n; i++)
            tied[r->queues[r->tasks[r->member[r->groups[g].first + i]].queue].rank] = 1;
    for (uint32_t k = 0; k < r->t->nranks; k++) {
        struct ivlset window = r->t->ranks[k].window;
        int run = r->t->files[r->t->ranks[k].file].run;
        if (!has_rows(r->t, k))
            continue;
        int64_t until = window.v[window.n - 1].end + offset_of(r, k);
        has_path[k] = !tied[k];
        if (tied[k] && (!last[run] || until > end[run])) {
            last[run] = k + 1;
            end[run] = until;
        }
    }
    for (size_t run = 0; run < r->t->nfiles; run++)
        if (last[run])
            has_path[last[run] - 1] = 1;
    arena_free(&a);
}

static int by_time(const void *x, const void *y)
{
    const struct path_part *a = x, *b = y;
    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return (a->site > b->site) - (a->site < b->site);
}

static uint32_t count(void *ctx, uint32_t instant)
{
    (void)instant;
    return ++*(uint32_t *)ctx;
}

static void find_places(struct walk *w)
{
    const struct replay *r = w->r;
    uint32_t seen = 0;
    w->pos = arena_array(&w->arena, uint32_t, 2 * r->n + r->ngroups + 1);
    for (size_t i = 0; r->order && i < r->norder; i++)
        w->pos[r->order[i]] = (uint32_t)i + 1;
    if (!r->order)
        replay_visit(r, w->pos, count, &seen);
}

void critical_path(struct replay *r, struct path *p)
{
    *p = (struct path){0};
    intern_init(&p->names);
    struct walk w = {.r = r, .p = p};
    uint8_t *has_path = arena_array(&w.arena, uint8_t, r->t->nranks + 1);
    w.path_of = arena_array(&w.arena, uint32_t *, r->t->nfiles);
    for (uint32_t f = 0; f < r->t->nfiles; f++)
        w.path_of[f] = range_paths(r->t, f, true, &p->names, &w.arena);
    replay_let_go(r);
    find_places(&w);
    choose_ranks(r, has_path);
    for (uint32_t k = 0; k < r->t->nranks; k++)
        if (has_path[k])
            rank_paths(&w, k);
    if (p->n)
        qsort(p->v, p->n, sizeof *p->v, by_time);
    groups_free(&w.g);
    arena_free(&w.arena);
}

void path_free(struct path *p)
{
    free(p->v);
    intern_free(&p->names);
    *p = (struct path){0};
}
