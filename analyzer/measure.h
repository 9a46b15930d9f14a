/* measure.h - what a rule measures in a trace: one number, or one per key.
 */
#pragma once
#include "analyzer/rules.h"
#include "analyzer/units.h"

struct measured_key {
    const char *key; /* AGG_PER: the key's text; else "" */
    double value;    /* in the column's unit; counts are summed over ranks */
    int64_t ns;      /* time that goes with a count (blocked_ns of a site); -1: none */
    int64_t largest; /* of a sync site that is met inside micro-batches only: the most in one of them; 0: not known */
};

struct measured {
    const char *missing; /* why there is nothing to measure, else NULL */
    struct measured_key *v;
    size_t n;
};

/* Texts and arrays live in `a`. `t` was opened for the rule's range already. False only for real failures. */
bool measure(const struct rule *r, const struct trace *t, struct arena *a, struct measured *m, struct err *e);

/* What the rule measures, without its limit: "syncs.count where site ~ \"x\" sum". The name under which a baseline
 * keeps it. Lives in `a`. */
const char *rule_subject(const struct rule *r, struct arena *a);

/* Counts are compared by rate; all other columns as they are. */
bool rule_counts(const struct rule *r);
