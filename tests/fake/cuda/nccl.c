/* nccl.c - see nccl.h. Everything is a group of sends and receives, as on the wire: a receive waits for its send, a group ends
 * when all of its own have been made and taken. Sums are made of what was received.
 *
 *   rank 0: send to 1 --> | box [0][1]: pointer, bytes | --> rank 1: receive from 0 copies, empties the box
 */
#include "nccl.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 64, OPS_MAX = 1024 };

struct box {
    const void *data;
    size_t bytes;
    bool full;
};

struct net {
    struct net *next;
    ncclUniqueId id;
    int size, joined;
    bool broken;
    struct box boxes[RANKS_MAX][RANKS_MAX]; /* [from][to] */
};

struct ncclComm {
    struct net *net;
    int rank;
};

struct op {
    ncclComm_t comm;
    const void *send; /* NULL: a receive */
    void *recv;
    size_t bytes;
    int peer;
    bool posted, done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct net *nets;
static __thread struct op ops[OPS_MAX];
static __thread int nops, depth;

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    static int made;
    memset(id, 0, sizeof *id);
    snprintf(id->internal, sizeof id->internal, "stand-in %d", __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED));
    return ncclSuccess;
}

static struct net *find(const ncclUniqueId *id, int size)
{
    struct net *n = nets;
    while (n && memcmp(&n->id, id, sizeof *id) != 0)
        n = n->next;
    if (!n && (n = calloc(1, sizeof *n)) != NULL) {
        n->id = *id;
        n->size = size;
        n->next = nets;
        nets = n;
    }
    return n;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int size, ncclUniqueId id, int rank, ncclConfig_t *config)
{
    if (size < 1 || size > RANKS_MAX || rank < 0 || rank >= size || !config->commName)
        return ncclInvalidArgument;
    *comm = calloc(1, sizeof **comm);
    pthread_mutex_lock(&lock);
    struct net *n = *comm ? find(&id, size) : NULL;
    if (!n)
        abort();
    **comm = (struct ncclComm){n, rank};
    n->joined++;
    pthread_cond_broadcast(&changed);
    while (n->joined < size)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    free(comm);
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    pthread_mutex_lock(&lock);
    comm->net->broken = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return ncclSuccess; /* a thread of it may be in a group still: the handle stays */
}

/* ---- groups ---- */

ncclResult_t ncclGroupStart(void)
{
    depth++;
    return ncclSuccess;
}

/* One look at an operation, under the lock; true: it went on. */
static bool advance(struct op *o, ncclResult_t *result)
{
    struct net *n = o->comm->net;
    struct box *b = o->send ? &n->boxes[o->comm->rank][o->peer] : &n->boxes[o->peer][o->comm->rank];
    if (o->done)
        return false;
    if (n->broken) {
        *result = ncclRemoteError;
        return o->done = true;
    }
    if (o->send) {
        if (!o->posted && !b->full) {
            *b = (struct box){o->send, o->bytes, true};
            return o->posted = true;
        }
        return o->done = o->posted && !(b->full && b->data == o->send);
    }
    if (!b->full)
        return false;
    if (b->bytes != o->bytes)
        *result = ncclInvalidUsage;
    else
        cudaMemcpyAsync(o->recv, b->data, o->bytes, cudaMemcpyDefault, NULL);
    b->full = false;
    return o->done = true;
}

ncclResult_t ncclGroupEnd(void)
{
    ncclResult_t result = ncclSuccess;
    if (--depth > 0)
        return ncclSuccess;
    pthread_mutex_lock(&lock);
    for (;;) {
        bool moved = false, left = false;
        for (int i = 0; i < nops; i++) {
            moved |= advance(&ops[i], &result);
            left |= !ops[i].done;
        }
        if (moved)
            pthread_cond_broadcast(&changed);
        if (!left)
            break;
        if (!moved)
            pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    nops = 0;
    return result;
}

static size_t size_of(ncclDataType_t type)
{
    return type == ncclChar ? 1 : type == ncclFloat ? 4 : 8;
}

static ncclResult_t add(struct op o)
{
    if (o.peer < 0 || o.peer >= o.comm->net->size || nops == OPS_MAX)
        return ncclInvalidArgument;
    ncclGroupStart();
    ops[nops++] = o;
    return ncclGroupEnd();
}

ncclResult_t ncclSend(const void *send, size_t n, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream)
{
    (void)stream;
    return add((struct op){.comm = comm, .send = send, .bytes = n * size_of(type), .peer = peer});
}

ncclResult_t ncclRecv(void *recv, size_t n, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream)
{
    (void)stream;
    return add((struct op){.comm = comm, .recv = recv, .bytes = n * size_of(type), .peer = peer});
}

/* ---- collectives: what lies in parts is in device memory too ---- */

static ncclResult_t gather(const void *send, size_t send_step, void *recv, size_t bytes, ncclComm_t comm)
{
    ncclGroupStart();
    for (int r = 0; r < comm->net->size; r++) {
        ncclSend((const char *)send + (size_t)r * send_step, bytes, ncclChar, r, comm, NULL);
        ncclRecv((char *)recv + (size_t)r * bytes, bytes, ncclChar, r, comm, NULL);
    }
    return ncclGroupEnd();
}

ncclResult_t ncclAllGather(const void *send, void *recv, size_t n, ncclDataType_t type, ncclComm_t comm, cudaStream_t stream)
{
    (void)stream;
    return n ? gather(send, 0, recv, n * size_of(type), comm) : ncclSuccess;
}

/* Backwards, so that nobody relies on an order. */
static void sum(void *to, const void *parts, int nparts, size_t n, ncclDataType_t type)
{
    standin_touch();
    for (size_t i = 0; i < n; i++) {
        double total = 0;
        for (int r = nparts - 1; r >= 0; r--)
            total += type == ncclDouble ? ((const double *)parts)[(size_t)r * n + i] : (double)((const float *)parts)[(size_t)r * n + i];
        if (type == ncclDouble)
            ((double *)to)[i] = total;
        else
            ((float *)to)[i] = (float)total;
    }
    standin_leave();
}

static ncclResult_t reduce(const void *send, size_t send_step, void *recv, size_t n, ncclDataType_t type, ncclComm_t comm)
{
    void *parts;
    int size = comm->net->size;
    if (cudaMallocAsync(&parts, n * size_of(type) * (size_t)size, NULL) != cudaSuccess)
        return ncclInvalidUsage;
    ncclResult_t result = gather(send, send_step, parts, n * size_of(type), comm);
    if (result == ncclSuccess)
        sum(recv, parts, size, n, type);
    cudaFreeAsync(parts, NULL);
    return result;
}

ncclResult_t ncclReduceScatter(const void *send, void *recv, size_t n, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    (void)op, (void)stream;
    return n ? reduce(send, n * size_of(type), recv, n, type, comm) : ncclSuccess;
}

ncclResult_t ncclAllReduce(const void *send, void *recv, size_t n, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    (void)op, (void)stream;
    return n ? reduce(send, 0, recv, n, type, comm) : ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    switch (result) {
    case ncclRemoteError:
        return "remote process exited or there was a network error";
    case ncclInvalidUsage:
        return "invalid usage";
    default:
        return "invalid argument";
    }
}

const char *ncclGetLastError(ncclComm_t comm)
{
    (void)comm;
    return "";
}
