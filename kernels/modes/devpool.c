/* devpool.c - a list of device pointers. */
#include "kernels/modes/devpool.h"
#include "schemas/arena.h"

#include <stdlib.h>

void devpool_init(struct devpool *p, struct device *d)
{
    *p = (struct devpool){.d = d};
}

void devpool_own(struct devpool *p, void *device_memory)
{
    if (device_memory)
        ARRAY_PUSH(p->v, p->n, p->cap, device_memory);
}

void *devpool_bytes(struct devpool *p, size_t bytes)
{
    void *v = dev_alloc(p->d, bytes);
    devpool_own(p, v);
    return v;
}

float *devpool_rows(struct devpool *p, int64_t n)
{
    float *v = dev_alloc_rows(p->d, n);
    devpool_own(p, v);
    return v;
}

float *devpool_floats(struct devpool *p, int64_t n)
{
    return devpool_bytes(p, (size_t)n * sizeof(float));
}

void devpool_free(struct devpool *p)
{
    while (p->n)
        dev_free(p->d, p->v[--p->n]);
    free(p->v);
    devpool_init(p, p->d);
}
