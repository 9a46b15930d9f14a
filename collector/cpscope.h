/* cpscope.h - ranges, marks and steps for programs that are recorded with `cpscope record`. C99 or C++, header only.
 *
 *     cpscope_step(n);                     the step before ends, step n begins
 *     cpscope_range_push("forward");       nests by thread; the name is copied
 *     cpscope_range_pop();
 *     cpscope_mark("cpscope.batch tokens=32768 padded=0 sequences=6 work=180355072 cp=4");
 *
 * Nothing has to be linked (but -ldl where the C library is older than glibc 2.34). When the program is not recorded each
 * call costs a load and a branch. All calls may come from any thread; a step belongs to the thread that began it.
 */
#ifndef CPSCOPE_H
#define CPSCOPE_H

#include <dlfcn.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CPSCOPE_API_VERSION 1

struct cpscope_api { /* what the library exports as `cpscope_api`; later versions only add members */
    int version;
    const char *release; /* "0.1.0" */
    void (*range_push)(const char *name);
    void (*range_pop)(void);
    void (*mark)(const char *text);
    void (*step)(int64_t n); /* negative: the step of this thread ends, no other begins */
};

/* NULL: this program is not recorded. */
static inline const struct cpscope_api *cpscope_find(void)
{
    static const struct cpscope_api *api;
    static int looked;
    if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&api, (const struct cpscope_api *)dlsym((void *)0 /* RTLD_DEFAULT */, "cpscope_api"), __ATOMIC_RELAXED);
        __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&api, __ATOMIC_RELAXED);
}

static inline void cpscope_range_push(const char *name)
{
    const struct cpscope_api *api = cpscope_find();
    if (api)
        api->range_push(name);
}

static inline void cpscope_range_pop(void)
{
    const struct cpscope_api *api = cpscope_find();
    if (api)
        api->range_pop();
}

static inline void cpscope_mark(const char *text)
{
    const struct cpscope_api *api = cpscope_find();
    if (api)
        api->mark(text);
}

static inline void cpscope_step(int64_t n)
{
    const struct cpscope_api *api = cpscope_find();
    if (api)
        api->step(n);
}

static inline void cpscope_step_end(void)
{
    cpscope_step(-1);
}

/* Of the library that records this program; "" when it is not recorded. */
static inline const char *cpscope_version(void)
{
    const struct cpscope_api *api = cpscope_find();
    return api ? api->release : "";
}

#ifdef __cplusplus
}
#endif
#endif
