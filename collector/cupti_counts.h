/* cupti_counts.h - what CUPTI is asked at each flush besides records: what its clock says, how many records it dropped. An answer
 * that cannot be had is said once. */
#pragma once
#include "collector/cupti_records.h"

/* A pair of clocks for the trace, and what to add to CUPTI's times where they are not ours. */
void cupti_pair_clocks(struct recorder *r, const struct cupti *c, struct records *records, bool own_clock);

/* Records that were dropped since the last look, at `since`. */
void cupti_count_drops(struct recorder *r, const struct cupti *c, int64_t since);
