/* comm_sim.c - collectives in virtual time: no byte moves, all ranks of a call end together.
 *
 *   rank 0   start |----- waits ------------|- transfer -|
 *   rank 1                 start |-- waits -|- transfer -|      end = latest start + the longest rank's transfer
 *
 * Point to point: the two ends of a message meet, and a call ends when both of its halves have. Transfers follow the usual
 * cost of the algorithms (start, hops, bytes over the slowest link); where the ranks of a group sit follows from the
 * machine's ranks per node. Ranks are fibers, but no fiber gives way here, barriers apart: a rank's call has its turn when its
 * stream has come to it (lane.h), one at a time, and the last of the ranks to come ends it for all.
 */
#include "kernels/comm/backend.h"
#include "kernels/comm/links.h"
#include "kernels/comm/roster.h"
#include "kernels/device/fiber.h"
#include "kernels/device/sim.h"

#include <math.h>
#include <stdlib.h>

struct task { /* a rank's call, until it ends */
    struct group *group;
    struct stream *stream;
    double ns; /* the transfer; of a message: its bytes */
    int me;    /* as all ranks here: the number in the part */
    bool message;
    int to, from, halves; /* -1 none; how many have not met their other end */
    int64_t end;          /* of those that have */
    struct task *next;
};
_Static_assert(sizeof(struct task) <= COMM_ARGS_MAX, "a task fits into the arguments of a collective");

struct group {
    struct roster_group of;
    const struct comm_world *world;
    int size;
    /* The collective that ranks are in. */
    struct stream **arrived;
    int narrived;
    int64_t start; /* the latest */
    double ns;     /* the longest transfer */
    /* Messages, by receiver: the calls that send to it, and its own that receives, as far as they wait. */
    struct task **senders, **receiver;
    /* Barriers. A rank can be one ahead of one that has not left yet: two are enough. */
    struct barrier {
        int arrived, gone;
        int64_t clock;
    } barriers[2];
    int *waiting; /* fibers in the current one */
    int nwaiting;
};

/* comm_world.impl is the roster of the groups. */

struct member { /* comm.impl */
    struct group *group;
    int64_t barriers;
};

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- collectives ---- */

static void end_all(struct group *g)
{
    int64_t end = g->start + llround(g->ns);
    for (int i = 0; i < g->size; i++)
        sim_comm_end(g->arrived[i], end);
    g->narrived = 0;
}

static void collect(const struct task *t)
{
    struct group *g = t->group;
    int64_t start = sim_comm_start(t->stream);
    g->start = g->narrived ? later(g->start, start) : start;
    g->ns = g->narrived ? fmax(g->ns, t->ns) : t->ns;
    g->arrived[g->narrived++] = t->stream;
    if (g->narrived == g->size)
        end_all(g);
}

/* ---- point to point ---- */

/* One half is over. */
static void end_half(struct task *t, int64_t end)
{
    t->end = later(t->end, end);
    if (--t->halves == 0)
        sim_comm_end(t->stream, t->end);
}

static void pass(struct task *sender, struct task *receiver)
{
    double ns = links_message_ns(sender->group->of.part, sender->me, receiver->me, sender->ns);
    int64_t end = later(sim_comm_start(sender->stream), sim_comm_start(receiver->stream)) + llround(ns);
    end_half(sender, end);
    end_half(receiver, end);
}

/* Where a rank's call is among those that send to `to`; the end of the list: nowhere. */
static struct task **sender_at(struct group *g, int to, int me)
{
    struct task **link = &g->senders[to];
    while (*link && (*link)->me != me)
        link = &(*link)->next;
    return link;
}

static void post_send(struct task *t)
{
    struct task *receiver = t->group->receiver[t->to];
    if (receiver && receiver->from == t->me) {
        t->group->receiver[t->to] = NULL;
        pass(t, receiver);
    } else
        *sender_at(t->group, t->to, t->me) = t;
}

static void post_receive(struct task *t)
{
    struct task **link = sender_at(t->group, t->me, t->from), *sender = *link;
    if (sender) {
        *link = sender->next;
        pass(sender, t);
    } else
        t->group->receiver[t->me] = t;
}

/* Both halves are counted before either is posted: the call may be over, and gone, when the last of them is. */
static void send_recv(struct task *t)
{
    bool sends = t->to >= 0 && t->to != t->me, receives = t->from >= 0 && t->from != t->me;
    t->end = sim_comm_start(t->stream);
    t->halves = sends + receives;
    if (!t->halves)
        sim_comm_end(t->stream, t->end);
    if (sends)
        post_send(t);
    if (receives)
        post_receive(t);
}

/* ---- calls ---- */

/* A world that is given up gets no ends from peers. */
static void run(void *args)
{
    struct task *t = args;
    if (comm_world_broken(t->group->world))
        sim_comm_end(t->stream, sim_comm_start(t->stream));
    else if (t->message)
        send_recv(t);
    else
        collect(t);
}

static double transfer_ns(const struct comm *c, const struct collective *x, int64_t sent)
{
    struct comm_part p = c->part;
    double element = x->dtype == COMM_F64 ? 8 : x->dtype == COMM_F32 ? 4 : 1, bytes = (double)x->n * element * collective_share(x);
    if (p.size == 1)
        return 0;
    switch (x->function) {
    case COMM_ALL_GATHER:
    case COMM_REDUCE_SCATTER:
        return links_gather_ns(p, bytes);
    case COMM_ALL_REDUCE:
        return 2 * links_gather_ns(p, bytes / p.size);
    case COMM_ALL_TO_ALL_V:
        return links_exchange_ns(p, fmax((double)sent, (double)x->n));
    default:
        return links_exchange_ns(p, (double)sent);
    }
}

static void enqueue(struct comm *c, struct stream *s, const struct activity *a, const struct collective *x)
{
    const struct member *m = c->impl;
    struct task t = {.group = m->group, .stream = s, .me = c->rank, .to = -1, .from = -1};
    t.message = comm_size(c) > 1 && x->function == COMM_SEND_RECV;
    if (t.message) {
        t.ns = (double)x->n;
        t.to = x->to;
        t.from = x->from;
    } else
        t.ns = transfer_ns(c, x, a->bytes);
    dev_enqueue_comm(s, a, run, &t, sizeof t);
}

/* ---- barriers ---- */

/* Gives way until all have come or the world is broken; false: the latter. */
static bool meet(struct group *g, struct barrier *b, int64_t clock)
{
    b->clock = b->arrived ? later(b->clock, clock) : clock;
    if (++b->arrived == g->size) {
        for (int i = 0; i < g->nwaiting; i++)
            fiber_wake(g->waiting[i]);
        g->nwaiting = 0;
    } else {
        g->waiting[g->nwaiting++] = fiber_self();
        while (b->arrived < g->size && !comm_world_broken(g->world))
            fiber_wait();
    }
    return b->arrived >= g->size;
}

/* The hosts go on together, at the clock of the last, who makes the barrier ready for the one after the next. */
static void barrier(struct comm *c)
{
    struct member *me = c->impl;
    struct group *g = me->group;
    struct barrier *b = &g->barriers[me->barriers++ % 2];
    struct device *d = sim_device(c->part.first + c->rank * c->part.stride);
    if (!meet(g, b, sim_host_clock(d)))
        return;
    sim_host_until(d, b->clock);
    if (++b->gone == g->size)
        *b = (struct barrier){0};
}

/* ---- worlds and handles ---- */

static bool world_open(struct comm_world *w, struct err *e)
{
    w->impl = calloc(1, sizeof(struct roster));
    return w->impl || fail(e, ERR_FAIL, "communicator: out of memory");
}

static void world_close(struct comm_world *w)
{
    roster_free(w->impl);
    free(w->impl);
}

/* Every call that waits ends without its peers. One that sends and receives is ended as a receiver. */
static void group_abort(void *group)
{
    struct group *g = group;
    for (int i = 0; i < g->narrived; i++)
        sim_comm_end(g->arrived[i], sim_comm_start(g->arrived[i]));
    g->narrived = 0;
    for (int r = 0; r < g->size; r++) {
        for (struct task *t = g->senders[r], *next; t; t = next) {
            next = t->next;
            if (g->receiver[t->me] != t)
                sim_comm_end(t->stream, t->end);
        }
        g->senders[r] = NULL;
    }
    for (int r = 0; r < g->size; r++) {
        if (g->receiver[r])
            sim_comm_end(g->receiver[r]->stream, g->receiver[r]->end);
        g->receiver[r] = NULL;
    }
    for (int i = 0; i < g->nwaiting; i++)
        fiber_wake(g->waiting[i]);
    g->nwaiting = 0;
}

static void world_abort(struct comm_world *w)
{
    roster_each(w->impl, group_abort);
    sim_comm_ended();
}

static struct group *join(struct roster *r, const struct comm *c)
{
    bool made;
    struct group *g = roster_join(r, c, sizeof *g, &made);
    if (!made)
        return g;
    g->world = c->world;
    g->size = c->part.size;
    g->arrived = arena_array(&r->memory, struct stream *, g->size);
    g->senders = arena_array(&r->memory, struct task *, g->size);
    g->receiver = arena_array(&r->memory, struct task *, g->size);
    g->waiting = arena_array(&r->memory, int, g->size);
    return g;
}

static bool open_member(struct comm *c, struct err *e)
{
    struct member *m = calloc(1, sizeof *m);
    if (!m)
        return fail(e, ERR_FAIL, "communicator %s: out of memory", c->group);
    m->group = join(c->world->impl, c);
    c->impl = m;
    return true;
}

static void close_member(struct comm *c)
{
    free(c->impl);
}

/* ---- ranks ---- */

struct job {
    struct comm_world *w;
    bool (*rank_main)(int rank, void *ctx, struct err *e);
    void *ctx;
    struct err first; /* of the rank that failed first */
};

static void body(int i, void *ctx)
{
    struct job *j = ctx;
    struct err e = {0};
    if (j->rank_main(i, j->ctx, &e))
        return;
    fail(&e, ERR_FAIL, "rank %d failed", i);
    fail(&j->first, e.kind, "%s", e.msg);
    comm_world_abort(j->w);
}

/* Everybody waits for somebody: a mode whose ranks do not make the same calls. */
static bool stuck(void *ctx)
{
    struct job *j = ctx;
    fail(&j->first, ERR_FAIL, "sim: every rank waits for another one's collective");
    bool before = comm_world_broken(j->w);
    comm_world_abort(j->w);
    return !before;
}

static bool run_ranks(struct comm_world *w, bool (*rank_main)(int rank, void *ctx, struct err *e), void *ctx, struct err *e)
{
    struct job j = {w, rank_main, ctx, {0}};
    if (!fibers_run(w->size, body, stuck, &j))
        fail(&j.first, ERR_FAIL, "sim: out of memory for %d ranks", w->size);
    return !j.first.kind || fail(e, j.first.kind, "%s", j.first.msg);
}

static const struct comm_ops ops = {
    .world_open = world_open,
    .world_close = world_close,
    .world_abort = world_abort,
    .open = open_member,
    .close = close_member,
    .enqueue = enqueue,
    .barrier = barrier,
    .run = run_ranks,
    .parts = true,
    .modelled = true,
};

const struct comm_backend comm_sim = {
    .name = "sim",
    .what = "ranks of the sim device take turns on one thread; collectives end when a model says",
    .ops = &ops,
};
