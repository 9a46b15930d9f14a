/* across.h - many ranks as four rows: the minimum, median and maximum of each number, and the worst rank itself.
 */
#pragma once
#include "schemas/table.h"

/* How many different ranks the table's rows name; 0 when it has no column rank. */
size_t across_ranks_count(const struct table *t);

/* A new table of the same columns (rank becomes text: min, median, max, worst N). Rows that agree in all other text and
 * id columns but device and trace are put together; numbers are taken column by column, absent ones left aside. The worst
 * rank is the one with the largest value in column `worst` (the first number when NULL), the lowest rank among equals. */
void across_ranks(const struct table *t, const char *worst, struct table *out);
void across_free(struct table *out);
