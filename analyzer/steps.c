/* steps.c - finding step markers among the ranges of a rank. */
#include "analyzer/steps.h"
#include "schemas/marker.h"

#include <stdlib.h>
#include <string.h>

/* The number behind the last '#' of a name; -1: none. */
static int64_t number_of(const char *name)
{
    const char *p = strrchr(name, '#');
    char *end;
    long long v = p ? strtoll(p + 1, &end, 10) : -1;
    return p && end != p + 1 && !*end && v >= 0 ? v : -1;
}

static bool is_marker(const char *name, const regex_t *marker, int64_t *number)
{
    static const char *const words[] = {MARK_STEP "#", "ProfilerStep#"};
    *number = number_of(name);
    if (marker)
        return regexec(marker, name, 0, NULL, 0) == 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(name, words[i], strlen(words[i])) == 0)
            return *number >= 0;
    return false;
}

static int by_number(const void *x, const void *y)
{
    const struct step *a = x, *b = y;
    if (a->number != b->number)
        return (a->number > b->number) - (a->number < b->number);
    int64_t la = a->end - a->start, lb = b->end - b->start;
    return la != lb ? (la < lb) - (la > lb) : (a->start > b->start) - (a->start < b->start);
}

static int by_start(const void *x, const void *y)
{
    const struct step *a = x, *b = y;
    return a->start != b->start ? (a->start > b->start) - (a->start < b->start) : (a->end < b->end) - (a->end > b->end);
}

/* The longest range of each number; ranges without a number all stay. */
static size_t drop_same_number(struct step *v, size_t n)
{
    qsort(v, n, sizeof *v, by_number);
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (!m || v[i].number < 0 || v[i].number != v[m - 1].number)
            v[m++] = v[i];
    return m;
}

static size_t drop_overlaps(struct step *v, size_t n)
{
    qsort(v, n, sizeof *v, by_start);
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        if (m && v[i].start < v[m - 1].end)
            continue;
        v[m] = v[i];
        if (v[m].number < 0)
            v[m].number = (int64_t)m;
        m++;
    }
    return m;
}

struct steplist steps_find(const struct tracedata *d, const uint32_t *ev, size_t n, const regex_t *marker, struct arena *a)
{
    struct step *v = NULL;
    size_t found = 0, cap = 0;
    uint32_t last = 0; /* most rows are not ranges, and many ranges share a name */
    bool last_no = false;
    for (size_t i = 0; i < n; i++) {
        const struct event *r = &d->ev[ev[i]];
        int64_t number;
        if (r->kind != EV_RANGE || r->end <= r->start || (last_no && r->name == last))
            continue;
        last = r->name;
        last_no = !is_marker(intern_str(&d->strings, r->name), marker, &number);
        if (!last_no)
            ARRAY_PUSH(v, found, cap, ((struct step){number, r->start, r->end}));
    }
    if (!found)
        return (struct steplist){0};
    size_t kept = drop_overlaps(v, drop_same_number(v, found));
    struct step *out = arena_array(a, struct step, kept);
    memcpy(out, v, kept * sizeof *v);
    free(v);
    return (struct steplist){out, kept, found - kept};
}
