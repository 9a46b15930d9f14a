/* idlehost.h - what the host did while a device was idle: for idle.c.
 */
#pragma once
#include "analyzer/idle.h"
#include "analyzer/waits.h"

/* One host thread, or all of a rank together. */
struct hostview {
    struct ivlset covered;           /* inside a row, or between rows close together */
    const struct wait *const *waits; /* by start */
    size_t nwaits;
};

/* Calls outlive the view; arrays live in `a`. */
struct hostviews {
    struct hostview *threads; /* by position in rank.threads */
    struct hostview all;
    uint32_t *thread_at; /* by thread id: 1 + position in rank.threads; 0: another rank's */
};

/* w: the waits of the rank, by thread and start. */
void hostviews_make(const struct trace *t, const struct trace_rank *r, const struct wait *w, size_t n, struct hostviews *v, struct arena *a);

/* By row: 1 + id in *names of what the host was at when it made the call; only for rows marked 1 in `wanted` (which is
 * by row, and is overwritten with the answer). */
void launch_sites(const struct trace *t, uint32_t file, uint32_t *wanted, struct intern *names);

enum { SEVERAL_WAITS = UINT32_MAX };

/* By row: 1 + the row of the wait when the stream of that device row had been told to wait for an event between the launch of
 * the stream's row before and its own, SEVERAL_WAITS when more than once; else 0. launched: launches_find(). */
uint32_t *event_waits(const struct trace *t, uint32_t file, const uint32_t *launched, struct arena *a);
