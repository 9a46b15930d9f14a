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

bool calls_match(struct call *v, size_t lanes, size_t each, uint32_t *calls)
{
    int64_t shortest = INT64_MAX, message = -1;
    size_t equal = 0;
    for (size_t l = 0; l < lanes; l++) {
        const struct call *c = &v[l * each];
        if (message >= 0 && c->message >= 0 && c->message != message)
            return false;
        message = c->message >= 0 ? c->message : message;
        int64_t ns = c->c.end - c->c.start;
        equal = ns < shortest ? 1 : equal + (ns == shortest);
        shortest = ns < shortest ? ns : shortest;
    }
    ++*calls;
    for (size_t l = 0; l < lanes; l++) {
        struct call *c = &v[l * each];
        c->c.call = *calls;
        c->c.together = !c->p2p;
        c->c.last = equal == 1 && c->c.end - c->c.start == shortest;
        c->c.transfer_ns = shortest < c->c.total_ns ? shortest : c->c.total_ns;
        c->c.ranks = c->c.ranks ? c->c.ranks : (int32_t)lanes;
    }
    return true;
}

static size_t count_seats(const struct call *v, size_t n)
{
    size_t seats = 1;
    for (size_t i = 1; i < n; i++)
        seats += v[i].seat != v[i - 1].seat;
    return seats;
}

/* Call by call, when all `lanes` made as many of the same names; else false. */
static bool match_order(struct call *v, size_t n, size_t lanes, bool sequenced, uint32_t *calls)
{
    size_t each = n / lanes;
    if (n % lanes != 0 || count_seats(v, n) != lanes)
        return false;
    for (size_t i = 0; i < n; i++)
        if (v[i].seat != v[i / each * each].seat || v[i].name != v[i % each].name)
            return false;
    for (size_t k = 0; k < each; k++) {
        bool one = true;
        for (size_t l = 1; l < lanes; l++)
            one &= !sequenced || v[l * each + k].sequence == v[k].sequence;
        if (one)
            calls_match(v + k, lanes, each, calls);
    }
    return true;
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

/* Is each an exchange with somebody? */
static bool all_exchange(const struct call *v, size_t n)
{
    while (n && !v[n - 1].single && v[n - 1].peer >= 0)
        n--;
    return !n;
}

/* One run's collectives of one group. Sequence numbers that count point-to-point calls, too (sequenced: there are none) say nothing
 * where ranks make different numbers of these: there the order decides. */
static void match_group(struct call *v, size_t n, bool sequenced, uint32_t *calls)
{
    size_t lanes = count_seats(v, n);
    if (lanes < 2 || (v[0].size > 0 && v[0].size != (int64_t)lanes))
        return;
    if (sequenced && numbered(v, n))
        match_numbers(v, n, lanes, calls);
    else
        match_order(v, n, lanes, sequenced, calls);
}

/* Its point-to-point calls; group: all its calls. */
static void match_peers(struct call *v, size_t n, const struct call *group, size_t all, uint32_t *calls)
{
    size_t lanes = n ? count_seats(v, n) : 0;
    bool ring = lanes > 1 && all_exchange(v, n) && (v[0].size <= 0 || v[0].size == (int64_t)lanes);
    if (n && !(ring && match_order(v, n, lanes, true, calls)))
        pairs_match(v, n, group, all, calls);
}

static bool same_group(const struct call *x, const struct call *y)
{
    return x->run == y->run && x->c.group == y->c.group && x->size == y->size && x->part == y->part;
}

static void match_all(struct calls *k)
{
    uint32_t matched = 0;
    calls_sort(k->v, k->n);
    for (size_t i = 0, m, j; i < k->n; i = j) {
        for (m = i; m < k->n && same_group(&k->v[m], &k->v[i]) && k->v[m].p2p;)
            m++;
        for (j = m; j < k->n && same_group(&k->v[j], &k->v[i]);)
            j++;
        match_peers(k->v + i, m - i, k->v + i, j - i, &matched);
        if (j > m)
            match_group(k->v + m, j - m, m == i, &matched);
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
