/* narrow.h - floats that hold bf16 or fp16 values as their 16 bits and back: nothing is rounded, it has been (ops/round.h).
 *
 *   bf16   the upper half of a float
 *   fp16   sign 1, exponent 5 (bias 15), significand 10; exponent 0: significand x 2^-24; 31: infinity, NaN
 */
#pragma once
#include "kernels/ops/hot.h"
#include "kernels/ops/round.h"

#include <math.h>
#include <string.h>

HOT_INLINE uint16_t narrow_fp16(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    uint16_t sign = (uint16_t)(u >> 16 & 0x8000);
    float size = fabsf(x);
    if (size != size || size == INFINITY)
        return (uint16_t)(sign | 0x7c00 | (size != size ? 0x200 : 0));
    if (size < 0x1p-14f)
        return (uint16_t)(sign | (uint16_t)(size * 0x1p24f));
    return (uint16_t)(sign | (((u & 0x7fffffff) >> 13) - ((127 - 15) << 10)));
}

HOT_INLINE float widen_fp16(uint16_t h)
{
    float sign = h & 0x8000 ? -1 : 1, fraction = (float)(h & 0x3ff);
    int exponent = h >> 10 & 31;
    if (exponent == 31)
        return fraction > 0 ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexpf(1024 + fraction, exponent - 25) : fraction * 0x1p-24f);
}

HOT_INLINE uint16_t narrow_of(enum dtype t, float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return t == DTYPE_BF16 ? (uint16_t)(u >> 16) : narrow_fp16(x);
}

HOT_INLINE float widen_of(enum dtype t, uint16_t h)
{
    uint32_t u = (uint32_t)h << 16;
    float x;
    memcpy(&x, &u, sizeof x);
    return t == DTYPE_BF16 ? x : widen_fp16(h);
}
