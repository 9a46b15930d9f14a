/* size_limit.c - see size_limit.h. */
#include "collector/size_limit.h"

/* Rows at their longest, with their head and their place in the page; an event has one row more in a table of its kind. */
enum { EVENT_ROWS = 160, KEY_ROW = 48, FRAME_ROWS = 40, TEXT_ROW = 24, PAGE = 8192, PAGE_HEAD = 16 };
/* A file without events, and what it grows by at the end: facts, and a page or two in tables that begin their second one. */
enum { EMPTY = 192 << 10, LATE = 64 << 10, NEXT_TO_NOTHING = 16 << 10 };

struct size_limit size_limit(int64_t most)
{
    /* half of it: the facts of the start, command lines above all, are not known yet */
    return (struct size_limit){.most = most, .room = most < 0 ? 0 : (most - EMPTY - LATE) / 2};
}

/* Of rows that long as many as fit stand in a page; one that fits in none has pages of its own behind its first. */
static int64_t text_bytes(int64_t row)
{
    int64_t in_a_page = (PAGE - PAGE_HEAD) / row;
    return in_a_page ? PAGE / in_a_page : row + 2 * PAGE;
}

/* Texts are looked at once each. */
static int64_t key_bytes(struct size_limit *l, const struct tracedata *d)
{
    for (; l->texts < d->strings.n; l->texts++)
        l->keys += text_bytes(d->strings.lengths[l->texts] + TEXT_ROW);
    return l->keys + (int64_t)(d->nprocesses + d->nthreads + d->nstreams + d->nsites + d->nmemory) * KEY_ROW + (int64_t)d->nframes * FRAME_ROWS;
}

bool size_limit_due(struct size_limit *l, const struct tracedata *d)
{
    return l->most >= 0 && (int64_t)d->n * EVENT_ROWS + key_bytes(l, d) - l->written > l->room;
}

void size_limit_written(struct size_limit *l, const struct tracedata *d, int64_t size)
{
    if (l->most < 0)
        return;
    l->written = key_bytes(l, d);
    l->room = l->most - LATE - size;
}

bool size_limit_reached(const struct size_limit *l)
{
    return l->most >= 0 && l->room < NEXT_TO_NOTHING;
}
