/* expect.c - the parts of a mode's declaration that several modes have. */
#include "kernels/modes/expect.h"
#include "kernels/layout/route.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static void add(struct expect *x, const char *what, const char *kind, int64_t count, int64_t bytes)
{
    int i = 0;
    if (!count)
        return;
    while (i < x->n && (strcmp(x->rows[i].what, what) != 0 || strcmp(x->rows[i].kind, kind) != 0))
        i++;
    assert(i < EXPECT_ROWS_MAX);
    if (i == x->n)
        x->rows[x->n++] = (struct expect_row){what, kind, 0, bytes < 0 ? -1 : 0};
    x->rows[i].count += count;
    x->rows[i].bytes += bytes < 0 ? 0 : bytes;
}

void expect_comm(struct expect *x, const char *function, int64_t count, int64_t bytes)
{
    add(x, "comm", function, count, bytes);
}

void expect_tp(struct expect *x, const char *function, int64_t count, int64_t bytes)
{
    add(x, "comm_tp", function, count, bytes);
}

void expect_syncs(struct expect *x, const char *function, int64_t op, int64_t wait)
{
    add(x, "op_sync", function, op, -1);
    add(x, "wait_sync", function, wait, -1);
}

void expect_flops(struct expect *x, const char *kind, double flops)
{
    add(x, "flops", kind, llround(flops), -1);
}

void expect_schedule(struct expect *x, const char *size, int64_t microbatches)
{
    add(x, "schedule", size, microbatches, -1);
}

void expect_work(struct expect *x, int64_t work)
{
    add(x, "work", "q_len_kv_len", work, -1);
}

int64_t expect_forwards(const struct cp_shape *s)
{
    return s->layers * s->microbatches * (s->recompute ? 2 : 1);
}

void expect_resolve(struct expect *x, const struct cp_shape *s)
{
    int64_t times = s->boundaries_cached ? s->microbatches : expect_forwards(s);
    expect_syncs(x, "resolve_cu_seqlens", 6 * times, 4 * times);
}

/* Rows for other ranks in a split list. */
static int64_t leaving(const int64_t *split, int cp, int rank)
{
    int64_t n = 0;
    for (int r = 0; r < cp; r++)
        n += r == rank ? 0 : split[r];
    return n;
}

/* One micro-batch, one direction: forward sends its splits, backward sends back what forward received. */
static void expect_direction(struct expect *x, const struct cp_shape *s, const struct packing *p, int rank, enum layout source, int64_t width)
{
    struct arena a = {0};
    struct route_plan plan;
    struct err e = {0};
    enum layout target = source == LAYOUT_ZIGZAG ? LAYOUT_CONTIGUOUS : LAYOUT_ZIGZAG;
    bool ok = route_plan(&a, p->cu, p->sequences + 1, s->cp, rank, source, target, &plan, &e);
    assert(ok); /* the shape was checked */
    (void)ok;
    int64_t passes = s->recompute ? 2 : 1, row = width * dtype_size(s->dtype);
    int64_t rows = passes * leaving(plan.send_split, s->cp, rank) + leaving(plan.recv_split, s->cp, rank);
    expect_comm(x, "all_to_all_v", s->layers * (passes + 1), s->layers * rows * row);
    if (s->route != ROUTE_NAIVE)
        expect_syncs(x, "route_build", 0, 1 + (plan.send_rows != NULL) + (plan.recv_rows != NULL));
    arena_free(&a);
}

void expect_swaps(struct expect *x, const struct cp_shape *s, int rank, int64_t width_in, int64_t width_out)
{
    if (s->cp == 1)
        return;
    for (int64_t b = 0; b < s->microbatches; b++) {
        expect_direction(x, s, &s->packs[b], rank, LAYOUT_ZIGZAG, width_in);
        expect_direction(x, s, &s->packs[b], rank, LAYOUT_CONTIGUOUS, width_out);
    }
    int64_t conversions = 2 * expect_forwards(s), c = s->cp;
    if (s->route == ROUTE_ENCODED)
        expect_syncs(x, "route_decode", 0, 3 * conversions);
    if (s->route != ROUTE_NAIVE)
        return;
    expect_syncs(x, "thd_rank_indices", conversions * 16 * c, conversions * 12 * c);
    expect_syncs(x, "zigzag_contiguous_swap", conversions * (2 * c + 1), conversions * (2 * c + 1));
}
