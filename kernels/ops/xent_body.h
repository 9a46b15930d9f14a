/* xent_body.h - a row at a time, its largest logit taken off first. */
#pragma once
#include "kernels/ops/single.h"
#include "kernels/ops/xent.h"

SINGLE_ROWS(xent, xent_args, a->rows)
{
    float *x = a->logits + row * a->classes, top = -INFINITY;
    int64_t target = a->targets[row];
    ROW_EACH (i, a->classes)
        top = x[i] > top ? x[i] : top;
    top = row_largest(top);
    double part = 0;
    ROW_EACH (i, a->classes)
        part += exp_f(x[i] - top);
    double sum = row_total(part);
    float scale = target < 0 ? 0 : (float)(a->factor / sum), hit = target < 0 ? top : x[target];
    ROW_SYNC;
    if (ROW_ONCE)
        a->losses[row] = target < 0 ? 0 : log(sum) + top - hit;
    ROW_EACH (i, a->classes)
        x[i] = scale * exp_f(x[i] - top) - (i == target ? a->factor : 0);
}

SINGLE_WHOLE(xent_total, xent_total_args)
{
    double sum = 0;
    for (int64_t i = 0; i < a->n; i++)
        sum += a->v[i];
    *a->sum += a->factor * sum;
}
