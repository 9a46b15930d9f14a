/* concat_body.h - a row is a row of every block or section that it meets. */
#pragma once
#include "kernels/ops/elementwise.h"
#include "kernels/ops/single.h"

SINGLE_ROWS2(concat_blocks, concat_blocks_args, a->nblocks, a->rows)
{
    row_copy(a->dst + outer * a->dst_step + inner * a->ld_dst, a->src + outer * a->src_step + inner * a->ld_src, a->cols);
}

SINGLE_ROWS(concat_parts, concat_parts_args, a->rows)
{
    for (int i = 0; i < a->nparts; i++)
        row_copy(a->part[i].dst + row * a->part[i].ld_dst, a->part[i].src + row * a->part[i].ld_src, a->part[i].cols);
}

SINGLE_ROWS2(concat_heads, concat_heads_args, a->ranks, a->rows)
{
    int64_t own = 0;
    for (int i = 0; i < a->nsections; i++)
        own += a->section[i].width / a->ranks;
    float *dst = a->dst + (outer * a->rows + inner) * own;
    for (int i = 0; i < a->nsections; i++) {
        int64_t w = a->section[i].width / a->ranks;
        float *src = a->src + inner * a->ld + a->section[i].at + outer * w;
        if (a->back)
            row_copy(src, dst, w);
        else
            row_copy(dst, src, w);
        dst += w;
    }
}
