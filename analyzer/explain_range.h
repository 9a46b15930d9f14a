/* explain_range.h - the range that a place's waits have in common: what a fix would take out, more than the waits alone.
 */
#pragma once
#include "analyzer/replay.h"

/* Of the ranges (names without numbers) that hold all waits of the place, the one with the least host time; NULL when there
 * is none but such that cover most of the window. Lives in `a`. */
const char *range_around(const struct replay *r, uint32_t site, uint32_t api, int class, struct arena *a);
/* An RE for whatif --drop-range that matches ranges of that name, numbered or not. Lives in `a`. */
const char *range_pattern(const char *name, struct arena *a);
