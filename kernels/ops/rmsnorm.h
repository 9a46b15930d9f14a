/* rmsnorm.h - root-mean-square norm of whole rows: y = x rs w, rs = 1 / sqrt(mean x^2 + eps). */
#pragma once
#include "kernels/ops/op.h"

struct rmsnorm_fwd_args {
    const float *x, *w; /* [rows][width] dense, [width] */
    float *y, *rs;      /* [rows][width], [rows]: kept for backward */
    int64_t rows, width;
    float eps;
};
OP_DECLARE(rmsnorm_fwd);

/* dx = rs (dy w - x rs mean(dy w x rs)) */
struct rmsnorm_bwd_args {
    const float *dy, *x, *w, *rs;
    float *dx; /* overwritten; may be dy */
    int64_t rows, width;
};
OP_DECLARE(rmsnorm_bwd);

/* dw += sum over rows of dy x rs; before rmsnorm_bwd where that overwrites dy. */
struct rmsnorm_dw_args {
    const float *dy, *x, *rs;
    float *dw; /* [width] */
    int64_t rows, width;
};
OP_DECLARE(rmsnorm_dw);
