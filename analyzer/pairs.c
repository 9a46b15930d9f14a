/* pairs.c - a send with its receive, an exchange with its other half.
 *
 *   rank 0   send to 1 |====|      send to 1 |==|          lists of (0, 1), that way:  send send
 *   rank 1   recv from 0 |==|  recv from 2   recv from 0                                recv recv      the k-th are one call
 *
 * A peer is a number in the group: that of its rank among the group's ranks, which are all to be there. A list of one side only
 * has no other half.
 */
#include "analyzer/collectives.h"

#include <stdlib.h>

enum way { EXCHANGE, UP, DOWN }; /* a send to a higher number; to a lower one */

struct half {
    int32_t low, high; /* numbers in the group */
    enum way way;
    bool upper;  /* it is the higher one's */
    uint32_t at; /* in v, which is in order */
};

static int by_pair(const void *x, const void *y)
{
    const struct half *a = x, *b = y;
    const int64_t p[] = {a->low, a->high, a->way, a->upper, a->at}, q[] = {b->low, b->high, b->way, b->upper, b->at};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

static int by_value(const void *x, const void *y)
{
    const int32_t *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

/* The ranks of the group, ascending; 0: not all are known to be there. */
static size_t find_ranks(const struct call *group, size_t n, int32_t *ranks)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (!i || group[i].seat != group[i - 1].seat)
            ranks[m++] = group[i].rank;
    qsort(ranks, m, sizeof *ranks, by_value);
    size_t distinct = 1;
    for (size_t i = 1; i < m; i++)
        if (ranks[i] != ranks[distinct - 1])
            ranks[distinct++] = ranks[i];
    return ranks[0] >= 0 && group[0].size == (int64_t)distinct ? distinct : 0;
}

/* low < 0: with whom it is made is not known. Where there are two, it is the other one. */
static struct half half_of(const struct call *c, uint32_t at, const int32_t *ranks, size_t n)
{
    const int32_t *found = bsearch(&c->rank, ranks, n, sizeof *ranks, by_value);
    int32_t own = found ? (int32_t)(found - ranks) : -1, peer = c->peer < 0 && c->single && n == 2 ? 1 - own : c->peer;
    bool upper = own > peer;
    enum way way = !c->single ? EXCHANGE : c->receives == upper ? UP : DOWN;
    return (struct half){upper ? peer : own, upper ? own : peer, way, upper, at};
}

static bool same_list(const struct half *x, const struct half *y)
{
    return x->low == y->low && x->high == y->high && x->way == y->way;
}

/* h: one list of both ranks, the lower one's before the other's. A rank on several devices has several halves of a call: which
 * one is it? */
static void match_list(struct call *v, const struct half *h, size_t n, uint32_t *calls)
{
    size_t each = n / 2;
    if (n % 2 || h[each - 1].upper || !h[each].upper)
        return;
    for (size_t k = 1; k < n; k++)
        if (k != each && v[h[k].at].seat != v[h[k - 1].at].seat)
            return;
    for (size_t k = 0; k < each; k++) {
        struct call two[] = {v[h[k].at], v[h[each + k].at]};
        if (calls_match(two, 2, 1, calls))
            v[h[k].at] = two[0], v[h[each + k].at] = two[1];
    }
}

void pairs_match(struct call *v, size_t n, const struct call *group, size_t all, uint32_t *calls)
{
    struct arena a = {0};
    struct half *h = arena_array(&a, struct half, n + 1);
    int32_t *ranks = arena_array(&a, int32_t, all + 1);
    size_t nranks = find_ranks(group, all, ranks), m = 0;
    for (uint32_t i = 0; nranks && i < n; i++) {
        h[m] = half_of(&v[i], i, ranks, nranks);
        m += h[m].low >= 0;
    }
    if (m)
        qsort(h, m, sizeof *h, by_pair);
    for (size_t i = 0, j; i < m; i = j) {
        for (j = i + 1; j < m && same_list(&h[j], &h[i]);)
            j++;
        match_list(v, h + i, j - i, calls);
    }
    arena_free(&a);
}
