/* gitlines.h - which source lines changed since a commit, by asking git.
 */
#pragma once
#include "schemas/arena.h"
#include "schemas/err.h"

#include <stdint.h>

struct line_range {
    const char *file; /* relative to the repository's root */
    int64_t first, last;
};

struct gitlines {
    struct line_range *v;
    size_t n, cap; /* malloc'ed */
    struct arena arena;
};

/* Lines that `git diff BASE` shows as added in the working tree of the current folder. ERR_USAGE when git does not know
 * BASE or is not there. */
bool gitlines_open(const char *base, struct gitlines *g, struct err *e);
bool gitlines_has(const struct gitlines *g, const char *file, int64_t line);
void gitlines_close(struct gitlines *g);
