/* expect.h - what a mode declares that a step shows: `cpbench expect`.
 *
 * Rows are added up by (what, kind); a count of 0 adds nothing. Kinds: of collectives the function of the communicator
 * ("all_gather"), of host reads the function that reads ("thd_rank_indices").
 */
#pragma once
#include "kernels/modes/mode.h"

enum { EXPECT_ROWS_MAX = 32 };
struct expect {
    struct expect_row {
        const char *what, *kind;
        int64_t count, bytes; /* bytes -1: does not apply */
    } rows[EXPECT_ROWS_MAX];
    int n;
};

/* `count` collectives that send `bytes` in all from this rank, counted as comm.h counts them. */
void expect_comm(struct expect *x, const char *function, int64_t count, int64_t bytes);
void expect_tp(struct expect *x, const char *function, int64_t count, int64_t bytes); /* the same of the TP group */
void expect_syncs(struct expect *x, const char *function, int64_t op, int64_t wait);
void expect_flops(struct expect *x, const char *kind, double flops);
/* "cp2": that many micro-batches of groups of two ranks. */
void expect_schedule(struct expect *x, const char *size, int64_t microbatches);
/* Sum of q_len * k_len over the rank's pieces of attention, of one layer over the micro-batches. */
void expect_work(struct expect *x, int64_t work);

/* Forward executions of a step, layers times micro-batches times passes (2 with recompute). */
int64_t expect_forwards(const struct cp_shape *s);
/* The reads of mode_resolve() over a step (spec D.3). */
void expect_resolve(struct expect *x, const struct cp_shape *s);
/* The conversions zigzag -> contiguous -> zigzag of `width_in` and `width_out` floats a row, over a step: two
 * all_to_all_v a forward and backward, and what deriving the routes reads (spec D.3, D.5). Nothing with cp 1. */
void expect_swaps(struct expect *x, const struct cp_shape *s, int rank, int64_t width_in, int64_t width_out);
