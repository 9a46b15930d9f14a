/* waitapi.c - see waitapi.h. */
#include "schemas/waitapi.h"

#include <ctype.h>
#include <string.h>

const char *wait_api(const char *name, size_t *n)
{
    static const char prefix[] = "AscendCL@";
    if (strncmp(name, prefix, sizeof prefix - 1) == 0)
        name += sizeof prefix - 1;
    *n = strlen(name);
    size_t i = *n;
    while (i && isdigit((unsigned char)name[i - 1]))
        i--;
    if (*n - i >= 3 && i > 2 && name[i - 1] == 'v' && name[i - 2] == '_') /* _v3020; not cuMemcpyDtoH_v2 */
        *n = i - 2;
    if (*n > 5 && (memcmp(name + *n - 5, "_ptsz", 5) == 0 || memcmp(name + *n - 5, "_ptds", 5) == 0))
        *n -= 5;
    return name;
}

enum match { EXACT, PREFIX, CONTAINS };

static const struct rule {
    const char *word;
    enum match match;
    enum sync_class class;
    bool pageable_only;
} rules[] = {
    {"EventSynchronize", CONTAINS, SYNC_EVENT}, /* cuda, hip, cu, musa ... */
    {"SynchronizeEvent", CONTAINS, SYNC_EVENT}, /* aclrt */
    {"DeviceSynchronize", CONTAINS, SYNC_DEVICE},
    {"ThreadSynchronize", CONTAINS, SYNC_DEVICE},
    {"CtxSynchronize", CONTAINS, SYNC_DEVICE},
    {"SynchronizeDevice", CONTAINS, SYNC_DEVICE},
    {"Synchronize", CONTAINS, SYNC_STREAM},
    {"cudaMemcpyAsync", PREFIX, SYNC_COPY, true},
    {"cudaMemcpy2DAsync", PREFIX, SYNC_COPY, true},
    {"cudaMemcpy", EXACT, SYNC_COPY},
    {"hipMemcpy", EXACT, SYNC_COPY},
    {"hipMemcpyWithStream", CONTAINS, SYNC_COPY},
    {"cuMemcpyDtoH", EXACT, SYNC_COPY},
    {"cuMemcpyDtoH_v2", EXACT, SYNC_COPY},
    {"cuMemcpyHtoD", EXACT, SYNC_COPY},
    {"cuMemcpyHtoD_v2", EXACT, SYNC_COPY},
    {"cudaMalloc", EXACT, SYNC_ALLOC},
    {"cudaMallocHost", EXACT, SYNC_ALLOC},
    {"cudaMallocPitch", EXACT, SYNC_ALLOC},
    {"cudaMallocManaged", EXACT, SYNC_ALLOC},
    {"cudaHostAlloc", EXACT, SYNC_ALLOC},
    {"cudaFree", EXACT, SYNC_ALLOC},
    {"cudaFreeHost", EXACT, SYNC_ALLOC},
    {"cuMemAlloc", EXACT, SYNC_ALLOC},
    {"cuMemAlloc_v2", EXACT, SYNC_ALLOC},
    {"cuMemAllocHost_v2", EXACT, SYNC_ALLOC},
    {"cuMemHostAlloc", EXACT, SYNC_ALLOC},
    {"cuMemFree", EXACT, SYNC_ALLOC},
    {"cuMemFree_v2", EXACT, SYNC_ALLOC},
    {"cuMemFreeHost", EXACT, SYNC_ALLOC},
    {"hipMalloc", EXACT, SYNC_ALLOC},
    {"hipFree", EXACT, SYNC_ALLOC},
    {"hipHostMalloc", EXACT, SYNC_ALLOC},
    {"hipHostFree", EXACT, SYNC_ALLOC},
    {"aclrtMalloc", EXACT, SYNC_ALLOC},
    {"aclrtFree", EXACT, SYNC_ALLOC},
};

static bool fits(const struct rule *r, const char *name, size_t n)
{
    size_t m = strlen(r->word);
    switch (r->match) {
    case EXACT:
        return n == m && memcmp(name, r->word, n) == 0;
    case PREFIX:
        return n >= m && memcmp(name, r->word, m) == 0;
    case CONTAINS:
        break;
    }
    return memmem(name, n, r->word, m) != NULL;
}

enum sync_class wait_class(const char *api, bool pageable)
{
    size_t n;
    const char *name = wait_api(api, &n);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (fits(&rules[i], name, n))
            return !rules[i].pageable_only || pageable ? rules[i].class : SYNC_NONE;
    return SYNC_NONE;
}
