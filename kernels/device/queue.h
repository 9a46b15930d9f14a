/* queue.h - the queue between a host thread and a stream's worker: one producer, one consumer, entries of fixed size.
 *
 *      head (worker)          tail (host)
 *        v                      v
 *   |    | e | e | e | e | e | e |    |      positions only grow; an entry's slot is position % count
 *
 * Neither side spins for long: a side with nothing to do parks on a futex, and the other side makes the system call that
 * wakes it only then. An entry counts as done when the worker popped it, so waiting for it also waits for its effects.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue;

struct queue *queue_open(size_t count, size_t entry); /* count: a power of two; entry: a multiple of 64. NULL: no memory */
void queue_free(struct queue *q);                     /* when neither side uses it any more */

/* Host side. */
void *queue_slot(struct queue *q);             /* the next free entry; waits while all are in use */
void queue_push(struct queue *q);              /* hands the entry of queue_slot() over */
uint64_t queue_pushed(const struct queue *q);  /* entries so far: the position behind the last one */
bool queue_done(struct queue *q, uint64_t at); /* have all entries before position `at` been popped? */
void queue_wait(struct queue *q, uint64_t at); /* until they have */
void queue_end(struct queue *q);               /* no more entries: front() gives NULL once all are popped */

/* Worker side. */
void *queue_front(struct queue *q); /* the oldest entry; waits for one; NULL at the end */
void queue_pop(struct queue *q);
