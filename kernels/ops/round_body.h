/* round_body.h - rounding by the bits of a float. */
#pragma once
#include "kernels/ops/round.h"
#include "kernels/ops/single.h"

/* Drops the lowest `bits` of the significand; a carry goes into the exponent, as it should. */
HOT_INLINE float keep_upper(float x, int bits)
{
    uint32_t u, half = (UINT32_C(1) << (bits - 1)) - 1;
    memcpy(&u, &x, sizeof u);
    u = (u + half + (u >> bits & 1)) >> bits << bits;
    memcpy(&x, &u, sizeof x);
    return x;
}

HOT_INLINE float to_fp16(float x)
{
    if (fabsf(x) < 6.103515625e-05f)                     /* 2^-14 */
        return copysignf((fabsf(x) + 0.75f) - 0.75f, x); /* floats near 0.75 are 2^-24 apart, as the smallest fp16 are */
    float y = keep_upper(x, 13);
    return fabsf(y) > 65504 ? copysignf(INFINITY, x) : y;
}

HOT_INLINE float round_to(enum dtype t, float x)
{
    if (t == DTYPE_FP32 || !isfinite(x))
        return x;
    return t == DTYPE_BF16 ? keep_upper(x, 16) : to_fp16(x);
}

struct round_args {
    float *v;
    int64_t n;
    enum dtype type;
};

enum { ROUND_RUN = 4096 }; /* floats of a row: one type, so one loop, inside */

SINGLE_ROWS(round, round_args, (a->n + ROUND_RUN - 1) / ROUND_RUN)
{
    float *v = a->v + row * ROUND_RUN;
    int64_t n = a->n - row * ROUND_RUN < ROUND_RUN ? a->n - row * ROUND_RUN : (int64_t)ROUND_RUN;
    if (a->type == DTYPE_BF16)
        ROW_EACH (i, n)
            v[i] = round_to(DTYPE_BF16, v[i]);
    else
        ROW_EACH (i, n)
            v[i] = round_to(DTYPE_FP16, v[i]);
}
