/* fiber.h - many ranks on one thread: each has a stack of its own, and gives way where it waits for others.
 *
 *   scheduler --resume--> rank 0 ... fiber_wait() --> scheduler --resume--> rank 1 ... fiber_wake(rank 0), ends --> ...
 *
 * Switching costs a fraction of a microsecond and a stack its touched pages, so thousands of ranks fit where threads do
 * not. Fibers run one at a time, in the order in which they became ready: the same program gives the same order.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct fibers;

/* Runs body(i, ctx) for i = 0 .. n-1 until all have returned; false when memory for them is missing (nothing has run then)
 * or when all that are left wait for each other. `stuck` (may be NULL) is called in the latter case and may wake some;
 * returns whether it did. */
bool fibers_run(int n, void (*body)(int i, void *ctx), bool (*stuck)(void *ctx), void *ctx);

/* Of the fiber that calls: its number; gives way until somebody wakes it. */
int fiber_self(void);
void fiber_wait(void);
/* Makes a waiting fiber ready; one that does not wait stays as it is, and where no fibers run there are none to wake. */
void fiber_wake(int i);
