/* crew.h - jobs shared out to threads, of which the caller is one: each takes the next job until none is left.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { CREW_MOST = 64 }; /* threads */

/* each(ctx, member, i) of every i below n, until one is false: jobs are begun in order, so that all those before the first
 * failure are done, whoever is faster. By up to `threads` threads (0: as many as there are cores), and no more than there
 * are jobs. member: which thread it is, below CREW_MOST; the caller is 0. Returns when all have ended. */
void crew_run(size_t n, int threads, bool (*each)(void *ctx, int member, size_t i), void *ctx);
