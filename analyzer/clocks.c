/* clocks.c - readings of the wall clock into lines. */
#include "analyzer/clocks.h"

#include <stdlib.h>
#include <string.h>

enum { BRACKET_SLACK = 1000 }; /* ns by which a reading may take longer than twice the quickest */
enum { DRIFT_MOST = 1000 };    /* a clock that is off by one part in so many was set, and does not drift */

static const int64_t far = INT64_C(1) << 61; /* ns: no clock of ours */

static int by_time(const void *x, const void *y)
{
    const struct wall_reading *a = x, *b = y;
    return (a->own > b->own) - (a->own < b->own);
}

/* How long the reading took; -1: it is none of the wall, or cannot be. */
static int64_t bracket(const struct tracedata *d, const struct clock_row *c)
{
    bool sane = c->before >= 0 && c->after >= c->before && c->after < far && c->other >= 0 && c->other < far;
    if (!sane || strcmp(intern_str(&d->strings, c->clock), "realtime") != 0)
        return -1;
    return c->after - c->before;
}

/* Readings between which the reader was held up tell nothing. */
static void find_readings(const struct tracedata *d, struct arena *a, struct clock_file *f)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < d->nclocks; i++) {
        int64_t took = bracket(d, &d->clocks[i]);
        least = took >= 0 && took < least ? took : least;
    }
    f->v = arena_array(a, struct wall_reading, d->nclocks + 1);
    for (size_t i = 0; i < d->nclocks; i++) {
        const struct clock_row *c = &d->clocks[i];
        int64_t took = bracket(d, c), own = c->before + took / 2;
        if (took >= 0 && took / 2 <= least + BRACKET_SLACK / 2)
            f->v[f->n++] = (struct wall_reading){own, c->other - own};
    }
    if (f->n)
        qsort(f->v, f->n, sizeof *f->v, by_time);
}

void clocks_find(const struct trace *t, struct arena *a, struct clocks *c)
{
    c->of = arena_array(a, struct clock_file, t->nfiles + 1);
    for (size_t i = 0; i < t->nfiles; i++) {
        const struct trace_file *f = &t->files[i];
        const char *boot = tracedata_meta_get(&f->d, "boot_id");
        bool modelled = f->backend && strcmp(f->backend, "sim") == 0;
        if (modelled)
            continue;
        c->of[i].boot = boot && *boot ? boot : NULL;
        find_readings(&f->d, a, &c->of[i]);
    }
}

enum clock_tie clocks_tie(const struct clocks *c, uint32_t file, uint32_t base)
{
    const struct clock_file *x = &c->of[file], *y = &c->of[base];
    if (file == base || (x->boot && y->boot && strcmp(x->boot, y->boot) == 0))
        return CLOCK_SHARED;
    return x->n && y->n ? CLOCK_WALL : CLOCK_ALONE;
}

/* The wall less the file's clock at `own`: on the line between the readings around it, outside on that from the first to
 * the last. */
static int64_t ahead_at(const struct clock_file *f, int64_t own)
{
    const struct wall_reading *a = &f->v[0], *b = &f->v[f->n - 1];
    for (size_t lo = 0, hi = f->n - 1; own > f->v[0].own && own < f->v[f->n - 1].own && lo < hi;) {
        size_t mid = lo + (hi - lo) / 2;
        a = &f->v[mid], b = &f->v[mid + 1];
        if (own < a->own)
            hi = mid;
        else if (own > b->own)
            lo = mid + 1;
        else
            break;
    }
    int64_t drift = b->ahead - a->ahead, time = b->own - a->own;
    if (!time || drift > time / DRIFT_MOST || drift < -time / DRIFT_MOST)
        return a->ahead;
    return a->ahead + (int64_t)((__int128)drift * (own - a->own) / time);
}

int64_t clocks_shift(const struct clocks *c, uint32_t file, uint32_t base, int64_t own)
{
    if (clocks_tie(c, file, base) != CLOCK_WALL || own >= far || own <= -far)
        return 0;
    int64_t wall = own + ahead_at(&c->of[file], own), at = wall - c->of[base].v[0].ahead;
    for (int i = 0; i < 3; i++) /* drift is parts in a million: each turn leaves that much of the error before */
        at = wall - ahead_at(&c->of[base], at);
    return at - own;
}
