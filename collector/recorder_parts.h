/* recorder_parts.h - what recorder.c (the emitting threads) and writer.c (the writer thread) share. */
#pragma once
#include "collector/control.h"
#include "collector/notes.h"
#include "collector/recorder.h"
#include "collector/ring.h"
#include "schemas/launch.h"

#include <pthread.h>

enum { FACTS_MAX = 256, DEGRADED_MAX = 2048, RINGS_CLOSED = 1 };

struct fact {
    char *key, *value;
};

struct recorder {
    /* Changes when the rings of before are no longer to be used: closed (RINGS_CLOSED) or forked. Read at each emit. */
    _Atomic uint64_t generation;
    uint32_t kinds;
    struct control control;
    int64_t max_size; /* of the file, bytes; -1 none */
    struct pool pool;
    int pool_why; /* pool.why as it was told */
    struct defs defs;
    _Atomic(struct ring *) rings;
    uint32_t nrings;   /* so far; a ring keeps its number */
    pthread_key_t key; /* its destructor tells that a thread ended */

    char *out, *command, *stack_threshold;
    int64_t replace_before;
    size_t memory_cap;

    pthread_mutex_t lock; /* rings being added, facts, start and end of the writer; never held over a call that blocks */
    pthread_cond_t wake;  /* to the writer: closing; from it: ended */
    pthread_mutex_t gate; /* held by the writer while it is inside SQLite, and around a fork */
    struct fact facts[FACTS_MAX];
    size_t nfacts;
    char degraded[DEGRADED_MAX];
    struct notes notes;
    _Atomic uint32_t news; /* counts changes of facts, degraded and notes */
    bool started, closing, ended;
    pthread_t thread;

    int64_t t0;                   /* clock_now() at the start, with the wall clock around it */
    int64_t realtime[3];          /* clock, CLOCK_REALTIME, clock */
    _Atomic int64_t in_signal;    /* events dropped because they came out of a signal handler inside an emit */
    _Atomic int64_t events, lost; /* written to the file; dropped */
    int64_t writer_ns;
    char path[4096]; /* of the file: ours from the first event on, though it may still be empty */
};

/* Takes a name for the file and makes the rings, in a file beside it. false: nothing can be recorded, and that was said.
 * Under the lock, by the thread with the first event. */
bool recorder_begin_files(struct recorder *r);

/* Tells when the file of the rings could not be made or cannot grow. Under the lock. */
void recorder_check_ring(struct recorder *r);

/* Removes the file of the rings, and the trace with it unless `keep`. */
void recorder_end_files(struct recorder *r, bool keep);

/* The ring of the calling thread, which is in the recorder until recorder_leave(): a signal handler of it must not go on
 * then. NULL: it is in there already, or nothing is recorded; then it is not to leave. */
struct ring *recorder_enter(struct recorder *r);
void recorder_leave(void);

/* Adds to meta "degraded" and says it, once. Under the lock. */
void recorder_add_degraded(struct recorder *r, const char *reason);

/* The writer thread: from the first event to the finished file. */
void *writer_main(void *recorder);

/* One line on stderr, "cpscope: ..."; not through stdio, whose lock the program may hold. */
void recorder_say(const char *text);

/* A reading of the wall clock between two of ours. */
void recorder_clocks(int64_t reading[3]);
