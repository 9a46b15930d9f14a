/* nvtx_started.h - ranges between their start and their end, which may come from any thread.
 *
 *   id = turn of the place << 32 | place + 1        a place that is used again has another turn: an old id ends nothing
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct domain;

struct started {
    int64_t start;
    const struct domain *domain;
    const char *name; /* kept text (text.h) */
    int32_t tid;
};

/* Any thread; the id, 0: no memory. errno is kept. */
uint64_t started_put(const struct started *s);

/* The range of an id, which is over; false: there is none (any more). */
bool started_take(uint64_t id, struct started *s);

/* Ends all that are open, each by a call of `end`; how many. */
size_t started_end(void (*end)(const struct started *s, int64_t now), int64_t now);

void started_forked(void); /* in a forked child: they are the parent's */
