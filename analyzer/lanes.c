/* lanes.c - good, selected rows sorted into ranks, threads and lanes.
 *
 * Two passes over a file's rows: the first finds the extent and what is impossible, the second deals the row numbers out
 * to their ranks and (rank, device) pairs. Sorting is linear (rowsort.h), and so is all of it.
 */
#include "analyzer/nest.h"
#include "analyzer/rowsort.h"
#include "analyzer/trace_build.h"

#include <stdlib.h>
#include <string.h>

static const int64_t longest = INT64_C(3600000000000); /* an hour; no row of a trace lasts longer in earnest */

/* A small sorted set of keys with the rows under each. */
struct bucket {
    int64_t key;
    size_t n, cap, bad;
    uint32_t *v;
};

struct buckets {
    struct bucket *v;
    size_t n, cap, last;
};

static struct bucket *find_bucket(struct buckets *b, int64_t key)
{
    size_t lo = 0, hi = b->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (b->v[mid].key < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    b->last = lo;
    if (lo == b->n || b->v[lo].key != key) {
        ARRAY_PUSH(b->v, b->n, b->cap, ((struct bucket){0}));
        memmove(&b->v[lo + 1], &b->v[lo], (b->n - 1 - lo) * sizeof *b->v);
        b->v[lo] = (struct bucket){.key = key};
    }
    return &b->v[lo];
}

/* Rows of one key come in runs. */
static inline struct bucket *bucket(struct buckets *b, int64_t key)
{
    return b->last < b->n && b->v[b->last].key == key ? &b->v[b->last] : find_bucket(b, key);
}

static int64_t lane_key(int32_t rank, int32_t device)
{
    return (int64_t)((uint64_t)(uint32_t)rank << 32 | (uint32_t)device);
}

/* Rows that are kept lie within 73 years of t0, so that no difference of times overflows. */
static bool is_sane(const struct event *ev)
{
    static const int64_t farthest = INT64_C(1) << 61;
    return ev->start >= -farthest && ev->end <= farthest && (uint64_t)(ev->end - ev->start) <= (uint64_t)longest;
}

/* Time zero is impossible for work of a trace that lies more than the cap away from it. */
static bool is_at_zero(const struct trace_file *f, const struct event *ev)
{
    return (uint64_t)ev->start + (uint64_t)f->d.t0 == 0 && ev_kind_class((enum ev_kind)ev->kind) == EV_WORK;
}

bool row_is_bad(const struct trace_file *f, const struct event *ev)
{
    return !is_sane(ev) || (is_at_zero(f, ev) && f->end - ev->start > longest);
}

/* Once more, with the extent known: zero starts are judged by it. */
static void judge_zeros(struct trace_file *f)
{
    f->start = INT64_MAX;
    f->bad_rows = 0;
    for (size_t i = 0; i < f->d.n; i++) {
        if (row_is_bad(f, &f->d.ev[i]))
            f->bad_rows++;
        else if (f->d.ev[i].start < f->start)
            f->start = f->d.ev[i].start;
    }
}

/* What is there, before any selection. */
static void survey(struct build *b, struct trace_file *f, struct arena *a)
{
    uint8_t *class = arena_array(a, uint8_t, f->d.strings.n + 1);
    bool at_zero = false;
    f->class = class;
    f->start = INT64_MAX, f->end = INT64_MIN;
    for (size_t i = 0; i < f->d.n; i++) {
        const struct event *ev = &f->d.ev[i];
        f->kinds |= (unsigned)ev->kind < EV_NKINDS ? 1u << ev->kind : 0;
        if ((ev->kind == EV_KERNEL || ev->kind == EV_COMM) && !class[ev->name])
            class[ev->name] = (uint8_t)kclass_of(b->patterns, trace_string(f, ev->name));
        if (!is_sane(ev)) {
            f->bad_rows++;
            continue;
        }
        f->end = ev->end > f->end ? ev->end : f->end;
        f->start = ev->start < f->start ? ev->start : f->start;
        at_zero |= is_at_zero(f, ev);
    }
    if (at_zero)
        judge_zeros(f);
}

/* A recording knows when it began; else the first row is the trace's start. */
static void begin_at_zero(struct trace_file *f)
{
    const char *format = tracedata_meta_get(&f->d, "source_format");
    if (format && strcmp(format, "cpscope") == 0 && f->start > 0)
        f->start = 0;
}

struct deal {
    struct build *b;
    struct trace_file *f;
    uint32_t file;
    struct buckets held;         /* ranks before selection, without rows */
    struct buckets ranks, lanes; /* host rows by rank; device rows by (rank, device) */
    int64_t from, to;            /* relative to t0 */
    bool all;                    /* nothing is selected, and every row is good */
};

static bool outside(const struct deal *d, const struct event *ev)
{
    return ev->start >= d->to || (ev->end <= d->from && ev->start < d->from);
}

/* Which bucket a row goes to; NULL: none. */
static struct bucket *choose(struct deal *d, const struct event *ev, enum ev_class class, bool *bad)
{
    const struct trace_opts *o = &d->b->t->opts;
    int32_t rank = ev->rank >= 0 ? ev->rank : trace_event_rank(&d->f->d, ev); /* it mostly has its own */
    bucket(&d->held, rank);
    if (!d->all) {
        if ((o->rank >= 0 && rank != o->rank) || (class == EV_WORK && o->device >= 0 && ev->device != o->device))
            return NULL;
        *bad = row_is_bad(d->f, ev);
        if (!*bad && outside(d, ev))
            return NULL;
    }
    return class == EV_WORK ? bucket(&d->lanes, lane_key(rank, ev->device)) : bucket(&d->ranks, rank);
}

/* Row numbers in order of the file, of classes HOST and WORK only. */
static void deal_rows(struct deal *d)
{
    for (size_t i = 0; i < d->f->d.n; i++) {
        bool bad = false;
        const struct event *ev = &d->f->d.ev[i];
        enum ev_class class = ev_kind_class((enum ev_kind)ev->kind);
        if (class != EV_HOST && class != EV_WORK)
            continue;
        struct bucket *k = choose(d, ev, class, &bad);
        if (k && bad)
            k->bad++;
        else if (k)
            ARRAY_PUSH(k->v, k->n, k->cap, (uint32_t)i);
    }
    for (size_t i = 0; i < d->lanes.n; i++) /* a rank may have device rows only */
        bucket(&d->ranks, d->lanes.v[i].key >> 32);
}

/* The rows of a host, sorted by time, dealt out to its threads in that order. */
static void split_threads(struct deal *d, struct trace_rank *r, const uint32_t *v)
{
    const struct event *ev = d->f->d.ev;
    struct buckets threads = {0};
    for (size_t i = 0; i < r->n; i++)
        bucket(&threads, ev[v[i]].thread)->n++;
    uint32_t *rows = arena_array(&d->b->t->arena, uint32_t, r->n), *at = rows;
    struct thread_events *th = arena_array(&d->b->t->arena, struct thread_events, threads.n);
    for (size_t i = 0; i < threads.n; i++) {
        struct bucket *k = &threads.v[i];
        th[i] = (struct thread_events){(uint32_t)k->key, at, k->n};
        k->v = at;
        at += k->n;
    }
    for (size_t i = 0; i < r->n; i++)
        *bucket(&threads, ev[v[i]].thread)->v++ = v[i];
    r->ev = rows;
    r->threads = th;
    r->nthreads = threads.n;
    free(threads.v);
}

static void finish_rank(struct deal *d, struct bucket *k)
{
    struct trace *t = d->b->t;
    struct trace_rank *r = &t->ranks[t->nranks];
    *r = (struct trace_rank){.file = d->file, .rank = (int32_t)k->key, .n = k->n, .first_lane = (uint32_t)t->nlanes, .bad_rows = k->bad};
    rowsort(d->f->d.ev, k->v, k->n, true);
    split_threads(d, r, k->v);
    free(k->v);
}

static void finish_lane(struct deal *d, struct bucket *k)
{
    struct trace *t = d->b->t;
    uint32_t *v = arena_array(&t->arena, uint32_t, k->n);
    rowsort(d->f->d.ev, k->v, k->n, false);
    if (k->n)
        memcpy(v, k->v, k->n * sizeof *v);
    free(k->v);
    t->lanes[t->nlanes++] = (struct lane){.file = d->file,
                                          .host = (uint32_t)t->nranks,
                                          .rank = (int32_t)(k->key >> 32),
                                          .device = (int32_t)(uint32_t)k->key,
                                          .ev = v,
                                          .n = k->n,
                                          .bad_rows = k->bad};
}

static void finish(struct deal *d)
{
    struct trace *t = d->b->t;
    size_t lane = 0;
    for (size_t i = 0; i < d->ranks.n; i++) {
        finish_rank(d, &d->ranks.v[i]);
        for (; lane < d->lanes.n && d->lanes.v[lane].key >> 32 == d->ranks.v[i].key; lane++, t->ranks[t->nranks].nlanes++)
            finish_lane(d, &d->lanes.v[lane]);
        t->nranks++;
    }
}

static void *make_room(void *v, size_t *cap, size_t need, size_t element)
{
    return need > *cap ? array_grow(v, cap, need, element) : v;
}

int64_t time_since(int64_t zero, int64_t t)
{
    int64_t sum;
    if (t == INT64_MIN || t == INT64_MAX)
        return t; /* open */
    return __builtin_add_overflow(zero, t, &sum) ? (t < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static void keep_held(struct deal *d)
{
    int32_t *v = arena_array(&d->b->t->arena, int32_t, d->held.n + 1);
    for (size_t i = 0; i < d->held.n; i++)
        v[i] = (int32_t)d->held.v[i].key;
    d->f->held = v;
    d->f->nheld = d->held.n;
    free(d->held.v);
}

/* The lists of ranks and lanes of all files, each file's in its own pass. */
static bool deal_file(struct build *b, uint32_t file)
{
    struct trace *t = b->t;
    struct deal d = {.b = b, .f = &t->files[file], .file = file};
    d.f->launches = launches_new();
    survey(b, d.f, &t->arena);
    begin_at_zero(d.f);
    int64_t zero = d.f->start <= d.f->end ? d.f->start : 0;
    d.from = time_since(zero, t->opts.from);
    d.to = time_since(zero, t->opts.to);
    d.all = !d.f->bad_rows && t->opts.rank < 0 && t->opts.device < 0 && d.from == INT64_MIN && d.to == INT64_MAX;
    deal_rows(&d);
    keep_held(&d);
    d.f->first_rank = (uint32_t)t->nranks;
    d.f->nranks = (uint32_t)d.ranks.n;
    t->ranks = make_room(t->ranks, &t->ranks_cap, t->nranks + d.ranks.n, sizeof *t->ranks);
    t->lanes = make_room(t->lanes, &t->lanes_cap, t->nlanes + d.lanes.n, sizeof *t->lanes);
    finish(&d);
    bool any = false;
    for (size_t i = 0; i < d.ranks.n; i++)
        any |= d.ranks.v[i].n > 0;
    for (size_t i = 0; i < d.lanes.n; i++)
        any |= d.lanes.v[i].n > 0;
    free(d.ranks.v);
    free(d.lanes.v);
    return any;
}

bool lanes_build(struct build *b, struct err *e)
{
    struct trace *t = b->t;
    bool any = false;
    for (size_t i = 0; i < t->nfiles; i++)
        any |= deal_file(b, (uint32_t)i);
    return found(t, any, LACK_ROWS, e) && found(t, t->opts.device < 0 || t->nlanes, LACK_DEVICE, e);
}
