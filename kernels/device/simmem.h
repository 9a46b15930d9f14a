/* simmem.h - addresses without memory: what bulk tensors get on the sim device, thousands of ranks at full size.
 *
 *   class 0 |block 0|block 1| ...     class 1 |  block 0  |  block 1  | ...      four classes to an octave
 *
 * The addresses lie where no process has memory, so that whoever reads or writes one ends with a signal at once: a kernel
 * that should not have run is found. Arithmetic inside a block is fine. Blocks given back are handed out again, last first.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIMMEM_CLASSES = 192 };
#define SIMMEM_BASE ((uintptr_t)1 << 60)

struct simmem {
    struct simmem_class {
        int64_t *asked;  /* of every block: the size that was asked for */
        uint32_t *spare; /* blocks not in use */
        size_t blocks, asked_cap, nspare, spare_cap;
    } classes[SIMMEM_CLASSES];
};

void *simmem_alloc(struct simmem *m, size_t bytes);   /* any size below 2^50; 64-byte aligned; never NULL */
size_t simmem_release(struct simmem *m, void *block); /* the size that was asked for */
void simmem_free(struct simmem *m);

/* Is it, or does it point into, such a block? */
static inline bool simmem_is(const void *p)
{
    return ((uintptr_t)p & SIMMEM_BASE) != 0;
}
