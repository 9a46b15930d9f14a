/* oneclock.h - the files of a job, and other runs beside it, on the clock of the first one (align.h), and how well that is known.
 *
 * What nothing else ties to the first file is put there by UTC where both know it, by the files' own clocks where these lie within
 * a day, else it begins with it.
 */
#pragma once
#include "analyzer/trace.h"

/* What ties a file to the first one's clock, the strongest first. */
enum clock_way { CLOCK_BY_BOOT, CLOCK_BY_WALL_ENDS, CLOCK_BY_ENDS, CLOCK_BY_WALL, CLOCK_BY_UTC, CLOCK_BY_OWN, CLOCK_BY_NOTHING, CLOCK_WAYS };

struct one_clock {
    int64_t *shift;           /* by file: ns, added to its times */
    size_t files[CLOCK_WAYS]; /* how many are tied so, without the first */
    enum clock_way weakest;   /* of all files; CLOCK_BY_BOOT of one */
    int64_t residual;         /* the largest of the files' median distances of collectives' ends; -1 not known */
    uint32_t worst;           /* whose that is */
};

/* t: all files with all their collectives, or husks and t->calls. Lives in `a`. */
void one_clock_find(const struct trace *t, struct arena *a, struct one_clock *c);

/* That in words; NULL: one file, or one clock. Lives in `a`. */
const char *one_clock_text(const struct one_clock *c, const struct trace *t, struct arena *a);
/* For meta "aligned_by". */
const char *one_clock_way(enum clock_way w);
