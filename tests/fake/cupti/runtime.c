/* runtime.c - the stand-in for the CUDA runtime. A stream is a time until which it is busy; a kernel takes a microsecond a block,
 * a copy a nanosecond a byte, after what its stream has before it. A synchronisation sleeps until then. See fake.h. */
#include "fake.h"
#include "runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    KERNELS = 64,
    NODES = 64,
    BLOCK_NS = 1000,
    RANGES = 1024,
    NULL_STREAM = 7,
    PAGEABLE = 1,
    PINNED = 2,
    DEVICE = 3,
    HTOD = 1,
    DTOH = 2,
    DTOD = 8
};
#define API __attribute__((visibility("default")))

struct fake_stream {
    uint32_t id; /* first: cupti.c reads it */
    _Atomic int64_t busy_until;
    struct fake_graph *capture;
};

struct fake_event {
    uint32_t id;
    uint64_t sync; /* of its last recording */
    struct fake_stream *stream;
    _Atomic int64_t time;
};

struct fake_graph { /* kernels one behind the other */
    uint32_t id;
    size_t n;
    struct node {
        uint64_t id; /* first: cupti.c reads it */
        const char *name;
        int blocks;
    } nodes[NODES];
};

static struct fake_stream null_stream = {.id = NULL_STREAM};
static _Atomic uint32_t streams = NULL_STREAM, events, graphs;
static _Atomic uint64_t recordings;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the two tables */
static struct {
    const void *fun;
    const char *name;
} kernels[KERNELS];
static size_t nkernels;
static struct {
    char *p;
    size_t n;
    int kind;
} memory[RANGES]; /* that is not pageable */

static __thread uint32_t inner, outer; /* ids of the latest call inside a call */
static __thread struct {
    dim3 grid, block;
    size_t shared;
    void *stream;
} pushed;

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

static int ready(void)
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

static int kind_of(const void *p)
{
    int kind = PAGEABLE;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < RANGES; i++)
        if (memory[i].p && (const char *)p >= memory[i].p && (const char *)p < memory[i].p + memory[i].n)
            kind = memory[i].kind;
    pthread_mutex_unlock(&lock);
    return kind;
}

/* ---- work ---- */

static struct fake_stream *stream_of(cudaStream_t s)
{
    return s ? s : &null_stream;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The stretch that work of `ns` gets on a stream. */
static void occupy(struct fake_stream *s, int64_t ns, int64_t *from, int64_t *to)
{
    int64_t busy = atomic_load(&s->busy_until);
    do {
        *from = later(busy, fake_now());
        *to = *from + ns;
    } while (!atomic_compare_exchange_weak(&s->busy_until, &busy, *to));
}

static void sleep_until(int64_t time)
{
    int64_t left;
    while ((left = time - fake_now()) > 0) {
        struct timespec t = {left / 1000000000, left % 1000000000};
        nanosleep(&t, NULL);
    }
}

/* What the records of the device say by mistake, on demand. */
static void spoil(uint64_t *from, uint64_t *to)
{
    uint64_t kept = *from;
    if (fake_fault("zero_times"))
        *from = *to = 0;
    if (fake_fault("reversed_times")) {
        *from = *to;
        *to = kept;
    }
}

/* The id that a trace must show: that of the outermost call. */
static uint32_t shown(uint32_t id)
{
    return id == inner ? outer : id;
}

static void kernel_record(struct fake_stream *s, const char *name, dim3 grid, dim3 block, size_t shared, uint32_t id, uint32_t graph, uint64_t node)
{
    int64_t from, to;
    occupy(s, (int64_t)BLOCK_NS * grid.x * grid.y * grid.z, &from, &to);
    struct cupti_kernel k = {.kind = CUPTI_CONCURRENT_KERNEL,
                             .registers = 32,
                             .start = (uint64_t)from,
                             .end = (uint64_t)to,
                             .device = FAKE_DEVICE,
                             .context = FAKE_CONTEXT,
                             .stream = s->id,
                             .grid = {(int)grid.x, (int)grid.y, (int)grid.z},
                             .block = {(int)block.x, (int)block.y, (int)block.z},
                             .static_shared = 16,
                             .dynamic_shared = (int)shared,
                             .correlation = id,
                             .name = name,
                             .graph = graph,
                             .graph_node = node};
    if (strncmp(name, "nccl", 4) == 0)
        fake_log("collective %s %lld %lld 0 %u %u\n", name, (long long)from, (long long)to, s->id, shown(id));
    else
        fake_log("kernel %s %llu %llu %u %u %u %d,%d,%d %d,%d,%d 32 16 %zu %u %llu\n", name, (unsigned long long)k.start, (unsigned long long)k.end,
                 0, s->id, shown(id), k.grid[0], k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2], shared, graph, (unsigned long long)node);
    spoil(&k.start, &k.end);
    fake_record(&k, sizeof k, 216, to);
}

static void launch(const char *name, dim3 grid, dim3 block, size_t shared, cudaStream_t stream, uint32_t id)
{
    struct fake_stream *s = stream_of(stream);
    if (s->capture && s->capture->n < NODES) {
        struct node *n = &s->capture->nodes[s->capture->n++];
        *n = (struct node){(uint64_t)s->capture->id << 32 | s->capture->n, name, (int)(grid.x * grid.y * grid.z)};
        fake_node(CUPTI_NODE_CREATED, n, NULL);
    } else
        kernel_record(s, name, grid, block, shared, id, 0, 0);
}

/* The runtime calls the driver inside its own call; FAKE_FAULT inner_ids: the device's records bear the inner call's id. */
static uint32_t inner_call(const char *function, uint32_t id)
{
    struct fake_call c;
    fake_enter(&c, CUPTI_DOMAIN_DRIVER, function, NULL);
    fake_leave(&c);
    inner = c.cb.correlation;
    outer = id;
    return fake_fault("inner_ids") ? inner : outer;
}

static void copy_record(struct fake_stream *s, int kind, int src, int dst, size_t n, uint32_t id, int64_t *end)
{
    int64_t from, to;
    occupy(s, (int64_t)n, &from, &to);
    struct cupti_memcpy m = {.kind = CUPTI_MEMCPY,
                             .copy_kind = (uint8_t)kind,
                             .src_kind = (uint8_t)src,
                             .dst_kind = (uint8_t)dst,
                             .bytes = n,
                             .start = (uint64_t)from,
                             .end = (uint64_t)to,
                             .device = FAKE_DEVICE,
                             .context = FAKE_CONTEXT,
                             .stream = s->id,
                             .correlation = id};
    fake_log("memcpy %d %d %d %zu %llu %llu 0 %u %u\n", kind, src, dst, n, (unsigned long long)from, (unsigned long long)to, s->id, shown(id));
    spoil(&m.start, &m.end);
    fake_record(&m, sizeof m, 96, to);
    *end = to;
}

/* Waits, and says so as CUPTI does. */
static void wait_record(uint32_t type, struct fake_stream *s, const struct fake_event *e, int64_t until, uint32_t id)
{
    struct cupti_sync r = {.kind = CUPTI_SYNCHRONIZATION,
                           .type = type,
                           .start = (uint64_t)fake_now(),
                           .correlation = id,
                           .context = FAKE_CONTEXT,
                           .stream = s ? s->id : (uint32_t)CUPTI_NONE,
                           .event = e ? e->id : (uint32_t)CUPTI_NONE,
                           .event_sync = e ? e->sync : 0};
    if (type != CUPTI_SYNC_STREAM_WAIT)
        sleep_until(until);
    r.end = (uint64_t)fake_now();
    fake_log("sync %u %llu %llu %d %d %u %lld\n", type, (unsigned long long)r.start, (unsigned long long)r.end, s ? (int)s->id : -1,
             e ? (int)e->id : -1, id,
             e                           ? (long long)e->stream->id
             : type == CUPTI_SYNC_STREAM ? (long long)s->id
                                         : -1LL);
    fake_record(&r, sizeof r, 56, 0);
}

static int64_t all_done(void);

/* ---- the interface ---- */

#define BEGIN(function, params)                                                                                                                      \
    struct fake_call call;                                                                                                                           \
    if (ready() != cudaSuccess)                                                                                                                      \
        return cudaErrorInsufficientDriver;                                                                                                          \
    fake_enter(&call, CUPTI_DOMAIN_RUNTIME, function, params)
#define END                                                                                                                                          \
    fake_leave(&call);                                                                                                                               \
    return cudaSuccess

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
    copy_record(&null_stream, cupti_kind(kind), kind_of(from), kind_of(to), n, call.cb.correlation, &end);
    sleep_until(end);
    END;
}

API int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, cudaStream_t s)
{
    int64_t end;
    BEGIN("cudaMemcpyAsync", &to);
    memcpy(to, from, n);
    uint32_t id = inner_call("cuMemcpyHtoDAsync_v2", call.cb.correlation);
    copy_record(stream_of(s), cupti_kind(kind), kind_of(from), kind_of(to), n, id, &end);
    if (kind_of(from) == PAGEABLE || kind_of(to) == PAGEABLE)
        sleep_until(end);
    END;
}

API int cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t n, cudaStream_t s)
{
    int64_t start, end;
    BEGIN("cudaMemcpyPeerAsync", &to);
    memcpy(to, from, n);
    occupy(stream_of(s), (int64_t)n, &start, &end);
    struct cupti_memcpy2 m = {.kind = CUPTI_MEMCPY2,
                              .copy_kind = 10,
                              .src_kind = DEVICE,
                              .dst_kind = DEVICE,
                              .bytes = n,
                              .start = (uint64_t)start,
                              .end = (uint64_t)end,
                              .device = FAKE_DEVICE,
                              .context = FAKE_CONTEXT,
                              .stream = stream_of(s)->id,
                              .src_device = (uint32_t)from_device,
                              .dst_device = (uint32_t)to_device,
                              .correlation = call.cb.correlation};
    fake_log("memcpy 10 3 3 %zu %lld %lld 0 %u %u\n", n, (long long)start, (long long)end, m.stream, m.correlation);
    spoil(&m.start, &m.end);
    fake_record(&m, sizeof m, 96, end);
    END;
}

static void memset_record(struct fake_stream *s, void *p, int value, size_t n, uint32_t id)
{
    int64_t from, to;
    memset(p, value, n);
    occupy(s, (int64_t)n, &from, &to);
    struct cupti_memset m = {.kind = CUPTI_MEMSET,
                             .value = (uint32_t)value,
                             .bytes = n,
                             .start = (uint64_t)from,
                             .end = (uint64_t)to,
                             .device = FAKE_DEVICE,
                             .context = FAKE_CONTEXT,
                             .stream = s->id,
                             .correlation = id,
                             .memory_kind = (uint16_t)kind_of(p)};
    fake_log("memset %d %zu %lld %lld 0 %u %u\n", m.memory_kind, n, (long long)from, (long long)to, s->id, id);
    spoil(&m.start, &m.end);
    fake_record(&m, sizeof m, 88, to);
}

API int cudaMemset(void *p, int value, size_t n)
{
    BEGIN("cudaMemset", &p);
    memset_record(&null_stream, p, value, n, call.cb.correlation);
    END;
}

API int cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t s)
{
    BEGIN("cudaMemsetAsync", &p);
    memset_record(stream_of(s), p, value, n, call.cb.correlation);
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
    int64_t done = atomic_load(&null_stream.busy_until);
    for (size_t i = 0; i < RANGES; i++)
        if (made[i])
            done = later(done, atomic_load(&made[i]->busy_until));
    return done;
}

API int cudaStreamSynchronize(cudaStream_t s)
{
    BEGIN("cudaStreamSynchronize", &s);
    wait_record(CUPTI_SYNC_STREAM, stream_of(s), NULL, atomic_load(&stream_of(s)->busy_until), call.cb.correlation);
    END;
}

API int cudaDeviceSynchronize(void)
{
    BEGIN("cudaDeviceSynchronize", NULL);
    wait_record(CUPTI_SYNC_CONTEXT, NULL, NULL, all_done(), call.cb.correlation);
    END;
}

API int cudaEventCreate(cudaEvent_t *e)
{
    BEGIN("cudaEventCreate", &e);
    *e = calloc(1, sizeof **e);
    (*e)->id = atomic_fetch_add(&events, 1) + 1;
    (*e)->stream = &null_stream;
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
    e->stream = stream_of(s);
    atomic_store(&e->time, later(atomic_load(&e->stream->busy_until), fake_now()));
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
    wait_record(CUPTI_SYNC_EVENT, NULL, e, atomic_load(&e->time), call.cb.correlation);
    END;
}

API int cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags)
{
    (void)flags;
    BEGIN("cudaStreamWaitEvent", &s);
    wait_record(CUPTI_SYNC_STREAM_WAIT, stream_of(s), e, 0, call.cb.correlation);
    int64_t busy = atomic_load(&stream_of(s)->busy_until);
    atomic_store(&stream_of(s)->busy_until, later(busy, atomic_load(&e->time)));
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

/* ---- launches ---- */

static const char *name_of(const void *fun)
{
    const char *name = "unregistered";
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < nkernels; i++)
        if (kernels[i].fun == fun)
            name = kernels[i].name;
    pthread_mutex_unlock(&lock);
    return name;
}

API int cudaLaunchKernel(const void *fun, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s)
{
    (void)args;
    BEGIN("cudaLaunchKernel", &fun);
    uint32_t id = inner_call("cuLaunchKernelEx", call.cb.correlation);
    launch(name_of(fun), grid, block, shared, s, id);
    END;
}

API uint32_t fake_driver_launch(const char *kernel, int blocks, void *stream)
{
    struct fake_call c;
    ready();
    fake_enter(&c, CUPTI_DOMAIN_DRIVER, "cuLaunchKernelEx", &stream);
    launch(kernel, (dim3){(unsigned)blocks, 1, 1}, (dim3){512, 1, 1}, 0, stream, c.cb.correlation);
    fake_leave(&c);
    return c.cb.correlation;
}

/* ---- graphs ---- */

bool fake_capturing(void *stream)
{
    return stream_of(stream)->capture != NULL;
}

API int cudaStreamBeginCapture(cudaStream_t s, int mode)
{
    (void)mode;
    s->capture = calloc(1, sizeof *s->capture);
    s->capture->id = atomic_fetch_add(&graphs, 1) + 1;
    return cudaSuccess;
}

API int cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *g)
{
    *g = s->capture;
    s->capture = NULL;
    return cudaSuccess;
}

API int cudaGraphInstantiate(cudaGraphExec_t *x, cudaGraph_t g, unsigned long long flags)
{
    (void)flags;
    BEGIN("cudaGraphInstantiate", &x);
    *x = calloc(1, sizeof **x);
    **x = *g;
    (*x)->id = atomic_fetch_add(&graphs, 1) + 1;
    for (size_t i = 0; i < g->n; i++) {
        (*x)->nodes[i].id = (uint64_t)(*x)->id << 32 | (i + 1);
        fake_node(CUPTI_NODE_CLONED, &(*x)->nodes[i], &g->nodes[i]);
    }
    END;
}

API int cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t s)
{
    BEGIN("cudaGraphLaunch", &x);
    uint32_t id = inner_call("cuGraphLaunch", call.cb.correlation);
    for (size_t i = 0; i < x->n; i++)
        kernel_record(stream_of(s), x->nodes[i].name, (dim3){(unsigned)x->nodes[i].blocks, 1, 1}, (dim3){128, 1, 1}, 0, id, x->id, x->nodes[i].id);
    END;
}

/* ---- what nvcc's code calls ---- */

API void **__cudaRegisterFatBinary(void *image)
{
    static void *handle;
    handle = image;
    return &handle;
}

API void __cudaRegisterFatBinaryEnd(void **image)
{
    (void)image;
}

API void __cudaUnregisterFatBinary(void **image)
{
    (void)image;
}

API char __cudaInitModule(void **image)
{
    (void)image;
    return 1;
}

API void __cudaRegisterFunction(void **image, const char *fun, char *device_fun, const char *name, int limit, void *t, void *b, dim3 *bd, dim3 *gd,
                                int *warp)
{
    (void)image, (void)device_fun, (void)limit, (void)t, (void)b, (void)bd, (void)gd, (void)warp;
    pthread_mutex_lock(&lock);
    if (nkernels < KERNELS) {
        kernels[nkernels].fun = fun;
        kernels[nkernels++].name = name;
    }
    pthread_mutex_unlock(&lock);
}

API int __cudaGetKernel(void **handle, const void *fun)
{
    *(const void **)handle = fun;
    return cudaSuccess;
}

API int __cudaLaunchKernel(void *handle, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s)
{
    return cudaLaunchKernel(handle, grid, block, args, shared, s);
}

API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream)
{
    pushed.grid = grid;
    pushed.block = block;
    pushed.shared = shared;
    pushed.stream = stream;
    return 0;
}

API int __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    *grid = pushed.grid;
    *block = pushed.block;
    *shared = pushed.shared;
    *(void **)stream = pushed.stream;
    return cudaSuccess;
}
