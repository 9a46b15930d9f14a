/* schedule.h - who holds whose rows when, in the modes that pass them around (spec B.2, E.3, E.6).
 *
 *   ring, n = 4         step   0 1 2 3         double ring, n = 4, windows of 2     step  0 1 | 2 3
 *   rank 0 uses keys of        0 3 2 1         rank 0 uses keys of                        0 1 | 2 3
 *   rank 1                     1 0 3 2         rank 1                                     1 0 | 3 2
 *
 * In a ring a rank sends to the next and receives from the one before it. A double ring goes around inside a window of
 * consecutive ranks and steps from window to window with what it held when it entered the window; its window of n (or a
 * window of 1) is the plain ring.
 */
#pragma once
#include "schemas/arena.h"
#include "schemas/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Whose keys `rank` uses at step k = outer * window + inner; window divides n. */
int ring_owner(int n, int window, int rank, int k);
/* Which rank uses the keys of `owner` at step k: the inverse of ring_owner. */
int ring_holder(int n, int window, int owner, int k);
/* The rank that `rank` sends to: inside the window, or (across) in the next window. -1 steps: that it receives from. */
int ring_neighbour(int n, int window, int rank, bool across, int steps);

/* USP: ulysses x ring ranks; Ulysses groups are runs of consecutive ranks, ring groups have the stride `ulysses`. */
int usp_group_rank(int ulysses, int group, int i);
int usp_ring_rank(int ulysses, int group, int i);
/* Global rows of a rank for one unpacked sequence of T tokens: zigzag over the ring, then evenly over the Ulysses group.
 * T / (ulysses * ring) rows in `a`. T is a multiple of 2 ring and of ulysses * ring, else ERR_USAGE. */
int64_t *usp_shard_rows(struct arena *a, int64_t T, int ulysses, int ring, int rank, struct err *e);

/* Rounds of an exclusive prefix by doubling distances: round i goes from every rank r to r + 2^i < n. */
int prefix_rounds(int n);
