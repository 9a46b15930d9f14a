/* blocks.h - the sizes of device blocks whose memory the host cannot write: by address, one host thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blocks {
    struct block_size *slots; /* open addressing; count is a power of two */
    size_t count, used;
};

bool blocks_add(struct blocks *b, void *block, size_t size); /* false: out of memory */
size_t blocks_take(struct blocks *b, void *block);           /* forgets the block, which must be there; its size */
/* The block that an address lies in; looks at all of them. */
bool blocks_find(const struct blocks *b, uintptr_t address, void **block, size_t *size);
void blocks_free(struct blocks *b);
