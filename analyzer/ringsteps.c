/* ringsteps.c - see ringsteps.h. */
#include "analyzer/ringsteps.h"

#include <stdlib.h>

static int by_start(const void *x, const void *y)
{
    const struct ring_row *a = x, *b = y;
    if (a->pass != b->pass)
        return a->pass < b->pass ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return (a->exchange > b->exchange) - (a->exchange < b->exchange);
}

void ringsteps_sort(struct ring_row *v, size_t n)
{
    if (n)
        qsort(v, n, sizeof *v, by_start);
}

static bool side_by_side(const struct ring_row *v, size_t n)
{
    int64_t until[2] = {INT64_MIN, INT64_MIN}; /* of attention, of exchanges */
    for (size_t i = 0; i < n; i++) {
        if (v[i].start < until[!v[i].exchange])
            return true;
        int64_t *own = &until[v[i].exchange];
        *own = v[i].end > *own ? v[i].end : *own;
    }
    return false;
}

/* Steps of attention kernels with exchanges between them. */
static size_t alternate(struct ring_row *v, size_t n)
{
    uint32_t step = 0;
    bool any = false, came = false; /* a kernel; an exchange since */
    for (size_t i = 0; i < n; i++) {
        came |= v[i].exchange;
        if (v[i].exchange)
            continue;
        step += any && came;
        any = true, came = false;
        v[i].step = step;
    }
    return any ? step + 1 : 0;
}

static size_t share_out(struct ring_row *v, size_t n)
{
    size_t kernels = 0, k = 0;
    int32_t ranks = -1;
    for (size_t i = 0; i < n; i++) {
        kernels += !v[i].exchange;
        if (v[i].exchange && ranks >= 0 && v[i].ranks != ranks)
            return 0;
        ranks = v[i].exchange ? v[i].ranks : ranks;
    }
    if (ranks < 2 || !kernels || kernels % (size_t)ranks != 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (!v[i].exchange)
            v[i].step = (uint32_t)(k++ / (kernels / (size_t)ranks));
    return (size_t)ranks;
}

size_t ringsteps_tell(struct ring_row *v, size_t n)
{
    size_t steps = side_by_side(v, n) ? share_out(v, n) : alternate(v, n);
    uint32_t now = 0;
    for (size_t i = 0; i < n; i++) {
        now = v[i].exchange ? now : v[i].step;
        v[i].step = now;
    }
    return steps > 1 ? steps : 0;
}
