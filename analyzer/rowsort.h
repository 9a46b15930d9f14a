/* rowsort.h - row numbers in order of time.
 */
#pragma once
#include "schemas/event.h"

#include <stdbool.h>
#include <stddef.h>

/* v[0 .. n-1], numbers into ev, ascending as they come: by start, then end (the longest first if asked, else the
 * shortest), then number. Linear; a list in order costs one look, and memory is needed for rows out of order only. */
void rowsort(const struct event *ev, uint32_t *v, size_t n, bool longest_first);
