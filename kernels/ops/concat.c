/* concat.c - blocks of columns side by side, taken apart and put together. */
#include "kernels/ops/elementwise.h"

#include <string.h>

static void copy_rows(float *dst, int64_t ld_dst, const float *src, int64_t ld_src, int64_t rows, int64_t cols)
{
    for (int64_t r = 0; r < rows; r++)
        memcpy(dst + r * ld_dst, src + r * ld_src, (size_t)cols * sizeof(float));
}

void concat_blocks_cpu(const struct concat_blocks_args *a)
{
    for (int64_t j = 0; j < a->nblocks; j++)
        copy_rows(a->dst + j * a->dst_step, a->ld_dst, a->src + j * a->src_step, a->ld_src, a->rows, a->cols);
}

struct cost concat_blocks_cost(const struct concat_blocks_args *a)
{
    return (struct cost){0, 8.0 * (double)(a->nblocks * a->rows * a->cols)};
}

void concat_parts_cpu(const struct concat_parts_args *a)
{
    for (int i = 0; i < a->nparts; i++)
        copy_rows(a->part[i].dst, a->part[i].ld_dst, a->part[i].src, a->part[i].ld_src, a->rows, a->part[i].cols);
}

struct cost concat_parts_cost(const struct concat_parts_args *a)
{
    double cols = 0;
    for (int i = 0; i < a->nparts; i++)
        cols += a->part[i].cols;
    return (struct cost){0, 8 * cols * (double)a->rows};
}

static int64_t own_width(const struct concat_heads_args *a)
{
    int64_t w = 0;
    for (int i = 0; i < a->nsections; i++)
        w += a->section[i].width / a->ranks;
    return w;
}

void concat_heads_cpu(const struct concat_heads_args *a)
{
    int64_t own = own_width(a);
    for (int64_t r = 0; r < a->ranks; r++) {
        float *dst = a->dst + r * a->rows * own;
        for (int i = 0; i < a->nsections; i++) {
            int64_t w = a->section[i].width / a->ranks;
            float *src = a->src + a->section[i].at + r * w;
            if (a->back)
                copy_rows(src, a->ld, dst, own, a->rows, w);
            else
                copy_rows(dst, own, src, a->ld, a->rows, w);
            dst += w;
        }
    }
}

struct cost concat_heads_cost(const struct concat_heads_args *a)
{
    return (struct cost){0, 8.0 * (double)(own_width(a) * a->ranks * a->rows)};
}

OP_DEFINE(concat_heads);
OP_DEFINE(concat_blocks);
OP_DEFINE(concat_parts);
