/* replay.c - rows into tasks, thread by thread and stream by stream. */
#include "analyzer/replay.h"
#include "analyzer/nest.h"

#include <stdlib.h>

static uint32_t add_queue(struct replay *r, struct replay_queue q)
{
    q.first = (uint32_t)r->n;
    q.rows = (struct replay_rows){(const char *)r->t->files[q.file].d.ev, sizeof(struct event), offsetof(struct event, name)};
    ARRAY_PUSH(r->queues, r->nqueues, r->queues_cap, q);
    return (uint32_t)r->nqueues - 1;
}

struct replay_tie *replay_tied(struct replay *r, uint32_t task)
{
    if (!r->tasks[task].tie) {
        r->tasks[task].tie = (uint32_t)r->nties;
        ARRAY_PUSH(r->ties, r->nties, r->ties_cap, ((struct replay_tie){0}));
    }
    return &r->ties[r->tasks[task].tie];
}

/* ---- host threads ---- */

struct hosting {
    struct replay *r;
    uint32_t *task_of; /* of the file: see struct replay_build */
    uint8_t *launches; /* by row of the file: starts device work */
    size_t wait;       /* next entry of waits */
};

/* Waits come by rank, thread and start, as the rows do. 1 + entry; 0: the row is none. */
static uint32_t wait_at(struct hosting *h, uint32_t rank, uint32_t row)
{
    const struct waits *w = &h->r->waits;
    if (h->wait < w->n && w->v[h->wait].rank == rank && w->v[h->wait].event == row)
        return (uint32_t)++h->wait;
    return 0;
}

static void host_thread(struct hosting *h, uint32_t rank, const struct thread_events *th)
{
    struct replay *r = h->r;
    uint32_t file = r->t->ranks[rank].file;
    const struct event *ev = r->t->files[file].d.ev;
    uint32_t queue = add_queue(r, (struct replay_queue){.file = file, .rank = rank, .lane = REPLAY_NONE, .id = th->thread});
    int64_t inside = INT64_MIN;
    for (size_t i = 0; i < th->n; i++) {
        uint32_t row = th->ev[i];
        if (ev[row].kind != EV_RUNTIME)
            continue;
        uint32_t wait = wait_at(h, rank, row);
        if (ev[row].start < inside) {
            h->task_of[row] = (uint32_t)r->n;
            if (wait && !replay_tie(r, (uint32_t)r->n - 1)->wait)
                replay_tied(r, (uint32_t)r->n - 1)->wait = wait;
        } else if (wait || h->launches[row]) {
            ARRAY_PUSH(r->tasks, r->n, r->cap, ((struct replay_task){.row = row, .queue = queue, .cause = REPLAY_NONE}));
            if (wait)
                replay_tied(r, (uint32_t)r->n - 1)->wait = wait;
            h->task_of[row] = (uint32_t)r->n;
            inside = ev[row].end;
        }
    }
    r->queues[queue].n = (uint32_t)r->n - r->queues[queue].first;
}

static uint8_t *launching_rows(const struct replay *r, uint32_t file, const uint32_t *launched, struct arena *a)
{
    uint8_t *launches = arena_array(a, uint8_t, r->t->files[file].d.n + 1);
    for (uint32_t l = 0; l < r->t->nlanes; l++) {
        const struct lane *lane = &r->t->lanes[l];
        for (size_t i = 0; lane->file == file && i < lane->n; i++) {
            uint32_t host = launched[lane->ev[i]];
            if (host)
                launches[host - 1] = 1;
        }
    }
    return launches;
}

/* ---- streams ---- */

static enum launched launched_kind(enum work work)
{
    return work == WORK_COMM ? LAUNCHED_COMM : work == WORK_COPY ? LAUNCHED_COPY : work == WORK_SET ? LAUNCHED_SET : LAUNCHED_COMPUTE;
}

/* A lane's rows, stream by stream in order of time. */
static void lane_streams(struct replay *r, uint32_t lane, uint32_t *task_of)
{
    const struct lane *l = &r->t->lanes[lane];
    const struct tracedata *d = &r->t->files[l->file].d;
    struct arena a = {0};
    uint32_t *count = arena_array(&a, uint32_t, d->nstreams + 1), *queue_of = arena_array(&a, uint32_t, d->nstreams + 1);
    for (size_t i = 0; i < l->n; i++)
        count[d->ev[l->ev[i]].stream]++;
    for (uint32_t s = 0; s < d->nstreams; s++) {
        if (!count[s])
            continue;
        queue_of[s] = add_queue(r, (struct replay_queue){.file = l->file, .rank = l->host, .lane = lane, .id = s});
        if (r->n + count[s] > r->cap)
            r->tasks = array_grow(r->tasks, &r->cap, r->n + count[s], sizeof *r->tasks);
        r->n += count[s];
    }
    for (size_t i = 0; i < l->n; i++) {
        uint32_t row = l->ev[i], q = queue_of[d->ev[row].stream], call = task_of[row] ? task_of[task_of[row] - 1] : 0;
        uint32_t at = r->queues[q].first + r->queues[q].n++;
        unsigned kind = (unsigned)launched_kind(trace_work(&r->t->files[l->file], &d->ev[row]));
        r->tasks[at] = (struct replay_task){.row = row, .queue = q, .kind = kind & (LAUNCHED_KINDS - 1), .cause = call - 1};
        task_of[row] = at + 1;
        r->linked |= call != 0;
    }
    arena_free(&a);
}

/* The thread that holds most of the rank's calls tells where its steps begin and end. */
static void choose_clock(struct replay *r, uint32_t rank, uint32_t first_queue)
{
    r->clock[rank] = REPLAY_NONE;
    for (uint32_t q = first_queue; q < r->nqueues; q++)
        if (r->queues[q].n && (r->clock[rank] == REPLAY_NONE || r->queues[q].n > r->queues[r->clock[rank]].n))
            r->clock[rank] = q;
}

/* A rank without calls of its own goes by the busiest thread of its file. */
static void borrow_clocks(struct replay *r, uint32_t file)
{
    uint32_t best = REPLAY_NONE;
    for (uint32_t k = 0; k < r->t->nranks; k++)
        if (r->t->ranks[k].file == file && r->clock[k] != REPLAY_NONE)
            best = best == REPLAY_NONE || r->queues[r->clock[k]].n > r->queues[best].n ? r->clock[k] : best;
    for (uint32_t k = 0; k < r->t->nranks; k++)
        if (r->t->ranks[k].file == file && r->clock[k] == REPLAY_NONE)
            r->clock[k] = best;
}

static void file_tasks(struct replay_build *b, uint32_t file, struct hosting *h)
{
    struct replay *r = b->r;
    struct arena a = {0};
    h->task_of = b->task_of[file]; /* of device rows still what launched them; each gives way to the row's task */
    h->launches = launching_rows(r, file, h->task_of, &a);
    for (uint32_t k = 0; k < r->t->nranks; k++) {
        uint32_t first = (uint32_t)r->nqueues;
        for (size_t i = 0; r->t->ranks[k].file == file && i < r->t->ranks[k].nthreads; i++)
            host_thread(h, k, &r->t->ranks[k].threads[i]);
        if (r->t->ranks[k].file == file)
            choose_clock(r, k, first);
    }
    borrow_clocks(r, file);
    for (uint32_t l = 0; l < r->t->nlanes; l++)
        if (r->t->lanes[l].file == file)
            lane_streams(r, l, h->task_of);
    arena_free(&a);
}

void replay_tasks(struct replay_build *b)
{
    struct replay *r = b->r;
    struct hosting h = {.r = r};
    r->clock = arena_array(&r->arena, uint32_t, r->t->nranks);
    for (uint32_t file = 0; file < r->t->nfiles; file++)
        file_tasks(b, file, &h);
}

void replay_make(const struct trace *t, enum site_by by, struct replay *r)
{
    *r = (struct replay){.t = t};
    struct replay_build b = {.r = r};
    b.task_of = arena_array(&b.scratch, uint32_t *, t->nfiles);
    waits_find_all(t, by, &r->waits, b.task_of, &b.scratch);
    ARRAY_PUSH(r->dep, r->ndep, r->dep_cap, REPLAY_NONE); /* list 0: nothing */
    ARRAY_PUSH(r->ties, r->nties, r->ties_cap, ((struct replay_tie){0}));
    replay_tasks(&b);
    replay_join(&b);
    arena_free(&b.scratch);
    replay_deps(&b);
    replay_usual(r);
}

void replay_graph(const struct trace *t, enum site_by by, struct replay *r)
{
    if (!replay_from_shared(t, by, r))
        replay_make(t, by, r);
}

uint32_t replay_last(const struct replay *r, const struct replay_queue *q, int64_t t)
{
    uint32_t lo = 0, hi = q->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (replay_start(r, q->first + mid) <= t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? q->first + lo - 1 : REPLAY_NONE;
}

void replay_build(const struct trace *t, enum site_by by, struct replay *r)
{
    replay_graph(t, by, r);
    replay_order(r);
}

uint32_t replay_name(const struct replay *r, uint32_t task)
{
    const struct replay_rows *rows = &r->queues[r->tasks[task].queue].rows;
    uint32_t name;
    memcpy(&name, rows->v + r->tasks[task].row * rows->stride + rows->name, sizeof name);
    return name;
}

_Static_assert(offsetof(struct event, start) == offsetof(struct replay_brief, start), "a row begins with its times");
_Static_assert(offsetof(struct event, end) == offsetof(struct replay_brief, end), "a row begins with its times");

/* In place, from the first row on, then the rest is given back. */
static struct replay_brief *brief_rows(struct tracedata *d)
{
    struct replay_brief *v = (void *)d->ev, *less;
    for (size_t i = 0; i < d->n; i++) {
        struct event ev;
        memcpy(&ev, (char *)v + i * sizeof ev, sizeof ev);
        v[i] = (struct replay_brief){ev.start, ev.end, ev.name};
    }
    less = d->n ? realloc(v, d->n * sizeof *v) : NULL;
    d->ev = NULL;
    d->n = d->cap = 0;
    return less ? less : v;
}

void replay_let_go(struct replay *r)
{
    if (!r->t->alone)
        return;
    r->brief = arena_array(&r->arena, struct replay_brief *, r->t->nfiles + 1);
    for (size_t f = 0; f < r->t->nfiles; f++)
        r->brief[f] = brief_rows(&r->t->files[f].d);
    for (size_t q = 0; q < r->nqueues; q++)
        r->queues[q].rows = (struct replay_rows){(char *)r->brief[r->queues[q].file], sizeof **r->brief, offsetof(struct replay_brief, name)};
}

void replay_free(struct replay *r)
{
    for (size_t f = 0; r->brief && f < r->t->nfiles; f++)
        free(r->brief[f]);
    if (!r->borrowed) {
        waits_free(&r->waits);
        free(r->tasks);
        free(r->ties);
        free(r->queues);
        free(r->dep);
    }
    arena_free(&r->arena);
    *r = (struct replay){0};
}
