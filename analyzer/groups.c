/* groups.c - open addressing over xxhash. */
#include "analyzer/groups.h"
#include "schemas/arena.h"

#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static size_t slot(const struct groups *g, const uint32_t key[4])
{
    size_t i = XXH3_64bits(key, sizeof g->key[0]) & (g->nslots - 1);
    while (g->slots[i] && memcmp(g->key[g->slots[i] - 1], key, sizeof g->key[0]) != 0)
        i = (i + 1) & (g->nslots - 1);
    return i;
}

static void grow(struct groups *g)
{
    size_t cap = 0;
    g->nslots = g->nslots ? g->nslots * 2 : 64;
    free(g->slots);
    g->slots = array_grow(NULL, &cap, g->nslots, sizeof *g->slots);
    memset(g->slots, 0, g->nslots * sizeof *g->slots);
    for (size_t i = 0; i < g->n; i++)
        g->slots[slot(g, g->key[i])] = (uint32_t)i + 1;
}

size_t groups_at(struct groups *g, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    if ((g->n + 1) * 2 > g->nslots)
        grow(g);
    const uint32_t key[4] = {a, b, c, d};
    size_t i = slot(g, key);
    if (!g->slots[i]) {
        if (g->n == g->cap)
            g->key = array_grow(g->key, &g->cap, g->n + 1, sizeof *g->key);
        memcpy(g->key[g->n], key, sizeof key);
        g->slots[i] = (uint32_t)++g->n;
    }
    return g->slots[i] - 1;
}

void groups_free(struct groups *g)
{
    free(g->key);
    free(g->slots);
    *g = (struct groups){0};
}
