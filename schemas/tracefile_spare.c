/* tracefile_spare.c - the outermost rows of each thread, rank and kind. */
#include "schemas/tracefile_spare.h"

/* An hour is the most that analyses take for a row's length; what comes near it is theirs to judge. */
static bool is_ordinary(const struct event *ev)
{
    static const int64_t far = INT64_C(1) << 60, second = 1000000000;
    return ev->start > -far && ev->end < far && ev->end >= ev->start && ev->end - ev->start < second;
}

static bool is_of(const struct spare_group *g, const struct event *ev)
{
    const struct event *k = &g->first;
    return k->thread == ev->thread && k->rank == ev->rank && k->kind == ev->kind;
}

static struct spare_group *group_of(struct spare *s, const struct event *ev)
{
    if (s->at < s->n && is_of(&s->v[s->at], ev))
        return &s->v[s->at];
    for (s->at = 0; s->at < s->n; s->at++)
        if (is_of(&s->v[s->at], ev))
            return &s->v[s->at];
    if (s->n == SPARE_GROUPS)
        return NULL;
    s->v[s->n] = (struct spare_group){.first = *ev, .last = *ev};
    return &s->v[s->n++];
}

bool spare_row(struct spare *s, const struct event *ev)
{
    if (ev->kind >= EV_NKINDS || !(s->kinds >> ev->kind & 1) || !is_ordinary(ev))
        return false;
    struct spare_group *g = group_of(s, ev);
    if (!g)
        return false;
    if (ev->start < g->first.start)
        g->first = *ev;
    if (ev->end > g->last.end)
        g->last = *ev;
    return true;
}

size_t spare_rows(const struct spare *s, struct event *to)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct event *first = &s->v[i].first, *last = &s->v[i].last;
        to[n++] = *first;
        if (last->start != first->start || last->end != first->end)
            to[n++] = *last;
    }
    return n;
}
