/* elementwise.h - the small kernels between the large ones: sums, fills, loss, and copies of column blocks. */
#pragma once
#include "kernels/ops/op.h"

/* add: y = x + z.  axpy: y += alpha x.  scale: y = alpha x (x may be y).  fill: y = alpha.  All dense, n floats. */
struct elementwise_args {
    const float *x, *z;
    float *y;
    int64_t n;
    float alpha;
};
void elementwise_add_cpu(const struct elementwise_args *a);
void elementwise_axpy_cpu(const struct elementwise_args *a);
void elementwise_fill_cpu(const struct elementwise_args *a);
void op_elementwise_add(struct stream *s, const float *x, const float *z, float *y, int64_t n);
void op_elementwise_axpy(struct stream *s, float alpha, const float *x, float *y, int64_t n);
void op_elementwise_fill(struct stream *s, float alpha, float *y, int64_t n);

/* *sum += factor * sum x^2, in double. dx (NULL: not wanted) = 2 factor x: with factor 0.5 / N the sum is the loss
 * "mean of x^2 / 2" over N elements (of all ranks) and dx its gradient; with factor 1 it is a sum of squares. */
struct elementwise_sumsq_args {
    const float *x;
    float *dx;
    double *sum;
    int64_t n;
    double factor;
};
OP_DECLARE(elementwise_sumsq);

/* Copies nblocks blocks of rows x cols: block j from src + j src_step to dst + j dst_step. With src_step = cols and
 * dst_step = rows * cols the columns of one matrix become matrices that follow each other; swapped, the way back. */
struct concat_blocks_args {
    const float *src;
    float *dst;
    int64_t ld_src, ld_dst, src_step, dst_step; /* floats */
    int64_t rows, cols, nblocks;
};
OP_DECLARE(concat_blocks);

/* The same for blocks of different widths: section i is rows x part[i].cols. One launch joins (or splits) q, k, v, z, b, a. */
enum { CONCAT_PARTS_MAX = 6 };
struct concat_part {
    const float *src;
    float *dst;
    int32_t ld_src, ld_dst, cols;
};
struct concat_parts_args {
    struct concat_part part[CONCAT_PARTS_MAX];
    int64_t rows;
    int32_t nparts;
};
OP_DECLARE(concat_parts);

/* Splits every section of a row by heads: the permutation of columns after which one even cut gives each rank its share of
 * every section (spec C.1, vectors headwise_perms.json).
 *
 *   src row   | q0 q1 | k0 k1 | v0 v1 |          dst   rank 0's rows  | q0 k0 v0 |  then rank 1's  | q1 k1 v1 |
 *
 * dst is [ranks][rows][sum of widths / ranks], dense. back: from dst to src, the other columns of src left alone. */
enum { CONCAT_SECTIONS_MAX = 6 };
struct concat_heads_args {
    float *src, *dst;
    int64_t ld, rows;
    int32_t ranks, nsections;
    struct concat_section {
        int32_t at, width; /* columns of src; width a multiple of ranks */
    } section[CONCAT_SECTIONS_MAX];
    bool back;
};
OP_DECLARE(concat_heads);
