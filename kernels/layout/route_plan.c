/* route_plan.c - a route from the runs of two layouts, on the host (spec D.5, steps 2 to 5).
 *
 *   my runs in one layout      |=====a=====|        |==b==|
 *   the other one, by rank    2 |  3  |   1   | 0 |  2  |
 *   pieces                     |2|  3  |  1 |       0|2|       each with its rank and its rows of mine
 *
 * By rank, then ascending, the pieces of my source runs are what I send, those of my target runs what I receive: both
 * layouts keep global order. The cost follows the pieces, not the ranks, of which there may be thousands.
 */
#include "kernels/layout/route.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

struct piece {
    int64_t peer, local, length; /* local: the first row of mine */
};

struct pieces {
    struct piece *v;
    size_t n, cap;
};

static int64_t sequence_at(const struct packing *p, int64_t row)
{
    int64_t low = 0, high = p->sequences;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        *(p->cu[middle] <= row ? &low : &high) = middle;
    }
    return low;
}

/* Whose a global row is in a layout, and where the rows end that follow it and are of the same run. */
static int64_t owner(const struct packing *p, int cp, enum layout l, int64_t row, int64_t *end)
{
    if (l == LAYOUT_CONTIGUOUS) {
        int64_t rows = p->total / cp;
        *end = (row / rows + 1) * rows;
        return row / rows;
    }
    int64_t i = sequence_at(p, row), length = (p->cu[i + 1] - p->cu[i]) / (2 * (int64_t)cp), chunk = (row - p->cu[i]) / length;
    *end = p->cu[i] + (chunk + 1) * length;
    return chunk < cp ? chunk : 2 * (int64_t)cp - 1 - chunk;
}

static struct pieces cut(const struct packing *p, int cp, struct segments mine, enum layout other)
{
    struct pieces out = {0};
    for (int64_t i = 0; i < mine.n; i++) {
        struct segment x = mine.v[i];
        for (int64_t row = x.global, end; row < x.global + x.length; row = end) {
            int64_t peer = owner(p, cp, other, row, &end);
            end = end < x.global + x.length ? end : x.global + x.length;
            ARRAY_PUSH(out.v, out.n, out.cap, ((struct piece){peer, x.local + row - x.global, end - row}));
        }
    }
    return out;
}

static int by_peer(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    int order = (x->peer > y->peer) - (x->peer < y->peer);
    return order ? order : (x->local > y->local) - (x->local < y->local);
}

/* Row lists of one side while they grow. */
struct rows {
    int64_t *v, n;
};

/* Fills the rows, by peer, and how many each peer has. */
static void list_rows(const struct packing *p, int cp, struct segments mine, enum layout other, struct rows *out, int64_t *split)
{
    struct pieces x = cut(p, cp, mine, other);
    if (x.n)
        qsort(x.v, x.n, sizeof *x.v, by_peer);
    for (size_t i = 0; i < x.n; i++) {
        split[x.v[i].peer] += x.v[i].length;
        for (int64_t k = 0; k < x.v[i].length; k++)
            out->v[out->n++] = x.v[i].local + k;
    }
    free(x.v);
}

static int64_t *unless_identity(struct rows x)
{
    for (int64_t i = 0; i < x.n; i++)
        if (x.v[i] != i)
            return x.v;
    return NULL;
}

bool route_check_direction(enum layout source, enum layout target, struct err *e)
{
    if ((unsigned)source >= LAYOUT_COUNT || (unsigned)target >= LAYOUT_COUNT)
        return fail(e, ERR_USAGE, "layout number %d: want zigzag or contiguous", (int)((unsigned)source >= LAYOUT_COUNT ? source : target));
    if (source == target)
        return fail(e, ERR_USAGE, "source and target layout are both %s: want zigzag to contiguous or back", layout_name(source));
    return true;
}

bool route_check_rows(int64_t source_rows, int64_t target_rows, int64_t x_rows, struct err *e)
{
    if (source_rows != target_rows)
        return fail(e, ERR_USAGE, "a rank has %" PRId64 " rows before and %" PRId64 " after the conversion: must be equal", source_rows, target_rows);
    if (x_rows != source_rows)
        return fail(e, ERR_USAGE, "the local tensor has %" PRId64 " rows: want T / cp = %" PRId64, x_rows, source_rows);
    return true;
}

bool route_plan(struct arena *a, const int64_t *cu, int64_t entries, int cp, int rank, enum layout source, enum layout target, struct route_plan *out,
                struct err *e)
{
    struct packing p;
    if (!route_check_direction(source, target, e) || !packing_check(a, cu, entries, cp, rank, source, &p, e))
        return false;
    int64_t rows = p.total / cp;
    struct rows send = {arena_array(a, int64_t, rows), 0}, recv = {arena_array(a, int64_t, rows), 0};
    *out = (struct route_plan){.rows = rows, .send_split = arena_array(a, int64_t, cp), .recv_split = arena_array(a, int64_t, cp)};
    list_rows(&p, cp, layout_segments(a, &p, cp, rank, source), target, &send, out->send_split);
    list_rows(&p, cp, layout_segments(a, &p, cp, rank, target), source, &recv, out->recv_split);
    assert(send.n == rows && recv.n == rows);
    out->send_rows = unless_identity(send);
    out->recv_rows = unless_identity(recv);
    return true;
}
