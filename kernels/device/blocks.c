/* blocks.c - a table by address; what leaves it moves those behind it up, so that no search meets a hole. */
#include "kernels/device/blocks.h"

#include <assert.h>
#include <stdlib.h>

struct block_size {
    void *block; /* NULL: free */
    size_t size;
};

static size_t home(const struct blocks *b, const void *block)
{
    return (size_t)((uintptr_t)block * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (b->count - 1);
}

static size_t place(const struct blocks *b, const void *block)
{
    size_t at = home(b, block);
    while (b->slots[at].block && b->slots[at].block != block)
        at = (at + 1) & (b->count - 1);
    return at;
}

static bool grow(struct blocks *b)
{
    struct blocks larger = {.count = b->count ? 2 * b->count : 256, .used = b->used};
    larger.slots = calloc(larger.count, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < b->count; i++)
        if (b->slots[i].block)
            larger.slots[place(&larger, b->slots[i].block)] = b->slots[i];
    free(b->slots);
    *b = larger;
    return true;
}

bool blocks_add(struct blocks *b, void *block, size_t size)
{
    if (2 * (b->used + 1) > b->count && !grow(b))
        return false;
    b->slots[place(b, block)] = (struct block_size){block, size};
    b->used++;
    return true;
}

size_t blocks_take(struct blocks *b, void *block)
{
    size_t mask = b->count - 1, hole = place(b, block), size = b->slots[hole].size;
    assert(b->slots[hole].block == block && "a block that was given out");
    for (size_t at = (hole + 1) & mask; b->slots[at].block; at = (at + 1) & mask)
        if (((at - home(b, b->slots[at].block)) & mask) >= ((at - hole) & mask)) {
            b->slots[hole] = b->slots[at];
            hole = at;
        }
    b->slots[hole].block = NULL;
    b->used--;
    return size;
}

bool blocks_find(const struct blocks *b, uintptr_t address, void **block, size_t *size)
{
    for (size_t i = 0; i < b->count; i++) {
        uintptr_t start = (uintptr_t)b->slots[i].block;
        if (!start || address < start || address - start >= b->slots[i].size)
            continue;
        *block = b->slots[i].block;
        *size = b->slots[i].size;
        return true;
    }
    return false;
}

void blocks_free(struct blocks *b)
{
    free(b->slots);
    *b = (struct blocks){0};
}
