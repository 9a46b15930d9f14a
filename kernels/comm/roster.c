/* roster.c - lists of groups by their ranks. */
#include "kernels/comm/roster.h"

#include <string.h>

static struct roster_group **bucket_of(struct roster *r, struct comm_part p)
{
    return &r->buckets[((unsigned)p.first * 31 + (unsigned)p.stride * 7 + (unsigned)p.size) % ROSTER_BUCKETS];
}

static bool is_group(const struct roster_group *g, const struct comm *c)
{
    return g->part.first == c->part.first && g->part.stride == c->part.stride && g->part.size == c->part.size && strcmp(g->name, c->group) == 0;
}

void *roster_join(struct roster *r, const struct comm *c, size_t size, bool *made)
{
    struct roster_group **link = bucket_of(r, c->part);
    while (*link && (!is_group(*link, c) || (*link)->opened[c->rank]))
        link = &(*link)->next;
    *made = !*link;
    if (*made) {
        *link = arena_alloc(&r->memory, size);
        **link = (struct roster_group){.name = c->group, .part = c->part, .opened = arena_array(&r->memory, bool, c->part.size)};
    }
    (*link)->opened[c->rank] = true;
    return *link;
}

void roster_each(const struct roster *r, void (*visit)(void *group))
{
    for (int i = 0; i < ROSTER_BUCKETS; i++)
        for (struct roster_group *g = r->buckets[i]; g; g = g->next)
            visit(g);
}

void roster_free(struct roster *r)
{
    arena_free(&r->memory);
}
