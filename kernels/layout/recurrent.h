/* recurrent.h - what a rank must know when a packed buffer is cut evenly and state flows across the cuts (spec B.3).
 *
 *   cu = 0 5 12, cp 3:   r0 [0 1 2 3]  r1 [4|5 6 7]  r2 [8 9 10 11]
 *   rank 1: local_cu 0 1 4, its first segment goes on from 1 earlier rank (4 tokens), its last reaches 1 later rank
 *
 * Only the first local segment can receive a state, only the last can emit one.
 */
#pragma once
#include "schemas/arena.h"
#include "schemas/err.h"

#include <stdint.h>

struct recurrent {
    int64_t rows;            /* T / cp */
    int64_t *local_cu;       /* starts at 0, ends at rows; lives in the arena */
    int64_t segments;        /* local segments: local_cu has one entry more */
    int64_t pre_conv_tokens; /* tokens of the first segment's sequence that lie on earlier ranks */
    int pre_ranks;           /* ranks rank-pre_ranks .. rank-1 feed the first segment */
    int post_ranks;          /* ranks rank+1 .. rank+post_ranks continue the last segment */
    bool is_first, is_last;  /* pre_ranks == 0; post_ranks == 0 */
};

/* From host boundaries (leading 0, empty slots allowed). Rejects (ERR_USAGE, names the value): cp < 1, rank outside, bad
 * boundaries, T % cp, T < cp, and T / cp < conv_width - 1 (the halo would span two ranks; conv_width 0: no conv). */
bool recurrent_context(struct arena *a, const int64_t *cu, int64_t entries, int cp, int rank, int conv_width, struct recurrent *out, struct err *e);
