/* record_end.h - the last step of cpscope record. */
#pragma once
#include "schemas/arena.h"

#include <stdint.h>

/* Finishes the files that were written under the pattern `out` since `began` (epoch ns) and says on stderr which they are; or
 * why there is none: `program` ended with `status`. */
void record_end(const char *out, const char *program, int64_t began, int status, struct arena *a);
