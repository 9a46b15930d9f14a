/* reduce_part.h - making a part.
 */
#pragma once
#include "analyzer/trace.h"

/* The traces among the paths into the part OUT, which appears whole or not at all. rows: kept too, packed. */
bool reduce_part(const char *const *paths, size_t n, const struct trace_opts *o, bool rows, const char *out, bool force, struct err *e);
