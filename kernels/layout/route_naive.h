/* route_naive.h - the route derived token by token on the device, step by step as the baseline of seeds/000 does (spec D.3).
 *
 * Its host reads are the subject: per conversion, op-ledger events 18 cp + 1 (16 cp at thd_rank_indices, 2 cp + 1 at
 * zigzag_contiguous_swap) and wait rows 14 cp + 1. Rejects exactly what the interval route rejects, with the same words.
 */
#pragma once
#include "kernels/layout/route.h"

/* Global rows of one rank, in local order, in device memory. */
struct rank_rows {
    int64_t *v;      /* n values */
    int64_t *memory; /* what to dev_free: v may be a slice of it */
    int64_t n;
};
/* The rows of `rank` under the layout. Host reads: zigzag 9 op events and 7 waits, contiguous 7 and 5. s is the device's
 * default stream, here and below. */
bool thd_rank_indices(struct stream *s, const struct boundaries *b, int cp, int rank, enum layout l, struct rank_rows *out, struct err *e);

/* One conversion of x [local_rows][width], derivation and execution. *saved, when asked for (not NULL), holds what the
 * backward needs (route_apply_transposed; route_release it). cp 1: returns x itself, *saved NULL, no work, no reads. */
float *zigzag_contiguous_swap(struct comm *c, struct stream *s, const struct boundaries *b, enum layout source, const float *x, int64_t local_rows,
                              int64_t width, struct route **saved, struct err *e);
