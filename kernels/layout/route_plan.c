/* route_plan.c - a route from the runs of two layouts, on the host (spec D.5, steps 2 to 5).
 *
 *   source runs of me     |=====a=====|        |==b==|
 *   target runs of peer        |===c===|   |====d====|
 *   overlaps                   |==ac==|        |=bd==|      (source row, target row, length)
 */
#include "kernels/layout/route.h"

#include <assert.h>
#include <inttypes.h>

/* Row lists of one side while they grow. */
struct rows {
    int64_t *v, n;
};

static void append_run(struct rows *out, int64_t start, int64_t length)
{
    for (int64_t k = 0; k < length; k++)
        out->v[out->n++] = start + k;
}

/* Appends the rows of all overlaps of two ascending run lists, as source or as target rows; returns their number. Both
 * layouts keep global order, so the overlaps come out sorted by target row. */
static int64_t sweep(struct segments source, struct segments target, bool as_target, struct rows *out)
{
    int64_t before = out->n;
    for (int64_t i = 0, j = 0; i < source.n && j < target.n;) {
        struct segment x = source.v[i], y = target.v[j];
        int64_t x_end = x.global + x.length, y_end = y.global + y.length;
        int64_t start = x.global > y.global ? x.global : y.global, end = x_end < y_end ? x_end : y_end;
        if (start < end)
            append_run(out, as_target ? y.local + start - y.global : x.local + start - x.global, end - start);
        if (x_end <= y_end)
            i++;
        else
            j++;
    }
    return out->n - before;
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
    struct segments my_source = layout_segments(a, &p, cp, rank, source), my_target = layout_segments(a, &p, cp, rank, target);
    for (int peer = 0; peer < cp; peer++) {
        out->send_split[peer] = sweep(my_source, layout_segments(a, &p, cp, peer, target), false, &send);
        out->recv_split[peer] = sweep(layout_segments(a, &p, cp, peer, source), my_target, true, &recv);
    }
    assert(send.n == rows && recv.n == rows);
    out->send_rows = unless_identity(send);
    out->recv_rows = unless_identity(recv);
    return true;
}
