/* replay_net.c - shrinking the graph, instant by instant, and running what is left. */
#include "analyzer/replay_net.h"

#include <stdlib.h>

enum { ON_TIME = 0 };

struct shrinking {
    const struct replay *r;
    struct replay_net *x;
    const uint32_t *place_of;
    size_t nplaces;
    struct replay_term *v; /* what the instant at hand follows from; each node once */
    size_t n, cap;
    struct cause *causes; /* of the instant at hand, those that are known */
    size_t ncauses, causes_cap;
};

struct cause {
    uint32_t instant;
    int64_t explained; /* when the instant would be at the usual distance from it */
};

static bool is_known(const struct shrinking *s, uint32_t instant)
{
    uint32_t of = s->x->of[instant];
    return of && of != REPLAY_NONE;
}

static void add_term(struct shrinking *s, uint32_t node, int64_t lag)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].node == node) {
            s->v[i].lag = lag < s->v[i].lag ? lag : s->v[i].lag;
            return;
        }
    ARRAY_PUSH(s->v, s->n, s->cap, ((struct replay_term){node, lag}));
}

static void add_cause(struct shrinking *s, uint32_t instant, int64_t slack)
{
    const struct replay_late *l = &s->x->lates[s->x->of[instant]];
    for (int k = 0; k < 2 && l->node[k] != REPLAY_NONE; k++)
        add_term(s, l->node[k], l->lag[k] + slack);
}

static void add_known(struct shrinking *s, const struct replay_edge *e)
{
    if (is_known(s, e->instant))
        ARRAY_PUSH(s->causes, s->ncauses, s->causes_cap, ((struct cause){e->instant, replay_measured(s->r, e->instant) + e->usual}));
}

/* The one that explains the instant best is the first of the latest; NULL: none is known. */
static const struct cause *find_causes(struct shrinking *s, uint32_t instant)
{
    struct replay_edge e[2];
    int n = replay_edges(s->r, instant, e);
    size_t best = 0;
    s->ncauses = 0;
    for (int i = 0; i < n; i++)
        add_known(s, &e[i]);
    for (size_t k = 0; n < 0 && replay_edge(s->r, instant, k, e); k++)
        add_known(s, e);
    for (size_t i = 1; i < s->ncauses; i++)
        best = s->causes[i].explained > s->causes[best].explained ? i : best;
    return s->ncauses ? &s->causes[best] : NULL;
}

/* How much earlier the latest member that is known came than the others: an arrival waits for each to the ns. */
static void follow_members(struct shrinking *s, uint32_t instant)
{
    const struct cause *last = find_causes(s, instant);
    for (size_t k = 0; k < s->ncauses; k++)
        add_cause(s, s->causes[k].instant, last->explained - s->causes[k].explained);
}

/* The causes with their slack, as replay_run() has them. 1 + the cause, when it is one only and without slack. */
static uint32_t follow_causes(struct shrinking *s, uint32_t instant)
{
    const struct cause *binding = find_causes(s, instant);
    if (s->ncauses == 1)
        return 1 + binding->instant;
    int64_t measured = replay_measured(s->r, instant);
    for (size_t k = 0; k < s->ncauses; k++) {
        int64_t slack = measured - s->causes[k].explained;
        add_cause(s, s->causes[k].instant, &s->causes[k] == binding || slack < 0 ? 0 : slack);
    }
    return 0;
}

static uint32_t new_late(struct shrinking *s, struct replay_late l)
{
    ARRAY_PUSH(s->x->lates, s->x->nlates, s->x->lates_cap, l);
    return (uint32_t)s->x->nlates - 1;
}

static void keep_terms(struct shrinking *s)
{
    for (size_t i = 0; i < s->n; i++)
        ARRAY_PUSH(s->x->terms, s->x->nterms, s->x->terms_cap, s->v[i]);
}

static uint32_t new_node(struct shrinking *s, uint32_t place, uint32_t start, int64_t ns)
{
    struct replay_node k = {.first = (uint32_t)s->x->nterms, .place = place};
    keep_terms(s);
    k.last = (uint32_t)s->x->nterms;
    if (place != REPLAY_NONE) {
        s->n = 0;
        add_cause(s, start, ns);
        k.at_once = (uint32_t)s->n;
        keep_terms(s);
    }
    ARRAY_PUSH(s->x->nodes, s->x->n, s->x->cap, k);
    return new_late(s, (struct replay_late){.node = {(uint32_t)s->x->n - 1, REPLAY_NONE}});
}

/* The place of a call whose end it is, when it can be asked for; REPLAY_NONE: none. */
static uint32_t place_at(const struct shrinking *s, uint32_t instant)
{
    uint32_t wait = instant & 1 ? replay_tie(s->r, instant / 2)->wait : 0;
    return wait && s->place_of[wait - 1] < s->nplaces ? s->place_of[wait - 1] : REPLAY_NONE;
}

/* Two nodes need no node of their own. */
static uint32_t late_of_terms(struct shrinking *s)
{
    if (!s->n) /* nothing that it follows from is known */
        return 1;
    if (s->n > 2)
        return new_node(s, REPLAY_NONE, 0, 0);
    struct replay_late l = {.node = {s->v[0].node, REPLAY_NONE}, .lag = {s->v[0].lag}};
    if (s->n == 2)
        l.node[1] = s->v[1].node, l.lag[1] = s->v[1].lag;
    return new_late(s, l);
}

/* The end of a collective's member that did not last until the last one came: no earlier than its start. */
static bool ends_early(const struct shrinking *s, uint32_t instant)
{
    uint32_t group = instant & 1 ? replay_tie(s->r, instant / 2)->group : 0;
    return group && replay_measured(s->r, instant) < s->r->groups[group - 1].join;
}

static uint32_t shrink(void *ctx, uint32_t instant)
{
    struct shrinking *s = ctx;
    uint32_t sole = replay_sole(s->r, instant);
    if (sole != REPLAY_NONE && is_known(s, sole))
        return s->x->of[sole];
    s->n = 0;
    if (instant >= 2 * s->r->n) {
        follow_members(s, instant);
        return late_of_terms(s);
    }
    if ((instant & 1) && !is_known(s, instant - 1)) /* a circle was cut here */
        return 1;
    uint32_t only = follow_causes(s, instant), place = place_at(s, instant);
    if (only && ends_early(s, instant)) {
        add_cause(s, only - 1, 0);
        add_cause(s, instant - 1, replay_measured(s->r, instant) - replay_measured(s->r, instant - 1));
        return late_of_terms(s);
    }
    if (only && place == REPLAY_NONE)
        return s->x->of[only - 1];
    if (only)
        add_cause(s, only - 1, 0);
    if (place == REPLAY_NONE)
        return late_of_terms(s);
    return new_node(s, place, instant - 1, replay_measured(s->r, instant) - replay_measured(s->r, instant - 1));
}

void replay_net_build(const struct replay *r, const uint32_t *place_of, size_t nplaces, struct replay_net *x)
{
    size_t cap = 0, all = 2 * r->n + r->ngroups;
    *x = (struct replay_net){0};
    struct shrinking s = {.r = r, .x = x, .place_of = place_of, .nplaces = nplaces};
    x->of = array_grow(NULL, &cap, all + 1, sizeof *x->of);
    ARRAY_PUSH(x->nodes, x->n, x->cap, ((struct replay_node){.place = REPLAY_NONE}));
    for (int i = 0; i < 2; i++) /* entry 1: on time; entry 0 stands for "not seen" */
        new_late(&s, (struct replay_late){.node = {ON_TIME, REPLAY_NONE}});
    replay_visit(r, x->of, shrink, &s);
    free(s.v);
    free(s.causes);
}

void replay_net_free(struct replay_net *x)
{
    free(x->nodes);
    free(x->terms);
    free(x->lates);
    free(x->of);
    *x = (struct replay_net){0};
}

struct replayed replay_net_run(const struct replay_net *x, uint32_t place, struct arena *a)
{
    int64_t *late = arena_array(a, int64_t, x->n + 1);
    for (size_t i = 1; i < x->n; i++) {
        const struct replay_node *k = &x->nodes[i];
        bool at_once = place != REPLAY_NONE && k->place == place;
        const struct replay_term *t = &x->terms[at_once ? k->last : k->first], *end = t + (at_once ? k->at_once : k->last - k->first);
        late[i] = INT64_MIN;
        for (; t < end; t++)
            late[i] = late[t->node] - t->lag > late[i] ? late[t->node] - t->lag : late[i];
    }
    return (struct replayed){.net = x, .late = late};
}

int64_t replay_net_late(const struct replay_net *x, const int64_t *late, uint32_t instant)
{
    const struct replay_late *l = &x->lates[x->of[instant]];
    int64_t first = late[l->node[0]] - l->lag[0];
    if (l->node[1] == REPLAY_NONE)
        return first;
    int64_t second = late[l->node[1]] - l->lag[1];
    return second > first ? second : first;
}
