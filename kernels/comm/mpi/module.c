/* module.c - the module comm_mpi.so: collectives as messages between processes that do not block.
 *
 *   post: Irecv from every peer, Isend to every peer -> test, rest, test ... -> sums, in rank order, on the receiver
 *
 * MPI's own reductions may add in any order; here every rank gets all addends and adds rank 0, 1, ..., as the other
 * communicators do. All-reduce cuts the buffer into a slice per rank: each rank adds its slice, then all exchange slices.
 */
#include "kernels/comm/mpi/messages.h"
#include "kernels/comm/narrow.h"
#include "schemas/version.h"

#include <stdlib.h>
#include <string.h>

static struct mpi_handle *handles;

/* ---- transfers ---- */

/* In place means the same place. */
static void copy(void *to, const void *from, int64_t bytes)
{
    if (bytes && to != from)
        memcpy(to, from, (size_t)bytes);
}

/* Where rank r's block starts in a buffer, and its bytes. */
struct block {
    int64_t at, bytes;
};

/* From every rank its block into recv, to every rank its block of send. */
static bool exchange(const struct mpi_handle *h, const void *send, const struct block *sends, void *recv, const struct block *recvs)
{
    struct batch b = batch_begin(h, TAG_COLLECTIVE);
    const unsigned char *from = send;
    unsigned char *to = recv;
    for (int i = 1; i < h->size; i++) {
        int r = (h->rank + i) % h->size;
        post_recv(&b, r, to + recvs[r].at, recvs[r].bytes);
    }
    for (int i = 1; i < h->size; i++) {
        int r = (h->rank + i) % h->size;
        post_send(&b, r, from + sends[r].at, sends[r].bytes);
    }
    if (send != recv)
        copy(to + recvs[h->rank].at, from + sends[h->rank].at, recvs[h->rank].bytes);
    return batch_end(&b);
}

static bool blocks_of(const struct mpi_handle *h, const struct collective *x, struct block *sends, struct block *recvs)
{
    int64_t sent = 0, received = 0;
    for (int r = 0; r < h->size; r++) {
        recvs[r] = (struct block){received, x->splits ? x->splits[h->size + r] : x->n};
        sends[r] = (struct block){sent, x->splits ? x->splits[r] : x->n};
        received += recvs[r].bytes;
        sent += x->function == COMM_ALL_GATHER ? 0 : sends[r].bytes;
    }
    return exchange(h, x->send, sends, x->recv, recvs);
}

/* to[0 .. n-1] <- parts[0] + parts[1] + ... in that order; `to` may be one of the parts. */
#define DEFINE_ADD(name, type)                                                                                                                       \
    static void name(void *to, const void *const *parts, int nparts, int64_t n)                                                                      \
    {                                                                                                                                                \
        for (int64_t i = 0; i < n; i++) {                                                                                                            \
            type sum = ((const type *)parts[0])[i];                                                                                                  \
            for (int r = 1; r < nparts; r++)                                                                                                         \
                sum += ((const type *)parts[r])[i];                                                                                                  \
            ((type *)to)[i] = sum;                                                                                                                   \
        }                                                                                                                                            \
    }
DEFINE_ADD(add_f32, float)
DEFINE_ADD(add_f64, double)

struct reduction {
    const struct mpi_handle *h;
    const unsigned char *send;
    const struct block *slices; /* of send: slice r goes to rank r */
    unsigned char *to;          /* the sum of this rank's slice */
    bool f64;
    unsigned char *space; /* [size][REDUCE_BYTES] */
};

enum { REDUCE_BYTES = 1 << 18 };

static int64_t window(struct block slice, int64_t at)
{
    int64_t left = slice.bytes - at;
    return left < 0 ? 0 : left < REDUCE_BYTES ? left : REDUCE_BYTES;
}

/* The part of every slice that starts `at` bytes into it: bounded space, whatever the buffer. */
static bool reduce_window(const struct reduction *v, const void **parts, int64_t at)
{
    const struct mpi_handle *h = v->h;
    struct block own = v->slices[h->rank];
    int64_t mine = window(own, at);
    struct batch b = batch_begin(h, TAG_COLLECTIVE);
    for (int r = 0; r < h->size; r++) {
        parts[r] = r == h->rank ? v->send + own.at + at : v->space + (int64_t)r * REDUCE_BYTES;
        if (r != h->rank)
            post_recv(&b, r, v->space + (int64_t)r * REDUCE_BYTES, mine);
    }
    for (int r = 0; r < h->size; r++)
        if (r != h->rank)
            post_send(&b, r, v->send + v->slices[r].at + at, window(v->slices[r], at));
    if (!batch_end(&b))
        return false;
    if (mine)
        (v->f64 ? add_f64 : add_f32)(v->to + at, parts, h->size, mine / (v->f64 ? 8 : 4));
    return true;
}

static bool reduce(struct reduction *v, const void **parts)
{
    int64_t longest = 0;
    for (int r = 0; r < v->h->size; r++)
        longest = v->slices[r].bytes > longest ? v->slices[r].bytes : longest;
    v->space = malloc((size_t)v->h->size * REDUCE_BYTES);
    if (!v->space)
        MPI_Abort(MPI_COMM_WORLD, STATUS_FAIL);
    bool ok = true;
    for (int64_t at = 0; ok && at < longest; at += REDUCE_BYTES)
        ok = reduce_window(v, parts, at);
    free(v->space);
    return ok;
}

static bool reduce_scatter(const struct mpi_handle *h, const struct collective *x, struct block *slices, const void **parts)
{
    int64_t bytes = x->n * (int64_t)sizeof(float);
    for (int r = 0; r < h->size; r++)
        slices[r] = (struct block){r * bytes, bytes};
    return reduce(&(struct reduction){.h = h, .send = x->send, .slices = slices, .to = x->recv}, parts);
}

static bool all_reduce(const struct mpi_handle *h, const struct collective *x, struct block *slices, struct block *sends, const void **parts)
{
    bool f64 = x->dtype == COMM_F64;
    int64_t element = f64 ? 8 : 4;
    for (int r = 0; r < h->size; r++) {
        int64_t from = x->n * r / h->size, until = x->n * (r + 1) / h->size;
        slices[r] = (struct block){from * element, (until - from) * element};
    }
    struct block own = slices[h->rank];
    for (int r = 0; r < h->size; r++)
        sends[r] = own;
    return reduce(&(struct reduction){.h = h, .send = x->send, .slices = slices, .to = (unsigned char *)x->recv + own.at, .f64 = f64}, parts) &&
           exchange(h, x->recv, sends, x->recv, slices);
}

static bool send_recv(const struct mpi_handle *h, const struct collective *x)
{
    struct batch b = batch_begin(h, TAG_PAIR);
    if (x->from >= 0)
        post_recv(&b, x->from, x->recv, x->n);
    if (x->to >= 0)
        post_send(&b, x->to, x->send, x->n);
    return batch_end(&b);
}

static bool transfer_bytes(const struct mpi_handle *h, const struct collective *x)
{
    if (x->function == COMM_SEND_RECV)
        return send_recv(h, x);
    struct block *blocks = calloc(2 * (size_t)h->size, sizeof *blocks);
    const void **parts = calloc((size_t)h->size, sizeof *parts);
    bool ok = false;
    if (!blocks || !parts)
        MPI_Abort(MPI_COMM_WORLD, STATUS_FAIL);
    else if (x->function == COMM_ALL_REDUCE)
        ok = all_reduce(h, x, blocks, blocks + h->size, parts);
    else if (x->function == COMM_REDUCE_SCATTER)
        ok = reduce_scatter(h, x, blocks, parts);
    else
        ok = blocks_of(h, x, blocks, blocks + h->size);
    free(parts);
    free(blocks);
    return ok;
}

/* ---- narrow ---- */

/* Floats of a rank's send (first 0) or recv (first size). */
static int64_t floats_of(const struct mpi_handle *h, const struct collective *x, int first)
{
    int64_t n = x->n / (int64_t)sizeof(float), all = n * h->size;
    for (int r = 0; x->splits && r < h->size; r++)
        n += x->splits[first + r] / (int64_t)sizeof(float);
    switch (x->function) {
    case COMM_ALL_GATHER:
        return first ? all : n;
    case COMM_ALL_TO_ALL:
        return all;
    case COMM_REDUCE_SCATTER:
        return x->n * h->size;
    case COMM_SEND_RECV:
        return (first ? x->from : x->to) < 0 ? 0 : n;
    default:
        return n;
    }
}

/* What has come, as floats; of a sum, rank 0's addend first. */
static void widen(const struct mpi_handle *h, const struct collective *x, const uint16_t *from, int64_t n)
{
    float *to = x->recv;
    int ranks = x->function == COMM_REDUCE_SCATTER ? h->size : 1;
    n /= ranks;
    for (int64_t i = 0; i < n; i++) {
        to[i] = widen_of(x->as, from[i]);
        for (int r = 1; r < ranks; r++)
            to[i] += widen_of(x->as, from[r * n + i]);
    }
}

/* The same in 16 bits a float; a sum is made of what an exchange brings. */
static bool transfer_narrow(const struct mpi_handle *h, const struct collective *x)
{
    int64_t sent = floats_of(h, x, 0), received = floats_of(h, x, h->size);
    bool sum = x->function == COMM_REDUCE_SCATTER;
    uint16_t *send = malloc((size_t)sent * sizeof *send + 1), *recv = malloc((size_t)received * sizeof *recv + 1);
    int64_t *splits = calloc(2 * (size_t)h->size, sizeof *splits);
    if (!send || !recv || !splits)
        MPI_Abort(MPI_COMM_WORLD, STATUS_FAIL);
    for (int64_t i = 0; i < sent; i++)
        send[i] = narrow_of(x->as, ((const float *)x->send)[i]);
    for (int r = 0; x->splits && r < 2 * h->size; r++)
        splits[r] = x->splits[r] / 2;
    bool ok = transfer_bytes(h, &(struct collective){.function = sum ? COMM_ALL_TO_ALL : x->function,
                                                     .send = send,
                                                     .recv = recv,
                                                     .n = sum ? x->n * (int64_t)sizeof *recv : x->n / 2,
                                                     .splits = x->splits ? splits : NULL,
                                                     .to = x->to,
                                                     .from = x->from});
    if (ok)
        widen(h, x, recv, received);
    free(send);
    free(recv);
    free(splits);
    return ok;
}

static bool transfer(struct mpi_handle *h, const struct collective *x)
{
    return x->as == DTYPE_FP32 ? transfer_bytes(h, x) : transfer_narrow(h, x);
}

/* A byte from everybody. */
static bool barrier(struct mpi_handle *h)
{
    unsigned char mine = 0, *all = calloc((size_t)h->size, 1);
    bool ok = all && transfer(h, &(struct collective){COMM_ALL_GATHER, COMM_BYTE, &mine, all, 1, NULL});
    free(all);
    return ok;
}

/* ---- life ---- */

static const char *start(int *rank, int *size)
{
    int before = 0, level = 0;
    MPI_Initialized(&before);
    if (before)
        return "MPI has been started before in this process";
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
        return "MPI does not start";
    if (level < MPI_THREAD_SERIALIZED)
        return "this MPI was built without support for threads";
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    return NULL;
}

static void stop(void)
{
    while (handles) {
        struct mpi_handle *h = handles;
        handles = h->next;
        MPI_Comm_free(&h->comm);
        free(h);
    }
    MPI_Finalize();
}

static struct mpi_handle *open_handle(const atomic_bool *broken, struct comm_part part)
{
    struct mpi_handle *h = calloc(1, sizeof *h);
    MPI_Request r;
    if (!h)
        return NULL;
    h->broken = broken;
    mpi_turn_begin();
    MPI_Comm_rank(MPI_COMM_WORLD, &h->rank);
    h->part = part;
    h->rank = (h->rank - part.first) / part.stride;
    h->size = part.size;
    MPI_Comm_idup(MPI_COMM_WORLD, &h->comm, &r);
    h->next = handles;
    handles = h;
    mpi_turn_end();
    return mpi_finish(h, &r, 1) ? h : NULL;
}

__attribute__((visibility("default"))) extern const struct mpi_module cpbench_comm_mpi;
const struct mpi_module cpbench_comm_mpi = {
    .version = CPSCOPE_VERSION, .start = start, .stop = stop, .open = open_handle, .transfer = transfer, .barrier = barrier};
