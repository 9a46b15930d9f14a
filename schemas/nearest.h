/* nearest.h - the right name for a mistyped one. */
#pragma once

/* The name of `names` (ends with NULL) nearest to `word` by edit distance, else the first that contains it; NULL when there is none. */
const char *nearest_name(const char *word, const char *const *names);
