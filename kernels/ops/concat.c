/* concat.c - blocks of columns side by side, taken apart and put together (concat_body.h). */
#include "kernels/ops/concat_body.h"

struct cost concat_blocks_cost(const struct concat_blocks_args *a)
{
    return (struct cost){0, 8.0 * (double)(a->nblocks * a->rows * a->cols)};
}

struct cost concat_parts_cost(const struct concat_parts_args *a)
{
    double cols = 0;
    for (int i = 0; i < a->nparts; i++)
        cols += a->part[i].cols;
    return (struct cost){0, 8 * cols * (double)a->rows};
}

struct cost concat_heads_cost(const struct concat_heads_args *a)
{
    int64_t own = 0;
    for (int i = 0; i < a->nsections; i++)
        own += a->section[i].width / a->ranks;
    return (struct cost){0, 8.0 * (double)(own * a->ranks * a->rows)};
}

OP_DEFINE(concat_heads);
OP_DEFINE(concat_blocks);
OP_DEFINE(concat_parts);
