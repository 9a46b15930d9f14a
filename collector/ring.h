/* ring.h - the events of one thread on their way to the writer: a list of chunks, one thread writes, one reads.
 *
 *   read --> chunk -> chunk -> chunk <-- write      a chunk that was read to its end goes back to the pool
 */
#pragma once
#include "collector/pool.h"
#include "collector/recorder.h"

/* An event as it waits; right behind it stands a union emit_more when it has one, then the strings of a transient one. */
struct slot {
    int64_t start, end, correlation, bytes, sequence;
    const char *name, *text, *group, *function;
    const struct site *site;
    int32_t rank, device, stream, peer, group_size;
    int32_t tid; /* 0: that of the ring */
    uint8_t what, kind, sync_class, copy_kind, flavour;
    int8_t did_block;
    bool transient;
    bool heap;      /* name and text are one malloc'ed piece, at `name`: too long for a chunk */
    bool more;      /* a union emit_more follows */
    uint32_t extra; /* bytes behind it, a multiple of 8 */
};

static inline const union emit_more *slot_more(const struct slot *s)
{
    return s->more ? (const union emit_more *)(s + 1) : NULL;
}

/* FREE -> LIVE by a thread's first event, -> DONE when the thread ends, -> FREE when the writer has read all of it. The next
 * thread goes on where the last one stopped. */
enum ring_state { RING_FREE, RING_LIVE, RING_DONE };

struct ring {
    /* of the emitting thread */
    struct chunk *write;
    uint32_t at; /* `used` of that chunk */
    int32_t tid;
    char name[16]; /* of the thread when it emitted first */

    _Atomic(struct chunk *) first; /* set once */
    _Atomic int64_t lost;          /* events dropped; only grows */
    _Atomic int state;             /* enum ring_state */
    _Atomic(struct ring *) next;   /* in the list of all rings */

    /* of the writer */
    struct chunk *read;
    uint32_t read_at;
    uint32_t thread; /* id of its thread in the trace; 0 not yet */
    int64_t lost_seen;
};

/* Copies the event in; false: dropped, and counted in r->lost. Of the thread that owns the ring. */
bool ring_put(struct ring *r, struct pool *p, const struct activity *a, struct emit_as as);

/* The next event, NULL when there is none; it stays valid until the next call. Of the writer. */
const struct slot *ring_next(struct ring *r, struct pool *p);

/* Gives all chunks back; nobody writes or reads any more. */
void ring_drop(struct ring *r, struct pool *p);
