/* point.c - points in streams: what waits for them, and when they were reached. */
#include "kernels/device/cuda/gpu.h"
#include "schemas/clock.h"

#include <math.h>
#include <stdlib.h>

/* ---- the clock ---- */

/* The gpu is idle in the stream used here, so the event is reached as the host looks. */
static const char *new_base(struct cuda_gpu *gpu)
{
    struct cuda_base *b = calloc(1, sizeof *b);
    if (!b)
        return "out of memory";
    cudaError_t error = cudaEventCreate(&b->event);
    if (error == cudaSuccess)
        error = cudaEventRecord(b->event, gpu->first ? gpu->first->stream : cudaStreamPerThread);
    if (error == cudaSuccess)
        error = cudaEventSynchronize(b->event);
    b->at = clock_now();
    b->older = gpu->base;
    gpu->base = b;
    return cuda_said("reading the clock", error);
}

const char *clock_open(struct cuda_gpu *gpu)
{
    const char *wrong = new_base(gpu);
    if (wrong)
        clock_close(gpu);
    return wrong;
}

const char *clock_renew(struct cuda_gpu *gpu)
{
    const int64_t old = INT64_C(4000000000);
    bool due = clock_now() - gpu->base->at > old && gpu->first && !lane_busy(gpu->first);
    return due ? new_base(gpu) : NULL;
}

void clock_close(struct cuda_gpu *gpu)
{
    while (gpu->base) {
        struct cuda_base *b = gpu->base;
        gpu->base = b->older;
        if (b->event)
            cudaEventDestroy(b->event);
        free(b);
    }
}

/* ---- points ---- */

const char *point_open(struct cuda_gpu *gpu, struct cuda_point **point)
{
    struct cuda_point *p = calloc(1, sizeof *p);
    if (!p)
        return "out of memory";
    p->gpu = gpu;
    const char *wrong = cuda_said("an event", cudaEventCreate(&p->event));
    if (wrong)
        free(p);
    else
        *point = p;
    return wrong;
}

void point_close(struct cuda_point *p)
{
    cudaEventDestroy(p->event);
    free(p);
}

const char *point_record(struct cuda_lane *l, struct cuda_point *p)
{
    p->base = p->gpu->base;
    return cuda_said("an event", cudaEventRecord(p->event, l->stream));
}

const char *point_await(struct cuda_lane *l, const struct cuda_point *p)
{
    return cuda_said("waiting for an event", cudaStreamWaitEvent(l->stream, p->event, 0));
}

bool point_reached(const struct cuda_point *p)
{
    return cudaEventQuery(p->event) != cudaErrorNotReady;
}

const char *point_join(const struct cuda_point *p)
{
    return cuda_said("the work before an event", cudaEventSynchronize(p->event));
}

int64_t point_time(const struct cuda_point *p)
{
    float ms = 0;
    if (cudaEventElapsedTime(&ms, p->base->event, p->event) != cudaSuccess)
        return 0;
    return p->base->at + llrint((double)ms * 1e6);
}
