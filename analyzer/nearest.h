/* nearest.h - the right name for a mistyped one. */
#pragma once

/* The name of `names` (ends with NULL) nearest to `word` by edit distance; NULL when none is near. */
const char *nearest_name(const char *word, const char *const *names);
