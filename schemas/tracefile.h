/* tracefile.h - a trace on disk: the only SQL on events.
 *
 * Two ways to write one:
 *   tracefile_create   PATH.tmp, renamed to PATH by tracefile_finish: an importer leaves all or nothing
 *   tracefile_record   PATH itself in WAL mode, committed at every append: readable after SIGKILL; finish makes it plain
 *
 * Reading takes our own files only (tracefile_is). An unfinished recording is completed on the way: in place when its
 * folder can be written, else on a temporary copy.
 */
#pragma once
#include "schemas/tracedata.h"

#define TRACEFILE_APPLICATION_ID 0x63707363 /* "cpsc" */

struct tracefile;

/* An existing file: refused unless `force`. NULL on failure. */
struct tracefile *tracefile_create(const char *path, bool force, struct err *e);
struct tracefile *tracefile_record(const char *path, bool force, struct err *e);

/* Writes the keys that are new, all events and their side rows, in one transaction; d keeps its keys and loses its
 * events and side rows (d->first moves on). Fits d->spill with the file as context. */
bool tracefile_append(struct tracedata *d, void *file, struct err *e);

/* tracefile_append() for producers that are busy themselves: the events are written by a thread of its own while the
 * next ones are made, one batch behind. The file is the same, byte for byte. Fits d->spill with the handle as context;
 * _end waits for the last batch and frees; before it nothing else may be done with the file. */
struct tracefile_behind;
struct tracefile_behind *tracefile_behind(struct tracefile *f);
bool tracefile_append_behind(struct tracedata *d, void *behind, struct err *e);
bool tracefile_behind_end(struct tracefile_behind *b, struct err *e);

/* How much of ring `ring` (ringfile.h) is in the file once the next append has happened: written in its transaction. The
 * marks must stay where they are until then. */
struct ring_mark {
    int64_t ring, read;
};
void tracefile_marks(struct tracefile *f, const struct ring_mark *v, size_t n);

/* Opens an unfinished recording to go on with it: its keys and facts come into *d (initialised, empty), its marks into a
 * malloc'ed array. NULL on failure. */
struct tracefile *tracefile_continue(const char *path, struct tracedata *d, struct ring_mark **marks, size_t *n, struct err *e);

/* Writes meta, clocks, loss and memory as they are now (a recording does so early, and again at its end). */
bool tracefile_facts(struct tracefile *f, struct tracedata *d, struct err *e);

/* The rest of *d, meta, loss, clocks and memory; then the file is made whole and closed. On failure nothing is left
 * (create) or what was committed stays (record). */
bool tracefile_finish(struct tracefile *f, struct tracedata *d, struct err *e);

/* The same for a recording that was continued after its program had gone: it does not become one with a clean end. */
bool tracefile_leave(struct tracefile *f, struct tracedata *d, struct err *e);

/* NULL is fine. Drops an unfinished file of tracefile_create; leaves a recording as it is (it can be recovered). */
void tracefile_close(struct tracefile *f);

/* Is PATH one of ours, by its header? False also for what cannot be read. */
bool tracefile_is(const char *path);
/* Of an SQLite database, from its header; -1: an empty file, 0: anything else. */
int64_t tracefile_application_id(const char *path);

/* What can be left out, as bits: side tables; rows of a kind; columns of events that no analysis looks at, which are for
 * exports and packing: of work the site, of host rows the bytes, of those that are no calls device, stream and correlation,
 * too, and of those that are neither calls nor operators the site; of calls that do not block device and stream. */
enum tracefile_side {
    SIDE_SYNC = 1,
    SIDE_KERNEL = 2,
    SIDE_COMM = 4,
    SIDE_COPY = 8,
    SIDE_RANGE = 16,
    ROWS_RUNTIME = 32, /* only with SIDE_SYNC */
    ROWS_OP = 64,
    ROWS_FRAME = 128,
    ROWS_ANY = ROWS_RUNTIME | ROWS_OP | ROWS_FRAME,
    COLUMNS_ALL = 256,
    SIDE_ALL = 511
};

/* Everything into *d (initialised by the caller, empty). meta clean_end is "1" or "0". */
bool tracefile_load(const char *path, struct tracedata *d, struct err *e);

/* The same but for what `sides` leaves out. Events without their side table have no detail. Of rows that are left out, where
 * that is cheaper, some stay: what the trace is told by as a whole (extent, kinds, ranks, threads, impossible rows) is as
 * with all of them. Keys and facts are all there. Large files are read by up to `threads` threads (0: as many as there are cores); the result is the same. */
bool tracefile_load_some(const char *path, unsigned sides, int threads, struct tracedata *d, struct err *e);

/* It has a WAL, or whoever reads it would make one: the last writer may have found no moment without readers to change that.
 * Loading and recovering mend it. */
bool tracefile_in_wal(const char *path);

/* Of the file as it would be if it were finished now: what is in its WAL counts, the WAL does not. -1: it cannot be asked. */
int64_t tracefile_bytes(struct tracefile *f);

/* Finishes an unfinished recording in place; *done says whether there was something to do. */
bool tracefile_recover(const char *path, bool *done, struct err *e);
