/* pool.c - see pool.h. */
#include "kernels/device/pool.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EXACT 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define EXACT 1
#endif
#ifndef EXACT
#define EXACT 0
#endif

enum { LINE = 64 };

struct pool_block {
    size_t asked;
    struct pool_block *spare_next, *prev, *next; /* prev, next: of all */
    unsigned class;
    _Alignas(LINE) unsigned char memory[];
};
_Static_assert(sizeof(struct pool_block) == LINE, "the block follows its header");

/* 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20 ... lines of 64 bytes. */
static unsigned class_of(size_t bytes, size_t *size)
{
    uint64_t lines = bytes / LINE + (bytes % LINE != 0);
    if (lines <= 4) {
        lines += lines == 0;
        *size = lines * LINE;
        return (unsigned)lines;
    }
    unsigned octave = 63 - (unsigned)__builtin_clzll(lines - 1);
    unsigned quarter = (lines - 1) >> (octave - 2) & 3;
    *size = ((size_t)(5 + quarter) << (octave - 2)) * LINE;
    return octave * 4 + quarter;
}

void *pool_alloc(struct pool *p, size_t bytes)
{
    if (bytes > SIZE_MAX / 4)
        return NULL;
    size_t size;
    unsigned class = class_of(bytes, &size);
    struct pool_block *b = EXACT ? NULL : p->spare[class];
    if (b) {
        p->spare[class] = b->spare_next;
    } else {
        void *raw;
        if (posix_memalign(&raw, LINE, sizeof *b + (EXACT ? bytes : size)) != 0)
            return NULL;
        b = raw;
        *b = (struct pool_block){.class = class, .next = p->all};
        if (p->all)
            p->all->prev = b;
        p->all = b;
    }
    b->asked = bytes;
    b->spare_next = NULL;
    return b->memory;
}

size_t pool_release(struct pool *p, void *memory)
{
    struct pool_block *b = (struct pool_block *)((unsigned char *)memory - sizeof *b);
    b->spare_next = p->spare[b->class];
    p->spare[b->class] = b;
    return b->asked;
}

static void drop(struct pool *p, struct pool_block *b)
{
    *(b->prev ? &b->prev->next : &p->all) = b->next;
    if (b->next)
        b->next->prev = b->prev;
    free(b);
}

void pool_settle(struct pool *p)
{
    for (int i = 0; EXACT && i < POOL_CLASSES; i++)
        while (p->spare[i]) {
            struct pool_block *b = p->spare[i];
            p->spare[i] = b->spare_next;
            drop(p, b);
        }
}

void pool_close(struct pool *p)
{
    while (p->all)
        drop(p, p->all);
}
