/* pool.c - a stack of free chunks; the tag in its head tells a chunk that left and came back from one that stayed. */
#include "collector/pool.h"

#include <sys/mman.h>

enum { LEAST = 1 << 20 };

bool pool_open(struct pool *p, size_t bytes)
{
    *p = (struct pool){0};
    size_t want = bytes < CHUNK_BYTES ? CHUNK_BYTES : bytes / CHUNK_BYTES * CHUNK_BYTES;
    for (; !p->base; want /= 2) {
        void *m = mmap(NULL, want, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (m != MAP_FAILED) {
            p->base = m;
            p->limit = want / CHUNK_BYTES;
        } else if (want <= LEAST)
            return false;
    }
    return true;
}

void pool_close(struct pool *p)
{
    if (p->base)
        munmap(p->base, p->limit * CHUNK_BYTES);
    *p = (struct pool){0};
}

static struct chunk *chunk_at(struct pool *p, uint32_t number)
{
    return (struct chunk *)(p->base + (size_t)number * CHUNK_BYTES);
}

static struct chunk *take_fresh(struct pool *p)
{
    uint32_t n = atomic_load_explicit(&p->fresh, memory_order_relaxed);
    do
        if (n >= p->limit)
            return NULL;
    while (!atomic_compare_exchange_weak_explicit(&p->fresh, &n, n + 1, memory_order_relaxed, memory_order_relaxed));
    return chunk_at(p, n);
}

struct chunk *pool_take(struct pool *p)
{
    uint64_t head = atomic_load_explicit(&p->head, memory_order_acquire);
    while ((uint32_t)head) {
        struct chunk *c = chunk_at(p, (uint32_t)head - 1);
        uint64_t tag = (head >> 32) + 1;
        uint64_t next = tag << 32 | atomic_load_explicit(&c->next_free, memory_order_relaxed);
        if (atomic_compare_exchange_weak_explicit(&p->head, &head, next, memory_order_acquire, memory_order_acquire))
            return c;
    }
    return take_fresh(p);
}

void pool_give(struct pool *p, struct chunk *c)
{
    uint32_t number = (uint32_t)(((char *)c - p->base) / CHUNK_BYTES);
    uint64_t head = atomic_load_explicit(&p->head, memory_order_relaxed), next;
    do {
        atomic_store_explicit(&c->next_free, (uint32_t)head, memory_order_relaxed);
        next = ((head >> 32) + 1) << 32 | (number + 1);
    } while (!atomic_compare_exchange_weak_explicit(&p->head, &head, next, memory_order_release, memory_order_relaxed));
}

size_t pool_peak(const struct pool *p)
{
    return (size_t)atomic_load_explicit(&p->fresh, memory_order_relaxed) * CHUNK_BYTES;
}
