/* pool.h - device memory of the cpu backend: blocks kept by size class, so that the steady state asks the system for none.
 *
 * Used by the device's host thread only. A block given back is handed out again at once: the work that still uses it and
 * the work that will are in one stream, hence in order. Size classes are four to an octave (at most a quarter unused).
 *
 *     | header, 64 bytes | the block, 64-byte aligned ... |
 *
 * With the address sanitizer blocks have their exact size, and those given back are freed when the stream has drained
 * (pool_settle), so that a kernel that leaves its buffer or uses one too late is found.
 */
#pragma once
#include <stddef.h>

struct pool_block;

enum { POOL_CLASSES = 256 };

struct pool {
    struct pool_block *all;                 /* every block there is */
    struct pool_block *spare[POOL_CLASSES]; /* those not in use */
};

void *pool_alloc(struct pool *p, size_t bytes);    /* NULL: out of memory */
size_t pool_release(struct pool *p, void *memory); /* the size that was asked for */
void pool_settle(struct pool *p);                  /* no work is enqueued now */
void pool_close(struct pool *p);                   /* frees everything, blocks in use too */
