/* lane.c - streams of a GPU: fills, copies, and the ring of pinned memory between host and device. */
#include "kernels/device/cuda/gpu.h"

#include <stdlib.h>
#include <string.h>

static const char *make(struct cuda_lane *l)
{
    cudaError_t error = cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaMallocHost((void **)&l->ring, (size_t)RING_SEGMENTS * RING_SEGMENT);
    for (int i = 0; error == cudaSuccess && i < RING_SEGMENTS; i++)
        error = cudaEventCreateWithFlags(&l->passed[i], cudaEventDisableTiming);
    return cuda_said("a stream", error);
}

const char *lane_open(struct cuda_gpu *gpu, struct cuda_lane **lane)
{
    struct cuda_lane *l = calloc(1, sizeof *l);
    if (!l)
        return "out of memory";
    *l = (struct cuda_lane){.gpu = gpu};
    const char *wrong = make(l);
    if (wrong) {
        lane_close(l);
        return wrong;
    }
    l->call = (struct cuda_call){.stream = l->stream, .lane = l};
    if (!gpu->first)
        gpu->first = l;
    *lane = l;
    return NULL;
}

/* The stream has been waited for. */
void lane_close(struct cuda_lane *l)
{
    if (l->gpu->first == l)
        l->gpu->first = NULL;
    if (l->call.blas)
        cublasDestroy(l->call.blas);
    if (l->workspace)
        cudaFreeAsync(l->workspace, l->stream);
    if (l->scratch)
        cudaFreeAsync(l->scratch, l->stream);
    for (int i = 0; i < RING_SEGMENTS; i++)
        if (l->passed[i])
            cudaEventDestroy(l->passed[i]);
    if (l->ring)
        cudaFreeHost(l->ring);
    if (l->stream)
        cudaStreamDestroy(l->stream);
    free(l);
}

void *lane_native(struct cuda_lane *l)
{
    return l->stream;
}

const char *lane_set(struct cuda_lane *l, void *dst, int value, size_t bytes)
{
    return bytes ? cuda_said("a fill", cudaMemsetAsync(dst, value, bytes, l->stream)) : NULL;
}

const char *lane_copy(struct cuda_lane *l, void *dst, const void *src, size_t bytes)
{
    return bytes ? cuda_said("a copy", cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, l->stream)) : NULL;
}

/* `bytes`, at most a segment, that no copy uses any more. A segment that was left is marked, one that is entered again is
 * waited for: by then everything in it is RING_SEGMENTS - 1 segments old. */
static const char *take(struct cuda_lane *l, size_t bytes, unsigned char **p)
{
    enum { LINE = 64 };
    size_t size = (bytes + LINE - 1) / LINE * LINE, used = l->ring_at % RING_SEGMENT;
    cudaError_t error = cudaSuccess;
    if (used + size > RING_SEGMENT || (used == 0 && l->ring_at > 0)) {
        size_t left = (l->ring_at - 1) / RING_SEGMENT, entered = left + 1;
        error = cudaEventRecord(l->passed[left % RING_SEGMENTS], l->stream);
        if (error == cudaSuccess && entered >= RING_SEGMENTS)
            error = cudaEventSynchronize(l->passed[entered % RING_SEGMENTS]);
        l->ring_at = entered * RING_SEGMENT;
    }
    *p = l->ring + l->ring_at % ((size_t)RING_SEGMENTS * RING_SEGMENT);
    l->ring_at += size;
    return cuda_said("pinned memory", error);
}

static size_t piece(size_t left)
{
    return left < RING_SEGMENT ? left : RING_SEGMENT;
}

const char *lane_upload(struct cuda_lane *l, void *dst, const void *src, size_t bytes)
{
    const char *wrong = NULL;
    for (size_t at = 0; !wrong && at < bytes; at += RING_SEGMENT) {
        size_t n = piece(bytes - at);
        unsigned char *pinned;
        if ((wrong = take(l, n, &pinned)) != NULL)
            break;
        memcpy(pinned, (const unsigned char *)src + at, n);
        wrong = cuda_said("an upload", cudaMemcpyAsync((unsigned char *)dst + at, pinned, n, cudaMemcpyHostToDevice, l->stream));
    }
    return wrong;
}

/* Of several pieces all but the last are waited for here. */
const char *lane_download(struct cuda_lane *l, void *dst, const void *src, size_t bytes)
{
    const char *wrong = NULL;
    for (size_t at = 0; !wrong && at < bytes; at += RING_SEGMENT) {
        size_t n = piece(bytes - at);
        unsigned char *pinned;
        if (l->pending.bytes && (wrong = lane_wait(l)) != NULL)
            break;
        if ((wrong = take(l, n, &pinned)) != NULL)
            break;
        wrong = cuda_said("a download", cudaMemcpyAsync(pinned, (const unsigned char *)src + at, n, cudaMemcpyDeviceToHost, l->stream));
        l->pending.dst = (unsigned char *)dst + at;
        l->pending.src = pinned;
        l->pending.bytes = n;
    }
    return wrong;
}

bool lane_busy(struct cuda_lane *l)
{
    return cudaStreamQuery(l->stream) == cudaErrorNotReady;
}

const char *lane_wait(struct cuda_lane *l)
{
    const char *wrong = cuda_said("the work of a stream", cudaStreamSynchronize(l->stream));
    if (wrong)
        return wrong;
    if (l->pending.bytes)
        memcpy(l->pending.dst, l->pending.src, l->pending.bytes);
    l->pending.bytes = 0;
    return clock_renew(l->gpu);
}

const char *lane_add(struct cuda_lane *l, bool f64, void *to, const void *const *parts, int nparts, int64_t n)
{
    struct cuda_parts p = {.n = nparts};
    memcpy(p.part, parts, (size_t)nparts * sizeof *parts);
    if (n > 0)
        cuda_add(&l->call, f64, to, &p, n);
    return cuda_said("a sum over ranks", cudaGetLastError());
}
