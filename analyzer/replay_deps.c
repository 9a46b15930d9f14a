/* replay_deps.c - what blocking calls wait for, streams that wait for streams, threads that hand over.
 *
 *   stream, device    the last work that was launched to it before the call; which stream, the call or its row on the device says
 *   event             the work that ended last within or before the call, of what had been launched
 *   copy              the copy that the call started, else as a stream
 *   alloc             as a device, when it is known to have waited
 *   launch            when it took long and hundreds of launches lay in the stream's queue: the queue was full, and the call
 *                     returned when the work that ended last within it made room
 *
 * Threads of one rank whose calls never overlap, and that take turns seldom, are one flow of control (forward on one
 * thread, backward on another): each turn follows the end of the other thread's last call.
 */
#include "analyzer/idlehost.h"
#include "analyzer/nest.h"
#include "analyzer/replay.h"
#include "analyzer/syncrows.h"

#include <stdlib.h>

static void add_pair(struct replay_build *b, uint32_t task, uint32_t on)
{
    ARRAY_PUSH(b->pairs, b->npairs, b->pairs_cap, ((struct sortkey){task, on}));
}

static int64_t launched_at(const struct replay *r, uint32_t task)
{
    uint32_t cause = r->tasks[task].cause;
    return replay_start(r, cause != REPLAY_NONE ? cause : task);
}

/* The last task of a stream that starts before t; REPLAY_NONE: none. */
static uint32_t last_before(const struct replay *r, const struct replay_queue *q, int64_t t)
{
    uint32_t lo = q->first, hi = q->first + q->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (replay_start(r, mid) < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > q->first ? lo - 1 : REPLAY_NONE;
}

enum { SKEW = 50000 }; /* ns by which host and device clocks of one trace may disagree */

/* The last task of stream q that a call may have waited for: launched before `asked`, ended by `until`. */
static uint32_t waited_for(const struct replay *r, const struct replay_queue *q, int64_t asked, int64_t until)
{
    for (uint32_t i = last_before(r, q, until); i != REPLAY_NONE; i = i > q->first ? i - 1 : REPLAY_NONE) {
        int64_t skew = r->tasks[i].cause != REPLAY_NONE ? SKEW : 0;
        if (launched_at(r, i) <= asked && replay_end(r, i) <= until + skew)
            return i;
    }
    return REPLAY_NONE;
}

/* The streams of a rank's devices; of a rank without any those of its whole file. */
static struct stretch device_queues(const struct replay_build *b, uint32_t rank)
{
    struct stretch s = b->of_rank[rank];
    return s.end > s.first ? s : b->of_file[b->r->t->ranks[rank].file];
}

static void widen(struct stretch *s, uint32_t q)
{
    s->first = s->end ? (q < s->first ? q : s->first) : q;
    s->end = q + 1 > s->end ? q + 1 : s->end;
}

static void index_queues(struct replay_build *b, struct arena *a)
{
    const struct replay *r = b->r;
    b->of_rank = arena_array(a, struct stretch, r->t->nranks + 1);
    b->of_file = arena_array(a, struct stretch, r->t->nfiles + 1);
    for (uint32_t q = 0; q < r->nqueues; q++)
        if (r->queues[q].lane != REPLAY_NONE) {
            widen(&b->of_rank[r->queues[q].rank], q);
            widen(&b->of_file[r->queues[q].file], q);
        }
}

struct asking {
    uint32_t task;
    const struct replay_task *call;
    const struct event *ev;
    const struct wait *w;
    const struct syncrows *said;
    bool latest; /* of all streams only the one that ends last */
};

static bool same_process(const struct replay *r, const struct replay_queue *q, const struct asking *x)
{
    const struct tracedata *d = &r->t->files[q->file].d;
    uint32_t host = d->threads[x->ev->thread].process, device = d->streams[q->id].process;
    return host == device || r->t->lanes[q->lane].host == x->w->rank;
}

static bool concerns(const struct replay *r, const struct replay_queue *q, const struct asking *x, int64_t native)
{
    const struct replay_queue *own = &r->queues[x->call->queue];
    if (q->lane == REPLAY_NONE || q->file != own->file || !same_process(r, q, x))
        return false;
    const struct tracedata *d = &r->t->files[q->file].d;
    if (x->ev->device >= 0 && d->streams[q->id].device != x->ev->device)
        return false;
    return native < 0 || d->streams[q->id].native == native;
}

/* Of all streams concerned; true when there was one. */
static bool wait_streams(struct replay_build *b, const struct asking *x, int64_t native)
{
    struct replay *r = b->r;
    uint32_t best = REPLAY_NONE;
    bool any = false;
    struct stretch near = device_queues(b, x->w->rank);
    for (uint32_t q = near.first; q < near.end; q++) {
        if (!concerns(r, &r->queues[q], x, native))
            continue;
        any = true;
        uint32_t k = waited_for(r, &r->queues[q], replay_start(r, x->task), replay_end(r, x->task));
        if (k != REPLAY_NONE && !x->latest)
            add_pair(b, x->task, k);
        else if (k != REPLAY_NONE && (best == REPLAY_NONE || replay_end(r, k) > replay_end(r, best)))
            best = k;
    }
    if (best != REPLAY_NONE)
        add_pair(b, x->task, best);
    return any;
}

static int64_t stream_of(const struct replay_build *b, const struct asking *x)
{
    const struct tracedata *d = &b->r->t->files[b->r->queues[x->call->queue].file].d;
    const struct ev_sync *s = ev_sync_of(d, x->ev);
    if (x->ev->stream)
        return d->streams[x->ev->stream].native;
    if (x->w->class != SYNC_STREAM && x->w->class != SYNC_EVENT)
        return -1;
    return s && s->wait_stream >= 0 ? s->wait_stream : syncrows_stream(x->said, x->ev->correlation);
}

static void wait_deps(struct replay_build *b, uint32_t task, const struct syncrows *said, const uint8_t *copied)
{
    struct replay *r = b->r;
    const struct replay_task *call = &r->tasks[task];
    const struct wait *w = &r->waits.v[replay_tie(r, task)->wait - 1];
    const struct replay_queue *q = &r->queues[call->queue];
    struct asking x = {.task = task, .call = call, .ev = &r->t->files[q->file].d.ev[w->event], .w = w, .said = &said[q->file]};
    if (copied[task] || (w->class == SYNC_ALLOC && w->did_block != 1))
        return;
    int64_t native = w->class == SYNC_DEVICE || w->class == SYNC_ALLOC ? -1 : stream_of(b, &x);
    x.latest = w->class == SYNC_EVENT || (native < 0 && w->class != SYNC_DEVICE && w->class != SYNC_ALLOC);
    if (!wait_streams(b, &x, native) && native >= 0) {
        x.latest = true;
        wait_streams(b, &x, -1);
    }
}

/* Copies that a blocking copy call started itself. */
static uint8_t *copy_deps(struct replay_build *b, struct arena *a)
{
    struct replay *r = b->r;
    uint8_t *copied = arena_array(a, uint8_t, r->n + 1);
    for (size_t n = 0; n < r->nqueues; n++) {
        const struct replay_queue *q = &r->queues[n];
        for (uint32_t i = q->first; q->lane != REPLAY_NONE && i < q->first + q->n; i++) {
            uint32_t cause = r->tasks[i].cause, wait = cause != REPLAY_NONE ? replay_tie(r, cause)->wait : 0;
            if (wait && r->waits.v[wait - 1].class == SYNC_COPY) {
                add_pair(b, cause, i);
                copied[cause] = 1;
            }
        }
    }
    return copied;
}

enum { LONG_LAUNCH = 100000, DEEP_QUEUE = 200 }; /* ns; launches ahead of it */

/* Launches of stream q that found it full. */
static void full_queue_deps(struct replay_build *b, const struct replay_queue *q)
{
    struct replay *r = b->r;
    for (uint32_t i = q->first + DEEP_QUEUE; i < q->first + q->n; i++) {
        uint32_t cause = r->tasks[i].cause;
        if (cause == REPLAY_NONE || replay_tie(r, cause)->wait)
            continue;
        int64_t start = replay_start(r, cause), end = replay_end(r, cause);
        if (end - start < LONG_LAUNCH)
            continue;
        uint32_t room = waited_for(r, q, start, end);
        if (room != REPLAY_NONE && replay_end(r, room) > start && i - room >= DEEP_QUEUE)
            add_pair(b, cause, room);
    }
}

/* ---- streams that wait for an event of another stream ---- */

/* Native number of the stream that row `wait` says the event is of; -1: any. */
static int64_t event_stream(const struct tracedata *d, uint32_t wait)
{
    const struct ev_sync *s = wait == SEVERAL_WAITS ? NULL : ev_sync_of(d, &d->ev[wait - 1]);
    return s ? s->wait_stream : -1;
}

/* native: the stream that it waits for; -1: any other one. */
static void event_dep(struct replay_build *b, uint32_t task, int64_t native)
{
    struct replay *r = b->r;
    const struct replay_queue *own = &r->queues[r->tasks[task].queue];
    uint32_t best = REPLAY_NONE;
    int64_t start = replay_start(r, task);
    struct stretch near = device_queues(b, own->rank);
    for (uint32_t q = near.first; q < near.end; q++) {
        const struct streamkey *k = &r->t->files[own->file].d.streams[r->queues[q].id];
        if (&r->queues[q] == own || r->queues[q].lane != own->lane || (native >= 0 && k->native != native))
            continue;
        uint32_t i = waited_for(r, &r->queues[q], launched_at(r, task), start);
        if (i != REPLAY_NONE && replay_end(r, i) <= start && (best == REPLAY_NONE || replay_end(r, i) > replay_end(r, best)))
            best = i;
    }
    if (best != REPLAY_NONE)
        add_pair(b, task, best);
}

static void event_deps(struct replay_build *b)
{
    struct replay *r = b->r;
    for (uint32_t file = 0; file < r->t->nfiles; file++) {
        struct arena a = {0};
        if (!(r->t->files[file].kinds >> EV_SYNC & 1)) /* no stream was told to wait */
            continue;
        uint32_t *launched = launches_find(&r->t->files[file], &a);
        uint32_t *waited = event_waits(r->t, file, launched, &a);
        for (uint32_t i = 0; i < r->n; i++) {
            const struct replay_queue *q = &r->queues[r->tasks[i].queue];
            uint32_t wait = q->file == file && q->lane != REPLAY_NONE ? waited[r->tasks[i].row] : 0;
            if (wait)
                event_dep(b, i, event_stream(&r->t->files[file].d, wait));
        }
        arena_free(&a);
    }
}

/* ---- threads that take turns ---- */

enum { TURNS_PER_CALL = 50 }; /* at most one turn in so many calls */

static size_t threads_of_rank(const struct replay *r, uint32_t rank)
{
    size_t n = 0;
    for (size_t q = 0; q < r->nqueues; q++)
        n += r->queues[q].rank == rank && r->queues[q].lane == REPLAY_NONE && r->queues[q].n;
    return n;
}

/* The calls of a rank's threads in order of time. */
static size_t calls_of_rank(const struct replay *r, uint32_t rank, struct sortkey **v, struct arena *a)
{
    size_t n = 0;
    for (size_t q = 0; q < r->nqueues; q++)
        n += r->queues[q].rank == rank && r->queues[q].lane == REPLAY_NONE ? r->queues[q].n : 0;
    *v = arena_array(a, struct sortkey, 2 * n + 2);
    n = 0;
    for (size_t q = 0; q < r->nqueues; q++)
        for (uint32_t i = 0; r->queues[q].rank == rank && r->queues[q].lane == REPLAY_NONE && i < r->queues[q].n; i++)
            (*v)[n++] = (struct sortkey){replay_start(r, r->queues[q].first + i), r->queues[q].first + i};
    sortkeys(*v, *v + n, n);
    return n;
}

static void hand_over(struct replay *r, uint32_t rank)
{
    struct arena a = {0};
    struct sortkey *v;
    if (threads_of_rank(r, rank) < 2)
        return;
    size_t n = calls_of_rank(r, rank, &v, &a), turns = 0;
    bool overlap = false;
    for (size_t i = 1; i < n; i++) {
        turns += r->tasks[v[i - 1].at].queue != r->tasks[v[i].at].queue;
        overlap |= replay_end(r, v[i - 1].at) > replay_start(r, v[i].at);
    }
    bool one_flow = turns && !overlap && turns * TURNS_PER_CALL <= n;
    r->handed |= one_flow;
    for (size_t i = 1; one_flow && i < n; i++)
        if (r->tasks[v[i - 1].at].queue != r->tasks[v[i].at].queue)
            r->tasks[v[i].at].cause = v[i - 1].at;
    arena_free(&a);
}

/* Pairs into lists, each ended by REPLAY_NONE. */
static void make_lists(struct replay_build *b)
{
    struct replay *r = b->r;
    size_t cap = 0;
    struct sortkey *tmp = array_grow(NULL, &cap, b->npairs + 1, sizeof *tmp);
    sortkeys(b->pairs, tmp, b->npairs);
    free(tmp);
    for (size_t i = 0, j; i < b->npairs; i = j) {
        replay_tied(r, (uint32_t)b->pairs[i].key)->deps = (uint32_t)r->ndep;
        for (j = i; j < b->npairs && b->pairs[j].key == b->pairs[i].key; j++)
            ARRAY_PUSH(r->dep, r->ndep, r->dep_cap, b->pairs[j].at);
        ARRAY_PUSH(r->dep, r->ndep, r->dep_cap, REPLAY_NONE);
    }
    free(b->pairs);
}

void replay_deps(struct replay_build *b)
{
    struct replay *r = b->r;
    struct arena a = {0};
    index_queues(b, &a);
    const uint8_t *copied = copy_deps(b, &a);
    struct syncrows *said = arena_array(&a, struct syncrows, r->t->nfiles + 1);
    for (uint32_t file = 0; file < r->t->nfiles; file++)
        syncrows_find(&r->t->files[file], &a, &said[file]);
    for (uint32_t i = 0; i < r->n; i++)
        if (replay_tie(r, i)->wait)
            wait_deps(b, i, said, copied);
    for (size_t q = 0; q < r->nqueues; q++)
        if (r->queues[q].lane != REPLAY_NONE)
            full_queue_deps(b, &r->queues[q]);
    event_deps(b);
    for (uint32_t rank = 0; rank < r->t->nranks; rank++)
        hand_over(r, rank);
    make_lists(b);
    arena_free(&a);
}
