/* comm.c - collectives as mode code calls them: event name, sequence number and bytes sent; then the backend enqueues. */
#include "kernels/comm/backend.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const functions[COMM_NFUNCTIONS] = {
    [COMM_ALL_GATHER] = "all_gather",         [COMM_ALL_TO_ALL] = "all_to_all", [COMM_ALL_TO_ALL_V] = "all_to_all_v",
    [COMM_REDUCE_SCATTER] = "reduce_scatter", [COMM_ALL_REDUCE] = "all_reduce", [COMM_SEND_RECV] = "send_recv",
};

/* ---- worlds and handles ---- */

static const struct comm_backend *find(const char *name, struct err *e)
{
    for (size_t i = 0; comm_backends[i]; i++)
        if (strcmp(comm_backends[i]->name, name) == 0)
            return comm_backends[i];
    fail(e, ERR_USAGE, "communicator %s: not in this build", name);
    return NULL;
}

struct comm_world *comm_world_open(const char *backend, int size, struct err *e)
{
    const struct comm_backend *b = find(backend, e);
    struct comm_world *w = b ? calloc(1, sizeof *w) : NULL;
    if (!w) {
        fail(e, ERR_FAIL, "communicator: out of memory");
        return NULL;
    }
    w->backend = b;
    w->size = w->local = size;
    if (!b->ops->world_open(w, e)) {
        free(w);
        return NULL;
    }
    return w;
}

void comm_world_close(struct comm_world *w)
{
    if (w)
        w->backend->ops->world_close(w);
    free(w);
}

int comm_world_first(const struct comm_world *w)
{
    return w->first;
}

bool comm_world_share(struct comm_world *w, void *rows, size_t bytes, struct err *e)
{
    bool (*share)(struct comm_world *, void *, size_t) = w->backend->ops->world_share;
    return !share || share(w, rows, bytes) || fail(e, ERR_FAIL, "communicator %s: another rank has failed", w->backend->name);
}

void comm_world_abort(struct comm_world *w)
{
    atomic_store(&w->broken, true);
    w->backend->ops->world_abort(w);
}

bool comm_world_broken(const struct comm_world *w)
{
    return atomic_load(&w->broken);
}

struct comm *comm_open_part(struct comm_world *w, int rank, const char *group, struct comm_part part, struct err *e)
{
    int number = (rank - part.first) / part.stride;
    struct comm *c = calloc(1, sizeof *c);
    assert(number >= 0 && number < part.size && part.first + number * part.stride == rank && "a rank opens a part that holds it");
    if (!c) {
        fail(e, ERR_FAIL, "communicator %s: out of memory", group);
        return NULL;
    }
    if (part.size != w->size && !w->backend->ops->parts) {
        free(c);
        fail(e, ERR_FAIL, "communicator %s: groups of %d of %d ranks are not built for it", w->backend->name, part.size, w->size);
        return NULL;
    }
    *c = (struct comm){.world = w, .group = group, .part = part, .rank = number};
    ranks_use_world(w);
    if (!w->backend->ops->open(c, e)) {
        free(c);
        return NULL;
    }
    return c;
}

struct comm *comm_open(struct comm_world *w, int rank, const char *group, struct err *e)
{
    return comm_open_part(w, rank, group, (struct comm_part){0, 1, w->size}, e);
}

void comm_close(struct comm *c)
{
    if (c)
        c->world->backend->ops->close(c);
    free(c);
}

static _Atomic uint64_t order_seed;

void comm_reduction_order(uint64_t seed)
{
    atomic_store(&order_seed, seed);
}

uint64_t comm_order_seed(void)
{
    return atomic_load(&order_seed);
}

int comm_rank(const struct comm *c)
{
    return c->rank;
}

int comm_size(const struct comm *c)
{
    return c->part.size;
}

void comm_barrier(struct comm *c)
{
    c->world->backend->ops->barrier(c);
}

/* ---- names ---- */

/* "cp_all_gather" and the like, each made once and kept for good, as the names of activities have static lifetime. */
static const char *event_name(const char *group, enum comm_function f)
{
    static struct name {
        struct name *next;
        char text[64];
    } * names;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    char text[64];
    snprintf(text, sizeof text, "%s_%s", group, functions[f]);
    pthread_mutex_lock(&lock);
    struct name *n = names;
    while (n && strcmp(n->text, text) != 0)
        n = n->next;
    if (!n && (n = calloc(1, sizeof *n)) != NULL) {
        memcpy(n->text, text, sizeof text);
        n->next = names;
        names = n;
    }
    pthread_mutex_unlock(&lock);
    return n ? n->text : functions[f];
}

/* ---- what ended without data ---- */

int64_t collective_received(const struct collective *x, int size)
{
    int64_t element = x->dtype == COMM_F64 ? 8 : x->dtype == COMM_F32 ? 4 : 1, total = 0;
    switch (x->function) {
    case COMM_ALL_GATHER:
    case COMM_ALL_TO_ALL:
        return x->n * size;
    case COMM_ALL_TO_ALL_V:
        for (int r = 0; r < size; r++)
            total += x->splits[size + r];
        return total;
    case COMM_SEND_RECV:
        return x->from < 0 ? 0 : x->n;
    default:
        return x->n * element;
    }
}

void collective_clear(const struct collective *x, int size)
{
    int64_t bytes = collective_received(x, size);
    if (bytes)
        memset(x->recv, 0, (size_t)bytes);
}

/* ---- collectives ---- */

static void enqueue(struct comm *c, struct stream *s, int64_t bytes_sent, struct collective x)
{
    const char **name = &c->names[x.function];
    if (!*name)
        *name = event_name(c->group, x.function);
    struct activity a = ACTIVITY_NONE;
    a.name = *name;
    a.group = c->group;
    a.function = functions[x.function];
    a.sequence = c->sequence++;
    a.bytes = bytes_sent;
    a.group_size = comm_size(c);
    if (x.function == COMM_SEND_RECV)
        a.peer = x.to >= 0 ? x.to : x.from;
    c->world->backend->ops->enqueue(c, s, &a, &x);
}

/* Bytes that travel of bytes that lie. */
static int64_t wire(enum dtype as, int64_t bytes)
{
    return bytes / (int64_t)sizeof(float) * dtype_size(as) + bytes % (int64_t)sizeof(float);
}

double collective_share(const struct collective *x)
{
    return (double)dtype_size(x->as) / sizeof(float);
}

static void all_gather(struct comm *c, struct stream *s, enum dtype as, const void *send, void *recv, int64_t bytes)
{
    enqueue(c, s, comm_size(c) > 1 ? wire(as, bytes) : 0,
            (struct collective){.function = COMM_ALL_GATHER, .send = send, .recv = recv, .n = bytes, .as = as});
}

/* In bytes; the lengths are in units of `unit` bytes. */
static int64_t *copy_splits(struct stream *s, struct comm_split send, struct comm_split recv, int size, int64_t unit)
{
    int64_t *splits = malloc(2 * (size_t)size * sizeof *splits), sent = 0, received = 0;
    if (!splits)
        dev_out_of_memory(stream_device(s), 2 * (size_t)size * sizeof *splits);
    for (int i = 0; i < size; i++) {
        sent += send.to[i];
        received += recv.to[i];
        splits[i] = send.to[i] * unit;
        splits[size + i] = recv.to[i] * unit;
    }
    assert(sent == send.total && received == recv.total && "lengths add up");
    return splits;
}

static void reduce_scatter(struct comm *c, struct stream *s, enum dtype as, const float *send, float *recv, int64_t n)
{
    enqueue(c, s, (comm_size(c) - 1) * n * dtype_size(as),
            (struct collective){.function = COMM_REDUCE_SCATTER, .dtype = COMM_F32, .send = send, .recv = recv, .n = n, .as = as});
}

/* x: all but the function. */
static void send_recv(struct comm *c, struct stream *s, struct collective x)
{
    x.function = COMM_SEND_RECV;
    enqueue(c, s, x.to >= 0 && x.to != c->rank ? wire(x.as, x.n) : 0, x);
}

static int64_t ring_bytes(const struct comm *c, int64_t bytes)
{
    return 2 * (comm_size(c) - 1) * bytes / comm_size(c);
}

/* ---- of bytes and floats ---- */

void comm_all_gather(struct comm *c, struct stream *s, const void *send, void *recv, size_t bytes)
{
    all_gather(c, s, DTYPE_FP32, send, recv, (int64_t)bytes);
}

void comm_reduce_scatter_f32(struct comm *c, struct stream *s, const float *send, float *recv, int64_t n)
{
    reduce_scatter(c, s, DTYPE_FP32, send, recv, n);
}

void comm_all_reduce_f32(struct comm *c, struct stream *s, float *buf, int64_t n)
{
    enqueue(c, s, ring_bytes(c, n * (int64_t)sizeof *buf), (struct collective){COMM_ALL_REDUCE, COMM_F32, buf, buf, n, NULL});
}

void comm_all_reduce_f64(struct comm *c, struct stream *s, double *buf, int64_t n)
{
    enqueue(c, s, ring_bytes(c, n * (int64_t)sizeof *buf), (struct collective){COMM_ALL_REDUCE, COMM_F64, buf, buf, n, NULL});
}

void comm_send_recv(struct comm *c, struct stream *s, const void *send, int to, void *recv, int from, size_t bytes)
{
    send_recv(c, s, (struct collective){.send = send, .recv = recv, .n = (int64_t)bytes, .to = to, .from = from});
}

/* ---- of rows ---- */

void comm_set_rows(struct comm *c, enum dtype t)
{
    if (c)
        c->rows = t;
}

void comm_all_gather_rows(struct comm *c, struct stream *s, const float *send, float *recv, int64_t n)
{
    all_gather(c, s, c->rows, send, recv, n * (int64_t)sizeof *send);
}

void comm_all_to_all_rows(struct comm *c, struct stream *s, const float *send, float *recv, int64_t n)
{
    int64_t bytes = n * (int64_t)sizeof *send;
    enqueue(c, s, (comm_size(c) - 1) * wire(c->rows, bytes),
            (struct collective){.function = COMM_ALL_TO_ALL, .send = send, .recv = recv, .n = bytes, .as = c->rows});
}

void comm_all_to_all_v_rows(struct comm *c, struct stream *s, const float *send, struct comm_split send_rows, float *recv,
                            struct comm_split recv_rows, int64_t width)
{
    struct collective x = {.function = COMM_ALL_TO_ALL_V, .send = send, .recv = recv, .as = c->rows};
    int64_t unit = width * (int64_t)sizeof *send;
    if (c->world->backend->ops->modelled)
        x.n = (recv_rows.total - recv_rows.to[c->rank]) * unit;
    else
        x.splits = copy_splits(s, send_rows, recv_rows, comm_size(c), unit);
    enqueue(c, s, wire(x.as, (send_rows.total - send_rows.to[c->rank]) * unit), x);
}

void comm_reduce_scatter_rows(struct comm *c, struct stream *s, const float *send, float *recv, int64_t n)
{
    reduce_scatter(c, s, c->rows, send, recv, n);
}

void comm_send_recv_rows(struct comm *c, struct stream *s, const float *send, int to, float *recv, int from, int64_t n)
{
    send_recv(c, s, (struct collective){.send = send, .recv = recv, .n = n * (int64_t)sizeof *send, .to = to, .from = from, .as = c->rows});
}
