/* thin.h - host rows that a replay never looks at go as soon as a file is read, so that a folder of many ranks fits.
 *
 *   op      |-| |---| |-|   |--| |-|         go, unless their names are asked for
 *   frame   |----- a -----| |- b --|         a stays: the call in it waits and has no site of its own; b goes
 *   call       |= waits =|    |-| |-|        all stay, and so does what is no operator and no frame
 *
 * What the trace is told by as a whole (extent, kinds, ranks, threads, impossible rows) is as with all rows.
 */
#pragma once
#include "schemas/tracedata.h"

#include <regex.h>

enum { THIN_NAMES = 2 };

struct thin {
    const char *names[THIN_NAMES]; /* REs; operators and frames with such names stay; NULL: none */
};

/* The same, compiled. False: a wrong RE, nothing can be thinned. */
struct thinning {
    regex_t re[THIN_NAMES];
    int n;
};
bool thinning_open(struct thinning *x, const struct thin *t);
void thinning_close(struct thinning *x);

/* Takes the rows out of d->ev, whose numbers change. Several threads may do so with one `x`. */
void thin_rows(const struct thinning *x, struct tracedata *d);
