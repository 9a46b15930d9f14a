/* perbatch.c - waits sorted by site, rank and micro-batch, and counted by runs of equal ones. */
#include "analyzer/perbatch.h"
#include "analyzer/waits.h"
#include "schemas/marker.h"

#include <stdlib.h>
#include <string.h>

struct met { /* one wait inside a micro-batch */
    uint32_t site, rank, batch;
};

static int by_start(const void *x, const void *y)
{
    const struct ivl *a = x, *b = y;
    return (a->start > b->start) - (a->start < b->start);
}

static int by_met(const void *x, const void *y)
{
    const struct met *a = x, *b = y;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->batch > b->batch) - (a->batch < b->batch);
}

static int by_site(const void *x, const void *y)
{
    return strcmp(((const struct perbatch_site *)x)->site, ((const struct perbatch_site *)y)->site);
}

/* The micro-batches of a rank in order of time; they do not overlap. */
static struct ivlset batches(const struct trace *t, const struct trace_rank *r, struct arena *a)
{
    const struct trace_file *f = &t->files[r->file];
    struct ivlset s = {arena_array(a, struct ivl, r->n + 1), 0};
    for (size_t i = 0; i < r->n; i++) {
        const struct event *ev = &f->d.ev[r->ev[i]];
        if (ev->kind == EV_RANGE && strncmp(trace_string(f, ev->name), MARK_MICROBATCH "#", sizeof MARK_MICROBATCH) == 0)
            s.v[s.n++] = (struct ivl){ev->start, ev->end};
    }
    qsort(s.v, s.n, sizeof *s.v, by_start);
    return s;
}

static size_t find_met(const struct trace *t, const struct waits *w, struct met *met, struct arena *a)
{
    struct ivlset *of = arena_array(a, struct ivlset, t->nranks + 1);
    size_t n = 0;
    for (size_t r = 0; r < t->nranks; r++)
        of[r] = batches(t, &t->ranks[r], a);
    for (size_t i = 0; i < w->n; i++) {
        const struct wait *x = &w->v[i];
        const struct ivlset *b = &of[x->rank];
        int64_t start = t->files[t->ranks[x->rank].file].d.ev[x->event].start;
        size_t at = ivl_find(*b, start);
        if (at < b->n && b->v[at].start <= start)
            met[n++] = (struct met){x->site, x->rank, (uint32_t)at};
    }
    return n;
}

struct perbatch perbatch_of(const struct trace *t, bool op_ledger, struct arena *a)
{
    struct waits w;
    struct arena room = {0};
    (op_ledger ? waits_find_ops : waits_find)(t, SITE_FUNCTION, &w);
    struct met *met = arena_array(&room, struct met, w.n + 1);
    size_t n = find_met(t, &w, met, &room);
    struct perbatch p = {arena_array(a, struct perbatch_site, w.names.n + 1), 0};
    qsort(met, n, sizeof *met, by_met);
    for (size_t i = 0, run = 0; i < n; i++) {
        if (i == 0 || met[i].site != met[i - 1].site)
            p.v[p.n++] = (struct perbatch_site){.site = arena_strdup(a, intern_str(&w.names, met[i].site))};
        run = i && by_met(&met[i], &met[i - 1]) == 0 ? run + 1 : 1;
        struct perbatch_site *s = &p.v[p.n - 1];
        s->inside++;
        s->largest = (int64_t)run > s->largest ? (int64_t)run : s->largest;
    }
    qsort(p.v, p.n, sizeof *p.v, by_site);
    waits_free(&w);
    arena_free(&room);
    return p;
}

const struct perbatch_site *perbatch_find(const struct perbatch *p, const char *site)
{
    struct perbatch_site key = {.site = site};
    return p->n ? bsearch(&key, p->v, p->n, sizeof *p->v, by_site) : NULL;
}
