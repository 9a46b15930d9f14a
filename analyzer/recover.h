/* recover.h - what each place that waits would give back.
 */
#pragma once
#include "analyzer/replay.h"

enum { RECOVER_SITES = 20 };

struct recovery { /* of one (rank, site, api, class) */
    uint32_t rank;
    uint32_t site, api; /* ids in waits.names */
    int8_t class;
    int64_t bubble_ns, recoverable_ns; /* recoverable: -1 not replayed */
};

struct recoveries {
    struct recovery *v; /* one per rank and place, in order of their first wait */
    size_t n;
    size_t sites, replayed; /* places (site, API, class) that have a bubble; how many of them were replayed */
};

/* Replays the trace without the waiting of one place at a time, on all ranks at once, for the RECOVER_SITES largest
 * bubbles. The gain is of the rank's window, no less than 0 and never more than the place's bubble on that rank: idle time
 * of the device is all that can come back, and bubbles share it out once. A place whose bubble is 0 gives back nothing. */
void recover_find(const struct replay *r, struct recoveries *out);
void recover_free(struct recoveries *x);
