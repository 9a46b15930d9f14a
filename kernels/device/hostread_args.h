/* hostread_args.h - what the kernels of hostread.c take, on every device. */
#pragma once
#include <stdint.h>

struct hostread_count_args {
    const uint8_t *mask;
    int64_t n;
    int64_t *count;
};

struct hostread_write_args {
    const uint8_t *mask;
    const int64_t *values; /* NULL: the indices themselves */
    int64_t n;
    int64_t *out;
};
