/* exportclocks.c - the files of an export on the clock of the first one (align.h), and how well that is known. */
#include "analyzer/align.h"
#include "analyzer/export.h"

#include <inttypes.h>
#include <stdlib.h>

/* By UTC where both files know it, by their own clocks where these lie within a day, else each begins at its own zero. */
static enum export_tie by_zeros(const struct trace_file *first, const struct trace_file *f, int64_t *d)
{
    static const int64_t day = INT64_C(86400000000000), far = INT64_C(1) << 61;
    const char *u = tracedata_meta_get(&first->d, "utc_epoch_ns"), *w = tracedata_meta_get(&f->d, "utc_epoch_ns");
    int64_t x, y;
    if (u && w && opt_int(u, &x) && opt_int(w, &y) && !__builtin_sub_overflow(y, x, d) && *d<far && * d> - far)
        return EXPORT_UTC;
    if (!__builtin_sub_overflow(f->d.t0, first->d.t0, d) && *d<day && * d> - day)
        return EXPORT_OWN;
    *d = 0;
    return EXPORT_NOTHING;
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

static enum export_tie tie_between(const struct align *x, uint32_t file, uint32_t base)
{
    int64_t d;
    switch (clocks_tie(&x->clocks, file, base)) {
    case CLOCK_SHARED:
        return EXPORT_SHARED;
    case CLOCK_WALL:
        return EXPORT_WALL;
    case CLOCK_ALONE:
        break;
    }
    return by_zeros(&x->t->files[base], &x->t->files[file], &d);
}

/* The weaker of what ties a file to its run and its run to the first file. */
static enum export_tie tie_of(const struct align *x, uint32_t file)
{
    uint32_t root = x->root[file], first = x->of[file].first;
    enum export_tie run = tie_between(x, root, 0), tie = tie_between(x, first, root);
    if (tie != EXPORT_SHARED && x->of[first].base)
        tie = tie == EXPORT_WALL ? EXPORT_WALL_ENDS : EXPORT_ENDS;
    return tie > run ? tie : run;
}

static int ascending(const void *p, const void *q)
{
    int64_t a = *(const int64_t *)p, b = *(const int64_t *)q;
    return (a > b) - (a < b);
}

/* Median distance of a file's ends to those in their calls' first files; -1: it has none. */
static int64_t residual_of(const struct align *x, const struct export_file *files, uint32_t file, int64_t *d)
{
    const struct collective *first = x->v;
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++) {
        const struct collective *c = &x->v[i];
        uint32_t own = x->t->lanes[c->lane].file, base;
        first = c->call == first->call ? first : c;
        base = x->t->lanes[first->lane].file;
        int64_t left;
        if (own == file && base != file && !__builtin_sub_overflow(c->end + files[own].shift, first->end + files[base].shift, &left))
            d[n++] = left < 0 ? -left : left;
    }
    if (!n)
        return -1;
    qsort(d, n, sizeof *d, ascending);
    return d[(n - 1) / 2];
}

static void find_residuals(struct export_job *x, const struct align *al, struct arena *a)
{
    struct export_clocks *k = &x->clocks;
    int64_t *d = arena_array(a, int64_t, al->n + 1);
    k->residual = -1;
    for (uint32_t f = 1; f < x->nfiles; f++) {
        enum export_tie tie = tie_of(al, f);
        int64_t left = tie == EXPORT_SHARED ? -1 : residual_of(al, x->files, f, d);
        k->files[tie]++;
        if (left > k->residual) {
            k->residual = left;
            k->worst = f;
        }
    }
}

/* Which collectives there are does not hang on what is exported. */
void export_clocks(struct export_job *x)
{
    struct trace_opts all = TRACE_OPTS_NONE;
    struct arena a = {0};
    struct trace t;
    struct collectives c = {0};
    struct align al;
    struct err none = {0};
    all.patterns = x->t->opts.patterns;
    all.one_of_many = true;
    bool ok = x->nfiles > 1 && trace_again(x->t, &all, &t, &none);
    if (!ok)
        return;
    collectives_find_all(&t, &c);
    align_files(&t, c.v, align_calls(&c), unmet, &a, &al);
    for (uint32_t f = 1; f < x->nfiles; f++)
        x->files[f].shift = align_shift(&al, f) + run_shift(&al, al.root[f]);
    find_residuals(x, &al, &a);
    collectives_free(&c);
    trace_close(&t);
    arena_free(&a);
}

const char *export_clocks_text(struct export_job *x)
{
    static const char *const how[EXPORT_TIES] = {[EXPORT_SHARED] = "of its boot",
                                                 [EXPORT_WALL_ENDS] = "by readings of the wall clock and the ends of collectives",
                                                 [EXPORT_ENDS] = "by the ends of collectives",
                                                 [EXPORT_WALL] = "by readings of the wall clock alone",
                                                 [EXPORT_UTC] = "by UTC alone",
                                                 [EXPORT_OWN] = "by clocks that lie within a day",
                                                 [EXPORT_NOTHING] = "that begin together, for nothing ties their clocks"};
    const struct export_clocks *k = &x->clocks;
    const char *text = "";
    if (x->nfiles < 2 || k->files[EXPORT_SHARED] == x->nfiles - 1)
        return NULL;
    for (int i = 0; i < EXPORT_TIES; i++)
        if (k->files[i])
            text = arena_printf(&x->arena, "%s%s%zu %s", text, *text ? ", " : "", k->files[i], how[i]);
    text = arena_printf(&x->arena, "on the clock of %s: %s; ", x->files[0].f->name, text);
    if (k->residual < 0)
        return arena_printf(&x->arena, "%sresidual not known: no matched collectives", text);
    return arena_printf(&x->arena, "%sresidual %" PRId64 " ns (median distance of collectives' ends%s%s)", text, k->residual,
                        x->nfiles > 2 ? ", the worst: " : "", x->nfiles > 2 ? x->files[k->worst].f->name : "");
}
