/* repeat.c - signatures of the work behind blocking calls, compared within each micro-batch. */
#include "analyzer/repeat.h"
#include "analyzer/groups.h"
#include "analyzer/nest.h"
#include "analyzer/shapes.h"
#include "analyzer/waits.h"
#include "schemas/marker.h"

#include <stdlib.h>
#include <string.h>

struct call {
    uint64_t signature;
    int64_t syncs, host, gpu;
};

struct stretch { /* a micro-batch, a step, or everything */
    int64_t start, end;
};

struct look {
    const struct trace *t;
    const struct trace_file *f;
    const struct trace_rank *r;
    const struct waits *w;
    struct sites sites;
    struct shapes shapes;
    uint32_t *first, *next; /* device rows by host row, and the one after; 1 + row */
    struct stretch *units;  /* of the rank, by start */
    size_t nunits;
    struct nest open;   /* ranges and user frames */
    uint32_t *launches; /* rows since the last blocking call of the thread */
    size_t nlaunches, launches_cap;
    struct groups keys; /* of the rank's calls: unit, instance, site */
    struct call *calls;
    size_t calls_cap;
};

/* Rows of one host call in the order of the file. */
static bool link_rows(struct look *x, struct arena *a)
{
    const struct tracedata *d = &x->f->d;
    const uint32_t *launched = launches_of(x->f);
    bool linked = false;
    x->first = arena_array(a, uint32_t, d->n + 1);
    x->next = arena_array(a, uint32_t, d->n + 1);
    for (size_t i = d->n; i-- > 0;)
        if (launched[i]) {
            x->next[i] = x->first[launched[i] - 1];
            x->first[launched[i] - 1] = (uint32_t)i + 1;
            linked = true;
        }
    return linked;
}

static int by_start(const void *x, const void *y)
{
    const struct stretch *a = x, *b = y;
    return a->start != b->start ? (a->start > b->start) - (a->start < b->start) : (a->end > b->end) - (a->end < b->end);
}

static bool is_microbatch(const char *name)
{
    static const char mark[] = MARK_MICROBATCH "#";
    return strncmp(name, mark, sizeof mark - 1) == 0;
}

static enum repeat_unit find_units(struct look *x, struct arena *a)
{
    const struct event *ev = x->f->d.ev;
    const struct steplist *s = &x->r->steps;
    size_t n = 0;
    for (size_t i = 0; i < x->r->n; i++)
        n += ev[x->r->ev[i]].kind == EV_RANGE && is_microbatch(trace_string(x->f, ev[x->r->ev[i]].name));
    x->units = arena_array(a, struct stretch, n + s->n + 1);
    x->nunits = 0;
    for (size_t i = 0; n && i < x->r->n; i++) {
        const struct event *e = &ev[x->r->ev[i]];
        if (e->kind == EV_RANGE && is_microbatch(trace_string(x->f, e->name)))
            x->units[x->nunits++] = (struct stretch){e->start, e->end};
    }
    for (size_t i = 0; !n && i < s->n; i++)
        x->units[x->nunits++] = (struct stretch){s->v[i].start, s->v[i].end};
    if (!x->nunits)
        x->units[x->nunits++] = (struct stretch){INT64_MIN, INT64_MAX};
    qsort(x->units, x->nunits, sizeof *x->units, by_start);
    return n ? REPEAT_MICROBATCH : s->n ? REPEAT_STEP : REPEAT_WHOLE;
}

/* 1 + the last unit that begins before `at` and holds it; 0: none. */
static uint32_t unit_at(const struct look *x, int64_t at)
{
    size_t lo = 0, hi = x->nunits;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (x->units[mid].start <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo && x->units[lo - 1].end > at ? (uint32_t)lo : 0;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 29;
}

static struct call *call_at(struct look *x, uint32_t unit, uint32_t instance, uint32_t site)
{
    size_t at = groups_at(&x->keys, unit, instance, site, 0), was = x->calls_cap;
    if (at >= was) {
        x->calls = array_grow(x->calls, &x->calls_cap, at + 1, sizeof *x->calls);
        memset(x->calls + was, 0, (x->calls_cap - was) * sizeof *x->calls);
    }
    return &x->calls[at];
}

/* Work launched by row `host` joins the call. */
static void take_launch(struct look *x, struct call *c, uint32_t host)
{
    for (uint32_t k = x->first[host]; k; k = x->next[k - 1]) {
        const struct event *ev = &x->f->d.ev[k - 1];
        c->signature = mix(c->signature, shapes_id(&x->shapes, ev));
        c->gpu += ev->end - ev->start;
    }
}

static void take_wait(struct look *x, const struct wait *w, int64_t before)
{
    const struct event *ev = x->f->d.ev, *own = &ev[w->event];
    uint32_t unit = unit_at(x, own->start), instance = 0;
    int64_t from = before;
    for (size_t i = x->open.n; !instance && i-- > 0;)
        if (ev[x->open.v[i]].end >= own->end)
            instance = x->open.v[i] + 1;
    if (instance && ev[instance - 1].start > from)
        from = ev[instance - 1].start;
    if (from == INT64_MIN || from > own->start)
        from = own->start;
    if (unit) {
        struct call *c = call_at(x, unit, instance, w->site);
        for (size_t i = 0; i < x->nlaunches; i++)
            if (ev[x->launches[i]].start >= from)
                take_launch(x, c, x->launches[i]);
        c->signature = mix(c->signature, UINT64_C(1) << 32 | w->api);
        c->syncs++;
        c->host += own->end - from;
    }
    x->nlaunches = 0;
}

/* The waits of a thread, from *at on, beside its rows. */
static void look_thread(struct look *x, const struct thread_events *th, size_t *at)
{
    const struct event *ev = x->f->d.ev;
    int64_t before = INT64_MIN;
    x->open.n = x->nlaunches = 0;
    for (size_t i = 0; i < th->n; i++) {
        uint32_t row = th->ev[i];
        const struct ev_range *g = ev_range_of(&x->f->d, &ev[row]);
        nest_move(&x->open, ev, row);
        if (x->first[row])
            ARRAY_PUSH(x->launches, x->nlaunches, x->launches_cap, row);
        if (*at < x->w->n && x->w->v[*at].event == row) {
            take_wait(x, &x->w->v[(*at)++], before);
            before = ev[row].end > before ? ev[row].end : before;
        }
        if ((ev[row].kind == EV_RANGE && !(g && g->flavour == RANGE_MARK)) || (ev[row].kind == EV_FRAME && sites_user_frame(&x->sites, ev[row].name)))
            nest_push(&x->open, row);
    }
}

/* The rank's calls, each against the ones before it in its unit. */
static void compare(struct look *x, struct repeats *out, size_t *cap)
{
    struct groups seen = {0}, sites = {0};
    size_t first = out->n;
    for (size_t i = 0; i < x->keys.n; i++) {
        const uint32_t *key = x->keys.key[i];
        const struct call *c = &x->calls[i];
        size_t at = first + groups_at(&sites, key[2], 0, 0, 0), was = seen.n;
        if (at == out->n)
            ARRAY_PUSH(out->v, out->n, *cap, ((struct repeat){.rank = (uint32_t)(x->r - x->t->ranks), .site = key[2]}));
        struct repeat *r = &out->v[at];
        groups_at(&seen, key[0], key[2], (uint32_t)c->signature, (uint32_t)(c->signature >> 32));
        bool again = seen.n == was;
        r->calls++;
        r->identical += again;
        r->syncs += again ? c->syncs : 0;
        r->host += again ? c->host : 0;
        r->gpu += again ? c->gpu : 0;
    }
    groups_free(&seen);
    groups_free(&sites);
}

static void look_rank(struct look *x, struct repeats *out, size_t *at, size_t *cap)
{
    struct arena a = {0};
    out->units |= find_units(x, &a);
    for (size_t i = 0; i < x->r->nthreads; i++)
        look_thread(x, &x->r->threads[i], at);
    compare(x, out, cap);
    groups_free(&x->keys);
    free(x->calls);
    x->calls = NULL;
    x->calls_cap = 0;
    arena_free(&a);
}

static void look_file(const struct trace *t, uint32_t file, const struct waits *w, size_t *at, struct repeats *out, size_t *cap)
{
    struct arena a = {0};
    struct intern unused;
    struct look x = {.t = t, .f = &t->files[file], .w = w};
    intern_init(&unused);
    sites_init(&x.sites, x.f, SITE_FUNCTION, &unused);
    shapes_init(&x.shapes, x.f, &a);
    out->linked |= link_rows(&x, &a);
    for (size_t r = 0; r < t->nranks; r++) {
        x.r = &t->ranks[r];
        if (x.r->file == file)
            look_rank(&x, out, at, cap);
    }
    sites_free(&x.sites);
    shapes_free(&x.shapes);
    nest_free(&x.open);
    intern_free(&unused);
    free(x.launches);
    arena_free(&a);
}

void repeats_find(const struct trace *t, struct repeats *out)
{
    struct waits w;
    size_t at = 0, cap = 0;
    waits_find(t, SITE_FUNCTION, &w);
    if (!w.recorded) { /* a trace of operators only */
        waits_free(&w);
        waits_find_ops(t, SITE_FUNCTION, &w);
    }
    *out = (struct repeats){.names = w.names, .recorded = w.recorded};
    w.names = (struct intern){0};
    for (uint32_t i = 0; i < t->nfiles; i++)
        look_file(t, i, &w, &at, out, &cap);
    waits_free(&w);
}

void repeats_free(struct repeats *r)
{
    free(r->v);
    intern_free(&r->names);
    *r = (struct repeats){0};
}
