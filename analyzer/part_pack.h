/* part_pack.h - all rows of a trace in a tenth of their file's bytes, for parts.
 *
 * Field after field, kind of event after kind: neighbours are alike, and zstd finds what repeats. What comes back is the
 * same tracedata to the last number of a row, so that whatever is computed from it is the same too.
 */
#pragma once
#include "analyzer/bytes.h"
#include "schemas/tracedata.h"

struct bytes tracedata_pack(const struct tracedata *d);
/* Into *d (initialised, empty). False: damaged; *d is to be freed. */
bool tracedata_unpack(const void *packed, size_t n, struct tracedata *d);
