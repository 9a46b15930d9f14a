/* openrows.h - rows of a Chrome trace that have begun (ph B) and wait for their end (E), lane by lane.
 *
 *   lane (pid, tid)   B a  B b  E  B c  E  E      a stack each, in the order of the file
 */
#pragma once
#include "analyzer/idmap.h"
#include "schemas/event.h"

#include <stdbool.h>

struct openrow {
    struct event ev;
    uint32_t below; /* the row around it in its lane, or the next free one */
};

struct openrows {       /* zeroed: empty */
    struct idmap lanes; /* -> 1 + index of tops */
    uint32_t *tops;     /* the innermost open row of a lane, 1 + index of v; 0 none */
    size_t ntops, tops_cap;
    struct openrow *v;
    size_t n, cap;
    uint32_t unused;
    int64_t open, lone_ends; /* rows without an end so far; ends without a begin */
};

/* pid and tid in one key; both are small in earnest, and clashes only mix rows. */
int64_t openrows_lane(int64_t pid, int64_t tid);

/* `ev` as it is but for its end. Kind EV_NKINDS: of no use, but its end belongs to it and to no row around it. */
void openrows_begin(struct openrows *o, int64_t lane, const struct event *ev);

/* The row that ends; its end is the caller's to set. False: none is open in this lane (counted). */
bool openrows_end(struct openrows *o, int64_t lane, struct event *ev);

void openrows_free(struct openrows *o);
