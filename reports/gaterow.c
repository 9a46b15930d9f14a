/* gaterow.c - reading the gate's table by its column names. */
#include "reports/gaterow.h"

#include <string.h>

bool gaterow_fits(const struct table *t)
{
    static const char *const names[] = {"rule", "verdict", "why", "file", "line"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (table_column(t, names[i]) < 0)
            return false;
    return true;
}

static const char *text(const struct table *t, size_t row, const char *name)
{
    struct cell c = table_at(t, row)[table_column(t, name)];
    return c.kind == CELL_TEXT ? c.s : "";
}

struct gaterow gaterow_at(const struct table *t, size_t row)
{
    struct cell line = table_at(t, row)[table_column(t, "line")];
    return (struct gaterow){text(t, row, "rule"), text(t, row, "verdict"), text(t, row, "why"), text(t, row, "file"),
                            line.kind == CELL_INT ? line.i : 0};
}
