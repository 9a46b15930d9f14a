/* replay_maker.h - what `whatif` says of a trace written by hand.
 */
#pragma once
#include "analyzer/whatif.h"
#include "trace_maker.h"

/* A metric of a lane under options. */
static inline int64_t predicted(const struct trace *t, const struct whatif_args *o, uint32_t lane, const char *metric)
{
    struct table s;
    int64_t found = INT64_MIN;
    make_table(t, "whatif", o, &s);
    for (size_t i = 0, seen = 0; i < s.nrows && found == INT64_MIN; i++)
        if (strcmp(text_of(&s, i, "metric"), metric) == 0 && seen++ == lane)
            found = (int64_t)table_at(&s, i)[table_column(&s, "predicted")].r;
    table_free(&s);
    return found;
}
