/* openrows_late.c - begins and ends that do not stand in order of time.
 *
 *   file      B a@0  B b@5  E@5  E@9              all begins, then all ends
 *   by time   B a@0  E@5    B b@5  E@9            what ends at an instant ends in front of what begins then,
 *   but       B a@0  B z@5  E@5  E@9              unless the file has the end right behind its begin: z is empty
 *
 * A lane that mostly goes back in time was written from its end on: it is taken from behind.
 */
#include "analyzer/openrows.h"

#include <stdlib.h>

static int by_lane(const void *x, const void *y)
{
    const struct laterow *a = x, *b = y;
    return a->lane != b->lane ? (a->lane > b->lane) - (a->lane < b->lane) : (a->order > b->order) - (a->order < b->order);
}

static int by_time(const void *x, const void *y)
{
    const struct laterow *a = x, *b = y;
    bool a_later = !a->ends || a->behind, b_later = !b->ends || b->behind;
    if (a->at != b->at)
        return (a->at > b->at) - (a->at < b->at);
    return a->lane == b->lane && a_later != b_later ? a_later - b_later : by_lane(x, y);
}

static bool goes_back(const struct laterow *v, size_t n)
{
    size_t back = 0, on = 0;
    for (size_t i = 1; i < n; i++) {
        back += v[i].at < v[i - 1].at;
        on += v[i].at > v[i - 1].at;
    }
    return back > on;
}

/* One lane in the order of its file. */
static void arrange_lane(struct laterow *v, size_t n)
{
    bool back = goes_back(v, n);
    size_t open = 0; /* begins of the instant at hand */
    for (size_t k = 0; k < n; k++) {
        struct laterow *r = &v[back ? n - 1 - k : k];
        open = k && v[back ? n - k : k - 1].at == r->at ? open : 0;
        r->order = (uint32_t)k;
        r->behind = r->ends && open > 0;
        open += r->ends ? -(size_t)r->behind : 1;
    }
}

void openrows_arrange(struct laterow *v, size_t n)
{
    if (!n)
        return;
    qsort(v, n, sizeof *v, by_lane);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && v[to].lane == v[from].lane;)
            to++;
        arrange_lane(v + from, to - from);
    }
    qsort(v, n, sizeof *v, by_time);
}
