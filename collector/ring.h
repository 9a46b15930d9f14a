/* ring.h - the events of one thread on their way to the writer: a list of chunks, one thread writes, one reads.
 *
 *   oldest --> chunk -> chunk <-- read --> chunk <-- write     what was read goes back to the pool once it is in the trace
 */
#pragma once
#include "collector/defs.h"
#include "collector/recorder.h"
#include "schemas/packed.h"

/* FREE -> LIVE by a thread's first event, -> DONE when the thread ends, -> FREE when the writer has read all of it. The next
 * thread goes on where the last one stopped. */
enum ring_state { RING_FREE, RING_LIVE, RING_DONE };

enum { RING_KNOWS = 128 };

struct ring {
    /* of the emitting thread */
    struct chunks out;
    int32_t tid;
    uint32_t number;
    char name[16];              /* of the thread when it emitted first */
    struct defs *defs;          /* NULL: nothing is defined (timing) */
    uint64_t knows[RING_KNOWS]; /* the addresses of events that came lately: they are defined */

    _Atomic int64_t lost;        /* events dropped; only grows */
    _Atomic int state;           /* enum ring_state */
    _Atomic(struct ring *) next; /* in the list of all rings */

    /* of the writer */
    struct chunk *read, *oldest;
    uint32_t read_at, read_to; /* read_to: what was whole of that chunk at the last look */
    struct slot slot;          /* the event that was read last */
    uint32_t thread;           /* id of its thread in the trace; 0 not yet */
    int64_t lost_seen;
    int64_t marked; /* ring_position() as the trace file knows it */
};

/* Copies the event in; false: dropped, and counted in r->lost. Of the thread that owns the ring. */
bool ring_put(struct ring *r, struct pool *p, const struct activity *a, const struct emit_as *as);

/* The next event, NULL when there is none; it stays until the next call, its texts until ring_release(). Of the writer. */
const struct slot *ring_next(struct ring *r);

/* How many bytes of the ring were read. */
int64_t ring_position(const struct ring *r);

/* Gives back the chunks that were read to their end. */
void ring_release(struct ring *r, struct pool *p);

/* Gives all chunks back; nobody writes or reads any more. */
void ring_drop(struct ring *r, struct pool *p);
