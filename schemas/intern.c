/* intern.c - a hash table with open addressing over xxhash. */
#include "schemas/intern.h"

#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static size_t slot_of(const struct intern *t, const char *s, size_t n)
{
    size_t i = XXH3_64bits(s, n) & (t->nslots - 1);
    for (; t->slots[i]; i = (i + 1) & (t->nslots - 1)) {
        uint32_t id = t->slots[i] - 1;
        if (t->lengths[id] == n && memcmp(t->strings[id], s, n) == 0)
            break;
    }
    return i;
}

static void rehash(struct intern *t, size_t nslots)
{
    free(t->slots);
    t->slots = NULL;
    size_t cap = 0;
    t->slots = array_grow(NULL, &cap, nslots, sizeof *t->slots);
    memset(t->slots, 0, nslots * sizeof *t->slots);
    t->nslots = nslots;
    for (uint32_t id = 0; id < t->n; id++)
        t->slots[slot_of(t, t->strings[id], t->lengths[id])] = id + 1;
}

void intern_init(struct intern *t)
{
    *t = (struct intern){0};
    rehash(t, 256);
    intern_id(t, "");
}

void intern_free(struct intern *t)
{
    arena_free(&t->arena);
    free(t->strings);
    free(t->lengths);
    free(t->slots);
    *t = (struct intern){0};
}

uint32_t intern_id_n(struct intern *t, const char *s, size_t n)
{
    size_t i = slot_of(t, s, n);
    if (t->slots[i])
        return t->slots[i] - 1;
    size_t count = t->n; /* both arrays grow in step */
    ARRAY_PUSH(t->strings, count, t->cap, arena_strndup(&t->arena, s, n));
    count = t->n;
    ARRAY_PUSH(t->lengths, count, t->lengths_cap, (uint32_t)n);
    t->slots[i] = (uint32_t)++t->n;
    if (t->n * 2 > t->nslots)
        rehash(t, t->nslots * 2);
    return (uint32_t)t->n - 1;
}

uint32_t intern_id(struct intern *t, const char *s)
{
    return s ? intern_id_n(t, s, strlen(s)) : 0;
}

uint32_t intern_find(const struct intern *t, const char *s)
{
    size_t i = slot_of(t, s, strlen(s));
    return t->slots[i] ? t->slots[i] - 1 : UINT32_MAX;
}

const char *intern_str(const struct intern *t, uint32_t id)
{
    return id < t->n ? t->strings[id] : "";
}
