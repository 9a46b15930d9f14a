/* queue.c - see queue.h. */
#include "kernels/device/queue.h"
#include "kernels/device/park.h"

#include <stdlib.h>
#include <string.h>

/* Turns of looking before a side sleeps: enough to catch an entry that is being written. More was measured to cost time as
 * soon as there are more threads than cores, and to gain nothing otherwise. */
enum { SPIN = 5, LINE = 64 };

struct queue {
    _Alignas(LINE) _Atomic uint64_t tail; /* host's */
    _Atomic uint64_t wake_at;             /* host's, read by the worker once it saw the host parked */
    uint64_t seen_head;                   /* the host's last look at head */
    struct park host;
    _Atomic bool ended;
    _Alignas(LINE) _Atomic uint64_t head; /* worker's */
    struct park worker;
    _Alignas(LINE) unsigned char *entries;
    size_t entry;
    uint64_t count;
};

struct queue *queue_open(size_t count, size_t entry)
{
    struct queue *q = aligned_alloc(LINE, sizeof *q);
    unsigned char *entries = aligned_alloc(LINE, count * entry);
    if (!q || !entries) {
        free(q);
        free(entries);
        return NULL;
    }
    memset(q, 0, sizeof *q);
    q->entries = entries;
    q->entry = entry;
    q->count = count;
    return q;
}

void queue_free(struct queue *q)
{
    free(q->entries);
    free(q);
}

static void *at(const struct queue *q, uint64_t position)
{
    return q->entries + (position & (q->count - 1)) * q->entry;
}

void *queue_slot(struct queue *q)
{
    uint64_t tail = queue_pushed(q);
    if (tail - q->seen_head == q->count) {
        q->seen_head = atomic_load_explicit(&q->head, memory_order_acquire);
        if (tail - q->seen_head == q->count)
            queue_wait(q, tail - q->count / 2); /* half of it, or the two sides would take turns at the edge */
    }
    return at(q, tail);
}

void queue_push(struct queue *q)
{
    atomic_store(&q->tail, queue_pushed(q) + 1);
    park_wake(&q->worker);
}

uint64_t queue_pushed(const struct queue *q)
{
    return atomic_load_explicit(&q->tail, memory_order_relaxed);
}

bool queue_done(struct queue *q, uint64_t position)
{
    q->seen_head = atomic_load(&q->head);
    return q->seen_head >= position;
}

void queue_wait(struct queue *q, uint64_t position)
{
    for (int i = 0; i < SPIN; i++) {
        if (queue_done(q, position))
            return;
        park_pause();
    }
    atomic_store_explicit(&q->wake_at, position, memory_order_relaxed);
    for (;;) {
        park_begin(&q->host);
        if (queue_done(q, position))
            break;
        park_sleep(&q->host);
    }
    park_end(&q->host);
}

void queue_end(struct queue *q)
{
    atomic_store(&q->ended, true);
    park_wake(&q->worker);
}

static bool something(struct queue *q, uint64_t head)
{
    return atomic_load(&q->tail) != head || atomic_load(&q->ended);
}

void *queue_front(struct queue *q)
{
    uint64_t head = atomic_load_explicit(&q->head, memory_order_relaxed);
    for (int i = 0; i < SPIN && !something(q, head); i++)
        park_pause();
    while (!something(q, head)) {
        park_begin(&q->worker);
        if (!something(q, head))
            park_sleep(&q->worker);
        park_end(&q->worker);
    }
    return atomic_load(&q->tail) != head ? at(q, head) : NULL;
}

void queue_pop(struct queue *q)
{
    uint64_t head = atomic_load_explicit(&q->head, memory_order_relaxed) + 1;
    atomic_store(&q->head, head);
    if (atomic_load(&q->host.asleep) && head >= atomic_load_explicit(&q->wake_at, memory_order_relaxed))
        park_wake(&q->host);
}
