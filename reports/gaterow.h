/* gaterow.h - the gate's table as the formats of CI see it: one verdict a row.
 *
 * junit, sarif and github print a table with the columns rule, verdict, why, file, line (analyzer/gate.c) and nothing else.
 */
#pragma once
#include "schemas/err.h"
#include "schemas/table.h"

struct gaterow {
    const char *rule, *verdict, *why, *file; /* "" where absent */
    int64_t line;                            /* 0 where absent */
};

/* False (ERR_USAGE) when the table is not the gate's; `format` names the format in the message. */
bool gaterow_fits(const struct table *t, const char *format, struct err *e);
struct gaterow gaterow_at(const struct table *t, size_t row);
