/* ringsteps.h - the steps of a ring of ranks within one pass of a layer: which exchange feeds which attention kernel.
 *
 *   side by side    attention  |# 0 ####|..|# 1 ####|# 2 ####|      serial   |# 0 #|= 0 =|# 1 #|= 1 =|# 2 #|
 *                   exchange   |= 0 =======|= 1 =|
 *                   step       |-- 0 ------|-- 1 ---|-- 2 ---|      a step ends where the attention of the next begins;
 *                                       ~~                          without compute in it: the step's bubble
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring_row {
    uint32_t pass;      /* whose; the caller's number */
    bool exchange;      /* a send or receive, else an attention kernel */
    int32_t ranks;      /* of the ring, as an exchange's group says; -1 unknown */
    int64_t start, end; /* ns */
    uint32_t step;      /* out */
};

/* Sorts rows by pass and start. */
void ringsteps_sort(struct ring_row *v, size_t n);

/* Sets `step` of the rows of one pass, sorted, and returns how many steps there are; 0: it cannot be told. Where exchanges and
 * attention never overlap, a kernel's step is the number of times that exchanges came between it and the first one. Where
 * they do, the kernels are shared out in their order, equally many to each rank of the ring, if that comes out even. An
 * exchange belongs to the step in which it begins, one before the first kernel to step 0. */
size_t ringsteps_tell(struct ring_row *v, size_t n);
