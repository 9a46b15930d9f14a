/* scratch.h - device memory that a derivation borrows: taken piece by piece, given back at once.
 *
 * Giving back is stream-ordered (dev_free), so it may be done while the kernels that use it are still enqueued.
 */
#pragma once
#include "kernels/device/device.h"
#include "schemas/arena.h"

#include <stdlib.h>

struct scratch {
    struct device *device;
    void **v;
    size_t n, cap;
};

/* Adopts p (device memory), which scratch_free() frees. */
static inline void *scratch_keep(struct scratch *x, void *p)
{
    ARRAY_PUSH(x->v, x->n, x->cap, p);
    return p;
}

static inline void *scratch_alloc(struct scratch *x, int64_t bytes)
{
    return scratch_keep(x, dev_alloc_index(x->device, (size_t)(bytes > 0 ? bytes : 1)));
}

static inline int64_t *scratch_i64(struct scratch *x, int64_t n)
{
    return scratch_alloc(x, n * (int64_t)sizeof(int64_t));
}

static inline void scratch_free(struct scratch *x)
{
    for (size_t i = 0; i < x->n; i++)
        dev_free(x->device, x->v[i]);
    free(x->v);
    *x = (struct scratch){.device = x->device};
}
