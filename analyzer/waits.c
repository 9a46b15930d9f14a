/* waits.c - finding the rows of both ledgers, thread by thread. */
#include "analyzer/waits.h"
#include "analyzer/nest.h"

#include <stdlib.h>
#include <string.h>

/* What a file's names mean, looked up once per name. */
enum { UNKNOWN, PLAIN, FIRST_CLASS }; /* FIRST_CLASS + enum sync_class; PAGEABLE_BIT: only with pageable memory */
enum { PAGEABLE_BIT = 0x80 };

struct finder {
    const struct trace *t;
    const struct trace_file *f;
    struct waits *w;
    struct sites sites;
    bool all;                 /* also calls outside the window */
    size_t cap;               /* of w->v */
    uint8_t *class;           /* by string id */
    uint32_t *api;            /* by string id: 1 + id in w->names */
    uint8_t *pageable;        /* by row: the copy it started touches pageable memory */
    const uint32_t *launched; /* launches_find() */
    struct nest open;         /* what encloses */
    uint32_t *around;         /* scratch */
    size_t around_cap;
    struct arena arena;
};

const char *op_class_name(enum op_class c)
{
    static const char *const names[] = {"", "item", "is_nonzero", "nonzero"};
    return (unsigned)c < sizeof names / sizeof *names ? names[c] : "";
}

static void find_pageable(struct finder *x)
{
    const struct tracedata *d = &x->f->d;
    for (size_t i = 0; i < d->n; i++) {
        const struct ev_copy *c = d->ev[i].kind == EV_MEMCPY ? ev_copy_of(d, &d->ev[i]) : NULL;
        if (c && x->launched[i] && (c->src == MEM_PAGEABLE || c->dst == MEM_PAGEABLE))
            x->pageable[x->launched[i] - 1] = 1;
    }
}

static void finder_open(struct finder *x, const struct trace *t, uint32_t file, enum site_by by, struct waits *w, const uint32_t *launched)
{
    const struct trace_file *f = &t->files[file];
    *x = (struct finder){.t = t, .f = f, .w = w, .launched = launched};
    sites_init(&x->sites, f, by, &w->names);
    x->class = arena_array(&x->arena, uint8_t, f->d.strings.n + 1);
    x->api = arena_array(&x->arena, uint32_t, f->d.strings.n + 1);
    if (f->d.ncopies) {
        x->pageable = arena_array(&x->arena, uint8_t, f->d.n + 1);
        find_pageable(x);
    }
}

static void finder_close(struct finder *x)
{
    sites_free(&x->sites);
    nest_free(&x->open);
    free(x->around);
    arena_free(&x->arena);
}

static enum sync_class class_of(struct finder *x, uint32_t row)
{
    const struct event *ev = &x->f->d.ev[row];
    const struct ev_sync *s = ev_sync_of(&x->f->d, ev);
    if (s)
        return (enum sync_class)s->class;
    uint8_t *c = &x->class[ev->name];
    if (*c == UNKNOWN) {
        const char *name = trace_string(x->f, ev->name);
        enum sync_class always = wait_class(name, false), pageable = wait_class(name, true);
        *c = (uint8_t)(always ? FIRST_CLASS + always : pageable ? PAGEABLE_BIT | (FIRST_CLASS + pageable) : PLAIN);
    }
    if (*c == PLAIN || ((*c & PAGEABLE_BIT) && !(x->pageable && x->pageable[row])))
        return SYNC_NONE;
    return (enum sync_class)((*c & ~PAGEABLE_BIT) - FIRST_CLASS);
}

static uint32_t api_of(struct finder *x, uint32_t name, const char *text, size_t n)
{
    if (!x->api[name])
        x->api[name] = 1 + intern_id_n(&x->w->names, text, n);
    return x->api[name] - 1;
}

static uint32_t site_at(struct finder *x, uint32_t row)
{
    const struct event *ev = x->f->d.ev;
    size_t n = 0;
    if (sites_needs_around(&x->sites, &ev[row])) {
        if (x->open.n > x->around_cap)
            x->around = array_grow(x->around, &x->around_cap, x->open.n, sizeof *x->around);
        n = nest_around(&x->open, ev, row, x->around);
    }
    return sites_id(&x->sites, &ev[row], x->around, n);
}

static void add_wait(struct finder *x, const struct trace_rank *r, uint32_t row, enum sync_class class)
{
    const struct event *ev = &x->f->d.ev[row];
    const struct ev_sync *s = ev_sync_of(&x->f->d, ev);
    bool outside = !ivl_touches(r->window, ev->start, ev->end);
    if (outside && !x->all)
        return;
    size_t n;
    const char *name = wait_api(trace_string(x->f, ev->name), &n);
    struct wait w = {.event = row,
                     .rank = (uint32_t)(r - x->t->ranks),
                     .class = (int8_t) class,
                     .outside = outside,
                     .did_block = s ? (int8_t)s->did_block : -1,
                     .blocked_ns = ivl_within(r->window, ev->start, ev->end)};
    w.api = api_of(x, ev->name, name, n);
    w.site = site_at(x, row);
    ARRAY_PUSH(x->w->v, x->w->n, x->cap, w);
}

static void wait_thread(struct finder *x, const struct trace_rank *r, const struct thread_events *th)
{
    const struct event *ev = x->f->d.ev;
    int64_t inside = INT64_MIN; /* end of the outermost blocking call that is open */
    x->open.n = 0;
    for (size_t i = 0; i < th->n; i++) {
        uint32_t row = th->ev[i];
        nest_move(&x->open, ev, row);
        if (ev[row].kind == EV_RUNTIME) {
            enum sync_class c = ev[row].start >= inside || ev[row].end > inside ? class_of(x, row) : SYNC_NONE;
            if (!c)
                continue;
            add_wait(x, r, row, c);
            inside = ev[row].end;
        } else if (ev[row].kind == EV_FRAME || ev[row].kind == EV_RANGE) {
            nest_push(&x->open, row);
        }
    }
}

/* Costs are those of the calls that touch the window, as if the others were not there. */
static void cost_rank(const struct finder *x, uint32_t rank, struct wait *v, size_t n)
{
    struct arena a = {0};
    struct wait *in = v;
    size_t m = 0;
    if (x->all) {
        in = arena_array(&a, struct wait, n + 1);
        for (size_t i = 0; i < n; i++)
            if (!v[i].outside)
                in[m++] = v[i];
    } else {
        m = n;
    }
    waits_cost(x->t, rank, x->launched, in, m);
    for (size_t i = 0, k = 0; x->all && i < n; i++)
        if (!v[i].outside)
            v[i] = in[k++];
    arena_free(&a);
}

/* launched: NULL but when all calls are wanted. */
static void find_waits(const struct trace *t, enum site_by by, struct waits *w, uint32_t **launched, struct arena *a)
{
    *w = (struct waits){.recorded = trace_has(t, EV_RUNTIME)};
    intern_init(&w->names);
    size_t cap = 0;
    for (uint32_t file = 0; file < t->nfiles; file++) {
        struct finder x;
        if (launched)
            launched[file] = launches_find(&t->files[file], a);
        finder_open(&x, t, file, by, w, launched ? launched[file] : launches_of(&t->files[file]));
        x.cap = cap;
        x.all = launched != NULL;
        for (uint32_t r = 0; r < t->nranks; r++) {
            if (t->ranks[r].file != file)
                continue;
            size_t first = w->n;
            for (size_t i = 0; i < t->ranks[r].nthreads; i++)
                wait_thread(&x, &t->ranks[r], &t->ranks[r].threads[i]);
            cost_rank(&x, r, w->v + first, w->n - first);
        }
        cap = x.cap;
        finder_close(&x);
    }
}

void waits_find(const struct trace *t, enum site_by by, struct waits *w)
{
    find_waits(t, by, w, NULL, NULL);
}

void waits_find_all(const struct trace *t, enum site_by by, struct waits *w, uint32_t **launched, struct arena *a)
{
    find_waits(t, by, w, launched, a);
}

void waits_free(struct waits *w)
{
    intern_free(&w->names);
    free(w->v);
    *w = (struct waits){0};
}
