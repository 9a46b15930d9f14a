/* units.h - what counts are divided by, so that runs of other lengths compare (rates: DESIGN section 7).
 *
 * Steps are the complete steps of the window, micro-batches the ranges named microbatch#N in it, sequences what the
 * cpscope.batch marks say (schemas/marker.h). Each is summed over ranks, as the counts are. 0: not in this trace.
 * A trace without steps is one step per rank: `whole` is set then.
 */
#pragma once
#include "analyzer/trace.h"

enum { UNIT_STEPS, UNIT_MICROBATCHES, UNIT_SEQUENCES, NUNITS };

struct units {
    int64_t n[NUNITS];
    int64_t tokens; /* in all steps, over one rank's marks; 0: not in this trace */
    int64_t ranks;  /* that the counts are summed over; 0: not known, in a baseline file of old */
    bool whole;
};

extern const char *const unit_names[NUNITS];

struct units units_count(const struct trace *t);

/* What sums of the two sides are divided by so that they compare: 1 and 1, or the steps of a rank, where both sides have
 * steps and other numbers of them. True: the latter. */
double units_steps(const struct trace *t); /* complete steps of a rank, a mean; 0: no steps are marked */
bool units_divisors(const struct trace *before, const struct trace *after, double divisor[2]);

/* Value of KEY in "cpscope.batch tokens=1 sequences=2 ...", -1 when it is not there or no number. */
int64_t mark_value(const char *text, const char *key);
