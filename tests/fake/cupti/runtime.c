/* runtime.c - the stand-in for the CUDA runtime: memory, copies, streams, events. Work on a stream: work.c; kernels: launches.c.
 * See fake.h. */
#include "work.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uint32_t streams = NULL_STREAM, events;
static _Atomic uint64_t recordings;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the table */
static struct {
    char *p;
    size_t n;
    int kind;
} memory[RANGES]; /* that is not pageable */

/* ---- the start ---- */

static void start(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *lib = path ? dlopen(path, RTLD_NOW) : NULL;
    int (*initialize)(void) = NULL;
    if (lib)
        *(void **)&initialize = dlsym(lib, "InitializeInjection");
    if (initialize)
        initialize();
}

int fake_ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (fake_fault("no_driver"))
        return cudaErrorInsufficientDriver;
    pthread_once(&once, start);
    return cudaSuccess;
}

API int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

/* ---- memory ---- */

static void remember(void *p, size_t n, int kind)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < RANGES; i++)
        if (!memory[i].p) {
            memory[i].p = p;
            memory[i].n = n;
            memory[i].kind = kind;
            break;
        }
    pthread_mutex_unlock(&lock);
}

static void forget(void *p)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < RANGES; i++)
        if (memory[i].p == p)
            memory[i].p = NULL;
    pthread_mutex_unlock(&lock);
}

int fake_memory_kind(const void *p)
{
    int kind = PAGEABLE;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < RANGES; i++)
        if (memory[i].p && (const char *)p >= memory[i].p && (const char *)p < memory[i].p + memory[i].n)
            kind = memory[i].kind;
    pthread_mutex_unlock(&lock);
    return kind;
}

API int cudaMalloc(void **p, size_t n)
{
    BEGIN("cudaMalloc", &p);
    *p = malloc(n);
    remember(*p, n, DEVICE);
    END;
}

API int cudaFree(void *p)
{
    BEGIN("cudaFree", &p);
    forget(p);
    free(p);
    END;
}

API int cudaHostAlloc(void **p, size_t n, unsigned flags)
{
    BEGIN("cudaHostAlloc", &p);
    (void)flags;
    *p = malloc(n);
    remember(*p, n, PINNED);
    END;
}

API int cudaFreeHost(void *p)
{
    BEGIN("cudaFreeHost", &p);
    forget(p);
    free(p);
    END;
}

static int cupti_kind(int kind)
{
    static const int kinds[] = {9, HTOD, DTOH, DTOD, HTOD};
    return kinds[kind];
}

API int cudaMemcpy(void *to, const void *from, size_t n, int kind)
{
    int64_t end;
    BEGIN("cudaMemcpy", &to);
    memcpy(to, from, n);
    fake_copy(&fake_null_stream, cupti_kind(kind), fake_memory_kind(from), fake_memory_kind(to), n, call.cb.correlation, &end);
    fake_sleep_until(end);
    END;
}

API int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, cudaStream_t s)
{
    int64_t end;
    BEGIN("cudaMemcpyAsync", &to);
    memcpy(to, from, n);
    uint32_t id = fake_inner_call("cuMemcpyHtoDAsync_v2", call.cb.correlation);
    fake_copy(fake_stream_of(s), cupti_kind(kind), fake_memory_kind(from), fake_memory_kind(to), n, id, &end);
    if (fake_memory_kind(from) == PAGEABLE || fake_memory_kind(to) == PAGEABLE)
        fake_sleep_until(end);
    END;
}

API int cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t n, cudaStream_t s)
{
    int64_t start, end;
    BEGIN("cudaMemcpyPeerAsync", &to);
    memcpy(to, from, n);
    fake_occupy(fake_stream_of(s), (int64_t)n, &start, &end);
    struct cupti_memcpy2 m = {.kind = CUPTI_MEMCPY2,
                              .copy_kind = 10,
                              .src_kind = DEVICE,
                              .dst_kind = DEVICE,
                              .bytes = n,
                              .start = (uint64_t)start,
                              .end = (uint64_t)end,
                              .device = FAKE_DEVICE,
                              .context = FAKE_CONTEXT,
                              .stream = fake_stream_of(s)->id,
                              .src_device = (uint32_t)from_device,
                              .dst_device = (uint32_t)to_device,
                              .correlation = call.cb.correlation};
    fake_log("memcpy 10 3 3 %zu %lld %lld 0 %u %u\n", n, (long long)start, (long long)end, m.stream, m.correlation);
    fake_spoil(&m.start, &m.end);
    fake_record(&m, sizeof m, 96, end);
    END;
}

API int cudaMemset(void *p, int value, size_t n)
{
    BEGIN("cudaMemset", &p);
    fake_fill(&fake_null_stream, p, value, n, call.cb.correlation);
    END;
}

API int cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t s)
{
    BEGIN("cudaMemsetAsync", &p);
    fake_fill(fake_stream_of(s), p, value, n, call.cb.correlation);
    END;
}

/* ---- streams and events ---- */

static struct fake_stream *made[RANGES];

API int cudaStreamCreate(cudaStream_t *s)
{
    BEGIN("cudaStreamCreate", &s);
    *s = calloc(1, sizeof **s);
    (*s)->id = atomic_fetch_add(&streams, 1) + 1;
    made[(*s)->id % RANGES] = *s;
    END;
}

API int cudaStreamDestroy(cudaStream_t s)
{
    BEGIN("cudaStreamDestroy", &s); /* its memory stays: the device may still be busy with it */
    END;
}

static int64_t all_done(void)
{
    int64_t done = atomic_load(&fake_null_stream.busy_until);
    for (size_t i = 0; i < RANGES; i++)
        if (made[i])
            done = fake_later(done, atomic_load(&made[i]->busy_until));
    return done;
}

API int cudaStreamSynchronize(cudaStream_t s)
{
    BEGIN("cudaStreamSynchronize", &s);
    fake_wait(CUPTI_SYNC_STREAM, fake_stream_of(s), NULL, atomic_load(&fake_stream_of(s)->busy_until), call.cb.correlation);
    END;
}

API int cudaDeviceSynchronize(void)
{
    BEGIN("cudaDeviceSynchronize", NULL);
    fake_wait(CUPTI_SYNC_CONTEXT, NULL, NULL, all_done(), call.cb.correlation);
    END;
}

API int cudaEventCreate(cudaEvent_t *e)
{
    BEGIN("cudaEventCreate", &e);
    *e = calloc(1, sizeof **e);
    (*e)->id = atomic_fetch_add(&events, 1) + 1;
    (*e)->stream = &fake_null_stream;
    END;
}

API int cudaEventDestroy(cudaEvent_t e)
{
    BEGIN("cudaEventDestroy", &e);
    free(e);
    END;
}

API int cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    BEGIN("cudaEventRecord", &e);
    e->stream = fake_stream_of(s);
    atomic_store(&e->time, fake_later(atomic_load(&e->stream->busy_until), fake_now()));
    e->sync = atomic_fetch_add(&recordings, 1) + 1;
    struct cupti_event r = {.kind = CUPTI_CUDA_EVENT,
                            .correlation = call.cb.correlation,
                            .context = FAKE_CONTEXT,
                            .stream = e->stream->id,
                            .event = e->id,
                            .device = FAKE_DEVICE,
                            .event_sync = e->sync};
    fake_record(&r, sizeof r, 56, atomic_load(&e->time));
    END;
}

API int cudaEventSynchronize(cudaEvent_t e)
{
    BEGIN("cudaEventSynchronize", &e);
    fake_wait(CUPTI_SYNC_EVENT, NULL, e, atomic_load(&e->time), call.cb.correlation);
    END;
}

API int cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags)
{
    (void)flags;
    BEGIN("cudaStreamWaitEvent", &s);
    fake_wait(CUPTI_SYNC_STREAM_WAIT, fake_stream_of(s), e, 0, call.cb.correlation);
    int64_t busy = atomic_load(&fake_stream_of(s)->busy_until);
    atomic_store(&fake_stream_of(s)->busy_until, fake_later(busy, atomic_load(&e->time)));
    END;
}

API int cudaEventQuery(cudaEvent_t e)
{
    BEGIN("cudaEventQuery", &e);
    fake_leave(&call);
    return fake_now() < atomic_load(&e->time) ? cudaErrorNotReady : cudaSuccess;
}

API int cudaGetDevice(int *device)
{
    BEGIN("cudaGetDevice", &device);
    *device = FAKE_DEVICE;
    END;
}

API int cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    (void)limit, (void)value;
    BEGIN("cudaDeviceSetLimit", &limit);
    END;
}

API int cudaGetLastError(void)
{
    return cudaSuccess;
}

API const char *cudaGetErrorString(int error)
{
    return error == cudaSuccess ? "no error" : "an error of the stand-in";
}
