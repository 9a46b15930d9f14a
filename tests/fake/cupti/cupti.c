/* cupti.c - the stand-in for CUPTI: one subscriber, kinds, callbacks, buffers; faults on demand. See fake.h. */
#include "fake.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CBID = 80, API_VERSION = 130001 };

static cupti_callback_fn *subscriber;
static cupti_clock_fn *own_clock;
static bool wanted[3][MAX_CBID], wanted_resources[32];
static _Atomic bool any_callback;
static _Atomic uint32_t correlations;
static __thread int depth;

/* ---- what the environment asks for ---- */

bool fake_fault(const char *word)
{
    const char *list = getenv("FAKE_FAULT"), *at = list ? strstr(list, word) : NULL;
    return at && (at == list || at[-1] == ',') && (at[strlen(word)] == ',' || !at[strlen(word)]);
}

int fake_result(const char *call, int n)
{
    const char *list = getenv("FAKE_FAIL");
    char key[100];
    for (int with = 1; list && with >= 0; with--) {
        int len = with ? snprintf(key, sizeof key, "%s:%d=", call, n) : snprintf(key, sizeof key, "%s=", call);
        const char *at = strstr(list, key);
        if (at)
            return atoi(at + len);
    }
    return CUPTI_OK;
}

int64_t fake_now(void)
{
    struct timespec t;
    if (own_clock)
        return (int64_t)own_clock();
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

void fake_log(const char *format, ...)
{
    static FILE *file;
    static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
    const char *path = getenv("FAKE_LOG");
    va_list args;
    if (!path)
        return;
    pthread_mutex_lock(&log_lock);
    if (!file && (file = fopen(path, "a")))
        setvbuf(file, NULL, _IOLBF, 0);
    va_start(args, format);
    if (file)
        vfprintf(file, format, args);
    va_end(args);
    pthread_mutex_unlock(&log_lock);
}

uint32_t fake_next_correlation(void)
{
    return atomic_fetch_add(&correlations, 1) + 1;
}

/* ---- callbacks ---- */

static const char *const functions[3][MAX_CBID] = {
    [CUPTI_DOMAIN_DRIVER] = {[3] = "cuLaunchKernelEx", "cuMemcpyHtoDAsync_v2", "cuStreamSynchronize", "cuCtxGetCurrent", "cuGraphLaunch"},
    [CUPTI_DOMAIN_RUNTIME] = {[2] = "cudaLaunchKernel_v7000",
                              "cudaMalloc_v3020",
                              "cudaFree_v3020",
                              "cudaMemcpy_v3020",
                              "cudaMemcpyAsync_v3020",
                              "cudaMemset_v3020",
                              "cudaStreamSynchronize_v3020",
                              "cudaDeviceSynchronize_v3020",
                              "cudaEventSynchronize_v3020",
                              "cudaEventRecord_v3020",
                              "cudaStreamWaitEvent_v3020",
                              "cudaEventQuery_v3020",
                              "cudaStreamCreate_v3020",
                              "cudaEventCreate_v3020",
                              "cudaHostAlloc_v3020",
                              "cudaFreeHost_v3020",
                              "cudaGetDevice_v3020",
                              "cudaGraphLaunch_v10000",
                              "cudaGraphInstantiate_v12000",
                              "cudaStreamDestroy_v5050",
                              "cudaEventDestroy_v3020",
                              "cudaMemcpyPeerAsync_v4000",
                              "cudaMemsetAsync_v3020",
                              "cudaDeviceSetLimit_v3020"},
};

static uint32_t cbid_of(int domain, const char *function)
{
    for (uint32_t i = 1; i < MAX_CBID; i++)
        if (functions[domain][i] && strncmp(functions[domain][i], function, strlen(function)) == 0 &&
            (functions[domain][i][strlen(function)] == '_' || !functions[domain][i][strlen(function)]))
            return i;
    return 0;
}

static void call_back(struct fake_call *c, int site)
{
    cupti_callback_fn *fn = subscriber;
    c->cb.site = site;
    if (fn && c->cbid && wanted[c->domain][c->cbid])
        fn(NULL, c->domain, c->cbid, &c->cb);
}

void fake_enter(struct fake_call *c, int domain, const char *function, const void *params)
{
    static int context;
    *c = (struct fake_call){.domain = domain, .cbid = cbid_of(domain, function), .before = fake_now()};
    c->cb = (struct cupti_call){.function = c->cbid ? functions[domain][c->cbid] : function,
                                .params = params,
                                .context = &context,
                                .context_id = FAKE_CONTEXT,
                                .data = &c->data,
                                .correlation = fake_next_correlation()};
    depth++;
    call_back(c, CUPTI_CALL_ENTER);
}

/* One line per outermost call that the collector asked for. */
void fake_leave(struct fake_call *c)
{
    static _Atomic int logs; /* 1 yes, -1 no: a call must cost little */
    call_back(c, CUPTI_CALL_EXIT);
    logs = logs ? logs : getenv("FAKE_LOG") ? 1 : -1;
    if (--depth == 0 && logs > 0 && c->cbid && wanted[c->domain][c->cbid])
        fake_log("call %s %u %ld %lld %lld\n", functions[c->domain][c->cbid], c->cb.correlation, syscall(SYS_gettid), (long long)c->before,
                 (long long)fake_now());
}

void fake_node(uint32_t what, void *node, void *original)
{
    struct cupti_graph g = {.node = node, .original_node = original};
    struct cupti_resource r = {.about = &g};
    cupti_callback_fn *fn = subscriber;
    if (fn && wanted_resources[what])
        fn(NULL, CUPTI_DOMAIN_RESOURCE, what, &r);
}

/* ---- the interface ---- */

API int cuptiGetVersion(uint32_t *version)
{
    const char *other = getenv("FAKE_CUPTI_VERSION");
    *version = other ? (uint32_t)atoi(other) : API_VERSION;
    return CUPTI_OK;
}

API int cuptiGetResultString(int result, const char **text)
{
    static const struct {
        int result;
        const char *text;
    } texts[] = {{0, "CUPTI_SUCCESS"},
                 {15, "CUPTI_ERROR_NOT_INITIALIZED"},
                 {35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
                 {39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
                 {999, "CUPTI_ERROR_UNKNOWN"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].result == result)
            return *text = texts[i].text, CUPTI_OK;
    return CUPTI_BAD_PARAMETER;
}

API int cuptiSubscribe(void **handle, cupti_callback_fn *fn, void *user)
{
    (void)user;
    RETURN_IF_FAULT("cuptiSubscribe", -1);
    subscriber = fn;
    *handle = &subscriber;
    return CUPTI_OK;
}

API int cuptiUnsubscribe(void *handle)
{
    cupti_callback_fn *was = subscriber;
    struct cupti_call late = {.site = CUPTI_CALL_ENTER, .correlation = 1};
    (void)handle;
    RETURN_IF_FAULT("cuptiUnsubscribe", -1);
    if (!fake_fault("keeps_calling"))
        subscriber = NULL;
    if (was && fake_fault("late_callback")) /* one that was on its way */
        was(NULL, CUPTI_DOMAIN_RUNTIME, 2, &late);
    return CUPTI_OK;
}

API int cuptiEnableCallback(uint32_t on, void *handle, int domain, uint32_t cbid)
{
    (void)handle;
    RETURN_IF_FAULT("cuptiEnableCallback", domain);
    if (domain <= CUPTI_DOMAIN_RUNTIME && cbid < MAX_CBID)
        wanted[domain][cbid] = on;
    if (domain == CUPTI_DOMAIN_RESOURCE && cbid < 32)
        wanted_resources[cbid] = on;
    if (domain == CUPTI_DOMAIN_STATE && on && fake_fault("fatal"))
        any_callback = true;
    return CUPTI_OK;
}

API int cuptiGetCallbackName(int domain, uint32_t cbid, const char **name)
{
    RETURN_IF_FAULT("cuptiGetCallbackName", domain);
    if (domain > CUPTI_DOMAIN_RUNTIME || cbid >= MAX_CBID || !functions[domain][cbid])
        return CUPTI_BAD_PARAMETER;
    *name = functions[domain][cbid];
    return CUPTI_OK;
}

API int cuptiActivityRegisterTimestampCallback(cupti_clock_fn *fn)
{
    RETURN_IF_FAULT("cuptiActivityRegisterTimestampCallback", -1);
    own_clock = fn;
    return CUPTI_OK;
}

static _Atomic int in_flush;

API int fake_flushing(void)
{
    return subscriber ? in_flush : -1;
}

/* As one that has much to hand out. */
static void take_time(void)
{
    struct timespec t = {0, 300000000};
    in_flush++;
    if (fake_fault("slow_flush"))
        nanosleep(&t, NULL);
    in_flush--;
}

API int cuptiActivityFlushAll(uint32_t flag)
{
    take_time();
    RETURN_IF_FAULT("cuptiActivityFlushAll", -1);
    if (any_callback && subscriber) {
        struct cupti_state s = {CUPTI_UNKNOWN, "stand-in: a fatal error"};
        any_callback = false;
        subscriber(NULL, CUPTI_DOMAIN_STATE, CUPTI_STATE_FATAL, &s);
    }
    while (fake_fault("hangs_at_the_end") && flag)
        pause();
    fake_deliver(flag);
    return CUPTI_OK;
}

API int cuptiActivitySetAttribute(int attribute, size_t *size, void *value)
{
    (void)size, (void)value;
    RETURN_IF_FAULT("cuptiActivitySetAttribute", attribute);
    return CUPTI_OK;
}

/* ---- external ids: a stack of each thread and kind ---- */

enum { EXTERNAL_KINDS = 8, EXTERNAL_DEPTH = 16, QUEUE_EMPTY = 18 };
static __thread struct {
    uint64_t id[EXTERNAL_DEPTH];
    int n;
} externals[EXTERNAL_KINDS];

API int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id)
{
    if (kind < 1 || kind >= EXTERNAL_KINDS || externals[kind].n == EXTERNAL_DEPTH)
        return CUPTI_BAD_PARAMETER;
    externals[kind].id[externals[kind].n++] = id;
    return CUPTI_OK;
}

API int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *id)
{
    if (kind < 1 || kind >= EXTERNAL_KINDS)
        return CUPTI_BAD_PARAMETER;
    if (!externals[kind].n)
        return QUEUE_EMPTY;
    *id = externals[kind].id[--externals[kind].n];
    return CUPTI_OK;
}

API int cuptiGetTimestamp(uint64_t *time)
{
    RETURN_IF_FAULT("cuptiGetTimestamp", -1);
    *time = (uint64_t)fake_now();
    return CUPTI_OK;
}

API int cuptiSetThreadIdType(int type)
{
    (void)type;
    RETURN_IF_FAULT("cuptiSetThreadIdType", -1);
    return CUPTI_OK;
}

API int cuptiActivityEnableAllSyncRecords(uint8_t on)
{
    (void)on;
    RETURN_IF_FAULT("cuptiActivityEnableAllSyncRecords", -1);
    return CUPTI_OK;
}

/* A stream of the stand-in runtime begins with its number. */
API int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id)
{
    (void)context, (void)per_thread;
    RETURN_IF_FAULT("cuptiGetStreamIdEx", -1);
    *id = stream ? *(const uint32_t *)stream : 7;
    return CUPTI_OK;
}

/* So does a node. */
API int cuptiGetGraphNodeId(void *node, uint64_t *id)
{
    RETURN_IF_FAULT("cuptiGetGraphNodeId", -1);
    *id = *(const uint64_t *)node;
    return CUPTI_OK;
}
