/* concat_body.h - a row is a row of every block or section that it meets. */
#pragma once
#include "kernels/ops/elementwise.h"
#include "kernels/ops/single.h"

SINGLE_ROWS(concat_blocks, concat_blocks_args, a->nblocks * a->rows)
{
    int64_t j = row / a->rows, r = row % a->rows;
    row_copy(a->dst + j * a->dst_step + r * a->ld_dst, a->src + j * a->src_step + r * a->ld_src, a->cols);
}

SINGLE_ROWS(concat_parts, concat_parts_args, a->rows)
{
    for (int i = 0; i < a->nparts; i++)
        row_copy(a->part[i].dst + row * a->part[i].ld_dst, a->part[i].src + row * a->part[i].ld_src, a->part[i].cols);
}

SINGLE_ROWS(concat_heads, concat_heads_args, a->ranks * a->rows)
{
    int64_t own = 0, rank = row / a->rows, r = row % a->rows;
    for (int i = 0; i < a->nsections; i++)
        own += a->section[i].width / a->ranks;
    float *dst = a->dst + row * own;
    for (int i = 0; i < a->nsections; i++) {
        int64_t w = a->section[i].width / a->ranks;
        float *src = a->src + r * a->ld + a->section[i].at + rank * w;
        if (a->back)
            row_copy(src, dst, w);
        else
            row_copy(dst, src, w);
        dst += w;
    }
}
