/* oneclock.c - see oneclock.h. */
#include "analyzer/oneclock.h"
#include "analyzer/align.h"

#include <inttypes.h>
#include <stdlib.h>

/* By UTC where both files know it, by their own clocks where these lie within a day, else each begins at its own zero. */
static enum clock_way by_zeros(const struct trace_file *first, const struct trace_file *f, int64_t *d)
{
    static const int64_t day = INT64_C(86400000000000), far = INT64_C(1) << 61;
    const char *u = tracedata_meta_get(&first->d, "utc_epoch_ns"), *w = tracedata_meta_get(&f->d, "utc_epoch_ns");
    int64_t x, y;
    if (u && w && opt_int(u, &x) && opt_int(w, &y) && !__builtin_sub_overflow(y, x, d) && *d<far && * d> - far)
        return CLOCK_BY_UTC;
    if (!__builtin_sub_overflow(f->d.t0, first->d.t0, d) && *d<day && * d> - day)
        return CLOCK_BY_OWN;
    *d = 0;
    return CLOCK_BY_NOTHING;
}

static int64_t unmet(const struct trace *t, uint32_t file, uint32_t root)
{
    int64_t d;
    by_zeros(&t->files[root], &t->files[file], &d);
    return d;
}

/* From the first file of another run to the very first one. */
static int64_t run_shift(const struct align *x, uint32_t root)
{
    int64_t zeros;
    if (!root || clocks_tie(&x->clocks, root, 0) == CLOCK_ALONE)
        return root ? unmet(x->t, root, 0) : 0;
    if (__builtin_sub_overflow(x->t->files[root].d.t0, x->t->files[0].d.t0, &zeros))
        return 0;
    return zeros + clocks_shift(&x->clocks, root, 0, x->t->files[root].d.t0);
}

static enum clock_way tie_between(const struct align *x, uint32_t file, uint32_t base)
{
    int64_t d;
    switch (clocks_tie(&x->clocks, file, base)) {
    case CLOCK_SHARED:
        return CLOCK_BY_BOOT;
    case CLOCK_WALL:
        return CLOCK_BY_WALL;
    case CLOCK_ALONE:
        break;
    }
    return by_zeros(&x->t->files[base], &x->t->files[file], &d);
}

/* The weaker of what ties a file to its run and its run to the first file. */
static enum clock_way tie_of(const struct align *x, uint32_t file)
{
    uint32_t root = x->root[file], first = x->of[file].first;
    enum clock_way run = tie_between(x, root, 0), tie = tie_between(x, first, root);
    if (tie != CLOCK_BY_BOOT && x->of[first].base)
        tie = tie == CLOCK_BY_WALL ? CLOCK_BY_WALL_ENDS : CLOCK_BY_ENDS;
    return tie > run ? tie : run;
}

static int ascending(const void *p, const void *q)
{
    int64_t a = *(const int64_t *)p, b = *(const int64_t *)q;
    return (a > b) - (a < b);
}

/* Median distance of a file's ends to those in their calls' first files; -1: it has none. */
static int64_t residual_of(const struct align *x, const int64_t *shift, uint32_t file, int64_t *d)
{
    const struct collective *first = x->v;
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++) {
        const struct collective *c = &x->v[i];
        uint32_t own = x->t->lanes[c->lane].file, base;
        first = c->call == first->call ? first : c;
        base = x->t->lanes[first->lane].file;
        int64_t left;
        if (own == file && base != file && !__builtin_sub_overflow(c->end + shift[own], first->end + shift[base], &left))
            d[n++] = left < 0 ? -left : left;
    }
    if (!n)
        return -1;
    qsort(d, n, sizeof *d, ascending);
    return d[(n - 1) / 2];
}

static void find_residuals(const struct align *x, struct arena *a, struct one_clock *c)
{
    int64_t *d = arena_array(a, int64_t, x->n + 1);
    c->residual = -1;
    for (uint32_t f = 1; f < x->t->nfiles; f++) {
        enum clock_way way = tie_of(x, f);
        int64_t left = way == CLOCK_BY_BOOT ? -1 : residual_of(x, c->shift, f, d);
        c->files[way]++;
        c->weakest = way > c->weakest ? way : c->weakest;
        if (left > c->residual) {
            c->residual = left;
            c->worst = f;
        }
    }
}

void one_clock_find(const struct trace *t, struct arena *a, struct one_clock *c)
{
    struct arena own = {0};
    struct collectives k;
    struct align x;
    *c = (struct one_clock){.shift = arena_array(a, int64_t, t->nfiles + 1), .residual = -1};
    if (t->nfiles < 2)
        return;
    collectives_find_all(t, &k);
    align_files(t, k.v, align_calls(&k), unmet, &own, &x);
    for (uint32_t f = 1; f < t->nfiles; f++)
        c->shift[f] = align_shift(&x, f) + run_shift(&x, x.root[f]);
    find_residuals(&x, &own, c);
    collectives_free(&k);
    arena_free(&own);
}

static const struct {
    const char *name, *how;
} ways[CLOCK_WAYS] = {[CLOCK_BY_BOOT] = {"boot", "of its boot"},
                      [CLOCK_BY_WALL_ENDS] = {"wall, collectives", "by readings of the wall clock and the ends of collectives"},
                      [CLOCK_BY_ENDS] = {"collectives", "by the ends of collectives"},
                      [CLOCK_BY_WALL] = {"wall", "by readings of the wall clock alone"},
                      [CLOCK_BY_UTC] = {"utc", "by UTC alone"},
                      [CLOCK_BY_OWN] = {"clock", "by clocks that lie within a day"},
                      [CLOCK_BY_NOTHING] = {"nothing", "that begin together, for nothing ties their clocks"}};

const char *one_clock_way(enum clock_way w)
{
    return ways[w].name;
}

const char *one_clock_text(const struct one_clock *c, const struct trace *t, struct arena *a)
{
    const char *text = "";
    if (t->nfiles < 2 || c->weakest == CLOCK_BY_BOOT)
        return NULL;
    for (int i = 0; i < CLOCK_WAYS; i++)
        if (c->files[i])
            text = arena_printf(a, "%s%s%zu %s", text, *text ? ", " : "", c->files[i], ways[i].how);
    text = arena_printf(a, "on the clock of %s: %s; ", t->files[0].name, text);
    if (c->residual < 0)
        return arena_printf(a, "%sresidual not known: no matched collectives", text);
    return arena_printf(a, "%sresidual %" PRId64 " ns (median distance of collectives' ends%s%s)", text, c->residual,
                        t->nfiles > 2 ? ", the worst: " : "", t->nfiles > 2 ? t->files[c->worst].name : "");
}
