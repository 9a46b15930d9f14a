/* comm_threads.c - ranks are threads of one process: each rank's stream worker reads straight out of its peers' buffers.
 *
 *   rank 0 worker:  post | gate: all have posted | copy from every peer | gate: all have copied | leave
 *   rank 1 worker:     post | ...
 *
 * Waiting is sleeping, and lies inside the comm event, as with NCCL. Peers may touch a posted buffer only between the
 * two gates. The first gate can be broken by comm_world_abort(): then nobody passes it any more and nobody touches
 * anybody's buffer. Behind it all ranks are sure to arrive, so the later gates cannot be.
 *
 * All-reduce cuts the buffer into a slice per rank: each rank adds its own slice over all ranks in rank order, in place (no
 * other rank reads that slice), and fetches the others' after one more gate.
 *
 * Point to point passes no gate: a message lies in the mailbox of its sender and receiver.
 */
#include "kernels/comm/backend.h"
#include "kernels/comm/mailbox.h"
#include "kernels/device/park.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Where all ranks meet, again and again. `state` counts arrivals since the start; its lowest bit says broken, and then it
 * counts no further, so every rank comes to the same answer from one look at it. */
struct gate {
    _Atomic uint64_t state;
    _Atomic uint32_t moved; /* what sleepers sleep on */
};

enum { GATE_BROKEN = 1, GATE_ARRIVAL = 2 };

enum { GATE_POSTED, GATE_REDUCED, GATE_LEFT, GATE_HOST, NGATES };

struct group { /* what the ranks of one communicator share */
    struct group *next;
    const char *name;
    struct comm_part part;
    bool *opened; /* by rank, as all below: the number in the part */
    struct gate gates[NGATES];
    const struct collective **posts; /* by rank; valid between the gates */
    struct mailbox *boxes;           /* [from][to] */
    int size;
};

struct shared { /* comm_world.impl */
    pthread_mutex_t lock;
    struct group *groups; /* in the order of their making */
    bool broken;
};

struct member { /* comm.impl: outlives the handle while collectives are enqueued */
    struct group *group;
    int rank, size;
    atomic_int users;
};

/* ---- gates ---- */

static void gate_wake(struct gate *g)
{
    atomic_fetch_add(&g->moved, 1);
    futex_wake(&g->moved, INT_MAX);
}

/* True when all `size` ranks have come; false when the gate was broken before that, on every rank that had come or comes. */
static bool gate_pass(struct gate *g, int size)
{
    uint64_t state = atomic_load(&g->state);
    do {
        if (state & GATE_BROKEN)
            return false;
    } while (!atomic_compare_exchange_weak(&g->state, &state, state + GATE_ARRIVAL));
    uint64_t before = state / GATE_ARRIVAL, all = (before / (uint64_t)size + 1) * (uint64_t)size;
    if (before + 1 == all) {
        gate_wake(g);
        return true;
    }
    for (;;) {
        uint32_t moved = atomic_load(&g->moved);
        state = atomic_load(&g->state);
        if (state / GATE_ARRIVAL >= all || state & GATE_BROKEN)
            return state / GATE_ARRIVAL >= all;
        futex_wait(&g->moved, moved);
    }
}

static void gate_break(struct gate *g)
{
    atomic_fetch_or(&g->state, GATE_BROKEN);
    gate_wake(g);
}

/* ---- the transfers, between the gates ---- */

static const unsigned char *sent_by(const struct member *m, int rank)
{
    return m->group->posts[rank]->send;
}

/* In place means the same place, so overlap is all or nothing. */
static void copy(void *to, const void *from, int64_t bytes)
{
    if (bytes && to != from)
        memcpy(to, from, (size_t)bytes);
}

static void all_gather(const struct member *m, const struct collective *x)
{
    for (int r = 0; r < m->size; r++)
        copy((unsigned char *)x->recv + r * x->n, sent_by(m, r), x->n);
}

static void all_to_all(const struct member *m, const struct collective *x)
{
    for (int r = 0; r < m->size; r++)
        copy((unsigned char *)x->recv + r * x->n, sent_by(m, r) + m->rank * x->n, x->n);
}

static void all_to_all_v(const struct member *m, const struct collective *x)
{
    unsigned char *to = x->recv;
    for (int r = 0; r < m->size; r++) {
        const int64_t *lengths = m->group->posts[r]->splits;
        const unsigned char *from = sent_by(m, r);
        for (int i = 0; i < m->rank; i++)
            from += lengths[i];
        assert(lengths[m->rank] == x->splits[m->size + r] && "what a rank sends is what its peer expects");
        copy(to, from, lengths[m->rank]);
        to += lengths[m->rank];
    }
}

enum { REDUCE_BLOCK = 512 };

/* to[0 .. n-1] <- sum over ranks 0, 1, ... of their send[from + i]; `to` may be this rank's own send + from. */
#define DEFINE_REDUCE(name, type)                                                                                                                    \
    static void name(const struct member *m, type *to, int64_t from, int64_t n)                                                                      \
    {                                                                                                                                                \
        type sum[REDUCE_BLOCK];                                                                                                                      \
        for (int64_t at = 0; at < n; at += REDUCE_BLOCK) {                                                                                           \
            int count = (int)(n - at < REDUCE_BLOCK ? n - at : REDUCE_BLOCK);                                                                        \
            for (int r = 0; r < m->size; r++) {                                                                                                      \
                const type *part = (const type *)(const void *)sent_by(m, r) + from + at;                                                            \
                for (int i = 0; i < count; i++)                                                                                                      \
                    sum[i] = r ? sum[i] + part[i] : part[i];                                                                                         \
            }                                                                                                                                        \
            memcpy(to + at, sum, (size_t)count * sizeof *sum);                                                                                       \
        }                                                                                                                                            \
    }
DEFINE_REDUCE(reduce_f32, float)
DEFINE_REDUCE(reduce_f64, double)

static void reduce_scatter(const struct member *m, const struct collective *x)
{
    reduce_f32(m, x->recv, m->rank * x->n, x->n);
}

static void all_reduce(const struct member *m, const struct collective *x)
{
    int64_t element = x->dtype == COMM_F64 ? 8 : 4;
    int64_t from = x->n * m->rank / m->size, until = x->n * (m->rank + 1) / m->size;
    if (x->dtype == COMM_F64)
        reduce_f64(m, (double *)x->recv + from, from, until - from);
    else
        reduce_f32(m, (float *)x->recv + from, from, until - from);
    gate_pass(&m->group->gates[GATE_REDUCED], m->size);
    for (int r = 0; r < m->size; r++) {
        int64_t start = x->n * r / m->size, end = x->n * (r + 1) / m->size;
        if (r != m->rank)
            copy((unsigned char *)x->recv + start * element, sent_by(m, r) + start * element, (end - start) * element);
    }
}

/* ---- one collective, on the stream's worker ---- */

struct task {
    struct member *member;
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

/* Puts the own message where its receiver finds it, takes the one for me, then waits until mine has been taken. */
static bool send_recv(const struct member *m, const struct collective *x)
{
    struct mailbox *out = x->to < 0 ? NULL : &m->group->boxes[m->rank * m->size + x->to];
    if (out)
        mail_post(out, x->send);
    bool ok = x->from < 0 || mail_take(&m->group->boxes[x->from * m->size + m->rank], x->recv, (size_t)x->n);
    if (out)
        mail_wait(out);
    return ok;
}

static bool collect(const struct member *m, const struct collective *x)
{
    static void (*const transfers[])(const struct member *, const struct collective *) = {[COMM_ALL_GATHER] = all_gather,
                                                                                          [COMM_ALL_TO_ALL] = all_to_all,
                                                                                          [COMM_ALL_TO_ALL_V] = all_to_all_v,
                                                                                          [COMM_REDUCE_SCATTER] = reduce_scatter,
                                                                                          [COMM_ALL_REDUCE] = all_reduce};
    m->group->posts[m->rank] = x;
    if (!gate_pass(&m->group->gates[GATE_POSTED], m->size))
        return false;
    assert(agree(m, x) && "all ranks make the same call");
    transfers[x->function](m, x);
    gate_pass(&m->group->gates[GATE_LEFT], m->size);
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
    assert(fits(m, &t->x) && "rows hold values of the storage type");
    bool ok = t->x.function == COMM_SEND_RECV ? send_recv(m, &t->x) : collect(m, &t->x);
    if (!ok)
        collective_clear(&t->x, m->size);
    free(t->x.splits);
    member_drop(m);
}

static void enqueue(struct comm *c, struct stream *s, const struct activity *a, const struct collective *x)
{
    struct task t = {c->impl, *x};
    atomic_fetch_add(&t.member->users, 1);
    dev_enqueue_comm(s, a, run, &t, sizeof t);
}

static void barrier(struct comm *c)
{
    struct member *m = c->impl;
    gate_pass(&m->group->gates[GATE_HOST], m->size);
}

/* ---- worlds and handles ---- */

static bool available(void)
{
    return true;
}

static bool world_open(struct comm_world *w, struct err *e)
{
    struct shared *sh = calloc(1, sizeof *sh);
    if (!sh)
        return fail(e, ERR_FAIL, "communicator: out of memory");
    pthread_mutex_init(&sh->lock, NULL);
    w->impl = sh;
    return true;
}

static void group_free(struct group *g)
{
    if (!g)
        return;
    free(g->opened);
    free(g->posts);
    free(g->boxes);
    free(g);
}

static void world_close(struct comm_world *w)
{
    struct shared *sh = w->impl;
    while (sh->groups) {
        struct group *g = sh->groups;
        sh->groups = g->next;
        group_free(g);
    }
    free(sh);
}

static void group_break(struct group *g)
{
    gate_break(&g->gates[GATE_POSTED]);
    gate_break(&g->gates[GATE_HOST]);
    for (int i = 0; i < g->size * g->size; i++)
        mail_break(&g->boxes[i]);
}

static void world_abort(struct comm_world *w)
{
    struct shared *sh = w->impl;
    pthread_mutex_lock(&sh->lock);
    sh->broken = true;
    for (struct group *g = sh->groups; g; g = g->next)
        group_break(g);
    pthread_mutex_unlock(&sh->lock);
}

static struct group *group_new(const char *name, struct comm_part part)
{
    int size = part.size;
    struct group *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->name = name;
    g->part = part;
    g->opened = calloc((size_t)size, sizeof *g->opened);
    g->posts = calloc((size_t)size, sizeof *g->posts);
    g->boxes = calloc((size_t)size * (size_t)size, sizeof *g->boxes);
    g->size = size;
    if (g->opened && g->posts && g->boxes)
        return g;
    group_free(g);
    return NULL;
}

static bool is_group(const struct group *g, const struct comm *c)
{
    return strcmp(g->name, c->group) == 0 && g->part.first == c->part.first && g->part.stride == c->part.stride && g->part.size == c->part.size;
}

/* The first group of that name and part which this rank has not opened yet; a new one if there is none. Called under the lock. */
static struct group *join(struct shared *sh, const struct comm *c)
{
    struct group **link = &sh->groups;
    while (*link && (!is_group(*link, c) || (*link)->opened[c->rank]))
        link = &(*link)->next;
    if (!*link && (*link = group_new(c->group, c->part)) != NULL && sh->broken)
        group_break(*link);
    if (*link)
        (*link)->opened[c->rank] = true;
    return *link;
}

static bool open_member(struct comm *c, struct err *e)
{
    struct shared *sh = c->world->impl;
    struct member *m = calloc(1, sizeof *m);
    pthread_mutex_lock(&sh->lock);
    struct group *g = m ? join(sh, c) : NULL;
    pthread_mutex_unlock(&sh->lock);
    if (!g) {
        free(m);
        return fail(e, ERR_FAIL, "communicator %s: out of memory", c->group);
    }
    m->group = g;
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
    .available = available,
    .ops = &ops,
};
