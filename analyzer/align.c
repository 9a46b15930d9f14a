/* align.c - see align.h. */
#include "analyzer/align.h"

#include <stdlib.h>

static int by_value(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

static int by_call(const void *x, const void *y)
{
    const struct collective *a = x, *b = y;
    if (a->call != b->call)
        return a->call < b->call ? -1 : 1;
    return (a->lane > b->lane) - (a->lane < b->lane);
}

size_t align_calls(struct collectives *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->v[i].call)
            c->v[n++] = c->v[i];
    if (n)
        qsort(c->v, n, sizeof *c->v, by_call);
    return n;
}

struct shift {
    uint32_t file;
    int64_t ns;
};

/* Of each end to the end in the call's first file. */
static int by_shift(const void *x, const void *y)
{
    const struct shift *a = x, *b = y;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return by_value(&a->ns, &b->ns);
}

static uint32_t file_of(const struct align *x, const struct collective *c)
{
    return x->t->lanes[c->lane].file;
}

int64_t align_end(const struct align *x, const struct collective *c)
{
    int64_t end; /* a hostile time zero must not overflow */
    return __builtin_add_overflow(c->end, x->t->files[file_of(x, c)].d.t0, &end) ? 0 : end;
}

static void find_clusters(struct align *x)
{
    for (uint32_t f = 0; f < x->t->nfiles; f++) {
        uint32_t root = f, first = f;
        for (uint32_t k = f; k-- > 0;)
            if (x->t->files[k].run == x->t->files[f].run) {
                root = k;
                first = clocks_tie(&x->clocks, f, k) == CLOCK_SHARED ? k : first;
            }
        x->root[f] = root;
        x->of[f].first = first;
    }
}

int64_t align_told(const struct align *x, uint32_t file, int64_t own)
{
    uint32_t root = x->root[file], first = x->of[file].first;
    bool alone = clocks_tie(&x->clocks, first, root) == CLOCK_ALONE;
    int64_t zeros;
    if (__builtin_sub_overflow(x->t->files[file].d.t0, x->t->files[alone ? first : root].d.t0, &zeros))
        return 0;
    return zeros + clocks_shift(&x->clocks, first, root, own);
}

static int64_t told_end(const struct align *x, const struct collective *c)
{
    return c->end + align_told(x, file_of(x, c), align_end(x, c));
}

/* Each cluster's calls with the first one that it meets; together: only those that end on all ranks at once, else the others, of
 * clusters that have met none by these. */
static size_t find_shifts(struct align *x, bool together, struct shift *s)
{
    const struct collective *first = x->v;
    size_t m = 0;
    for (size_t i = 0; i < x->n; i++) {
        first = x->v[i].call == first->call ? first : &x->v[i];
        uint32_t base = x->of[file_of(x, first)].first, own = x->of[file_of(x, &x->v[i])].first;
        struct align_cluster *k = &x->of[own];
        int64_t end = align_end(x, &x->v[i]);
        k->from = k->to && k->from < end ? k->from : end;
        k->to = k->to && k->to > end ? k->to : end;
        if (x->v[i].together == together && base < own && (!k->base || (k->base == base + 1 && k->together == together))) {
            k->base = base + 1;
            k->together = together;
            s[m++] = (struct shift){own, told_end(x, first) - told_end(x, &x->v[i])};
        }
    }
    return m;
}

/* An earlier file comes first, so bases are done before. */
static void find_rest(struct align *x, align_unmet_fn *unmet, struct arena *a)
{
    struct shift *s = arena_array(a, struct shift, x->n + 1);
    size_t m = find_shifts(x, true, s), i = 0;
    m += find_shifts(x, false, s + m);
    if (m)
        qsort(s, m, sizeof *s, by_shift);
    for (uint32_t f = 0; f < x->t->nfiles; f++) {
        struct align_cluster *c = &x->of[f];
        size_t k = i;
        while (k < m && s[k].file == f)
            k++;
        if (k > i)
            c->left = s[i + (k - i) / 2].ns + x->of[c->base - 1].left;
        else if (unmet && c->first == f && clocks_tie(&x->clocks, f, x->root[f]) == CLOCK_ALONE)
            c->left = unmet(x->t, f, x->root[f]);
        i = k;
    }
}

int64_t align_as_whole(const struct align *x, uint32_t file)
{
    const struct align_cluster *k = &x->of[x->of[file].first];
    return align_told(x, file, k->to ? k->from + (k->to - k->from) / 2 : x->t->files[file].d.t0); /* in the middle of its cluster's calls */
}

int64_t align_shift(const struct align *x, uint32_t file)
{
    return align_as_whole(x, file) + x->of[x->of[file].first].left;
}

void align_files(const struct trace *t, const struct collective *v, size_t n, align_unmet_fn *unmet, struct arena *a, struct align *x)
{
    *x = (struct align){.t = t, .v = v, .n = n, .of = arena_array(a, struct align_cluster, t->nfiles + 1)};
    x->root = arena_array(a, uint32_t, t->nfiles + 1);
    clocks_find(t, a, &x->clocks);
    find_clusters(x);
    find_rest(x, unmet, a);
}
