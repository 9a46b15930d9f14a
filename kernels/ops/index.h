/* index.h - small integer kernels on device arrays: what a framework's index arithmetic launches, one call one kernel.
 *
 * All arrays are device memory; int64 values, uint8 masks (0 or 1). Calls enqueue and return. `out` may be an input of
 * the same shape unless said otherwise. n = 0 launches nothing.
 */
#pragma once
#include "kernels/device/device.h"

enum index_op { INDEX_ADD, INDEX_SUB, INDEX_RSUB, INDEX_MUL, INDEX_DIV, INDEX_MOD }; /* RSUB: b - a */
enum index_cmp { INDEX_EQ, INDEX_NE, INDEX_LT, INDEX_GT };

void index_arange(struct stream *s, int64_t *out, int64_t n, int64_t start);
void index_diff(struct stream *s, int64_t *out, const int64_t *in, int64_t n); /* out[n-1]: in[i+1] - in[i]; not in place */
void index_scalar(struct stream *s, int64_t *out, const int64_t *a, int64_t n, enum index_op op, int64_t b);
void index_binary(struct stream *s, int64_t *out, const int64_t *a, const int64_t *b, int64_t n, enum index_op op);
void index_compare(struct stream *s, uint8_t *mask, const int64_t *a, int64_t n, enum index_cmp cmp, int64_t b);
void index_where(struct stream *s, int64_t *out, const uint8_t *mask, const int64_t *yes, const int64_t *no, int64_t n);
void index_any(struct stream *s, uint8_t *flag, const uint8_t *mask, int64_t n); /* *flag = 1 if any element is set */
/* *out = number of places where a and b differ (int64, so that an item can read it). */
void index_differences(struct stream *s, int64_t *out, const int64_t *a, const int64_t *b, int64_t n);

/* out[i] = number of bounds <= values[i]: the bucket of a position among ascending ends. */
void index_bucketize(struct stream *s, int64_t *out, const int64_t *values, int64_t n, const int64_t *bounds, int64_t nbounds);
void index_argsort(struct stream *s, int64_t *out, const int64_t *keys, int64_t n);                         /* stable, ascending; not in place */
void index_gather(struct stream *s, int64_t *out, const int64_t *values, const int64_t *index, int64_t n);  /* out[i] = values[index[i]] */
void index_scatter(struct stream *s, int64_t *out, const int64_t *values, const int64_t *index, int64_t n); /* out[index[i]] = values[i] */
void index_scatter_value(struct stream *s, int64_t *out, int64_t value, const int64_t *index, int64_t n);   /* out[index[i]] = value */
