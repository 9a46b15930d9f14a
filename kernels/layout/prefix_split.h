/* prefix_split.h - llama-3 style: the buffer is cut evenly, each rank needs the keys from the start of the first sequence
 * that it touches up to its own end (spec E.4).
 *
 *   cu = 0 7 14 16, cp 8     rank 3 holds rows 6 7: cu_q 0 1 2, keys 0 .. 8: cu_k 0 7 8
 */
#pragma once
#include "kernels/layout/zigzag.h"

struct prefix_split {
    int64_t *cu_q, *cu_k; /* [sequences + 1], leading 0: of the sequences touched; keys count from k_start */
    int64_t sequences, k_start, k_end, max_q, max_k;
};

/* Lives in `a`. ERR_USAGE: boundaries, cp, rank, or T not divisible by cp. */
bool prefix_split(struct arena *a, const int64_t *cu, int64_t entries, int cp, int rank, struct prefix_split *out, struct err *e);
