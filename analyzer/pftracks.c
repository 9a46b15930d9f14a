/* pftracks.c - see pftracks.h. Levels from NESTED on are a heap by the end of their one slice. */
#include "analyzer/pftracks.h"
#include "schemas/arena.h"

#include <stdbool.h>
#include <stdlib.h>

enum { NESTED = 8 };

static void end_until(struct pflevel *l, int64_t start, const struct pfsink *s)
{
    while (l->n && l->ends[l->n - 1] <= start)
        s->end(s->ctx, l->uuid, l->ends[--l->n]);
}

static bool fits(const struct pflevel *l, int64_t end)
{
    return !l->n || l->ends[l->n - 1] >= end;
}

static uint64_t push(struct pflevel *l, int64_t end)
{
    ARRAY_PUSH(l->ends, l->n, l->cap, end);
    return l->uuid;
}

static struct pflevel *add_level(struct pftrack *t, const struct pfsink *s)
{
    uint64_t uuid = s->describe(s->ctx, t);
    ARRAY_PUSH(t->levels, t->n, t->cap, ((struct pflevel){.uuid = uuid}));
    return &t->levels[t->n - 1];
}

static void swap(struct pflevel *a, struct pflevel *b)
{
    struct pflevel c = *a;
    *a = *b;
    *b = c;
}

static void sift_up(struct pflevel *heap, size_t i)
{
    for (; i && heap[i].ends[0] < heap[(i - 1) / 2].ends[0]; i = (i - 1) / 2)
        swap(&heap[i], &heap[(i - 1) / 2]);
}

static void sift_down(struct pflevel *heap, size_t n)
{
    for (size_t i = 0, k; (k = 2 * i + 1) < n; i = k) {
        k += k + 1 < n && heap[k + 1].ends[0] < heap[k].ends[0];
        if (heap[i].ends[0] <= heap[k].ends[0])
            return;
        swap(&heap[i], &heap[k]);
    }
}

static uint64_t place_alone(struct pftrack *t, int64_t start, int64_t end, const struct pfsink *s)
{
    struct pflevel *heap = t->n > NESTED ? t->levels + NESTED : NULL;
    if (heap && heap->ends[0] <= start) {
        uint64_t uuid = heap->uuid;
        s->end(s->ctx, uuid, heap->ends[0]);
        heap->ends[0] = end;
        sift_down(heap, t->n - NESTED);
        return uuid;
    }
    uint64_t uuid = push(add_level(t, s), end);
    sift_up(t->levels + NESTED, t->n - NESTED - 1);
    return uuid;
}

uint64_t pftrack_place(struct pftrack *t, int64_t start, int64_t end, const struct pfsink *s)
{
    for (size_t i = 0; i < t->n && i < NESTED; i++) {
        end_until(&t->levels[i], start, s);
        if (fits(&t->levels[i], end))
            return push(&t->levels[i], end);
    }
    return t->n < NESTED ? push(add_level(t, s), end) : place_alone(t, start, end, s);
}

uint64_t pftrack_any(struct pftrack *t, const struct pfsink *s)
{
    return t->n ? t->levels[0].uuid : add_level(t, s)->uuid;
}

void pftrack_finish(struct pftrack *t, const struct pfsink *s)
{
    for (size_t i = 0; i < t->n; i++) {
        end_until(&t->levels[i], INT64_MAX, s);
        free(t->levels[i].ends);
    }
    free(t->levels);
}
