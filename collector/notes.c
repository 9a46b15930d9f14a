/* notes.c - see notes.h. */
#include "collector/notes.h"

#include <string.h>

void notes_lost(struct notes *n, const char *reason, int64_t count, int64_t start, int64_t end)
{
    size_t i = 0;
    while (i < n->nlosses && strcmp(n->losses[i].reason, reason) != 0)
        i++;
    if (i == LOSSES_MAX)
        return;
    if (i == n->nlosses)
        n->losses[n->nlosses++] = (struct note_loss){reason, 0, start, end};
    struct note_loss *l = &n->losses[i];
    l->count += count;
    l->start = start < l->start ? start : l->start;
    l->end = end > l->end ? end : l->end;
}

void notes_clock(struct notes *n, const char *clock, const int64_t reading[3])
{
    if (n->readings++ % (n->every + 1) != 0 || n->nclocks == CLOCKS_WAITING)
        return;
    n->clocks[n->nclocks++] = (struct note_clock){clock, {reading[0], reading[1], reading[2]}};
    if (++n->taken % CLOCKS_STRIDE == 0)
        n->every = n->every * 2 + 1;
}

static void feed_loss(const struct note_loss *l, struct tracedata *d)
{
    uint32_t reason = intern_id(&d->strings, l->reason);
    size_t i = 0;
    while (i < d->nloss && d->loss[i].reason != reason)
        i++;
    if (i == d->nloss)
        tracedata_loss(d, l->reason, l->count, l->start - d->t0, l->end - d->t0);
    d->loss[i] = (struct loss_row){reason, l->count, l->start - d->t0, l->end - d->t0};
}

void notes_feed(struct notes *n, struct tracedata *d)
{
    for (size_t i = 0; i < n->nlosses; i++)
        feed_loss(&n->losses[i], d);
    for (size_t i = 0; i < n->nclocks; i++) {
        const struct note_clock *c = &n->clocks[i];
        struct clock_row row = {intern_id(&d->strings, c->clock), c->reading[0], c->reading[1], c->reading[2]};
        ARRAY_PUSH(d->clocks, d->nclocks, d->clocks_cap, row);
    }
    n->nclocks = 0;
}
