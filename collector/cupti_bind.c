/* cupti_bind.c - see cupti_bind.h. */
#include "collector/cupti_bind.h"
#include "schemas/env.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEWEST = 14, OLDEST = 11 };

struct search {
    void *lib;
    char runtime[400]; /* folder of the loaded CUDA runtime; empty: none, or a static one */
    int major;         /* of that runtime; 0 not known */
};

/* libcudart.so.13.0.96 -> its folder and 13. */
static int find_runtime(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct search *s = ctx;
    const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
    (void)size;
    if (strncmp(name, "libcudart.so.", strlen("libcudart.so.")) != 0 || !slash)
        return 0;
    s->major = atoi(name + strlen("libcudart.so."));
    snprintf(s->runtime, sizeof s->runtime, "%.*s", (int)(slash - info->dlpi_name), info->dlpi_name);
    return 1;
}

/* CUPTI of a release newer than the driver does not start: the driver says what it can serve, as 1000 * major + 10 * minor. */
static int driver_major(void)
{
    int version = 0, (*get)(int *) = NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (driver)
        *(void **)&get = dlsym(driver, "cuDriverGetVersion");
    return get && get(&version) == 0 && version >= 1000 * OLDEST ? version / 1000 : NEWEST;
}

static void *try_open(struct search *s, const char *folder, int major, int flags)
{
    char path[600];
    snprintf(path, sizeof path, "%s%slibcupti.so.%d", folder, *folder ? "/" : "", major);
    s->lib = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
    if (!s->lib && major == OLDEST) { /* 11.0 to 11.8 have a name for each */
        snprintf(path, sizeof path, "%s%slibcupti.so", folder, *folder ? "/" : "");
        s->lib = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
    }
    return s->lib;
}

/* Places relative to the runtime's folder: a toolkit, one with targets, the wheels of pip. */
static void *beside_runtime(struct search *s)
{
    static const char *const places[] = {"", "/../extras/CUPTI/lib64", "/../../../extras/CUPTI/lib64", "/../../cuda_cupti/lib"};
    char folder[500];
    for (size_t i = 0; *s->runtime && i < sizeof places / sizeof *places; i++) {
        snprintf(folder, sizeof folder, "%s%s", s->runtime, places[i]);
        if (try_open(s, folder, s->major, 0))
            return s->lib;
    }
    return NULL;
}

static void *of_the_system(struct search *s, int newest)
{
    const char *home = getenv("CUDA_HOME") ? getenv("CUDA_HOME") : "/usr/local/cuda";
    char folders[3][400];
    snprintf(folders[0], sizeof folders[0], "%s/extras/CUPTI/lib64", home);
    snprintf(folders[1], sizeof folders[1], "%s/lib64", home);
    folders[2][0] = '\0'; /* as the loader finds it */
    for (int major = newest; major >= OLDEST; major--)
        for (int i = 0; i < 3; i++)
            if (try_open(s, folders[i], major, 0))
                return s->lib;
    return NULL;
}

static void *find(struct search *s, char *why, size_t size)
{
    const char *given = getenv(ENV_CUPTI);
    if (given && *given) {
        if (!(s->lib = dlopen(given, RTLD_NOW | RTLD_LOCAL)))
            snprintf(why, size, "%s: %s", ENV_CUPTI, dlerror());
        return s->lib;
    }
    for (int major = NEWEST; major >= OLDEST; major--)
        if (try_open(s, "", major, RTLD_NOLOAD))
            return s->lib;
    dl_iterate_phdr(find_runtime, s);
    int newest = driver_major();
    if (!beside_runtime(s) && !of_the_system(s, s->major && s->major < newest ? s->major : newest))
        snprintf(why, size, "libcupti.so.%d is not found: install CUPTI of the CUDA toolkit in use, or set " ENV_CUPTI " to its path",
                 s->major ? s->major : newest);
    return s->lib;
}

static bool bind(struct cupti *c, void *lib, char *why, size_t size)
{
    const char *missing = NULL;
#define NEEDED(member, symbol, type, params)                                                                                                         \
    *(void **)&c->member = dlsym(lib, #symbol);                                                                                                      \
    missing = c->member ? missing : #symbol;
#define MAYBE(member, symbol, type, params) *(void **)&c->member = dlsym(lib, #symbol);
    CUPTI_CALLS(NEEDED, MAYBE)
#undef NEEDED
#undef MAYBE
    if (missing)
        snprintf(why, size, "%s has no %s: too old, or not CUPTI", c->path, missing);
    return !missing;
}

bool cupti_bind(struct cupti *c, char *why, size_t size)
{
    struct search s = {0};
    struct link_map *map = NULL;
    *c = (struct cupti){0};
    if (!find(&s, why, size))
        return false;
    dlinfo(s.lib, RTLD_DI_LINKMAP, &map);
    snprintf(c->path, sizeof c->path, "%s", map && map->l_name ? map->l_name : "libcupti");
    return bind(c, s.lib, why, size) && (c->version(&c->api_version), true);
}

static const char *cupti_text(const struct cupti *c, int result)
{
    const char *text = NULL;
    return c->result_text(result, &text) == CUPTI_OK && text ? text : "unknown error";
}

static const char *cure(int result)
{
    switch (result) {
    case CUPTI_NOT_INITIALIZED:
        return "is a device visible, and no stub libcuda on LD_LIBRARY_PATH?";
    case CUPTI_INSUFFICIENT_PRIVILEGES:
        return "this user may not trace here: see NVIDIA's ERR_NVGPUCTRPERM, or a container without that right";
    case CUPTI_OTHER_SUBSCRIBER:
        return "another tool (nsys, ncu, cuda-gdb, compute-sanitizer, the program's own profiler) has it: end that one, or record with --yield";
    case CUPTI_UNKNOWN:
        return "this CUPTI does not fit the driver: set " ENV_CUPTI " to the libcupti of the driver's release";
    default:
        return "set " ENV_CUPTI " to another release's libcupti, or report this";
    }
}

void cupti_explain(const struct cupti *c, const char *what, const char *call, int result, char *out, size_t size)
{
    snprintf(out, size, "%s: %s: %s (%d): %s", what, call, cupti_text(c, result), result, cure(result));
}
