/* device.c - a program that reports as our devices on CUDA do (schemas/activity.h): its host rows with their sites, collectives without
 * times, and the row's id as CUPTI's external id around the CUDA calls inside. With the fake runtime; built by the C compiler.
 *
 *   device [RANKS]    each rank is a thread: uploads, launches, collectives in every form, waits of every class; prints what it called
 *
 * Calls outside of any row, as those for memory, are CUPTI's alone.
 */
#include "nccl.h"
#include "runtime.h"
#include "schemas/activity.h"
#include "schemas/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 4096, RANKS_MAX = 16, ROUNDS = 5, CUSTOM2 = 5, FIRST_ID = 3 };

int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id);
int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *id);

static _Atomic(activity_fn *) subscriber;
static void *context;
static const char scale_id;

/* ---- what kernels/device does ---- */

bool cpscope_activity_subscribe(int version, activity_fn *fn, void *ctx);

bool cpscope_activity_subscribe(int version, activity_fn *fn, void *ctx)
{
    if (version != ACTIVITY_VERSION)
        return false;
    context = ctx;
    atomic_store(&subscriber, fn);
    return true;
}

static void report(const struct activity *a)
{
    activity_fn *fn = atomic_load(&subscriber);
    if (fn)
        fn(context, a);
}

struct device {
    int rank;
    cudaStream_t stream;
    ncclComm_t nccl;
    float *x, *y;
    char host[BYTES];
    void *pinned;
    int64_t id, start, sequence;
};

/* Few ids, that CUPTI's own are sure to meet. */
static void begin(struct device *d)
{
    static _Atomic int64_t ids = FIRST_ID;
    d->id = atomic_fetch_add(&ids, 1);
    d->start = clock_now();
    cuptiActivityPushExternalCorrelationId(CUSTOM2, (uint64_t)d->id);
}

static void end(struct device *d, const char *name, enum sync_class sync, const struct site *site)
{
    uint64_t last;
    cuptiActivityPopExternalCorrelationId(CUSTOM2, &last);
    struct activity a = ACTIVITY_NONE;
    a.what = ACT_EVENT;
    a.kind = EV_RUNTIME;
    a.name = name;
    a.start = d->start;
    a.end = clock_now();
    a.correlation = d->id;
    a.rank = d->rank;
    a.device = 0;
    a.sync_class = (uint8_t)sync;
    a.did_block = sync ? 1 : -1;
    a.stream = sync == SYNC_STREAM || sync == SYNC_COPY ? 7 : -1; /* the device's own number */
    a.site = site;
    report(&a);
}

static void describe(struct device *d, const char *name, const char *function, int64_t bytes)
{
    struct activity a = ACTIVITY_NONE;
    begin(d);
    a.what = ACT_COMM;
    a.kind = EV_COMM;
    a.name = name;
    a.group = "cp";
    a.function = function;
    a.sequence = d->sequence++;
    a.bytes = bytes;
    a.group_size = 2;
    a.rank = d->rank;
    a.device = 0;
    a.stream = 7;
    a.correlation = d->id;
    report(&a);
}

/* ---- what a mode does ---- */

static void launch(struct device *d, int blocks)
{
    void *args[] = {&d->x};
    cudaLaunchKernel(&scale_id, (dim3){(unsigned)blocks, 1, 1}, (dim3){128, 1, 1}, args, 64, d->stream);
}

static void collectives(struct device *d)
{
    describe(d, "cp_all_gather", "all_gather", 2000); /* NCCL's kernel */
    ncclAllGather(1000, ncclBfloat16, d->nccl, d->stream);
    end(d, "deviceLaunchKernel", SYNC_NONE, NULL);
    describe(d, "cp_reduce_scatter", "reduce_scatter", 640); /* copies, a wait for others, and a sum */
    cudaMemcpyAsync(d->y, d->x, 320, cudaMemcpyDeviceToDevice, d->stream);
    cudaEvent_t e;
    cudaEventCreate(&e);
    cudaEventRecord(e, d->stream);
    cudaStreamWaitEvent(d->stream, e, 0);
    cudaMemcpyAsync(d->y, d->x, 320, cudaMemcpyDeviceToDevice, d->stream);
    launch(d, 3);
    cudaEventDestroy(e);
    end(d, "deviceLaunchKernel", SYNC_NONE, NULL);
    describe(d, "cp_send", "send", 64); /* the other side copies */
    end(d, "deviceLaunchKernel", SYNC_NONE, NULL);
}

static void waits(struct device *d)
{
    cudaEvent_t e;
    cudaEventCreate(&e);
    begin(d);
    cudaEventRecord(e, d->stream);
    end(d, "deviceEventRecord", SYNC_NONE, NULL);
    begin(d);
    cudaStreamWaitEvent(d->stream, e, 0);
    end(d, "deviceStreamWaitEvent", SYNC_NONE, NULL);
    begin(d);
    cudaEventSynchronize(e);
    end(d, "deviceEventSynchronize", SYNC_EVENT, SITE_HERE);
    begin(d);
    cudaMemcpyAsync(d->pinned, d->x, 256, cudaMemcpyDeviceToHost, d->stream);
    cudaStreamSynchronize(d->stream);
    end(d, "deviceMemcpy", SYNC_COPY, SITE_HERE);
    begin(d);
    cudaStreamSynchronize(d->stream);
    end(d, "deviceStreamSynchronize", SYNC_STREAM, SITE_HERE);
    cudaEventDestroy(e);
}

static void *rank(void *arg)
{
    struct device *d = arg;
    cudaMalloc((void **)&d->x, BYTES);
    cudaMalloc((void **)&d->y, BYTES);
    cudaHostAlloc(&d->pinned, BYTES, 0);
    cudaStreamCreate(&d->stream);
    for (int i = 0; i < ROUNDS; i++) {
        begin(d);
        cudaMemcpyAsync(d->x, d->pinned, 512, cudaMemcpyHostToDevice, d->stream);
        cudaMemcpyAsync(d->y, d->pinned, 512, cudaMemcpyHostToDevice, d->stream);
        end(d, "deviceMemcpyAsync", SYNC_NONE, NULL);
        begin(d);
        launch(d, 20);
        launch(d, 10);
        end(d, "deviceLaunchKernel", SYNC_NONE, NULL);
        begin(d);
        cudaMemsetAsync(d->y, 0, 128, d->stream);
        end(d, "deviceMemsetAsync", SYNC_NONE, NULL);
        collectives(d);
        waits(d);
    }
    begin(d);
    cudaDeviceSynchronize();
    end(d, "deviceSynchronize", SYNC_DEVICE, SITE_HERE);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct device d[RANKS_MAX];
    pthread_t threads[RANKS_MAX];
    int n = argc > 1 ? atoi(argv[1]) : 1;
    void **handle = __cudaRegisterFatBinary(&n);
    __cudaRegisterFunction(handle, &scale_id, NULL, "_Z5scalePf", -1, NULL, NULL, NULL, NULL, NULL);
    for (int i = 0; i < n; i++) {
        d[i].rank = i;
        ncclCommInit(&d[i].nccl, 2, i, "unnamed by us");
        pthread_create(&threads[i], NULL, rank, &d[i]);
    }
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    printf("ranks %d: %d waits, %d collectives\n", n, n * (3 * ROUNDS + 1), n * 3 * ROUNDS);
    return 0;
}
