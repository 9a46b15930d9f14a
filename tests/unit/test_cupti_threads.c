/* test_cupti_threads.c - 64 threads of a stand-in for CUDA, recorded in this process, and what the collector makes of it: every
 * launch and copy once, each with its call. Under a thread sanitizer the stand-in and the collector are both looked at. */
#include "unit.h"

#include "collector/cupti.h"
#include "collector/recorder.h"
#include "schemas/env.h"
#include "schemas/tracefile.h"
#include "tests/fake/cupti/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

enum { THREADS = 64, LAUNCHES = 200, EVERY = 10 };

static __typeof__(cudaLaunchKernel) *launch;
static __typeof__(cudaMemcpyAsync) *copy;
static __typeof__(cudaStreamCreate) *create;
static __typeof__(cudaStreamSynchronize) *wait_for;

static void *work(void *arg)
{
    cudaStream_t s;
    char to[64], from[64] = {0};
    (void)arg;
    create(&s);
    for (int i = 0; i < LAUNCHES; i++) {
        launch(&launch, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, s);
        if (i % EVERY == 0)
            copy(to, from, sizeof to, cudaMemcpyHostToDevice, s);
    }
    wait_for(s);
    return NULL;
}

static const struct event_source *source(const char *name)
{
    for (const struct event_source *const *s = event_sources; *s; s++)
        if (strcmp((*s)->name, name) == 0)
            return *s;
    return NULL;
}

static void find(void *lib, const char *name, void *to)
{
    *(void **)to = dlsym(lib, name);
    assert_non_null(*(void **)to);
}

static size_t joined(const struct tracedata *d, enum ev_kind kind)
{
    size_t n = 0, most = 0;
    for (size_t i = 0; i < d->n; i++)
        most = d->ev[i].correlation > (int64_t)most ? (size_t)d->ev[i].correlation : most;
    bool *called = calloc(most + 1, sizeof *called);
    for (size_t i = 0; i < d->n; i++)
        if (d->ev[i].kind == EV_RUNTIME)
            called[d->ev[i].correlation] = true;
    for (size_t i = 0; i < d->n; i++)
        n += d->ev[i].kind == (int)kind && called[d->ev[i].correlation];
    free(called);
    return n;
}

TEST(many_threads_lose_nothing)
{
    char path[64];
    pthread_t t[THREADS];
    struct tracedata d;
    struct err e = {0};
    void *lib = dlopen(TEST_BUILD "/tests/fake/libcudart.so.13", RTLD_NOW);
    if (!lib)
        fail_msg("%s", dlerror());
    find(lib, "cudaLaunchKernel", &launch);
    find(lib, "cudaMemcpyAsync", &copy);
    find(lib, "cudaStreamCreate", &create);
    find(lib, "cudaStreamSynchronize", &wait_for);
    setenv(ENV_CUPTI, TEST_BUILD "/tests/fake/libcudart.so.13", 1);
    setenv(ENV_STACK_THRESHOLD, "0", 1);
    snprintf(path, sizeof path, "cupti-threads-%d.sqlite", (int)getpid());
    unlink(path);
    struct recorder *r = recorder_open(&(struct recorder_config){.out = path});
    cupti_attach(r);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    source("cupti")->stop(r);
    recorder_close(r);
    tracedata_init(&d);
    assert_ok(tracefile_load(path, &d, &e), &e);
    unlink(path);
    assert_int_equal(d.nloss, 0);
    assert_int_equal(joined(&d, EV_KERNEL), THREADS * LAUNCHES);
    assert_int_equal(joined(&d, EV_MEMCPY), THREADS * LAUNCHES / EVERY);
    size_t calls = 0, waits = 0;
    for (size_t i = 0; i < d.n; i++) {
        const struct ev_sync *s = ev_sync_of(&d, &d.ev[i]);
        calls += d.ev[i].kind == EV_RUNTIME;
        waits += d.ev[i].kind == EV_RUNTIME && s && s->class == SYNC_COPY && s->stack;
    }
    assert_int_equal(calls, THREADS * (2 + LAUNCHES + LAUNCHES / EVERY));
    assert_int_equal(waits, THREADS * LAUNCHES / EVERY); /* from pageable memory: they wait, and have a stack */
    tracedata_free(&d);
    recorder_free(r);
}

UNIT_MAIN(UNIT(many_threads_lose_nothing))
