/* cell_rules.h - what no cell of any table may hold: a share above 100 or below 0, a negative time, not a number.
 *
 * Exempt: how far a clock is off, and by how much a kernel is slower under overlap.
 */
#pragma once
#include "unit.h"
#include "schemas/table.h"

#include <math.h>
#include <string.h>

static inline void check_cells(const struct table *t)
{
    for (size_t r = 0; r < t->nrows; r++)
        for (size_t c = 0; c < t->ncolumns; c++) {
            struct cell x = table_at(t, r)[c];
            double v = x.kind == CELL_REAL ? x.r : x.kind == CELL_INT ? (double)x.i : 0;
            bool free = strcmp(t->columns[c].name, "offset_ns") == 0 || strcmp(t->columns[c].name, "dilation_pct") == 0;
            if (!isfinite(v) || (v < 0 && !free) || (t->columns[c].unit == UNIT_PERCENT && v > 100 && !free))
                fail_msg("%s.%s of row %zu: %g", t->name, t->columns[c].name, r, v);
        }
}
