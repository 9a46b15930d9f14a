/* source_cupti.c - NVIDIA devices through CUPTI: kernels, copies, fills, waits, API calls.
 *
 *   cuInit --> cupti_attach(): subscribe first, for who has no subscription must not take another tool's buffers
 *                 |            then attributes, our clock (once, before any kind), buffers, kinds, callbacks
 *                 v
 *   thread "cpscope-cupti": every POLL reads completed buffers, every second asks CUPTI for them (never forced)
 *                 |
 *   exit / stop --'--> flush, a short wait, forced flush (hands out running kernels without an end), unsubscribe
 *
 * No lock of ours is held over a call into CUPTI. Nobody waits for the thread for ever: CUPTI may hang at the end.
 */
#include "collector/cupti.h"
#include "collector/cupti_ask.h"
#include "collector/cupti_calls.h"
#include "collector/cupti_counts.h"
#include "collector/cupti_records.h"
#include "collector/graphs.h"
#include "collector/launches.h"
#include "collector/options.h"
#include "collector/ranges.h"
#include "collector/recorder_parts.h"
#include "collector/rows.h"
#include "collector/stack.h"
#include "schemas/clock.h"
#include "schemas/env.h"
#include "schemas/lossreason.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { POLL_MS = 50, FLUSH_MS = 1000, LAST_WAIT_MS = 20, PATIENCE_S = 10 };
enum state { OFF, ON, STOPPING, ENDED, FORKED };

static struct recorder *recorder;
static struct cupti cupti;
static struct records records;
static void *subscriber;
static bool own_clock; /* CUPTI's times are ours */
static _Atomic int state;
static _Atomic bool fatal; /* CUPTI has shut itself down */
static bool attached;
static pthread_t thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the two below */
static pthread_cond_t wake;
static bool stop_asked, ended;

/* ---- the start ---- */

static const char no_gpu[] = "no kernels, copies or API calls are recorded";

static void on_fatal(const struct cupti_state *s)
{
    char text[400];
    snprintf(text, sizeof text, "the recording of the device ends here: CUPTI shut itself down: %s", s && s->message ? s->message : "");
    if (!atomic_exchange(&fatal, true))
        recorder_degraded(recorder, text);
}

static void on_node(uint32_t what, const struct cupti_resource *r)
{
    const struct cupti_graph *g = r->about;
    static _Atomic bool said;
    uint64_t node = 0, original = 0;
    int rc = g ? cupti.node_id(g->node, &node) : CUPTI_OK;
    if (rc != CUPTI_OK && !atomic_exchange(&said, true))
        cupti_missing(&cupti, recorder, "where kernels of graphs were captured is not known", "cuptiGetGraphNodeId", rc);
    if (!g || rc != CUPTI_OK)
        return;
    if (what == CUPTI_NODE_CREATED) {
        graph_node_made(node, ranges_innermost());
        if (g->type == CUPTI_NODE_KERNEL)
            launch_captured(node);
    } else if (what == CUPTI_NODE_CLONED && cupti.node_id(g->original_node, &original) == CUPTI_OK)
        graph_node_cloned(node, original);
}

static void on_callback(void *user, int domain, uint32_t cbid, const void *data)
{
    int now = atomic_load_explicit(&state, memory_order_relaxed);
    (void)user;
    if (domain == CUPTI_DOMAIN_STATE && (now == ON || now == STOPPING))
        on_fatal(data);
    else if (domain == CUPTI_DOMAIN_RESOURCE && now == ON)
        on_node(cbid, data);
    else if (domain < CUPTI_DOMAIN_RESOURCE && now == ON)
        calls_back(domain, cbid, data);
    /* else late: after the end, or in a forked child */
}

static void start_calls(const struct record_options *o)
{
    struct calls_failed failed;
    struct calls_want want = {.rows = !o->lite && (o->kinds & 1u << EV_RUNTIME), .launches = launch_collecting()};
    stack_start(recorder);
    if (launch_collecting() && cupti.node_id) {
        cupti.enable_callback(1, subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_NODE_CREATED);
        cupti.enable_callback(1, subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_NODE_CLONED);
    }
    cupti.enable_callback(1, subscriber, CUPTI_DOMAIN_STATE, CUPTI_STATE_FATAL);
    if (!calls_start(recorder, &cupti, subscriber, want, &failed))
        cupti_missing(&cupti, recorder, "some API calls are not recorded", failed.call, failed.result);
    rows_watch(true);
}

static void *work(void *arg);

static bool start_thread(void)
{
    sigset_t all, before;
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&wake, &attr);
    pthread_condattr_destroy(&attr);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread, NULL, work, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0;
}

static void versions(void)
{
    int driver = 0, (*get)(int *) = NULL;
    char text[40];
    *(void **)&get = dlsym(RTLD_DEFAULT, "cuDriverGetVersion");
    void *lib = get ? NULL : dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (lib)
        *(void **)&get = dlsym(lib, "cuDriverGetVersion");
    snprintf(text, sizeof text, "%u", cupti.api_version);
    recorder_meta(recorder, "cupti_api_version", text);
    recorder_meta(recorder, "backend", "cuda");
    snprintf(text, sizeof text, "%d.%d", driver / 1000, driver % 1000 / 10);
    if (get && get(&driver) == 0 && snprintf(text, sizeof text, "%d.%d", driver / 1000, driver % 1000 / 10) > 0)
        recorder_meta(recorder, "driver_version", text);
}

static void finish(void);

static void begin(const struct record_options *o)
{
    char why[400], text[500];
    int rc;
    if (!cupti_bind(&cupti, why, sizeof why)) {
        snprintf(text, sizeof text, "%s: %s", no_gpu, why);
        recorder_degraded(recorder, text);
        return;
    }
    if ((rc = cupti.subscribe(&subscriber, on_callback, NULL)) != CUPTI_OK) {
        cupti_missing(&cupti, recorder, no_gpu, "cuptiSubscribe", rc);
        return;
    }
    versions();
    records_init(&records, recorder, &cupti);
    own_clock = cupti_ask(&cupti, recorder, o);
    start_calls(o);
    atomic_store(&state, ON);
    if (start_thread()) {
        atexit(finish); /* before the driver's own end, which was registered earlier */
        return;
    }
    atomic_store(&state, ENDED);
    cupti.unsubscribe(subscriber);
    recorder_degraded(recorder, "no kernels, copies or API calls are recorded: no thread for them");
}

void cupti_attach(struct recorder *r)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    const struct record_options *o = record_options();
    int saved = errno;
    pthread_mutex_lock(&once);
    if (!attached && atomic_load(&state) == OFF) {
        attached = true;
        recorder = r;
        if (!o->yield)
            begin(o);
        else
            recorder_degraded(r, "no kernels, copies or API calls are recorded: CUPTI is left to the program's own profiler (--yield)");
    }
    pthread_mutex_unlock(&once);
    errno = saved;
}

/* ---- the thread ---- */

static void read_buffers(bool last)
{
    struct cupti_full f;
    int64_t since = records.since;
    while (buffers_next(&f)) {
        records_parse(&records, &f);
        buffers_give(&f);
    }
    if (last)
        records_round(&records, true);
    else if (clock_now() - since >= FLUSH_MS * INT64_C(1000000))
        records_round(&records, false);
}

/* Until stop is asked for, or `ms` later. */
static bool stopped(int ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    while (!stop_asked && pthread_cond_timedwait(&wake, &lock, &until) == 0)
        ;
    bool yes = stop_asked;
    pthread_mutex_unlock(&lock);
    return yes;
}

static void flush(uint32_t forced, int64_t since)
{
    static bool said;
    cupti_pair_clocks(recorder, &cupti, &records, own_clock);
    int rc = atomic_load(&fatal) ? CUPTI_OK : cupti.flush(forced);
    if (rc != CUPTI_OK && !said)
        cupti_missing(&cupti, recorder, "device records may be missing", "cuptiActivityFlushAll", rc);
    said |= rc != CUPTI_OK;
    cupti_count_drops(recorder, &cupti, since);
}

static void last_words(int64_t since)
{
    struct timespec moment = {0, LAST_WAIT_MS * 1000000};
    int64_t copies, comms, now;
    flush(0, since);
    read_buffers(false);
    nanosleep(&moment, NULL);
    flush(1, since);
    read_buffers(true);
    copies = calls_rest();
    comms = rows_rest(recorder);
    now = clock_now();
    if (copies)
        recorder_lost(recorder, LOSS_COPIES, copies, since, now);
    if (comms)
        recorder_lost(recorder, "collectives whose work on the device was not seen", comms, since, now);
    atomic_store(&state, ENDED);
    if (!atomic_load(&fatal))
        cupti.unsubscribe(subscriber);
}

static void *work(void *arg)
{
    int64_t flushed = clock_now();
    (void)arg;
    prctl(PR_SET_NAME, "cpscope-cupti");
    cupti_pair_clocks(recorder, &cupti, &records, own_clock);
    while (!stopped(POLL_MS)) {
        int64_t now = clock_now();
        if (now - flushed >= FLUSH_MS * INT64_C(1000000)) {
            flush(0, flushed);
            flushed = now;
        }
        read_buffers(false);
    }
    last_words(flushed);
    pthread_mutex_lock(&lock);
    ended = true;
    pthread_cond_broadcast(&wake);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* ---- the end ---- */

static void finish(void)
{
    struct timespec until;
    int was = ON;
    if (!atomic_compare_exchange_strong(&state, &was, STOPPING))
        return;
    rows_watch(false);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&lock);
    stop_asked = true;
    pthread_cond_broadcast(&wake);
    while (!ended && pthread_cond_timedwait(&wake, &lock, &until) == 0)
        ;
    bool done = ended;
    pthread_mutex_unlock(&lock);
    if (done)
        pthread_join(thread, NULL);
    else
        recorder_degraded(recorder, "the last second of the device is missing: CUPTI did not answer at the end");
}

static bool start(struct recorder *r)
{
    (void)r; /* CUDA comes to us: cupti_attach() */
    return true;
}

static bool has_runtime(void)
{
    static const char *const names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};
    bool has = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        has |= dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD) != NULL;
    return has;
}

/* A program that has CUDA's runtime in it and never came to us would have been expected to show something; one whose devices report
 * themselves may have used its processor instead. */
static void stop(struct recorder *r)
{
    char text[300];
    const char *door = getenv("CUDA_INJECTION64_PATH");
    finish();
    if (attached || rows_listening() || !has_runtime())
        return;
    snprintf(text, sizeof text, "%s: %s", no_gpu,
             door && *door ? "the CUDA driver was not initialised: is a driver installed, and new enough for the program?"
                           : "CUDA was not told of this library: CUDA_INJECTION64_PATH is to name it, as cpscope record does");
    recorder_degraded(r, text);
}

static void forked(struct recorder *r)
{
    (void)r;
    if (atomic_load(&state) != OFF)
        atomic_store(&state, FORKED); /* CUPTI is the parent's; this process cannot use its device either */
    pthread_mutex_init(&lock, NULL);
    calls_forked();
    rows_forked();
}

const struct event_source source_cupti = {
    .name = "cupti",
    .what = "NVIDIA devices: kernels, copies, fills, waits, API calls, through CUPTI",
    .start = start,
    .stop = stop,
    .forked = forked,
};
