/* tracefile_events.h - the events of a trace file, for tracefile_load.c. */
#pragma once
#include "schemas/tracefile.h"

enum { FEW_EVENTS = 1 << 16 }; /* not worth a thread */

struct event_rows {
    unsigned spared;  /* in: bit k, rows of event kind k are not looked at (kinds without side rows that are loaded) */
    bool few;         /* in: of the others only the columns that analyses look at are read */
    int threads;      /* in: that may read at the same time */
    struct event *ev; /* out: the rows kept, in order of their ids, then the rows that stand for those left out; malloc'ed */
    size_t n, cap;    /* out */
    uint32_t *id;     /* out: of ev[0 .. nid-1]; NULL: nothing was left out and row i has id i + 1; malloc'ed */
    size_t nid;       /* out */
};

/* Events 1 .. n of the file; d: its keys, which the events are held against.
 *
 * Of rows that are left out the trace keeps what it is told by as a whole: of each thread, rank and kind the row that starts
 * first and the one that ends last; rows longer than a second or with strange times are kept all.
 * False: *e says what is wrong; the arrays are still the caller's to free. */
bool tracefile_events(const char *path, const struct tracedata *d, int64_t n, struct event_rows *out, struct err *e);
