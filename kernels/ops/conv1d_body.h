/* conv1d_body.h - which rows the taps of a token meet.
 *
 *   segment      x0  x1  x2  x3           tap W-1 meets the token itself, tap 0 the oldest
 *   row(-2)  row(-1)  row(0) ...          rows before the segment: the halo (first segment), else none
 *
 * The halo's rows are numbered -1, -2, ... down to -halo_valid; a tap that would reach further meets zero.
 */
#pragma once
#include "kernels/ops/conv1d.h"
#include "kernels/ops/hot.h"

/* Row t of the segment that begins at row `start`; rows before it are the halo's. */
HOT_INLINE const float *conv1d_row(const float *x, int64_t ldx, const float *halo, int W, int D, int64_t start, int64_t t)
{
    return t >= start ? x + t * ldx : halo + (W - 1 + (t - start)) * D;
}

/* The first tap of the segment's token number n that meets a row, with `before` rows of the halo before the segment. */
HOT_INLINE int conv1d_first_tap(int64_t n, int before, int W)
{
    int64_t reach = n + before;
    return reach >= W - 1 ? 0 : (int)(W - 1 - reach);
}

/* dy/dc of y = c sigmoid(c). */
HOT_INLINE float conv1d_slope(float c)
{
    float sig = sigmoid_f(c);
    return sig * (1 + c * (1 - sig));
}
