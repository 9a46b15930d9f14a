/* attention_body.h - partial results put together: a row is one head of one query.
 *
 * The weights come from the difference, not from the new log-sum-exp: that one is rounded to its own size. */
#pragma once
#include "kernels/ops/attention.h"
#include "kernels/ops/single.h"

SINGLE_ROWS(attention_merge, attention_merge_args, a->rows * a->heads)
{
    float x = a->lse[row], y = a->lse_b[row];
    float *o = a->o + row * a->e;
    const float *b = a->o_b + row * a->e;
    ROW_SYNC;
    if (y == -INFINITY)
        return;
    bool first = x == -INFINITY;
    float low = first ? 0 : expf(-fabsf(x - y)), mine = first ? 0 : (x > y ? 1 : low) / (1 + low), other = first ? 1 : (x > y ? low : 1) / (1 + low);
    ROW_EACH (k, a->e)
        o[k] = first ? b[k] : mine * o[k] + other * b[k];
    if (ROW_ONCE)
        a->lse[row] = first ? y : (x > y ? x : y) + log1pf(low);
}
