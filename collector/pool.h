/* pool.h - chunks of 64 KB out of one reserved piece of address space, taken and given back without a lock.
 *
 *   base | chunk 0 | chunk 1 | ... | chunk limit-1 |      memory is touched in this order, up to `fresh`
 *                ^-- free list: head = (tag << 32 | number + 1), last in first out, so that a reused chunk is warm
 */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHUNK_BYTES = 1 << 16 };

struct chunk {
    _Atomic(struct chunk *) next; /* in its ring; set once, after the last write to `used` */
    _Atomic uint32_t used;        /* bytes of data[] that are whole; written by the emitting thread alone */
    _Atomic uint32_t next_free;   /* in the free list: number + 1 of the next one, 0 none */
    char pad[48];
    char data[]; /* CHUNK_ROOM bytes */
};

enum { CHUNK_ROOM = CHUNK_BYTES - sizeof(struct chunk) };

struct pool {
    char *base;
    size_t limit; /* chunks */
    _Atomic uint64_t head;
    _Atomic uint32_t fresh; /* chunks that were ever used */
};

/* Reserves `bytes` of address space, less where that is refused (down to 1 MB); false: none. */
bool pool_open(struct pool *p, size_t bytes);
void pool_close(struct pool *p);
struct chunk *pool_take(struct pool *p); /* NULL: the cap is reached */
void pool_give(struct pool *p, struct chunk *c);
size_t pool_peak(const struct pool *p); /* bytes that were in use at most, to the chunk */
