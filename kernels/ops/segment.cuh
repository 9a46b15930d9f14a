/* segment.cuh - where a token lies among packed sequences: cu[segment] <= token < cu[segment + 1]. */
#pragma once
#include <stdint.h>

namespace gpu
{
/* The segment of token t; an empty one only when there is no token. */
static inline __device__ int segment_of(const int64_t *cu, int nseg, int64_t t)
{
    int low = 0, high = nseg; /* cu[low] <= t < cu[high] */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (cu[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    return low;
}
} // namespace gpu
