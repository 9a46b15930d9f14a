/* ivl.c - set algebra as one sweep over two sorted lists. */
#include "analyzer/ivl.h"

#include <stdlib.h>

static int by_start(const void *x, const void *y)
{
    const struct ivl *a = x, *b = y;
    return a->start != b->start ? (a->start > b->start) - (a->start < b->start) : (a->end > b->end) - (a->end < b->end);
}

static bool is_sorted(const struct ivl *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (v[i].start < v[i - 1].start)
            return false;
    return true;
}

struct ivlset ivl_from(struct ivl *v, size_t n)
{
    if (!is_sorted(v, n)) /* lists come from sorted rows nearly always */
        qsort(v, n, sizeof *v, by_start);
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        if (v[i].end <= v[i].start)
            continue;
        if (m && v[i].start <= v[m - 1].end) {
            if (v[i].end > v[m - 1].end)
                v[m - 1].end = v[i].end;
        } else {
            v[m++] = v[i];
        }
    }
    return (struct ivlset){v, m};
}

struct ivlset ivl_one(struct arena *a, int64_t start, int64_t end)
{
    if (end <= start)
        return (struct ivlset){0};
    struct ivl *v = arena_array(a, struct ivl, 1);
    *v = (struct ivl){start, end};
    return (struct ivlset){v, 1};
}

int64_t ivl_len(struct ivlset x)
{
    int64_t len = 0;
    for (size_t i = 0; i < x.n; i++)
        len += x.v[i].end - x.v[i].start;
    return len;
}

struct ivlset ivl_and(struct arena *a, struct ivlset x, struct ivlset y)
{
    if (!x.n || !y.n)
        return (struct ivlset){0};
    struct ivl *v = arena_array(a, struct ivl, x.n + y.n);
    size_t n = 0;
    for (size_t i = 0, j = 0; i < x.n && j < y.n;) {
        int64_t start = x.v[i].start > y.v[j].start ? x.v[i].start : y.v[j].start;
        int64_t end = x.v[i].end < y.v[j].end ? x.v[i].end : y.v[j].end;
        if (start < end)
            v[n++] = (struct ivl){start, end};
        if (x.v[i].end < y.v[j].end)
            i++;
        else
            j++;
    }
    return (struct ivlset){v, n};
}

struct ivlset ivl_or(struct arena *a, struct ivlset x, struct ivlset y)
{
    struct ivl *v = arena_array(a, struct ivl, x.n + y.n);
    size_t n = 0, i = 0, j = 0;
    while (i < x.n || j < y.n)
        v[n++] = j == y.n || (i < x.n && x.v[i].start <= y.v[j].start) ? x.v[i++] : y.v[j++];
    return ivl_from(v, n);
}

struct ivlset ivl_sub(struct arena *a, struct ivlset x, struct ivlset y)
{
    struct ivl *v = arena_array(a, struct ivl, x.n + y.n);
    size_t n = 0;
    for (size_t i = 0, j = 0; i < x.n; i++) {
        int64_t at = x.v[i].start;
        while (j < y.n && y.v[j].end <= at)
            j++;
        for (size_t k = j; k < y.n && y.v[k].start < x.v[i].end; k++) {
            if (y.v[k].start > at)
                v[n++] = (struct ivl){at, y.v[k].start};
            at = y.v[k].end;
            j = k; /* it may reach into the next interval of x */
        }
        if (at < x.v[i].end)
            v[n++] = (struct ivl){at, x.v[i].end};
    }
    return (struct ivlset){v, n};
}

size_t ivl_find(struct ivlset x, int64_t t)
{
    size_t lo = 0, hi = x.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (x.v[mid].end > t)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

int64_t ivl_within(struct ivlset x, int64_t start, int64_t end)
{
    int64_t len = 0;
    for (size_t i = ivl_find(x, start); i < x.n && x.v[i].start < end; i++) {
        int64_t from = x.v[i].start > start ? x.v[i].start : start;
        int64_t to = x.v[i].end < end ? x.v[i].end : end;
        len += to - from;
    }
    return len;
}

bool ivl_touches(struct ivlset x, int64_t start, int64_t end)
{
    if (end > start) {
        size_t i = ivl_find(x, start);
        return i < x.n && x.v[i].start < end;
    }
    size_t i = ivl_find(x, start - 1); /* the first that ends at or after the point */
    return i < x.n && x.v[i].start <= start;
}
