/* module.c - comm_nccl.so: the transfers of nccl_module.h in NCCL's calls.
 *
 *   all_gather, reduce_scatter, all_reduce     the calls of those names
 *   all_to_all, all_to_all_v, send_recv        a group of sends and receives
 *
 * Sums are made in NCCL's order, so results agree with those of the other communicators to rounding, not to the bit.
 * Floats that hold values of a narrower type are made narrow and wide again around the call (narrow.cu); a reduce-scatter
 * of them is an exchange and a sum in rank order.
 */
#include "kernels/comm/nccl/narrow_launch.h"
#include "kernels/comm/nccl_module.h"
#include "schemas/version.h"

#include <cuda_runtime.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nccl_handle {
    ncclComm_t comm;
    int rank, size, device;
    atomic_bool aborted;
};

static const char *said(const char *what, ncclResult_t result)
{
    static _Thread_local char text[512];
    if (result == ncclSuccess)
        return NULL;
    const char *more = ncclGetLastError(NULL);
    snprintf(text, sizeof text, "%s: %s%s%s", what, ncclGetErrorString(result), more && *more ? ": " : "", more && *more ? more : "");
    text[strcspn(text, "\n")] = 0;
    return text;
}

static const char *cuda_text(const char *what, cudaError_t error)
{
    static _Thread_local char text[256];
    if (error == cudaSuccess)
        return NULL;
    snprintf(text, sizeof text, "%s: %s", what, cudaGetErrorString(error));
    return text;
}

/* ---- life ---- */

_Static_assert(sizeof(struct nccl_id) == sizeof(ncclUniqueId), "an id is NCCL's");

static const char *make_id(struct nccl_id *id)
{
    ncclUniqueId made;
    const char *wrong = said("NCCL does not start", ncclGetUniqueId(&made));
    memcpy(id, &made, sizeof *id);
    return wrong;
}

static const char *open_handle(const struct nccl_id *id, int size, int rank, const char *group, struct nccl_handle **h)
{
    struct nccl_handle *made = calloc(1, sizeof *made);
    if (!made)
        return "out of memory";
    made->rank = rank;
    made->size = size;
    ncclUniqueId unique;
    memcpy(&unique, id, sizeof unique);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
    config.commName = group;
#else
    (void)group;
#endif
    const char *wrong = cuda_text("the current device", cudaGetDevice(&made->device));
    if (!wrong)
        wrong = said("joining a group", ncclCommInitRankConfig(&made->comm, size, unique, rank, &config));
    if (wrong)
        free(made);
    else
        *h = made;
    return wrong;
}

static void close_handle(struct nccl_handle *h)
{
    if (!atomic_load(&h->aborted)) {
        cudaSetDevice(h->device);
        ncclCommDestroy(h->comm);
    }
    free(h);
}

static void abort_handle(struct nccl_handle *h)
{
    if (!atomic_exchange(&h->aborted, true))
        ncclCommAbort(h->comm);
}

/* ---- transfers ---- */

struct call {
    const struct nccl_handle *h;
    cudaStream_t stream;
    ncclResult_t result; /* the first that is not success */
};

static void note(struct call *c, ncclResult_t result)
{
    if (c->result == ncclSuccess)
        c->result = result;
}

static void post_send(struct call *c, const void *data, int64_t bytes, int to)
{
    if (bytes)
        note(c, ncclSend(data, (size_t)bytes, ncclChar, to, c->h->comm, c->stream));
}

static void post_recv(struct call *c, void *data, int64_t bytes, int from)
{
    if (bytes)
        note(c, ncclRecv(data, (size_t)bytes, ncclChar, from, c->h->comm, c->stream));
}

static void exchange(struct call *c, const struct collective *x)
{
    const unsigned char *from = x->send;
    unsigned char *to = x->recv;
    note(c, ncclGroupStart());
    for (int r = 0; r < c->h->size; r++) {
        int64_t out = x->splits ? x->splits[r] : x->n, in = x->splits ? x->splits[c->h->size + r] : x->n;
        post_send(c, from, out, r);
        post_recv(c, to, in, r);
        from += out;
        to += in;
    }
    note(c, ncclGroupEnd());
}

static void send_recv(struct call *c, const struct collective *x)
{
    note(c, ncclGroupStart());
    if (x->to >= 0)
        post_send(c, x->send, x->n, x->to);
    if (x->from >= 0)
        post_recv(c, x->recv, x->n, x->from);
    note(c, ncclGroupEnd());
}

static void plain(struct call *c, const struct collective *x)
{
    ncclComm_t comm = c->h->comm;
    switch (x->function) {
    case COMM_ALL_GATHER:
        note(c, ncclAllGather(x->send, x->recv, (size_t)x->n, ncclChar, comm, c->stream));
        break;
    case COMM_REDUCE_SCATTER:
        note(c, ncclReduceScatter(x->send, x->recv, (size_t)x->n, ncclFloat, ncclSum, comm, c->stream));
        break;
    case COMM_ALL_REDUCE:
        note(c, ncclAllReduce(x->send, x->recv, (size_t)x->n, x->dtype == COMM_F64 ? ncclDouble : ncclFloat, ncclSum, comm, c->stream));
        break;
    case COMM_SEND_RECV:
        send_recv(c, x);
        break;
    default:
        exchange(c, x);
    }
}

/* ---- the same in 16 bits a float ---- */

/* Floats of a rank's send (first 0) or of what it gets (first size). */
static int64_t floats_of(const struct nccl_handle *h, const struct collective *x, int first)
{
    int64_t n = x->n / (int64_t)sizeof(float), split = 0;
    for (int r = 0; x->splits && r < h->size; r++)
        split += x->splits[first + r] / (int64_t)sizeof(float);
    switch (x->function) {
    case COMM_ALL_GATHER:
        return first ? n * h->size : n;
    case COMM_ALL_TO_ALL:
        return n * h->size;
    case COMM_ALL_TO_ALL_V:
        return split;
    case COMM_REDUCE_SCATTER:
        return x->n * h->size;
    case COMM_SEND_RECV:
        return (first ? x->from : x->to) < 0 ? 0 : n;
    default:
        return 0;
    }
}

static const char *narrow_transfer(struct call *c, const struct collective *x)
{
    const int size = c->h->size;
    int64_t sent = floats_of(c->h, x, 0), received = floats_of(c->h, x, size);
    bool sum = x->function == COMM_REDUCE_SCATTER;
    int64_t *splits = x->splits ? malloc(2 * (size_t)size * sizeof *splits) : NULL;
    uint16_t *work;
    const char *wrong =
        cuda_text("memory of a narrow transfer", cudaMallocAsync((void **)&work, (size_t)(sent + received) * sizeof *work + 1, c->stream));
    if (wrong || (x->splits && !splits)) {
        free(splits);
        return wrong ? wrong : "out of memory";
    }
    for (int r = 0; splits && r < 2 * size; r++)
        splits[r] = x->splits[r] / 2;
    narrow_launch(c->stream, x->as, work, x->send, sent);
    struct collective half = {.function = sum ? COMM_ALL_TO_ALL : x->function,
                              .send = work,
                              .recv = work + sent,
                              .n = sum ? x->n * (int64_t)sizeof *work : x->n / 2,
                              .splits = splits,
                              .to = x->to,
                              .from = x->from};
    plain(c, &half);
    widen_launch(c->stream, x->as, x->recv, work + sent, sum ? x->n : received, sum ? size : 1);
    free(splits);
    return cuda_text("memory of a narrow transfer", cudaFreeAsync(work, c->stream));
}

static const char *transfer(struct nccl_handle *h, void *stream, const struct collective *x)
{
    struct call c = {h, stream, ncclSuccess};
    const char *wrong = NULL;
    if (atomic_load(&h->aborted))
        return "another rank has failed";
    if (x->as == DTYPE_FP32)
        plain(&c, x);
    else
        wrong = narrow_transfer(&c, x);
    return wrong ? wrong : said("a collective", c.result);
}

static const char *barrier(struct nccl_handle *h)
{
    float *one = NULL;
    cudaStream_t stream = NULL;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaMallocAsync((void **)&one, sizeof *one, stream);
    const char *wrong = cuda_text("a barrier", error);
    if (!wrong)
        wrong = said("a barrier", ncclAllReduce(one, one, 1, ncclFloat, ncclSum, h->comm, stream));
    if (!wrong)
        wrong = cuda_text("a barrier", cudaStreamSynchronize(stream));
    if (one)
        cudaFreeAsync(one, stream);
    if (stream)
        cudaStreamDestroy(stream);
    return wrong;
}

__attribute__((visibility("default"))) extern const struct nccl_module cpbench_comm_nccl;
const struct nccl_module cpbench_comm_nccl = {.version = CPSCOPE_VERSION,
                                              .id = make_id,
                                              .open = open_handle,
                                              .close = close_handle,
                                              .abort = abort_handle,
                                              .transfer = transfer,
                                              .barrier = barrier};
