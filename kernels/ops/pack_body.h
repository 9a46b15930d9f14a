/* pack_body.h - rows moved: what one row does. A join is cut into runs of floats, whatever its rows are. */
#pragma once
#include "kernels/ops/pack.h"
#include "kernels/ops/single.h"

struct rows_args {
    float *dst;
    const float *src;
    const int64_t *index;
    int64_t n, width, dst_stride, src_stride;
};

SINGLE_ROWS(rows_gather, rows_args, a->n)
{
    row_copy(a->dst + row * a->width, a->src + a->index[row] * a->width, a->width);
}

SINGLE_ROWS(rows_scatter, rows_args, a->n)
{
    row_copy(a->dst + a->index[row] * a->width, a->src + row * a->width, a->width);
}

SINGLE_ROWS(rows_copy, rows_args, a->n)
{
    row_copy(a->dst + row * a->dst_stride, a->src + row * a->src_stride, a->width);
}

SINGLE_ROWS(rows_add, rows_args, a->n)
{
    float *to = a->dst + row * a->dst_stride;
    const float *from = a->src + row * a->src_stride;
    ROW_EACH (k, a->width)
        to[k] += from[k];
}

enum { CONCAT_PARTS = 12, CONCAT_RUN = 4096 }; /* parts that fit the arguments of one launch; floats of a run */

struct rows_concat_args {
    float *dst;
    int64_t width, n, runs;
    struct rows_part part[CONCAT_PARTS];
};

SINGLE_ROWS(rows_concat, rows_concat_args, a->runs)
{
    float *dst = a->dst;
    int64_t run = row;
    for (int64_t i = 0; i < a->n; i++) {
        int64_t floats = a->part[i].rows * a->width, runs = (floats + CONCAT_RUN - 1) / CONCAT_RUN, at = run * CONCAT_RUN;
        if (run < runs) {
            row_copy(dst + at, a->part[i].src + at, floats - at < CONCAT_RUN ? floats - at : (int64_t)CONCAT_RUN);
            return;
        }
        run -= runs;
        dst += floats;
    }
}
