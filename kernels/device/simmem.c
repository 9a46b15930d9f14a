/* simmem.c - address = 2^60 + class * 2^52 + block number * the class's size. */
#include "kernels/device/simmem.h"
#include "schemas/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CLASS_SHIFT = 52, LEAST_SHIFT = 8 };

static size_t size_of(unsigned k)
{
    size_t base = (size_t)1 << (LEAST_SHIFT + k / 4);
    return base + k % 4 * (base / 4);
}

/* The smallest class whose blocks hold `bytes`: 256 * 2^(octave) and so many quarters of it. Four quarters are the next octave. */
static unsigned class_of(size_t bytes)
{
    unsigned octave = 0;
    while ((size_t)2 << (LEAST_SHIFT + octave) < bytes)
        octave++;
    size_t base = (size_t)1 << (LEAST_SHIFT + octave), quarter = base / 4;
    return octave * 4 + (bytes > base ? (unsigned)((bytes - base + quarter - 1) / quarter) : 0);
}

void *simmem_alloc(struct simmem *m, size_t bytes)
{
    unsigned k = class_of(bytes);
    assert(k < SIMMEM_CLASSES);
    struct simmem_class *c = &m->classes[k];
    size_t block = c->nspare ? c->spare[--c->nspare] : c->blocks++;
    if (block >= c->asked_cap)
        c->asked = array_grow(c->asked, &c->asked_cap, block + 1, sizeof *c->asked);
    c->asked[block] = (int64_t)bytes;
    return (void *)(SIMMEM_BASE + ((uintptr_t)k << CLASS_SHIFT) + block * size_of(k));
}

size_t simmem_release(struct simmem *m, void *block)
{
    uintptr_t at = (uintptr_t)block - SIMMEM_BASE;
    unsigned k = (unsigned)(at >> CLASS_SHIFT);
    struct simmem_class *c = &m->classes[k];
    uint32_t number = (uint32_t)((at & (((uintptr_t)1 << CLASS_SHIFT) - 1)) / size_of(k));
    ARRAY_PUSH(c->spare, c->nspare, c->spare_cap, number);
    return (size_t)c->asked[number];
}

void simmem_free(struct simmem *m)
{
    for (int k = 0; k < SIMMEM_CLASSES; k++) {
        free(m->classes[k].asked);
        free(m->classes[k].spare);
    }
    memset(m, 0, sizeof *m);
}
