/* tracefile_behind.c - writing a trace file while its events are still being made.
 *
 *   producer   | batch 1 | keys | batch 2 | wait, keys | batch 3 |        the arrays of a batch change hands
 *   writer               | events of 1 .....|          | events of 2 ... |
 *
 * Keys are written by the producer, whose arrays they are in, so the statements come in one order whatever the timing.
 */
#include "schemas/tracefile_sql.h"

#include <pthread.h>
#include <stdlib.h>

struct tracefile_behind {
    struct tracefile *f;
    struct tracedata batch; /* events and side rows only; its arrays are given back at the next turn */
    pthread_t thread;
    bool running;
    struct err err;
};

struct tracefile_behind *tracefile_behind(struct tracefile *f)
{
    size_t cap = 0;
    struct tracefile_behind *b = array_grow(NULL, &cap, 1, sizeof *b);
    *b = (struct tracefile_behind){.f = f};
    return b;
}

static void *write_batch(void *arg)
{
    struct tracefile_behind *b = arg;
    tracefile_put_events(b->f, &b->batch, &b->err);
    return NULL;
}

static bool wait_for(struct tracefile_behind *b, struct err *e)
{
    if (b->running)
        pthread_join(b->thread, NULL);
    b->running = false;
    return b->err.kind == ERR_NONE || fail(e, b->err.kind, "%s", b->err.msg);
}

#define SWAP_ARRAY(x, y, v, n, cap)                                                                                                                  \
    do {                                                                                                                                             \
        void *v_ = (x)->v;                                                                                                                           \
        size_t cap_ = (x)->cap;                                                                                                                      \
        (x)->v = (y)->v;                                                                                                                             \
        (x)->cap = (y)->cap;                                                                                                                         \
        (y)->v = v_;                                                                                                                                 \
        (y)->cap = cap_;                                                                                                                             \
        (y)->n = (x)->n;                                                                                                                             \
        (x)->n = 0;                                                                                                                                  \
    } while (0)

/* The events of *d become the batch; *d goes on with the arrays of the batch before. */
static void hand_over(struct tracedata *d, struct tracedata *batch)
{
    batch->first = d->first;
    d->first += (int64_t)d->n;
    SWAP_ARRAY(d, batch, ev, n, cap);
    SWAP_ARRAY(d, batch, syncs, nsyncs, syncs_cap);
    SWAP_ARRAY(d, batch, kernels, nkernels, kernels_cap);
    SWAP_ARRAY(d, batch, comms, ncomms, comms_cap);
    SWAP_ARRAY(d, batch, copies, ncopies, copies_cap);
    SWAP_ARRAY(d, batch, ranges, nranges, ranges_cap);
}

bool tracefile_append_behind(struct tracedata *d, void *behind, struct err *e)
{
    struct tracefile_behind *b = behind;
    bool ok = wait_for(b, e) && tracefile_put_keys(b->f, d, e);
    hand_over(d, &b->batch);
    if (!ok)
        return false;
    b->running = pthread_create(&b->thread, NULL, write_batch, b) == 0;
    if (!b->running)
        write_batch(b);
    return true;
}

bool tracefile_behind_end(struct tracefile_behind *b, struct err *e)
{
    bool ok = wait_for(b, e);
    void *arrays[] = {b->batch.ev, b->batch.syncs, b->batch.kernels, b->batch.comms, b->batch.copies, b->batch.ranges};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    free(b);
    return ok;
}
