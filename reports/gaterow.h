/* gaterow.h - the gate's table as the formats of CI see it: one verdict a row.
 *
 * junit, sarif and github print a table with the columns rule, verdict, why, file, line (analyzer/gate.c) and nothing else.
 */
#pragma once
#include "schemas/table.h"

struct gaterow {
    const char *rule, *verdict, *why, *file; /* "" where absent */
    int64_t line;                            /* 0 where absent */
};

bool gaterow_fits(const struct table *t); /* it is the gate's */
struct gaterow gaterow_at(const struct table *t, size_t row);
