/* cupti_calls.c - see cupti_calls.h. Calls are told by name: CUPTI gives the names, so no table of numbers ages here. */
#include "collector/cupti_calls.h"
#include "collector/launches.h"
#include "collector/rows.h"
#include "collector/stack.h"
#include "collector/text.h"
#include "schemas/clock.h"
#include "schemas/waitapi.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CBIDS_MAX = 4096, GAP = 64, WAITING = 1 << 16, NEAR = 32, DOMAINS = 3 };

struct api {
    const char *name;           /* kept; NULL: not asked for */
    uint8_t class, if_pageable; /* enum sync_class */
    bool launch, work;          /* work: puts a kernel, copy or fill on a stream */
    bool per_thread;            /* stream 0 is the thread's own */
};

struct copying { /* a call that waits for its copy's record */
    uint32_t id; /* 0 free */
    uint32_t stack;
    int32_t tid;
    int64_t start, end;
    const struct api *api;
};

static struct api apis[DOMAINS][CBIDS_MAX];
static struct recorder *recorder;
static const struct cupti *cupti;
static bool waits_only;                                  /* a call is a row when it turns out to wait */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of copying[] */
static struct copying copying[WAITING];                  /* near id % WAITING */
static _Atomic int ncopying;

static __thread struct {
    int depth;
    bool in_row; /* of a device of ours, which reports the call itself */
    int32_t tid;
    uint32_t id; /* of the outermost call */
    int64_t start;
} mine __attribute__((tls_model("initial-exec")));

/* ---- which calls ---- */

static bool starts_with_any(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strncmp(name, *words, strlen(*words)) == 0)
            return true;
    return false;
}

static bool is_launch(const char *name)
{
    static const char *const words[] = {"cudaLaunch", "cuLaunch", "cudaGraphLaunch", "cuGraphLaunch", NULL};
    return starts_with_any(name, words) && !strstr(name, "HostFunc");
}

static bool is_work(const char *name)
{
    static const char *const words[] = {"cudaMemcpy", "cuMemcpy", "cudaMemset", "cuMemset", NULL};
    return is_launch(name) || starts_with_any(name, words);
}

/* Of the driver only what does or waits for work: the rest is the runtime's own housekeeping, or a program's polling. */
static bool is_wanted(int domain, const char *name)
{
    static const char *const driver[] = {
        "cuLaunch",     "cuGraphLaunch",     "cuGraphInstantiate", "cuMemcpy",    "cuMemset",  "cuMemAlloc",   "cuMemFree",     "cuMemHostAlloc",
        "cuStreamSync", "cuStreamWaitEvent", "cuEventRecord",      "cuEventSync", "cuCtxSync", "cuModuleLoad", "cuLibraryLoad", NULL};
    static const char *const noise[] = {"cudaGetDevice",          "cudaSetDevice",     "cudaGetLastError",   "cudaPeekAtLastError",
                                        "cudaDeviceGetAttribute", "cudaEventQuery",    "cudaStreamQuery",    "cudaStreamIsCapturing",
                                        "cudaStreamGetCapture",   "cudaFuncGetAttr",   "cudaOccupancy",      "cudaDriverGetVersion",
                                        "cudaRuntimeGetVersion",  "cudaGetErrorName",  "cudaGetErrorString", "cudaPointerGetAttr",
                                        "cudaDeviceGetStream",    "cudaConfigureCall", "cudaThreadExchange", "cudaGetDriverEntry",
                                        "cudaGetFuncBySymbol",    "cudaFuncSetAttr",   "cudaGetSymbol",      NULL};
    return domain == CUPTI_DOMAIN_DRIVER ? starts_with_any(name, driver) : !starts_with_any(name, noise);
}

static bool add_api(int domain, uint32_t cbid, const char *name, struct calls_want want)
{
    struct api a = {
        .class = (uint8_t)wait_class(name, false), .if_pageable = (uint8_t)wait_class(name, true), .launch = is_launch(name), .work = is_work(name)};
    bool needed = want.launches && (a.launch || (a.work && rows_listening()));
    bool waits = a.class != SYNC_NONE || a.if_pageable != SYNC_NONE;
    if (!is_wanted(domain, name) || !(want.rows || waits || needed))
        return false;
    a.name = text_keep(name);
    a.per_thread = strstr(name, "_ptsz") != NULL;
    apis[domain][cbid] = a;
    return true;
}

static void fails(struct calls_failed *f, const char *call, int result)
{
    if (f->result == CUPTI_OK && result != CUPTI_OK)
        *f = (struct calls_failed){call, result};
}

/* Numbers have gaps; after a long one there is nothing more. */
static void ask_for(int domain, void *subscriber, struct calls_want want, struct calls_failed *f)
{
    int missing = 0, known = 0, result = CUPTI_UNKNOWN;
    for (uint32_t id = 1; id < CBIDS_MAX && missing < GAP; id++) {
        const char *name = NULL;
        int rc = cupti->callback_name(domain, id, &name);
        bool has_name = rc == CUPTI_OK && name;
        result = rc == CUPTI_OK ? result : rc;
        known += has_name;
        missing = has_name ? 0 : missing + 1;
        if (has_name && add_api(domain, id, name, want))
            fails(f, "cuptiEnableCallback", cupti->enable_callback(1, subscriber, domain, id));
    }
    if (!known)
        fails(f, "cuptiGetCallbackName", result);
}

bool calls_start(struct recorder *r, const struct cupti *c, void *subscriber, struct calls_want want, struct calls_failed *failed)
{
    recorder = r;
    cupti = c;
    waits_only = !want.rows;
    *failed = (struct calls_failed){.result = CUPTI_OK};
    ask_for(CUPTI_DOMAIN_RUNTIME, subscriber, want, failed);
    ask_for(CUPTI_DOMAIN_DRIVER, subscriber, want, failed);
    return failed->result == CUPTI_OK;
}

/* ---- rows ---- */

static void emit(const struct copying *c, enum sync_class class, int64_t stream)
{
    struct activity a = ACTIVITY_NONE;
    union emit_more more = {.sync = {.class = (int32_t) class, .did_block = -1, .wait_stream = stream, .wait_event = -1}};
    bool detail = class != SYNC_NONE;
    a.what = ACT_EVENT;
    a.kind = EV_RUNTIME;
    a.start = c->start;
    a.end = c->end;
    a.name = c->api->name;
    a.correlation = c->id;
    recorder_emit_as(recorder, &a, &(struct emit_as){.tid = c->tid, .more = detail ? &more : NULL, .stack = detail ? c->stack : 0});
}

/* The number of the stream that a call waits for, its first parameter; -1 not known. */
static int64_t stream_of(const struct api *a, const struct cupti_call *call)
{
    uint32_t id;
    if (a->class != SYNC_STREAM || !cupti->stream_id || !call->params || !call->context)
        return -1;
    return cupti->stream_id(call->context, *(void *const *)call->params, a->per_thread, &id) == CUPTI_OK ? (int64_t)id : -1;
}

/* The place of `id`, or a free one for it (id 0); NULL: none. With the lock held. */
static struct copying *find(uint32_t near, uint32_t id)
{
    for (uint32_t i = 0; i < NEAR; i++)
        if (copying[(near + i) % WAITING].id == id)
            return &copying[(near + i) % WAITING];
    return NULL;
}

static bool wait_for_copy(const struct copying *c)
{
    pthread_mutex_lock(&lock);
    struct copying *p = c->id ? find(c->id, 0) : NULL;
    if (p) {
        *p = *c;
        atomic_fetch_add(&ncopying, 1);
    }
    pthread_mutex_unlock(&lock);
    return p != NULL;
}

void calls_copied(uint32_t id, bool pageable)
{
    struct copying c = {0};
    if (!id || !atomic_load_explicit(&ncopying, memory_order_acquire))
        return;
    pthread_mutex_lock(&lock);
    struct copying *p = find(id, id);
    if (p) {
        c = *p;
        p->id = 0;
        atomic_fetch_sub(&ncopying, 1);
    }
    pthread_mutex_unlock(&lock);
    if (c.id)
        emit(&c, (enum sync_class)(pageable ? c.api->if_pageable : c.api->class), -1);
}

int64_t calls_rest(void)
{
    int64_t n = 0;
    for (size_t i = 0; i < WAITING && atomic_load(&ncopying); i++) {
        pthread_mutex_lock(&lock);
        uint32_t id = copying[i].id;
        pthread_mutex_unlock(&lock);
        n += id != 0;
        calls_copied(id, false);
    }
    return n;
}

/* ---- callbacks ---- */

static void enter(const struct api *a, const struct cupti_call *call)
{
    if (mine.depth++ == 0) {
        mine.id = call->correlation;
        mine.in_row = rows_call(cupti, mine.id, a->work);
        mine.start = clock_now();
    } else if (call->correlation != mine.id) {
        launch_alias(call->correlation, mine.id);
    }
    if (a->launch)
        launch_note(mine.id);
}

/* A call that nobody else reports. */
static void leave_outermost(const struct api *a, const struct cupti_call *call)
{
    struct copying c = {.id = mine.id, .tid = mine.tid, .start = mine.start, .end = clock_now(), .api = a};
    bool waits = a->class != SYNC_NONE || a->if_pageable != SYNC_NONE;
    if (!c.tid)
        c.tid = mine.tid = (int32_t)syscall(SYS_gettid);
    if (waits && stack_due(c.end - c.start))
        c.stack = stack_capture(recorder);
    if ((c.stack || waits_only) && a->class != a->if_pageable && wait_for_copy(&c))
        return;
    emit(&c, (enum sync_class)a->class, stream_of(a, call));
}

static void leave(const struct api *a, const struct cupti_call *call)
{
    if (mine.depth == 0 || --mine.depth > 0)
        return;
    if (!mine.in_row)
        leave_outermost(a, call);
    else if (a->class == SYNC_STREAM)
        rows_waited(stream_of(a, call));
}

void calls_back(int domain, uint32_t cbid, const struct cupti_call *call)
{
    const struct api *a = domain < DOMAINS && cbid < CBIDS_MAX ? &apis[domain][cbid] : NULL;
    int saved = errno;
    if (!a || !a->name)
        return;
    if (call->site == CUPTI_CALL_ENTER)
        enter(a, call);
    else
        leave(a, call);
    errno = saved;
}

void calls_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    memset(copying, 0, sizeof copying);
    atomic_store(&ncopying, 0);
    mine.depth = 0;
    mine.tid = 0;
}
