/* devpool.h - device memory that is freed all at once: what one layer needs until its forward or backward is enqueued. */
#pragma once
#include "kernels/device/device.h"

struct devpool {
    struct device *d;
    void **v;
    size_t n, cap;
};

void devpool_init(struct devpool *p, struct device *d);
void *devpool_bytes(struct devpool *p, size_t bytes);
float *devpool_floats(struct devpool *p, int64_t n);
float *devpool_rows(struct devpool *p, int64_t n);        /* of the storage type: dev_alloc_rows() */
void devpool_own(struct devpool *p, void *device_memory); /* freed with the pool; NULL is fine */
void devpool_free(struct devpool *p);                     /* ready for use again */
