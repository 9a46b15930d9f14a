/* conv1d.h - depthwise causal convolution over packed tokens, then SiLU.
 *
 *        halo, W-1 rows          first segment            second segment
 *     [ 0 | h1 | h2 ]  [ x0 x1 x2 x3 ... ] [ x0 x1 ... ]
 *       masked  valid    sees the halo       sees zeros before it
 *
 *   c_t[ch] = sum_{j<W} w[ch][j] x_{t-(W-1)+j}[ch],  y_t = c_t sigmoid(c_t)
 *
 * The halo holds the rows that come before the first segment on earlier ranks, oldest first; only its newest halo_valid
 * rows belong to the same sequence, the others count as zero whatever they hold. halo NULL: no rows.
 */
#pragma once
#include "kernels/ops/op.h"

enum { CONV1D_WIDTH_MAX = 32 };

struct conv1d_fwd_args {
    const float *x;    /* [T][D], ldx */
    const float *w;    /* [D][W]; column W-1 multiplies the current token */
    const float *halo; /* [W-1][D] or NULL */
    float *y;          /* [T][D], ldy */
    const int64_t *cu; /* [nseg+1] */
    int64_t ldx, ldy;
    int32_t T, D, W, nseg, halo_valid;
};
OP_DECLARE(conv1d_fwd);

/* dx is overwritten and holds what this rank's outputs give; what a halo row gets goes to d_halo (overwritten, zero
 * where it is masked), to be added to its owner's dx. c is computed again from x. */
struct conv1d_bwd_args {
    const float *x, *w, *halo, *dy; /* as in forward; dy [T][D], lddy: dL/dy */
    float *dx;                      /* [T][D], lddx; may not overlap x or dy */
    float *dw;                      /* [D][W], += */
    float *d_halo;                  /* [W-1][D]; NULL: not wanted */
    const int64_t *cu;
    int64_t ldx, lddy, lddx;
    int32_t T, D, W, nseg, halo_valid;
};
OP_DECLARE(conv1d_bwd);
