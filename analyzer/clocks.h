/* clocks.h - how the clocks of a job's files lie to each other, as far as the files tell by themselves.
 *
 *   one boot of one host     both count the same clock: nothing lies between them
 *   readings of the wall     own clock  --x---------x------x-->   each x: wall less own; a line from one to the next,
 *                                                                 so the wall tells two hosts' clocks apart, drift and all
 *   neither                  only collectives can tell
 *
 * Walls of two hosts disagree by what their time service leaves; the ends of matched collectives tell the rest, which
 * is the caller's business.
 */
#pragma once
#include "analyzer/trace.h"

enum clock_tie { CLOCK_ALONE, CLOCK_SHARED, CLOCK_WALL };

struct wall_reading {
    int64_t own, ahead; /* absolute ns of the file's clock; the wall's less it */
};

struct clock_file {
    const char *boot; /* NULL: not known */
    struct wall_reading *v;
    size_t n;
};

struct clocks {
    struct clock_file *of; /* by file */
};

/* Of t's files (husks will do); lives in `a`. */
void clocks_find(const struct trace *t, struct arena *a, struct clocks *c);
enum clock_tie clocks_tie(const struct clocks *c, uint32_t file, uint32_t base);
/* What brings the instant `own` of the file's clock (absolute ns) onto the base's: added to it. 0 unless CLOCK_WALL. */
int64_t clocks_shift(const struct clocks *c, uint32_t file, uint32_t base, int64_t own);
