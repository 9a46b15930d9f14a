/* cupti_names.c - see cupti_names.h. Copies and memory are numbered as in CUPTI's enumerations. */
#include "collector/cupti_names.h"
#include "collector/cupti_abi.h"
#include "collector/text.h"
#include "schemas/tracedata.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangle_fn(const char *name, char *out, size_t *size, int *status);

static struct kernel_name *names; /* open addressing by the kept text */
static size_t nnames, names_cap;

static struct kernel_name *slot_of(struct kernel_name *v, size_t cap, const char *kept)
{
    uint64_t h = (uint64_t)(uintptr_t)kept * 0x9e3779b97f4a7c15u;
    for (size_t i = (size_t)(h >> 32) & (cap - 1);; i = (i + 1) & (cap - 1))
        if (!v[i].mangled || v[i].mangled == kept)
            return &v[i];
}

static bool grow(void)
{
    size_t cap = names_cap ? 2 * names_cap : 1024;
    struct kernel_name *v = calloc(cap, sizeof *v);
    if (!v)
        return false;
    for (size_t i = 0; i < names_cap; i++)
        if (names[i].mangled)
            *slot_of(v, cap, names[i].mangled) = names[i];
    free(names);
    names = v;
    names_cap = cap;
    return true;
}

/* The C++ library of the process does it; a program without one has no C++ names but of its kernels. */
static const char *demangled(const char *kept)
{
    static demangle_fn *demangle;
    static bool looked;
    int status = -1;
    if (!looked)
        *(void **)&demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    looked = true;
    char *text = demangle && strncmp(kept, "_Z", 2) == 0 ? demangle(kept, NULL, NULL, &status) : NULL;
    const char *shown = text && status == 0 ? text_keep(text) : kept;
    free(text);
    return shown;
}

const struct kernel_name *kernel_name(const char *mangled)
{
    static struct kernel_name full;
    const char *kept = text_keep(mangled ? mangled : "(no name)");
    if ((nnames + 1) * 2 > names_cap && !grow()) {
        full = (struct kernel_name){kept, kept, false};
        return &full;
    }
    struct kernel_name *n = slot_of(names, names_cap, kept);
    if (!n->mangled) {
        *n = (struct kernel_name){kept, demangled(kept), strstr(kept, "nccl") || strstr(kept, "mscclKernel")};
        nnames++;
    }
    return n;
}

static const struct {
    const char *name;
    int32_t kind;
} copies[] = {{"Memcpy", COPY_UNKNOWN},   {"Memcpy HtoD", COPY_HTOD},  {"Memcpy DtoH", COPY_DTOH},  {"Memcpy HtoA", COPY_HTOD},
              {"Memcpy AtoH", COPY_DTOH}, {"Memcpy AtoA", COPY_OTHER}, {"Memcpy AtoD", COPY_OTHER}, {"Memcpy DtoA", COPY_OTHER},
              {"Memcpy DtoD", COPY_DTOD}, {"Memcpy HtoH", COPY_HTOH},  {"Memcpy PtoP", COPY_PTOP}};

enum { NCOPIES = sizeof copies / sizeof *copies };

const char *copy_name(int kind)
{
    return copies[kind >= 0 && kind < NCOPIES ? kind : 0].name;
}

int32_t copy_kind_of(int kind)
{
    return kind >= 0 && kind < NCOPIES ? copies[kind].kind : COPY_OTHER;
}

int32_t mem_kind_of(int kind)
{
    static const int32_t kinds[] = {MEM_UNKNOWN, MEM_PAGEABLE, MEM_PINNED, MEM_DEVICE, MEM_ARRAY, MEM_MANAGED, MEM_DEVICE, MEM_MANAGED};
    return kind >= 0 && kind < (int)(sizeof kinds / sizeof *kinds) ? kinds[kind] : MEM_UNKNOWN;
}

const char *overhead_name(uint32_t kind)
{
    static const struct {
        uint32_t kind;
        const char *name;
    } names_of[] = {{CUPTI_OVERHEAD_COMPILER, "Driver Compiler"},
                    {CUPTI_OVERHEAD_FLUSH, "Buffer Flush"},
                    {CUPTI_OVERHEAD_INSTRUMENTATION, "Instrumentation"},
                    {CUPTI_OVERHEAD_RESOURCE, "Resource"},
                    {CUPTI_OVERHEAD_MODULE_LOADING, "Runtime Triggered Module Loading"},
                    {CUPTI_OVERHEAD_FUNCTION_LOADING, "Lazy Function Loading"},
                    {CUPTI_OVERHEAD_QUEUE_FULL, "Command Buffer Full"},
                    {CUPTI_OVERHEAD_BUFFER_REQUEST, "Activity Buffer Request"},
                    {CUPTI_OVERHEAD_UVM, "Unified Memory Activity Init"}};
    for (size_t i = 0; i < sizeof names_of / sizeof *names_of; i++)
        if (names_of[i].kind == kind)
            return names_of[i].name;
    return "Overhead";
}
