/* pack.h - kernels that move rows of float matrices: gathers, scatters, their transposes, joins.
 *
 * A matrix is [rows][width], row major, device memory; an index is int64 in device memory. Calls enqueue and return.
 *   transpose of gather  = scatter_add into zeros;   transpose of scatter (distinct rows) = gather
 */
#pragma once
#include "kernels/device/device.h"

void rows_gather(struct stream *s, float *dst, const float *src, const int64_t *index, int64_t n, int64_t width);  /* dst[i] = src[index[i]] */
void rows_scatter(struct stream *s, float *dst, const float *src, const int64_t *index, int64_t n, int64_t width); /* dst[index[i]] = src[i] */
void rows_scatter_add(struct stream *s, float *dst, const float *src, const int64_t *index, int64_t n,
                      int64_t width); /* dst[index[i]] += src[i], i ascending */

/* One part of a join: `rows` rows of the same width. */
struct rows_part {
    const float *src;
    int64_t rows;
};
/* Parts below each other into dst; ceil(n / 12) kernels. */
void rows_concat(struct stream *s, float *dst, const struct rows_part *parts, int64_t n, int64_t width);
/* dst[i][0..width) = src[i][0..width) for matrices with rows dst_stride and src_stride floats apart (column blocks). */
void rows_copy(struct stream *s, float *dst, int64_t dst_stride, const float *src, int64_t src_stride, int64_t n, int64_t width);
/* The same, adding to dst. */
void rows_accumulate(struct stream *s, float *dst, int64_t dst_stride, const float *src, int64_t src_stride, int64_t n, int64_t width);
