/* comm_sim.c - collectives in virtual time: no byte moves, all ranks of a call end together.
 *
 *   rank 0   start |----- waits ------------|- transfer -|
 *   rank 1                 start |-- waits -|- transfer -|      end = latest start + the longest rank's transfer
 *
 * Point to point: the two ends of a message meet, and a call ends when both of its halves have. Transfers follow the usual
 * cost of the algorithms (start, hops, bytes over the slowest link); where the ranks of a group sit follows from the
 * machine's ranks per node. Ranks are fibers: a call gives way until its peers have made it too.
 */
#include "kernels/comm/backend.h"
#include "kernels/comm/fiber.h"
#include "kernels/comm/links.h"
#include "kernels/device/sim.h"
#include "schemas/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the ranks of one call meet. A rank can be one call ahead of one that has not left yet: two are enough. */
struct meeting {
    int arrived, gone;
    int64_t start; /* the latest */
    double ns;     /* the longest transfer */
};

struct message { /* one end of a transfer that waits for the other */
    int from, to;
    bool sender;   /* which end waits */
    int64_t start; /* of the call */
    int64_t *end;  /* where the waiting call keeps the end of its half */
    int fiber;
};

struct group {
    struct group *next;
    const char *name;
    struct comm_part part;
    int size;
    bool *opened;                         /* by number in the part */
    struct meeting meetings[2], hosts[2]; /* of collectives, of barriers; by the call's number */
    int *waiting;                         /* fibers in the current meeting */
    int nwaiting;
    struct message *posted; /* ends that wait; few at a time */
    size_t nposted, posted_cap;
};

struct world { /* comm_world.impl */
    struct group *groups;
};

struct member { /* comm.impl */
    struct group *group;
    int64_t calls, barriers;
};

struct task {
    struct comm *c;
    struct stream *s;
    struct collective x;
    int64_t sent, received;
};
_Static_assert(sizeof(struct task) <= COMM_ARGS_MAX, "a task fits into the arguments of a collective");

static double transfer_ns(const struct task *t)
{
    const struct collective *x = &t->x;
    struct comm_part p = t->c->part;
    double element = x->dtype == COMM_F64 ? 8 : x->dtype == COMM_F32 ? 4 : 1, bytes = (double)x->n * element * collective_share(x);
    if (p.size == 1)
        return 0;
    switch (x->function) {
    case COMM_ALL_GATHER:
    case COMM_REDUCE_SCATTER:
        return links_gather_ns(p, bytes);
    case COMM_ALL_REDUCE:
        return 2 * links_gather_ns(p, bytes / p.size);
    default:
        return links_exchange_ns(p, fmax((double)t->sent, (double)t->received));
    }
}

/* ---- meeting ---- */

/* Gives way until all have come or the world is broken; false: the latter. `m` is the meeting of the group's call. */
static bool meet(struct comm *c, struct meeting *m, int64_t start, double ns)
{
    struct group *g = ((struct member *)c->impl)->group;
    m->start = m->arrived && m->start > start ? m->start : start;
    m->ns = m->arrived && m->ns > ns ? m->ns : ns;
    if (++m->arrived == g->size) {
        for (int i = 0; i < g->nwaiting; i++)
            fiber_wake(g->waiting[i]);
        g->nwaiting = 0;
    } else {
        g->waiting[g->nwaiting++] = fiber_self();
        while (m->arrived < g->size && !comm_world_broken(c->world))
            fiber_wait();
    }
    return m->arrived >= g->size;
}

/* The last to leave makes the meeting ready for the call after the next. */
static void leave(struct meeting *m, int size)
{
    if (++m->gone == size)
        *m = (struct meeting){0};
}

static void collect(struct task *t)
{
    struct member *me = t->c->impl;
    struct meeting *m = &me->group->meetings[me->calls++ % 2];
    int64_t start = sim_comm_start(t->s), end = start;
    if (meet(t->c, m, start, transfer_ns(t))) {
        end = m->start + llround(m->ns);
        leave(m, me->group->size);
    }
    sim_comm_end(t->s, end);
}

/* ---- point to point ---- */

static struct message *find(struct group *g, const struct message *mine)
{
    for (size_t i = 0; i < g->nposted; i++)
        if (g->posted[i].from == mine->from && g->posted[i].to == mine->to && g->posted[i].sender != mine->sender)
            return &g->posted[i];
    return NULL;
}

/* Completes the message when its other end waits, else leaves this end for it. Messages of a pair meet in the order of
 * their calls, for the list keeps that order. */
static void post(struct group *g, const struct message *mine, double ns)
{
    struct message *other = find(g, mine);
    if (!other) {
        ARRAY_PUSH(g->posted, g->nposted, g->posted_cap, *mine);
        return;
    }
    *mine->end = *other->end = (mine->start > other->start ? mine->start : other->start) + llround(ns);
    fiber_wake(other->fiber);
    size_t at = (size_t)(other - g->posted);
    memmove(other, other + 1, (--g->nposted - at) * sizeof *other);
}

/* Ends left behind by a call that was given up are nobody's any more. */
static void withdraw(struct group *g, int fiber)
{
    size_t kept = 0;
    for (size_t i = 0; i < g->nposted; i++)
        if (g->posted[i].fiber != fiber)
            g->posted[kept++] = g->posted[i];
    g->nposted = kept;
}

/* One half of the call: with nobody at the other end it is over at once. */
static void post_half(struct task *t, bool sender, int64_t *end)
{
    struct comm *c = t->c;
    int64_t start = sim_comm_start(t->s);
    int peer = sender ? t->x.to : t->x.from, me = c->rank;
    if (peer < 0 || peer == me) {
        *end = start;
        return;
    }
    struct message m = {sender ? me : peer, sender ? peer : me, sender, start, end, fiber_self()};
    post(((struct member *)c->impl)->group, &m, links_message_ns(c->part, me, peer, (double)t->x.n));
}

static void send_recv(struct task *t)
{
    int64_t start = sim_comm_start(t->s), sent = -1, got = -1;
    post_half(t, true, &sent);
    post_half(t, false, &got);
    while ((sent < 0 || got < 0) && !comm_world_broken(t->c->world))
        fiber_wait();
    withdraw(((struct member *)t->c->impl)->group, fiber_self());
    int64_t end = sent > got ? sent : got;
    sim_comm_end(t->s, end > start ? end : start);
}

/* ---- calls ---- */

static void run(void *args)
{
    struct task *t = args;
    if (comm_size(t->c) > 1 && t->x.function == COMM_SEND_RECV)
        send_recv(t);
    else
        collect(t);
}

static void enqueue(struct comm *c, struct stream *s, const struct activity *a, const struct collective *x)
{
    struct task t = {c, s, *x, a->bytes, x->function == COMM_ALL_TO_ALL_V ? x->n : 0};
    dev_enqueue_comm(s, a, run, &t, sizeof t);
}

/* The hosts go on together, at the clock of the last. */
static void barrier(struct comm *c)
{
    struct member *me = c->impl;
    struct meeting *m = &me->group->hosts[me->barriers++ % 2];
    struct device *d = sim_device(c->part.first + c->rank * c->part.stride);
    if (meet(c, m, sim_host_clock(d), 0)) {
        sim_host_until(d, m->start);
        leave(m, me->group->size);
    }
}

/* ---- worlds and handles ---- */

static bool available(void)
{
    return true;
}

static bool world_open(struct comm_world *w, struct err *e)
{
    w->impl = calloc(1, sizeof(struct world));
    return w->impl || fail(e, ERR_FAIL, "communicator: out of memory");
}

static void group_free(struct group *g)
{
    free(g->opened);
    free(g->waiting);
    free(g->posted);
    free(g);
}

static void world_close(struct comm_world *w)
{
    struct world *own = w->impl;
    while (own->groups) {
        struct group *g = own->groups;
        own->groups = g->next;
        group_free(g);
    }
    free(own);
}

static void world_abort(struct comm_world *w)
{
    for (struct group *g = ((struct world *)w->impl)->groups; g; g = g->next) {
        for (int i = 0; i < g->nwaiting; i++)
            fiber_wake(g->waiting[i]);
        g->nwaiting = 0;
        for (size_t i = 0; i < g->nposted; i++)
            fiber_wake(g->posted[i].fiber);
    }
}

static struct group *group_new(const struct comm *c)
{
    struct group *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    *g = (struct group){.name = c->group, .part = c->part, .size = c->part.size};
    g->opened = calloc((size_t)g->size, sizeof *g->opened);
    g->waiting = calloc((size_t)g->size, sizeof *g->waiting);
    if (g->opened && g->waiting)
        return g;
    group_free(g);
    return NULL;
}

static bool is_group(const struct group *g, const struct comm *c)
{
    return strcmp(g->name, c->group) == 0 && g->part.first == c->part.first && g->part.stride == c->part.stride && g->size == c->part.size;
}

/* The first group of that name and part which the rank has not opened yet. */
static struct group *join(struct world *own, const struct comm *c)
{
    struct group **link = &own->groups;
    while (*link && (!is_group(*link, c) || (*link)->opened[c->rank]))
        link = &(*link)->next;
    if (!*link)
        *link = group_new(c);
    if (*link)
        (*link)->opened[c->rank] = true;
    return *link;
}

static bool open_member(struct comm *c, struct err *e)
{
    struct member *m = calloc(1, sizeof *m);
    if (m)
        m->group = join(c->world->impl, c);
    if (m && m->group) {
        c->impl = m;
        return true;
    }
    free(m);
    return fail(e, ERR_FAIL, "communicator %s: out of memory", c->group);
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
    .available = available,
    .ops = &ops,
};
