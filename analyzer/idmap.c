/* idmap.c - open addressing, at most half full. */
#include "analyzer/idmap.h"
#include "schemas/arena.h"

#include <stdlib.h>
#include <string.h>

static size_t slot(const struct idmap *m, int64_t key)
{
    size_t i = ((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (m->nslots - 1);
    while (m->values[i] && m->keys[i] != key)
        i = (i + 1) & (m->nslots - 1);
    return i;
}

uint32_t idmap_get(const struct idmap *m, int64_t key)
{
    return m->nslots ? m->values[slot(m, key)] : 0;
}

static void grow(struct idmap *m)
{
    struct idmap old = *m;
    size_t cap = 0;
    m->nslots = old.nslots ? 2 * old.nslots : 64;
    m->keys = array_grow(NULL, &cap, m->nslots, sizeof *m->keys);
    cap = 0;
    m->values = array_grow(NULL, &cap, m->nslots, sizeof *m->values);
    memset(m->values, 0, m->nslots * sizeof *m->values);
    for (size_t i = 0; i < old.nslots; i++)
        if (old.values[i]) {
            size_t to = slot(m, old.keys[i]);
            m->keys[to] = old.keys[i];
            m->values[to] = old.values[i];
        }
    idmap_free(&old);
}

void idmap_set(struct idmap *m, int64_t key, uint32_t value)
{
    if (2 * (m->used + 1) > m->nslots)
        grow(m);
    size_t i = slot(m, key);
    m->used += !m->values[i];
    m->keys[i] = key;
    m->values[i] = value;
}

void idmap_free(struct idmap *m)
{
    free(m->keys);
    free(m->values);
    *m = (struct idmap){0};
}
