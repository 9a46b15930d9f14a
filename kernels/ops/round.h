/* round.h - storage types of activations: floats that hold what a narrower type can.
 *
 *   type   significant bits   largest            smallest step
 *   bf16   8                  as float           as float's exponents
 *   fp16   11                 65504              2^-24
 *
 * Rounding is to nearest, ties to even, as hardware stores; beyond the largest lies infinity. Arithmetic stays in float.
 */
#pragma once
#include "kernels/device/device.h"

enum dtype { DTYPE_FP32, DTYPE_BF16, DTYPE_FP16 };

const char *dtype_name(enum dtype t); /* "fp32" ... */
/* Bytes that a value of the type takes. */
static inline int64_t dtype_size(enum dtype t)
{
    return t == DTYPE_FP32 ? 4 : 2;
}
float dtype_round(enum dtype t, float x);
void dtype_round_host(enum dtype t, float *v, int64_t n);
/* Rounds n floats in place, one launch; nothing for fp32, and nothing where the modelled machine stores narrow types: there it is
 * no work of its own. */
void op_round(struct stream *s, enum dtype t, float *v, int64_t n);
