/* tracefile_spare.h - which rows of spared kinds can go.
 *
 *   thread 1, rank 0, op   |first|..x..x..x..|last|      x: left out
 *
 * What a trace is told by as a whole stays the same: its extent, its kinds, ranks and threads, its bad rows.
 */
#pragma once
#include "schemas/event.h"

#include <stdbool.h>
#include <stddef.h>

enum { SPARE_GROUPS = 64 }; /* rows of further ones are kept */

struct spare_group {
    struct event first, last; /* by start, by end */
};

struct spare {
    unsigned kinds; /* bit k: of event kind k */
    struct spare_group v[SPARE_GROUPS];
    size_t n, at; /* at: of the row before */
};

/* A row on a thread. True: it is left out, and one that stands for it will come from spare_rows(). */
bool spare_row(struct spare *s, const struct event *ev);

/* The rows that stand for those left out, at most 2 * SPARE_GROUPS; how many. */
size_t spare_rows(const struct spare *s, struct event *to);
