/* slow_kernel.h - a kernel that takes a given time, for tests of what waits for it. */
#pragma once
#include "kernels/device/device.h"

#include <time.h>

enum { MS = 1000000 };

static inline void sleep_ns(int64_t ns)
{
    nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
}

/* Its arguments: the time in ns, an int64_t. */
static inline void kernel_sleep(const void *args)
{
    sleep_ns(*(const int64_t *)args);
}
static const struct kernel k_sleep = {"sleep", kernel_sleep, NULL};
