/* runs.c - which files make one run.
 *
 *   rank 0, rank 1, rank 0       a rank that is given again begins another run: run 0 holds the first file of each
 *   ?  all_reduce, all_gather    files that do not say their rank are one run when a device in each makes the same collectives, in
 *   ?  all_reduce, all_gather    names and count, or numbered ones in a group of one name and size; what agrees with no other
 *                                file is a run of its own
 *
 * Files that agree are two runs all the same when they are copies of one, or when clocks that compare say that they did not run
 * at the same time.
 */
#include "analyzer/collectives.h"
#include "analyzer/trace_build.h"

#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct ties {
    uint32_t *root;  /* by file: a file that it belongs to; of files that agree the same one at last */
    uint64_t *calls; /* by file: its collectives and when they were, as a hash; 0 none */
};

static bool knows_rank(const struct trace_file *f)
{
    for (size_t i = 0; i < f->nheld; i++)
        if (f->held[i] >= 0)
            return true;
    return false;
}

/* ---- files whose collectives agree ---- */

struct mark {      /* of one device's calls in one group */
    uint64_t what; /* the group, its size, the names in order */
    uint32_t file;
};

static int by_mark(const void *x, const void *y)
{
    const struct mark *a = x, *b = y;
    if (a->what != b->what)
        return a->what < b->what ? -1 : 1;
    return (a->file > b->file) - (a->file < b->file);
}

static uint32_t root_of(const struct ties *x, uint32_t file)
{
    while (x->root[file] != file)
        file = x->root[file];
    return file;
}

static bool same_seat(const struct call *x, const struct call *y)
{
    return x->run == y->run && x->c.group == y->c.group && x->size == y->size && x->seat == y->seat && x->p2p == y->p2p;
}

static uint64_t add_hash(uint64_t h, int64_t x, int64_t y)
{
    const int64_t v[] = {x, y};
    return XXH64(v, sizeof v, h);
}

/* v: sorted. A call between two ranks says nothing of the others'; numbers in a group of known size need no equal lists. */
static size_t make_marks(struct ties *x, const struct trace *t, const struct call *v, size_t n, struct mark *m)
{
    size_t marks = 0;
    for (size_t i = 0; i < n; i++) {
        const struct call *c = &v[i];
        x->calls[c->file] = add_hash(x->calls[c->file] + (uint64_t)t->files[c->file].d.t0, c->c.start, c->c.end);
        if (c->p2p)
            continue;
        if (!i || !same_seat(c, &v[i - 1]))
            m[marks++] = (struct mark){add_hash(1, c->c.group, c->size), c->file};
        bool numbered = c->c.group && c->size > 0 && c->sequence >= 0;
        m[marks - 1].what = numbered ? m[marks - 1].what : add_hash(m[marks - 1].what, c->name, 0);
    }
    return marks;
}

static void tie_files(struct ties *x, const struct trace *t, const struct calls *calls, struct arena *a)
{
    struct call *v = arena_array(a, struct call, calls->n + 1);
    struct mark *m = arena_array(a, struct mark, calls->n + 1);
    for (size_t i = 0; i < calls->n; i++) {
        v[i] = calls->v[i];
        v[i].run = (int32_t)v[i].file;
    }
    calls_sort(v, calls->n);
    size_t n = make_marks(x, t, v, calls->n, m);
    if (n)
        qsort(m, n, sizeof *m, by_mark);
    for (size_t i = 1; i < n; i++) {
        uint32_t p = root_of(x, m[i - 1].file), q = root_of(x, m[i].file);
        if (m[i].what == m[i - 1].what)
            x->root[p > q ? p : q] = p < q ? p : q;
    }
}

/* Nothing is looked up where all ranks are known. */
static void find_ties(struct ties *x, const struct trace *t, const struct calls *calls, struct arena *a)
{
    bool all_known = true;
    struct calls own;
    calls_init(&own);
    x->root = arena_array(a, uint32_t, t->nfiles + 1);
    x->calls = arena_array(a, uint64_t, t->nfiles + 1);
    for (uint32_t i = 0; i < t->nfiles; i++) {
        x->root[i] = i;
        all_known &= knows_rank(&t->files[i]);
    }
    for (uint32_t i = 0; !calls && !all_known && i < t->nfiles; i++)
        calls_rows(t, i, &own);
    if (!all_known && t->nfiles > 1)
        tie_files(x, t, calls ? calls : &own, a);
    calls_free(&own);
}

/* ---- files that cannot be of one run ---- */

static bool share_rank(const struct trace_file *x, const struct trace_file *y)
{
    for (size_t i = 0; i < x->nheld; i++)
        for (size_t k = 0; k < y->nheld; k++)
            if (x->held[i] >= 0 && x->held[i] == y->held[k])
                return true;
    return false;
}

enum { APART_NS = 1000000000 }; /* walls of one job's hosts disagree by less */

/* From zero to zero, where one clock counted both or both say where on the wall they lie; false: their clocks do not compare. */
static bool between_zeros(const struct tracedata *x, const struct tracedata *y, int64_t *ns)
{
    const char *boot_x = tracedata_meta_get(x, "boot_id"), *boot_y = tracedata_meta_get(y, "boot_id");
    const char *utc_x = tracedata_meta_get(x, "utc_epoch_ns"), *utc_y = tracedata_meta_get(y, "utc_epoch_ns");
    int64_t from = x->t0, to = y->t0;
    bool one_boot = boot_x && boot_y && strcmp(boot_x, boot_y) == 0;
    bool walls = utc_x && utc_y && opt_int(utc_x, &from) && opt_int(utc_y, &to);
    return (one_boot || walls) && !__builtin_sub_overflow(one_boot ? y->t0 : to, one_boot ? x->t0 : from, ns);
}

static bool at_other_times(const struct trace_file *x, const struct trace_file *y)
{
    int64_t zeros, start, end;
    if (x->end < x->start || y->end < y->start || !between_zeros(&x->d, &y->d, &zeros))
        return false;
    if (__builtin_add_overflow(y->start, zeros, &start) || __builtin_add_overflow(y->end, zeros, &end))
        return false;
    return start > x->end + APART_NS || end < x->start - APART_NS;
}

static bool belongs(const struct trace *t, const struct ties *x, uint32_t file, int run)
{
    const struct trace_file *f = &t->files[file];
    bool any = false, tied = false, known = knows_rank(f);
    for (uint32_t k = 0; k < file; k++) {
        const struct trace_file *g = &t->files[k];
        bool both = known && knows_rank(g);
        if (g->run != run)
            continue;
        if (both ? share_rank(f, g) : (x->calls[file] && x->calls[file] == x->calls[k]) || at_other_times(f, g))
            return false;
        any = true;
        tied |= both || root_of(x, file) == root_of(x, k);
    }
    return !any || tied;
}

void runs_number(struct trace *t, const struct calls *calls)
{
    struct arena a = {0};
    struct ties x;
    find_ties(&x, t, calls, &a);
    for (uint32_t i = 0; i < t->nfiles; i++)
        while (!belongs(t, &x, i, t->files[i].run))
            t->files[i].run++;
    arena_free(&a);
}

void runs_note(const struct trace *t, struct table *out)
{
    bool guessed = false;
    for (size_t i = 0; i < t->nfiles; i++)
        for (size_t k = 0; k < t->nfiles && !knows_rank(&t->files[i]); k++)
            guessed |= k != i && t->files[k].run == t->files[i].run;
    if (guessed)
        table_note(out, "files that do not say their rank are taken for ranks of one job, for their collectives agree");
}
