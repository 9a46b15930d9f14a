/* inject.c - the doors of the library; whoever opens one first starts the one recorder of the process.
 *
 *   LD_PRELOAD ------------> load()
 *   CUDA_INJECTION64_PATH -> InitializeInjection          all with CPSCOPE_OUT set, else nothing happens
 *   NVTX_INJECTION64_PATH -> InitializeInjectionNvtx2
 */
#include "collector/cupti.h"
#include "collector/fds.h"
#include "collector/nvtx.h"
#include "collector/options.h"
#include "collector/recorder.h"
#include "collector/stack.h"
#include "collector/switch.h"
#include "schemas/env.h"
#include "schemas/opt.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOOR __attribute__((visibility("default"))) int

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct recorder *recorder; /* NULL: this process is not recorded */

static void before_fork(void)
{
    recorder_fork_before(recorder);
}

static void after_fork(void)
{
    recorder_fork_after(recorder);
}

static void in_child(void)
{
    recorder_fork_in_child(recorder);
    for (const struct event_source *const *s = event_sources; *s; s++)
        if ((*s)->forked)
            (*s)->forked(recorder);
    stack_forked(recorder);
    fds_forked();
    switch_forked();
}

static void start(void)
{
    const char *out = getenv(ENV_OUT), *force = getenv(ENV_FORCE);
    int saved = errno;
    struct recorder_config c = {.out = out, .command = getenv(ENV_COMMAND), .stack_threshold = getenv(ENV_STACK_THRESHOLD)};
    const struct record_options *o = out && *out ? record_options() : NULL;
    if (o) {
        c.kinds = o->kinds;
        c.options = o;
    }
    if (force && !opt_int(force, &c.replace_before))
        c.replace_before = 0;
    recorder = o ? recorder_open(&c) : NULL;
    if (recorder) {
        if (*o->wrong)
            recorder_degraded(recorder, o->wrong);
        if (o->control)
            switch_open(recorder, o->control);
        for (const struct event_source *const *s = event_sources; *s; s++)
            (*s)->start(recorder);
        pthread_atfork(before_fork, after_fork, in_child);
    }
    errno = saved;
}

__attribute__((constructor)) static void load(void)
{
    pthread_once(&once, start);
}

__attribute__((destructor)) static void unload(void)
{
    if (!recorder)
        return;
    for (const struct event_source *const *s = event_sources; *s; s++)
        if ((*s)->stop)
            (*s)->stop(recorder);
    recorder_close(recorder);
    switch_close();
}

DOOR InitializeInjection(void);
DOOR InitializeInjectionNvtx2(nvtx_export_fn *table_of);
DOOR InitializeInjectionNvtxExtension(struct nvtx_module *m);

/* CUDA's driver calls it in cuInit; 1 is success there. */
DOOR InitializeInjection(void)
{
    pthread_once(&once, start);
    if (recorder)
        cupti_attach(recorder);
    return 1;
}

/* NVTX calls it at the first use in each shared object that has NVTX in it; 0 makes that object go on without a tool. */
DOOR InitializeInjectionNvtx2(nvtx_export_fn *table_of)
{
    pthread_once(&once, start);
    return recorder && nvtx_attach(recorder, table_of);
}

/* The same for each of NVTX's extensions that the object has. */
DOOR InitializeInjectionNvtxExtension(struct nvtx_module *m)
{
    pthread_once(&once, start);
    return recorder && nvtx_attach_payloads(recorder, m);
}
