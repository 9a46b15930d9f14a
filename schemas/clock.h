/* clock.h - the one clock of our own recordings: CLOCK_MONOTONIC_RAW, in ns. */
#pragma once
#include <stdint.h>
#include <time.h>

static inline int64_t clock_of(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static inline int64_t clock_now(void)
{
    return clock_of(CLOCK_MONOTONIC_RAW);
}
