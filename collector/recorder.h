/* recorder.h - from events on any thread to one trace file.
 *
 *   thread 1 --emit--> ring 1 --+
 *   thread 2 --emit--> ring 2 --+--> writer thread --> struct tracedata (a window) --> trace file (WAL)
 *   ...                         |
 *   pool of 64 KB chunks <------+
 *
 * An emit copies the event into the ring of its thread: no lock, no system call, no allocation, except for the first event
 * of a thread and for one lock-free chunk fetch in some 500 events. Nothing exists before the first event: no thread, no file, no
 * memory. What does not fit under the cap is dropped and counted by interval. The program that is measured never notices: no function
 * here fails, ends the program, prints to stdout, changes errno or leaves a signal handler behind; what goes wrong is said
 * once on stderr and the recorder stands aside.
 */
#pragma once
#include "schemas/slot.h"

struct recorder;
struct record_options;

/* A source of events: one file source_NAME.c defines `const struct event_source source_NAME`. */
struct event_source {
    const char *name;
    const char *what;                   /* one line: what it records */
    bool (*start)(struct recorder *r);  /* false: nothing to record in this process; says itself why, if that is news */
    void (*stop)(struct recorder *r);   /* closes what is open (emitting it) before the recorder ends; NULL: nothing to do */
    void (*forked)(struct recorder *r); /* in a forked child, where no other thread runs; NULL: nothing to do */
};

extern const struct event_source *const event_sources[]; /* ends with NULL */

struct recorder_config {
    const char *out;                      /* file pattern: outfile.h */
    int64_t replace_before;               /* an existing file is replaced when it was last written before this (epoch ns); 0: never */
    uint32_t kinds;                       /* bit k: events of enum ev_kind k are kept; 0 = all */
    const char *command;                  /* masked command line; NULL: that of the process, masked here */
    const char *stack_threshold;          /* ns, as text; NULL not given */
    const struct record_options *options; /* what to leave out (control.h); NULL: nothing */
    size_t memory_cap;                    /* bytes of all rings together; 0 = 512 MB */
};

/* A recorder that waits for its first event. NULL when there is no memory. The strings of *c are copied. */
struct recorder *recorder_open(const struct recorder_config *c);

/* One report from any thread. The name, group, function and site of a report that is not transient must stay as they
 * are until recorder_close. Of a range, `group` is its domain (NULL: the default domain). A report out of a signal handler that
 * interrupted another one is dropped and counted. */
void recorder_emit(struct recorder *r, const struct activity *a);

/* The same with what only our own sources know. */
void recorder_emit_as(struct recorder *r, const struct activity *a, const struct emit_as *as);

/* A range has been opened or closed, whose name is kept text (text.h). Only --range and --steps look at it; what is emitted
 * when it ends is another matter. */
void recorder_opened(struct recorder *r, const char *name, int64_t start);
void recorder_closed(struct recorder *r, const char *name, int64_t end);

/* The same for ranges of the calling thread that nobody keeps: they are closed without a name. */
void recorder_pushed(struct recorder *r, const char *name, int64_t start);
void recorder_popped(struct recorder *r, int64_t end);

/* Can an event of the kind still be wanted? A source need not collect what is not. */
bool recorder_wants(const struct recorder *r, enum ev_kind kind);

/* Has the recording stopped for good (--duration, --max-size, an error), so that sources may let go? */
bool recorder_stopped(const struct recorder *r);

/* A fact about the recording; a later value replaces an earlier one. Copied. Alone it makes no file. */
void recorder_meta(struct recorder *r, const char *key, const char *value);

/* When the recording began, of clock_now(). */
int64_t recorder_epoch(const struct recorder *r);

/* Something that is missing in the trace, and why, with the cure: added to meta "degraded", and said once on stderr. */
void recorder_degraded(struct recorder *r, const char *reason);

/* Records that are missing, added up by reason (static text); the interval in absolute ns of clock_now(). */
void recorder_lost(struct recorder *r, const char *reason, int64_t count, int64_t start, int64_t end);

/* A reading of another clock (static name) between two of ours, absolute ns. */
void recorder_clock_pair(struct recorder *r, const char *clock, const int64_t reading[3]);

/* Stops every further event, writes what is there and finishes the file; waits for that. A thread that still emits does no
 * harm. */
void recorder_close(struct recorder *r);

/* Around fork(): before() waits until the writer is between two batches, after() lets it go on. In the child, in_child()
 * makes *r a recorder that waits for its first event; it shares nothing with the parent. */
void recorder_fork_before(struct recorder *r);
void recorder_fork_after(struct recorder *r);
void recorder_fork_in_child(struct recorder *r);

/* Frees a closed recorder: only where no thread can emit any more (tests). */
void recorder_free(struct recorder *r);

/* What the writer did so far, for tests and benchmarks. */
struct recorder_stats {
    int64_t events, lost, bytes_peak; /* written; dropped; of the rings */
    int64_t writer_ns;                /* CPU time of the writer thread; known after recorder_close */
    const char *path;                 /* of the file; NULL: none; known after recorder_close */
};
struct recorder_stats recorder_stats(const struct recorder *r);
