/* openrows.h - rows of a Chrome trace that have begun (ph B) and wait for their end (E), lane by lane.
 *
 *   lane (pid, tid)   B a  B b  E  B c  E  E      a stack each, in the order of the file
 *
 * An end that says a name ends the innermost row of that name. Where it finds none, or nothing is open, it may stand in
 * front of its begin: of the same time, the next row of the lane. (With nothing open it may as well be of a range from
 * before the recording: only when the begin has no other end is it taken for its.) A lane whose rows are not in order of
 * time is late: its rows are kept and matched at the end, by time (openrows_late.c).
 */
#pragma once
#include "analyzer/idmap.h"
#include "schemas/event.h"

#include <stdbool.h>

struct openrow {
    struct event ev;
    uint32_t below; /* the row around it in its lane, or the next free one */
    bool had_end;   /* an end of the same time, which was nobody's, stands in front of it */
};

struct openlane {
    uint32_t top; /* the innermost open row, 1 + index of v; 0 none */
    uint32_t wait_name;
    int64_t wait_at, last_at;
    bool waits; /* an end for its begin */
    bool late;
    bool names; /* an end has been found by its name: one that is not is nobody's */
};

struct laterow { /* a row of a late lane; ends: ev has its name only */
    struct event ev;
    int64_t at; /* for order: also where the row has no time */
    uint32_t lane, order;
    bool ends, untimed, taken;
    bool behind; /* in the file behind the begin that it ends */
};

struct openrows {                                   /* zeroed but for the first three: empty */
    bool (*row)(void *ctx, const struct event *ev); /* takes a whole one; false stops */
    void *ctx;
    bool all_late;    /* nothing was looked at in advance */
    struct idmap ids; /* lane -> 1 + index of lanes */
    struct openlane *lanes;
    size_t nlanes, lanes_cap;
    struct openrow *v;
    size_t n, cap;
    uint32_t unused;
    struct laterow *late;
    size_t nlate, late_cap;
    int64_t open, lone_ends; /* after openrows_finish: rows without an end; ends without a begin */
};

/* Of a begin or an end without a time. */
#define OPENROWS_UNTIMED INT64_MIN

/* pid and tid in one key; both are small in earnest, and clashes only mix rows. */
int64_t openrows_lane(int64_t pid, int64_t tid);

/* In advance, the times of every lane in the order of the file: which lanes are late. */
void openrows_look(struct openrows *o, int64_t lane, int64_t at);

/* `ev` as it is but for its end. Kind EV_NKINDS: of no use, but its end belongs to it and to no row around it. */
bool openrows_begin(struct openrows *o, int64_t lane, const struct event *ev);

/* `name` 0: it says none. */
bool openrows_end(struct openrows *o, int64_t lane, int64_t at, uint32_t name);

/* Late lanes, and ends that still wait. */
bool openrows_finish(struct openrows *o);

void openrows_free(struct openrows *o);

/* openrows_late.c: puts the late rows into the order in which they can be matched. */
void openrows_arrange(struct laterow *v, size_t n);
