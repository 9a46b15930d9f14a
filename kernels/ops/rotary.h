/* rotary.h - rotary position embedding of a part of every head.
 *
 *   head   | x_0 ... x_{r/2-1} | x_{r/2} ... x_{r-1} | the rest stays |       pair (j, j + r/2) turns by position * base^(-2j/r)
 *
 * Turning back by the same angle is the gradient.
 */
#pragma once
#include "kernels/ops/op.h"

struct rotary_args {
    float *x;                 /* [rows][heads][dim] dense, in place */
    const int64_t *positions; /* [rows]: the token's place in its sequence */
    int64_t rows;
    int32_t heads, dim, turned; /* turned: r above, even */
    float base, sign;           /* sign 1 forward, -1 backward */
};
OP_DECLARE(rotary);
