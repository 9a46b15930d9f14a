/* merge.h - the traces of several ranks as one.
 *
 * Processes stay apart whatever their pids. Times are moved onto the first trace's clock: by UTC where both know it, else
 * by the traces' own clocks where these lie within a day, else every trace starts at its own zero; meta aligned_by says
 * which ("utc", "clock", "nothing"). Facts on which all agree are kept.
 */
#pragma once
#include "schemas/tracedata.h"

struct merge {
    struct tracedata *to; /* initialised by the caller; may spill */
    size_t ntraces;
    int64_t utc;       /* of the first trace's time zero, INT64_MIN unknown */
    const char *align; /* the weakest of all */
    struct merge_fact *facts;
    size_t nfacts, facts_cap;
};

bool merge_add(struct merge *m, const struct tracedata *from, struct err *e);
void merge_end(struct merge *m); /* writes the facts and frees; a zeroed struct is fine */
