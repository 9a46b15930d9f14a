/* collectives.c - matching calls over ranks: sorted by (run, group, its size and part, seat, order), then compared block by block,
 * one block a sequence number where all calls have one. */
#include "analyzer/collectives.h"

#include <stdlib.h>
#include <string.h>

static int by_group(const void *x, const void *y)
{
    const struct call *a = x, *b = y;
    const int64_t p[] = {a->run, a->c.group, a->size, a->part, !a->p2p, a->seat, a->sequence, a->c.start, a->c.event};
    const int64_t q[] = {b->run, b->c.group, b->size, b->part, !b->p2p, b->seat, b->sequence, b->c.start, b->c.event};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

void calls_sort(struct call *v, size_t n)
{
    if (n)
        qsort(v, n, sizeof *v, by_group);
}

static int by_lane(const void *x, const void *y)
{
    const struct call *a = x, *b = y;
    if (a->c.lane != b->c.lane)
        return a->c.lane < b->c.lane ? -1 : 1;
    if (a->c.start != b->c.start)
        return a->c.start < b->c.start ? -1 : 1;
    return (a->c.event > b->c.event) - (a->c.event < b->c.event);
}

/* Can two ranks' rows be one call? message: what has been seen of it so far, -1 nothing. */
static bool agree(const struct call *x, const struct call *y, bool sequenced, int64_t message)
{
    return !y->single && (!sequenced || x->sequence == y->sequence) && (message < 0 || y->message < 0 || y->message == message);
}

/* Sets the transfer of call k of each lane: v holds `lanes` blocks of `each` calls. */
static void match(struct call *v, size_t lanes, size_t each, size_t k, bool sequenced, uint32_t *calls)
{
    int64_t shortest = INT64_MAX, message = -1;
    size_t equal = 0;
    for (size_t l = 0; l < lanes; l++) {
        const struct call *c = &v[l * each + k];
        if (!agree(&v[k], c, sequenced, message))
            return;
        message = c->message >= 0 ? c->message : message;
        int64_t ns = c->c.end - c->c.start;
        equal = ns < shortest ? 1 : equal + (ns == shortest);
        shortest = ns < shortest ? ns : shortest;
    }
    ++*calls;
    for (size_t l = 0; l < lanes; l++) {
        struct call *c = &v[l * each + k];
        c->c.call = *calls;
        c->c.last = equal == 1 && c->c.end - c->c.start == shortest;
        c->c.transfer_ns = shortest < c->c.total_ns ? shortest : c->c.total_ns;
        c->c.ranks = c->c.ranks ? c->c.ranks : (int32_t)lanes;
    }
}

static size_t count_seats(const struct call *v, size_t n)
{
    size_t seats = 1;
    for (size_t i = 1; i < n; i++)
        seats += v[i].seat != v[i - 1].seat;
    return seats;
}

/* Call by call, when all `lanes` made as many of the same names. */
static void match_order(struct call *v, size_t n, size_t lanes, bool sequenced, uint32_t *calls)
{
    size_t each = n / lanes;
    if (n % lanes != 0 || count_seats(v, n) != lanes)
        return;
    for (size_t i = 0; i < n; i++)
        if (v[i].seat != v[i / each * each].seat || v[i].name != v[i % each].name)
            return;
    for (size_t k = 0; k < each; k++)
        match(v, lanes, each, k, sequenced, calls);
}

static int by_number(const void *x, const void *y)
{
    const struct call *a = x, *b = y;
    const int64_t p[] = {a->sequence, a->seat, a->c.start, a->c.event}, q[] = {b->sequence, b->seat, b->c.start, b->c.event};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

/* A number that stands for one operation here and for another there counts something else. */
static bool numbers_agree(const struct call *v, size_t n)
{
    const struct call *first = v; /* of the number and seat at hand */
    for (size_t i = 1; i < n; i++) {
        bool new_number = v[i].sequence != first->sequence;
        if (!new_number && v[i].seat != first->seat && v[i].name != first->name)
            return false;
        first = new_number || v[i].seat != first->seat ? &v[i] : first;
    }
    return true;
}

/* What one rank made and another did not, or did not record, leaves the other calls as they are. */
static void match_numbers(struct call *v, size_t n, size_t lanes, uint32_t *calls)
{
    qsort(v, n, sizeof *v, by_number);
    if (!numbers_agree(v, n))
        return;
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && v[j].sequence == v[i].sequence;)
            j++;
        match_order(v + i, j - i, lanes, true, calls);
    }
}

static bool numbered(const struct call *v, size_t n)
{
    while (n && v[n - 1].sequence >= 0)
        n--;
    return !n;
}

/* One run's calls of one group, or its point-to-point calls. Sequence numbers that count both (sequenced: they do not) say
 * nothing where ranks make different numbers of the latter: there the order decides, as among the latter themselves. */
static void match_group(struct call *v, size_t n, bool sequenced, uint32_t *calls)
{
    size_t lanes = count_seats(v, n);
    if (lanes < 2 || (v[0].size > 0 && v[0].size != (int64_t)lanes))
        return;
    if (sequenced && !v[0].p2p && numbered(v, n))
        match_numbers(v, n, lanes, calls);
    else
        match_order(v, n, lanes, sequenced, calls);
}

static bool same_group(const struct call *x, const struct call *y)
{
    return x->run == y->run && x->c.group == y->c.group && x->size == y->size && x->part == y->part;
}

static void match_all(struct calls *k)
{
    uint32_t matched = 0;
    calls_sort(k->v, k->n);
    for (size_t i = 0, j; i < k->n; i = j) {
        bool mixed = i && same_group(&k->v[i], &k->v[i - 1]); /* its point-to-point calls were just before */
        for (j = i + 1; j < k->n && same_group(&k->v[j], &k->v[i]) && k->v[j].p2p == k->v[i].p2p;)
            j++;
        match_group(k->v + i, j - i, !mixed, &matched);
    }
}

/* Matches k's calls, in place, and gives those that count. */
static void find(struct calls *k, bool all, struct collectives *out)
{
    size_t cap = 0;
    match_all(k);
    if (k->n)
        qsort(k->v, k->n, sizeof *k->v, by_lane);
    for (size_t i = 0; i < k->n; i++)
        if (k->v[i].c.lane != CALL_HIDDEN && (all || k->v[i].counts))
            ARRAY_PUSH(out->v, out->n, cap, k->v[i].c);
    out->names = k->names;
    intern_init(&k->names);
}

static void find_in(const struct trace *t, bool all, struct collectives *out)
{
    struct calls k;
    calls_init(&k);
    *out = (struct collectives){0};
    if (t->calls)
        calls_append(&k, t->calls, (struct calls_base){0});
    else
        calls_file(t, NULL, &k);
    for (size_t i = 0; i < k.n; i++)
        k.v[i].run = t->files[k.v[i].file].run;
    find(&k, all, out);
    calls_free(&k);
}

void collectives_find(const struct trace *t, struct collectives *out)
{
    find_in(t, false, out);
}

void collectives_find_all(const struct trace *t, struct collectives *out)
{
    find_in(t, true, out);
}

void collectives_free(struct collectives *c)
{
    free(c->v);
    intern_free(&c->names);
    *c = (struct collectives){0};
}
