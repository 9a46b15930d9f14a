/* feed.h - an event out of a ring becomes a row of the trace: pointers become ids, each pointer looked up once. */
#pragma once
#include "schemas/deftable.h"
#include "schemas/slot.h"
#include "schemas/tracedata.h"

struct feed_key { /* of a static string, with an index for "layer#3"; of a site */
    const void *pointer;
    int64_t index;
    uint32_t id; /* 0: free */
};

struct feed {
    struct tracedata *d;
    uint32_t process;
    int32_t rank;           /* of the process, for events that bring none; -1 none */
    struct feed_key *names; /* open addressing */
    size_t nnames, names_cap;
    struct feed_key *sites;
    size_t nsites, sites_cap;
    uint32_t *stacks; /* by number: 1 + id of the stack, 0 not looked at */
    size_t stacks_cap;
    struct deftable *defs; /* of frames and stacks; NULL: there are none */
    int64_t events;        /* so far */
};

void feed_init(struct feed *f, struct tracedata *d, uint32_t process, int32_t rank);
void feed_free(struct feed *f);

/* Appends the event to f->d (which must not spill by itself). `thread` is the id of the thread s->tid. */
void feed_slot(struct feed *f, const struct slot *s, uint32_t thread);
