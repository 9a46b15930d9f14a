/* round.c - rounding by the bits of a float. */
#include "kernels/ops/round.h"
#include "kernels/ops/op.h"

#include <math.h>
#include <string.h>

const char *dtype_name(enum dtype t)
{
    static const char *const names[] = {[DTYPE_FP32] = "fp32", [DTYPE_BF16] = "bf16", [DTYPE_FP16] = "fp16"};
    return names[t];
}

/* Drops the lowest `bits` of the significand; a carry goes into the exponent, as it should. */
static float keep_upper(float x, int bits)
{
    uint32_t u, half = (UINT32_C(1) << (bits - 1)) - 1;
    memcpy(&u, &x, sizeof u);
    u = (u + half + (u >> bits & 1)) >> bits << bits;
    memcpy(&x, &u, sizeof x);
    return x;
}

static float to_fp16(float x)
{
    if (fabsf(x) < 0x1p-14f)
        return copysignf((fabsf(x) + 0.75f) - 0.75f, x); /* floats near 0.75 are 2^-24 apart, as the smallest fp16 are */
    float y = keep_upper(x, 13);
    return fabsf(y) > 65504 ? copysignf(INFINITY, x) : y;
}

float dtype_round(enum dtype t, float x)
{
    if (t == DTYPE_FP32 || !isfinite(x))
        return x;
    return t == DTYPE_BF16 ? keep_upper(x, 16) : to_fp16(x);
}

void dtype_round_host(enum dtype t, float *v, int64_t n)
{
    for (int64_t i = 0; t != DTYPE_FP32 && i < n; i++)
        v[i] = dtype_round(t, v[i]);
}

struct round_args {
    float *v;
    int64_t n;
    enum dtype type;
};

static void round_cpu(const struct round_args *a)
{
    dtype_round_host(a->type, a->v, a->n);
}

static struct cost round_cost(const struct round_args *a)
{
    return (struct cost){0, 8.0 * (double)a->n};
}

OP_KERNEL(round);

void op_round(struct stream *s, enum dtype t, float *v, int64_t n)
{
    if (t != DTYPE_FP32 && n > 0)
        DEV_LAUNCH(s, round_kernel, (struct round_args){v, n, t});
}
