/* pool.h - chunks of 64 KB out of one reserved piece of address space, taken and given back without a lock.
 *
 *   base | head | chunk 0 | chunk 1 | ... | chunk limit-1 |      memory is touched in this order, up to `fresh`
 *                  ^-- free list: head = (tag << 32 | number + 1), last in first out, so that a reused chunk is warm
 *
 * The memory is that of a file (ringfile.h), which grows by GROUP chunks before they are first needed; each growth opens the
 * file anew, for the program may have closed our descriptor. Where the file cannot grow, what follows is plain memory.
 */
#pragma once
#include "schemas/ringfile.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct pool {
    struct ring_head *base;
    size_t limit; /* chunks */
    _Atomic uint64_t head;
    _Atomic uint32_t fresh;  /* chunks that were ever used */
    _Atomic uint32_t backed; /* chunks that may be used: of the file, or plain ones where it has ended */
    pthread_mutex_t lock;    /* of growing */
    char *path;              /* NULL: plain memory from here on */
    dev_t device;
    ino_t inode;
    int why; /* errno of the growth that failed; 0 none did */
};

/* Reserves `bytes` of address space, less where that is refused (down to 1 MB); false: none. With a path the memory is that
 * of a new file of that name; where it cannot be made it is plain, and p->why says so. */
bool pool_open(struct pool *p, size_t bytes, const char *path);
void pool_close(struct pool *p); /* the file stays */
/* An empty chunk of a ring, which has `base` bytes before it. NULL: the cap is reached. */
struct chunk *pool_take(struct pool *p, uint32_t ring, int64_t base);
/* Lets the file grow before it has to: for the writer, so that who takes a chunk need not. */
void pool_ahead(struct pool *p);
void pool_give(struct pool *p, struct chunk *c);

/* What somebody writes who fills chunk after chunk; a reader starts at the first and follows `next`. */
struct chunks {
    struct chunk *write;           /* NULL: none yet */
    uint32_t at;                   /* `used` of that chunk */
    int64_t total;                 /* bytes before it */
    _Atomic(struct chunk *) first; /* set once */
};
/* The next one, empty, of that ring. false: the cap is reached, and all stays. */
bool chunks_more(struct chunks *c, struct pool *p, uint32_t ring);

size_t pool_peak(const struct pool *p); /* bytes that were in use at most, to the chunk */
