/* rmsnorm_body.h - a row at a time; the weight's gradient a column at a time. */
#pragma once
#include "kernels/ops/rmsnorm.h"
#include "kernels/ops/single.h"

SINGLE_ROWS(rmsnorm_fwd, rmsnorm_fwd_args, a->rows)
{
    const float *x = a->x + row * a->width;
    float *y = a->y + row * a->width, rs = (float)(1 / sqrt(row_dot(x, x, a->width) / (double)a->width + (double)a->eps));
    if (ROW_ONCE)
        a->rs[row] = rs;
    ROW_EACH (i, a->width)
        y[i] = x[i] * rs * a->w[i];
}

SINGLE_ROWS(rmsnorm_bwd, rmsnorm_bwd_args, a->rows)
{
    const float *x = a->x + row * a->width, *dy = a->dy + row * a->width;
    float *dx = a->dx + row * a->width, rs = a->rs[row];
    double along = 0;
    ROW_EACH (i, a->width)
        along += (double)(dy[i] * a->w[i]) * x[i];
    float mean = (float)(row_total(along) * rs / (double)a->width);
    ROW_EACH (i, a->width)
        dx[i] = rs * (dy[i] * a->w[i] - x[i] * rs * mean);
}

SINGLE_EACH(rmsnorm_dw, rmsnorm_dw_args, a->width)
{
    double sum = 0;
    for (int64_t row = 0; row < a->rows; row++)
        sum += (double)a->dy[row * a->width + i] * (a->x[row * a->width + i] * a->rs[row]);
    a->dw[i] += (float)sum;
}
