/* merge.h - the traces of several ranks as one.
 *
 * Processes stay apart whatever their pids. Times are moved onto the first trace's clock by what the caller has found (oneclock.h); its
 * readings of other clocks are kept, those of other clocks' traces are not. Facts on which all agree are kept.
 */
#pragma once
#include "schemas/tracedata.h"

struct merge {
    struct tracedata *to; /* initialised by the caller; may spill */
    size_t ntraces;
    struct merge_fact *facts;
    size_t nfacts, facts_cap;
};

/* shift: ns, added to the trace's times; of the first one 0. */
bool merge_add(struct merge *m, const struct tracedata *from, int64_t shift, struct err *e);
void merge_end(struct merge *m); /* writes the facts and frees; a zeroed struct is fine */
