/* part_info.h - `cpscope info` of a part.
 */
#pragma once
#include "schemas/err.h"
#include "schemas/table.h"

/* Rows key, value into *t, whose first two columns these are. */
bool part_info(const char *path, struct table *t, struct err *e);
