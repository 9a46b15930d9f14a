/* record_end.h - the last step of cpscope record. */
#pragma once
#include "analyzer/record_args.h"
#include "schemas/arena.h"

#include <stdint.h>

/* Finishes the files that were written under the pattern r->out since `began` (epoch ns) and says on stderr which they are,
 * unless r->quiet; or why there is none: the program ended with `status`. */
void record_end(const struct record_args *r, int64_t began, int status, struct arena *a);
