/* recover.c - one replay per place that waits, of the graph shrunk to its waits; threads share the places out. */
#include "analyzer/recover.h"
#include "analyzer/groups.h"
#include "analyzer/replay_net.h"
#include "analyzer/whatif.h"
#include "schemas/crew.h"

#include <stdlib.h>
#include <string.h>

struct place {
    uint32_t site, api;
    int8_t class;
    int64_t bubble_ns; /* over ranks */
    uint32_t number;
};

struct recovering {
    const struct replay *r;
    struct recoveries *out;
    struct place *places;
    size_t nplaces, cap, rows_cap;
    uint32_t *place_of; /* by wait: first the number of its place, then its rank by bubble */
    struct replay_net net;
    int64_t *window_ns; /* by rank */
    struct arena arena;
};

/* Places over ranks, and rows of the answer: one per rank and place. */
static void add_up(struct recovering *x)
{
    const struct waits *w = &x->r->waits;
    struct groups places = {0}, rows = {0};
    x->place_of = arena_array(&x->arena, uint32_t, w->n + 1);
    for (size_t i = 0; i < w->n; i++) {
        const struct wait *v = &w->v[i];
        x->place_of[i] = REPLAY_NONE;
        if (v->outside)
            continue;
        size_t k = groups_at(&places, v->site, v->api, (uint32_t)v->class, 0), row = groups_at(&rows, v->rank, (uint32_t)k, 0, 0);
        if (k == x->nplaces)
            ARRAY_PUSH(x->places, x->nplaces, x->cap, ((struct place){v->site, v->api, v->class, 0, (uint32_t)k}));
        if (row == x->out->n)
            ARRAY_PUSH(x->out->v, x->out->n, x->rows_cap, ((struct recovery){v->rank, v->site, v->api, v->class, 0, -1}));
        x->places[k].bubble_ns += v->bubble_ns;
        x->out->v[row].bubble_ns += v->bubble_ns;
        x->place_of[i] = (uint32_t)k;
    }
    groups_free(&places);
    groups_free(&rows);
}

static int by_bubble(const void *x, const void *y)
{
    const struct place *a = x, *b = y;
    if (a->bubble_ns != b->bubble_ns)
        return a->bubble_ns > b->bubble_ns ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static void prepare(struct recovering *x)
{
    const struct trace *t = x->r->t;
    struct arena a = {0};
    uint32_t *nth = arena_array(&a, uint32_t, x->nplaces);
    for (uint32_t i = 0; i < x->nplaces; i++)
        nth[x->places[i].number] = i;
    for (size_t i = 0; i < x->r->waits.n; i++)
        x->place_of[i] = x->place_of[i] == REPLAY_NONE ? REPLAY_NONE : nth[x->place_of[i]];
    replay_net_build(x->r, x->place_of, x->out->replayed, &x->net);
    struct replayed as_is = replay_net_run(&x->net, REPLAY_NONE, &a);
    x->window_ns = arena_array(&x->arena, int64_t, t->nranks + 1);
    for (uint32_t k = 0; k < t->nranks; k++)
        x->window_ns[k] = window_of(x->r, NULL, &as_is, k);
    arena_free(&a);
}

static bool replay_place(void *ctx, int member, size_t place)
{
    struct recovering *x = ctx;
    struct arena a = {0};
    const struct place *p = &x->places[place];
    struct replayed now = replay_net_run(&x->net, (uint32_t)place, &a);
    (void)member;
    for (size_t i = 0; i < x->out->n; i++) {
        struct recovery *v = &x->out->v[i];
        if (v->site != p->site || v->api != p->api || v->class != p->class)
            continue;
        int64_t gain = x->window_ns[v->rank] - window_of(x->r, NULL, &now, v->rank);
        gain = gain < v->bubble_ns ? gain : v->bubble_ns;
        v->recoverable_ns = gain > 0 ? gain : 0;
    }
    arena_free(&a);
    return true;
}

void recover_find(const struct replay *r, struct recoveries *out)
{
    *out = (struct recoveries){0};
    struct recovering x = {.r = r, .out = out};
    add_up(&x);
    if (x.nplaces)
        qsort(x.places, x.nplaces, sizeof *x.places, by_bubble);
    for (size_t i = 0; i < x.nplaces; i++)
        out->sites += x.places[i].bubble_ns > 0;
    out->replayed = out->sites < RECOVER_SITES ? out->sites : RECOVER_SITES;
    if (out->replayed) {
        prepare(&x);
        crew_run(out->replayed, 0, replay_place, &x);
    }
    for (size_t i = 0; i < out->n; i++)
        if (out->v[i].recoverable_ns < 0 && !out->v[i].bubble_ns)
            out->v[i].recoverable_ns = 0;
    replay_net_free(&x.net);
    free(x.places);
    arena_free(&x.arena);
}

void recover_free(struct recoveries *x)
{
    free(x->v);
    *x = (struct recoveries){0};
}
