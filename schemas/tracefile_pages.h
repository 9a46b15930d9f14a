/* tracefile_pages.h - the events of a trace file straight from the pages of their table, for tracefile_load.c.
 *
 * Reading them so costs a fifth of asking SQLite row by row, and rows of kinds that nobody looks at need not be kept. The
 * pages come through SQLite's file handle inside a read transaction, so locks and hot journals are its own affair.
 */
#pragma once
#include "schemas/tracefile.h"

/* Columns of the table event, in its order: id, start, end ... site; what stands for NULL in each. */
enum { EVENT_COLUMNS = 12 };
extern const int64_t event_absent[EVENT_COLUMNS];
/* False: a key that is not among those of d, or an impossible time. */
bool event_make(const struct tracedata *d, const int64_t v[EVENT_COLUMNS], struct event *ev);

struct event_rows {
    unsigned spared;  /* in: bit k, rows of event kind k are not looked at (kinds without side rows that are loaded) */
    int threads;      /* in: that may read at the same time */
    struct event *ev; /* out: the rows kept, in order of their ids, then the rows that stand for those left out; malloc'ed */
    size_t n, cap;    /* out */
    uint32_t *id;     /* out: of ev[0 .. nid-1]; NULL: nothing was left out and row i has id i + 1; malloc'ed */
    size_t nid;       /* out */
};

/* Events 1 .. n of the file; d: its keys, which the events are held against. False: not a plain table of whole numbers, in
 * a file that is plain and whole: ask SQLite, which has the words for what is wrong, if anything is.
 *
 * Of rows that are left out the trace keeps what it is told by as a whole: of each thread, rank and kind the row that starts
 * first and the one that ends last; rows longer than a second or with strange times are kept all. */
bool tracefile_pages(const char *path, const struct tracedata *d, int64_t n, struct event_rows *out);
