/* whatif.h - scenarios in words, and what they do to the headline numbers of a device.
 */
#pragma once
#include "analyzer/replay.h"

struct whatif_args {
    const char *drop_range, *drop_syncs, *drop_kernels, *drop_comm, *scale; /* REs; scale: RE=X; NULL: not asked for */
};

/* The RE of RE=X: the last '=' parts them. NULL: it is none. In `a`. */
const char *scale_pattern(const char *scale, struct arena *a);

/* What a scenario was found to touch. */
struct touched {
    size_t ranges, waits, work, comms; /* ranges: whose host time goes or is scaled */
};

/* Arrays live in `a`. False: an RE or X is wrong (ERR_USAGE), or an option matches nothing (ERR_UNDECIDED). */
bool scenario_make(const struct replay *r, const struct whatif_args *o, struct arena *a, struct scenario *s, struct touched *n, struct err *e);

/* Durations by task for unmatched collectives as short as any of the same name and size: what is left without waiting. */
const int64_t *shortest_comms(const struct replay *r, struct arena *a);

struct metrics {
    int64_t step_ns; /* the median step; without steps the window */
    int64_t window_ns, busy_ns, comm_sum_ns, compute_sum_ns, blocked_ns;
};
/* Of a lane under a scenario (NULL: as measured, replayed). */
struct metrics metrics_of(const struct replay *r, const struct scenario *s, const struct replayed *p, uint32_t lane);
/* Of every lane, into m[lane]. The replay's memory is gone when it returns. */
void metrics_of_lanes(const struct replay *r, const struct scenario *s, struct metrics *m);
/* Length of the window of a rank's host rows under the scenario. */
int64_t window_of(const struct replay *r, const struct scenario *s, const struct replayed *p, uint32_t rank);
