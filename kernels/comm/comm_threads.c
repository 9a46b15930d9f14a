/* comm_threads.c - ranks are threads of one process: each reads straight out of its peers' buffers. On the cpu device that is
 * done by the stream's worker, on a GPU it is enqueued by the host thread (peers.h).
 *
 *   rank 0:  post | gate: all have posted | copy from every peer | gate: all have copied | leave
 *   rank 1:     post | ...
 *
 * Waiting is sleeping, and on the cpu lies inside the comm event, as with NCCL. Peers may touch a posted buffer only between the
 * two gates. The first gate can be broken by comm_world_abort(): then nobody passes it any more and nobody touches
 * anybody's buffer. Behind it all ranks are sure to arrive, so the later gates cannot be.
 *
 * All-reduce cuts the buffer into a slice per rank: each rank adds its own slice over all ranks in rank order, in place (no
 * other rank reads that slice), and fetches the others' after one more gate.
 *
 * Point to point passes no gate: a message lies in the mailbox of its sender and receiver.
 */
#include "kernels/comm/backend.h"
#include "kernels/comm/gate.h"
#include "kernels/comm/mailbox.h"
#include "kernels/comm/peers.h"
#include "kernels/comm/roster.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { GATE_POSTED, GATE_REDUCED, GATE_LEFT, GATE_HOST, NGATES };

enum phase { PHASE_POSTED, PHASE_REDUCED, PHASE_LEFT, NPHASES };

/* What a rank's stream has come to. */
struct marks {
    struct peer_mark at[NPHASES];
};

struct pair { /* a sender and a receiver */
    struct mailbox box;
    struct peer_mark ready, taken; /* the message is there; it has been copied */
};

struct group { /* what the ranks of one communicator share; by rank: the number in the part */
    struct roster_group of;
    struct gate gates[NGATES];
    const struct collective **posts; /* by rank; valid between the gates */
    struct marks *marks;
    struct pair *pairs; /* [from][to] */
    const void **parts; /* [rank][rank]: where a rank's sums find their addends */
    uint64_t *sums;     /* by rank: reductions so far, counted where their order is drawn */
    int size;
};

struct shared { /* comm_world.impl */
    pthread_mutex_t lock;
    struct roster groups;
    bool broken;
};

struct member { /* comm.impl: outlives the handle while collectives are enqueued */
    struct group *group;
    int rank, size;
    atomic_int users;
};

/* ---- the transfers, between the gates ---- */

struct turn { /* one rank's part of a collective, in its turn */
    const struct member *m;
    struct stream *s;
};

static const unsigned char *sent_by(const struct member *m, int rank)
{
    return m->group->posts[rank]->send;
}

/* This rank's stream has come to a phase; all ranks have enqueued so far; what follows comes after all of them. */
static void reach(const struct turn *w, enum phase phase)
{
    peer_mark(w->s, &w->m->group->marks[w->m->rank].at[phase]);
}

static void await_all(const struct turn *w, enum phase phase)
{
    for (int r = 0; r < w->m->size; r++)
        if (r != w->m->rank)
            peer_await(w->s, &w->m->group->marks[r].at[phase]);
}

static void all_gather(const struct turn *w, const struct collective *x)
{
    for (int r = 0; r < w->m->size; r++)
        peer_copy(w->s, (unsigned char *)x->recv + r * x->n, sent_by(w->m, r), x->n);
}

static void all_to_all(const struct turn *w, const struct collective *x)
{
    for (int r = 0; r < w->m->size; r++)
        peer_copy(w->s, (unsigned char *)x->recv + r * x->n, sent_by(w->m, r) + w->m->rank * x->n, x->n);
}

static void all_to_all_v(const struct turn *w, const struct collective *x)
{
    const struct member *m = w->m;
    unsigned char *to = x->recv;
    for (int r = 0; r < m->size; r++) {
        const int64_t *lengths = m->group->posts[r]->splits;
        const unsigned char *from = sent_by(m, r);
        for (int i = 0; i < m->rank; i++)
            from += lengths[i];
        assert(lengths[m->rank] == x->splits[m->size + r] && "what a rank sends is what its peer expects");
        peer_copy(w->s, to, from, lengths[m->rank]);
        to += lengths[m->rank];
    }
}

/* Puts the parts into an order that follows from the seed and the reduction's number: the same on every rank. */
static void shuffle(const void **parts, int n, uint64_t seed, uint64_t number)
{
    uint64_t z = seed * UINT64_C(0x9e3779b97f4a7c15) + number;
    for (int i = n - 1; i > 0; i--) {
        z = (z ^ (z >> 31)) * UINT64_C(0xbf58476d1ce4e5b9) + UINT64_C(0x94d049bb133111eb);
        int other = (int)((z >> 33) % (uint64_t)(i + 1));
        const void *swap = parts[i];
        parts[i] = parts[other];
        parts[other] = swap;
    }
}

/* to <- sum over ranks 0, 1, ... of n elements of their send, from `at` on; `to` may be this rank's own. */
static void reduce(const struct turn *w, const struct collective *x, void *to, int64_t at, int64_t n)
{
    const struct member *m = w->m;
    bool f64 = x->dtype == COMM_F64;
    const void **parts = m->group->parts + (size_t)m->rank * (size_t)m->size;
    for (int r = 0; r < m->size; r++)
        parts[r] = sent_by(m, r) + at * (f64 ? 8 : 4);
    if (comm_order_seed())
        shuffle(parts, m->size, comm_order_seed(), w->m->group->sums[w->m->rank]++);
    peer_add(w->s, f64, to, parts, m->size, n);
}

static void reduce_scatter(const struct turn *w, const struct collective *x)
{
    reduce(w, x, x->recv, w->m->rank * x->n, x->n);
}

static void all_reduce(const struct turn *w, const struct collective *x)
{
    const struct member *m = w->m;
    int64_t element = x->dtype == COMM_F64 ? 8 : 4;
    int64_t from = x->n * m->rank / m->size, until = x->n * (m->rank + 1) / m->size;
    reduce(w, x, (unsigned char *)x->recv + from * element, from, until - from);
    reach(w, PHASE_REDUCED);
    gate_pass(&m->group->gates[GATE_REDUCED], m->size);
    await_all(w, PHASE_REDUCED);
    for (int r = 0; r < m->size; r++) {
        int64_t start = x->n * r / m->size, end = x->n * (r + 1) / m->size;
        if (r != m->rank)
            peer_copy(w->s, (unsigned char *)x->recv + start * element, sent_by(m, r) + start * element, (end - start) * element);
    }
}

/* ---- one collective ---- */

struct task {
    struct member *member;
    struct stream *stream;
    struct collective x;
};
_Static_assert(sizeof(struct task) <= COMM_ARGS_MAX, "a task fits into the arguments of a collective");

static bool agree(const struct member *m, const struct collective *x)
{
    for (int r = 0; r < m->size; r++) {
        const struct collective *y = m->group->posts[r];
        if (y->function != x->function || y->dtype != x->dtype || y->n != x->n)
            return false;
    }
    return true;
}

static void member_drop(struct member *m)
{
    if (atomic_fetch_sub(&m->users, 1) == 1)
        free(m);
}

static bool take(const struct turn *w, const struct collective *x)
{
    struct pair *p = &w->m->group->pairs[x->from * w->m->size + w->m->rank];
    const void *message = mail_take(&p->box);
    if (!message)
        return false;
    peer_await(w->s, &p->ready);
    peer_copy(w->s, x->recv, message, x->n);
    peer_mark(w->s, &p->taken);
    mail_taken(&p->box);
    return true;
}

/* Puts the own message where its receiver finds it, takes the one for me, then waits until mine has been taken. */
static bool send_recv(const struct turn *w, const struct collective *x)
{
    struct pair *out = x->to < 0 ? NULL : &w->m->group->pairs[w->m->rank * w->m->size + x->to];
    if (out) {
        peer_mark(w->s, &out->ready);
        mail_post(&out->box, x->send);
    }
    bool ok = x->from < 0 || take(w, x);
    if (out) {
        mail_wait(&out->box);
        peer_await(w->s, &out->taken);
    }
    return ok;
}

static bool collect(const struct turn *w, const struct collective *x)
{
    static void (*const transfers[])(const struct turn *, const struct collective *) = {[COMM_ALL_GATHER] = all_gather,
                                                                                        [COMM_ALL_TO_ALL] = all_to_all,
                                                                                        [COMM_ALL_TO_ALL_V] = all_to_all_v,
                                                                                        [COMM_REDUCE_SCATTER] = reduce_scatter,
                                                                                        [COMM_ALL_REDUCE] = all_reduce};
    const struct member *m = w->m;
    m->group->posts[m->rank] = x;
    reach(w, PHASE_POSTED);
    if (!gate_pass(&m->group->gates[GATE_POSTED], m->size))
        return false;
    assert(agree(m, x) && "all ranks make the same call");
    await_all(w, PHASE_POSTED);
    transfers[x->function](w, x);
    reach(w, PHASE_LEFT);
    gate_pass(&m->group->gates[GATE_LEFT], m->size);
    await_all(w, PHASE_LEFT);
    return true;
}

/* Bytes of x->send. */
static int64_t sent_bytes(const struct member *m, const struct collective *x)
{
    int64_t blocks = x->function == COMM_ALL_TO_ALL || x->function == COMM_REDUCE_SCATTER ? m->size : 1, n = x->n * blocks;
    for (int r = 0; x->splits && r < m->size; r++)
        n += x->splits[r];
    return x->function == COMM_SEND_RECV && x->to < 0 ? 0 : x->dtype == COMM_F32 ? n * (int64_t)sizeof(float) : n;
}

/* Nothing is lost in a narrow transfer, here none: the values fit it. */
static bool fits(const struct member *m, const struct collective *x)
{
    const float *v = x->send;
    int64_t n = x->as == DTYPE_FP32 ? 0 : sent_bytes(m, x) / (int64_t)sizeof *v;
    while (n > 0 && (dtype_round(x->as, v[n - 1]) == v[n - 1] || v[n - 1] != v[n - 1]))
        n--;
    return n == 0;
}

static void run(void *args)
{
    struct task *t = args;
    struct member *m = t->member;
    const struct turn w = {m, t->stream};
    assert((peers_enqueue(w.s) || fits(m, &t->x)) && "rows hold values of the storage type");
    bool ok = t->x.function == COMM_SEND_RECV ? send_recv(&w, &t->x) : collect(&w, &t->x);
    if (!ok)
        peer_clear(w.s, t->x.recv, collective_received(&t->x, m->size));
    free(t->x.splits);
    member_drop(m);
}

static void enqueue(struct comm *c, struct stream *s, const struct activity *a, const struct collective *x)
{
    struct task t = {c->impl, s, *x};
    atomic_fetch_add(&t.member->users, 1);
    dev_enqueue_comm(s, a, run, &t, sizeof t);
}

static void barrier(struct comm *c)
{
    struct member *m = c->impl;
    gate_pass(&m->group->gates[GATE_HOST], m->size);
}

/* ---- worlds and handles ---- */

static bool world_open(struct comm_world *w, struct err *e)
{
    struct shared *sh = calloc(1, sizeof *sh);
    if (!sh)
        return fail(e, ERR_FAIL, "communicator: out of memory");
    pthread_mutex_init(&sh->lock, NULL);
    w->impl = sh;
    return true;
}

static void close_marks(void *group)
{
    struct group *g = group;
    for (int r = 0; r < g->size; r++)
        for (int i = 0; i < NPHASES; i++)
            peer_mark_close(&g->marks[r].at[i]);
    for (int i = 0; i < g->size * g->size; i++) {
        peer_mark_close(&g->pairs[i].ready);
        peer_mark_close(&g->pairs[i].taken);
    }
}

static void world_close(struct comm_world *w)
{
    struct shared *sh = w->impl;
    roster_each(&sh->groups, close_marks);
    roster_free(&sh->groups);
    pthread_mutex_destroy(&sh->lock);
    free(sh);
}

static void group_break(void *group)
{
    struct group *g = group;
    gate_break(&g->gates[GATE_POSTED]);
    gate_break(&g->gates[GATE_HOST]);
    for (int i = 0; i < g->size * g->size; i++)
        mail_break(&g->pairs[i].box);
}

static void world_abort(struct comm_world *w)
{
    struct shared *sh = w->impl;
    pthread_mutex_lock(&sh->lock);
    sh->broken = true;
    roster_each(&sh->groups, group_break);
    pthread_mutex_unlock(&sh->lock);
}

/* Called under the lock. */
static struct group *join(struct shared *sh, const struct comm *c)
{
    bool made;
    struct group *g = roster_join(&sh->groups, c, sizeof *g, &made);
    size_t n = (size_t)c->part.size;
    if (!made)
        return g;
    g->size = c->part.size;
    g->posts = arena_array(&sh->groups.memory, const struct collective *, n);
    g->marks = arena_array(&sh->groups.memory, struct marks, n);
    g->pairs = arena_array(&sh->groups.memory, struct pair, n * n);
    g->parts = arena_array(&sh->groups.memory, const void *, n *n);
    g->sums = arena_array(&sh->groups.memory, uint64_t, n);
    if (sh->broken)
        group_break(g);
    return g;
}

static bool open_member(struct comm *c, struct err *e)
{
    struct shared *sh = c->world->impl;
    struct member *m = calloc(1, sizeof *m);
    if (!m)
        return fail(e, ERR_FAIL, "communicator %s: out of memory", c->group);
    pthread_mutex_lock(&sh->lock);
    m->group = join(sh, c);
    pthread_mutex_unlock(&sh->lock);
    m->rank = c->rank;
    m->size = c->part.size;
    atomic_store(&m->users, 1);
    c->impl = m;
    return true;
}

static void close_member(struct comm *c)
{
    member_drop(c->impl);
}

static const struct comm_ops ops = {
    .world_open = world_open,
    .world_close = world_close,
    .world_abort = world_abort,
    .open = open_member,
    .close = close_member,
    .enqueue = enqueue,
    .barrier = barrier,
    .parts = true,
};

const struct comm_backend comm_threads = {
    .name = "threads",
    .what = "ranks are threads of this process; transfers are copies between their buffers",
    .ops = &ops,
};
