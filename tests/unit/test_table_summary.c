/* test_table_summary.c - random small traces against a timeline written down ns by ns. */
#include "trace_maker.h"

enum { SPAN = 80, MOST = 14, STREAMS = 3 };

struct row {
    int64_t start, end;
    int kind, stream;
    bool comm;
};

struct oracle {
    bool window[SPAN], compute[SPAN], comm[SPAN], copy[SPAN], set[SPAN];
    int64_t sums[EV_NKINDS], comm_sum, kernels, comms, bad;
    bool streams[STREAMS];
};

static bool counts(const struct oracle *o, const struct row *r)
{
    bool hit = false;
    for (int64_t b = r->start; b < r->end; b++)
        hit |= o->window[b];
    bool point = r->end == r->start && ((r->start < SPAN && o->window[r->start]) || (r->start > 0 && o->window[r->start - 1]));
    return hit || point;
}

static void take(struct oracle *o, const struct row *r)
{
    bool *line = r->kind == EV_MEMCPY ? o->copy : r->kind == EV_MEMSET ? o->set : r->comm ? o->comm : o->compute;
    bool kernel = r->kind == EV_KERNEL || r->kind == EV_COMM;
    if (r->end < r->start) {
        o->bad++;
        return;
    }
    for (int64_t b = r->start; b < r->end; b++) {
        line[b] = true;
        o->sums[r->kind] += o->window[b];
        o->comm_sum += o->window[b] && r->comm;
    }
    if (counts(o, r) && kernel) {
        o->kernels++;
        o->comms += r->comm;
        o->streams[r->stream] = true;
    }
}

/* The window: random steps, else the extent of the good rows. */
static void random_window(struct maker *m, const struct row *rows, size_t n, struct oracle *o)
{
    int64_t from = SPAN, to = 0;
    if (rnd(2)) {
        int64_t at = (int64_t)rnd(20);
        for (int k = 0; k < 3; k++) {
            int64_t end = at + 1 + (int64_t)rnd(20);
            char name[32];
            snprintf(name, sizeof name, "step#%d", k);
            make_host(m, EV_RANGE, name, 1, at, end);
            for (int64_t b = at; b < end && b < SPAN; b++)
                o->window[b] = true;
            at = end + (int64_t)rnd(4);
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        from = rows[i].end >= rows[i].start && rows[i].start < from ? rows[i].start : from;
        to = rows[i].end >= rows[i].start && rows[i].end > to ? rows[i].end : to;
    }
    for (int64_t b = from; b < to; b++)
        o->window[b] = true;
}

static size_t random_rows(struct maker *m, struct row rows[MOST])
{
    static const int kinds[] = {EV_KERNEL, EV_KERNEL, EV_COMM, EV_MEMCPY, EV_MEMSET, EV_KERNEL};
    size_t n = 2 + rnd(MOST - 1);
    for (size_t i = 0; i < n; i++) {
        struct row *r = &rows[i];
        int pick = (int)rnd(6);
        r->kind = kinds[pick];
        r->comm = pick == 2 || pick == 5;
        r->stream = (int)rnd(STREAMS);
        r->start = (int64_t)rnd(50);
        r->end = r->start + (int64_t)rnd(24) - (i > 1 && rnd(6) == 0); /* the first two are good */
        make_work(m, (enum ev_kind)r->kind, pick == 5 ? "ncclDevKernel_AllReduce" : "k", 0, r->stream, r->start, r->end, -1);
    }
    return n;
}

static int64_t lit(const struct oracle *o, const bool *x, const bool *y, bool both)
{
    int64_t n = 0;
    for (int b = 0; b < SPAN; b++)
        n += o->window[b] && (both ? x[b] && y[b] : x[b] || y[b]);
    return n;
}

static void compare(const struct table *s, const struct oracle *o)
{
    bool kernel[SPAN], memory[SPAN], always[SPAN], useful[SPAN];
    int64_t streams = 0;
    for (int b = 0; b < SPAN; b++) {
        kernel[b] = o->compute[b] || o->comm[b];
        memory[b] = o->copy[b] || o->set[b];
        useful[b] = o->compute[b] || memory[b];
        always[b] = true;
    }
    for (int i = 0; i < STREAMS; i++)
        streams += o->streams[i];
    assert_int_equal(cell_of(s, 0, "span_ns"), lit(o, always, always, true));
    assert_int_equal(cell_of(s, 0, "busy_ns"), lit(o, kernel, memory, false));
    assert_int_equal(cell_of(s, 0, "useful_busy_ns"), lit(o, useful, useful, true));
    assert_int_equal(cell_of(s, 0, "kernels"), o->kernels);
    assert_int_equal(cell_of(s, 0, "comm_kernels"), o->comms);
    assert_int_equal(cell_of(s, 0, "streams"), streams);
    assert_int_equal(cell_of(s, 0, "kernel_sum_ns"), o->sums[EV_KERNEL] + o->sums[EV_COMM]);
    assert_int_equal(cell_of(s, 0, "kernel_union_ns"), lit(o, kernel, kernel, true));
    assert_int_equal(cell_of(s, 0, "comm_sum_ns"), o->comm_sum);
    assert_int_equal(cell_of(s, 0, "comm_union_ns"), lit(o, o->comm, o->comm, true));
    assert_int_equal(cell_of(s, 0, "compute_union_ns"), lit(o, o->compute, o->compute, true));
    assert_int_equal(cell_of(s, 0, "overlap_ns"), lit(o, o->compute, o->comm, true));
    assert_int_equal(cell_of(s, 0, "memcpy_ns"), o->sums[EV_MEMCPY]);
    assert_int_equal(cell_of(s, 0, "memset_ns"), o->sums[EV_MEMSET]);
    assert_int_equal(cell_of(s, 0, "bad_rows"), o->bad);
}

static void identities(const struct table *s)
{
    assert_int_equal(cell_of(s, 0, "kernel_sum_ns"), cell_of(s, 0, "comm_sum_ns") + cell_of(s, 0, "compute_sum_ns"));
    assert_int_equal(cell_of(s, 0, "comm_union_ns"), cell_of(s, 0, "overlap_ns") + cell_of(s, 0, "exposed_comm_ns"));
    assert_true(cell_of(s, 0, "busy_ns") <= cell_of(s, 0, "span_ns"));
    struct cell pct = table_at(s, 0)[table_column(s, "busy_pct")];
    assert_true(pct.kind == CELL_ABSENT || (pct.r >= 0 && pct.r <= 100));
}

TEST(summary_matches_a_timeline)
{
    PROP(1500)
    {
        struct maker m = maker("summary");
        struct row rows[MOST];
        struct oracle o = {0};
        struct trace t;
        struct table s;
        size_t n = random_rows(&m, rows);
        random_window(&m, rows, n, &o);
        for (size_t i = 0; i < n; i++)
            take(&o, &rows[i]);
        make_open(&m, NULL, &t);
        struct err e = {0};
        if (!table_build(table_find("summary"), &t, NULL, &s, &e)) { /* steps without a row of the device are no answer */
            assert_true(e.kind == ERR_UNDECIDED && strstr(e.msg, "lies in the steps"));
            assert_true(o.kernels == 0 && o.sums[EV_MEMCPY] + o.sums[EV_MEMSET] == 0);
            table_free(&s);
            trace_close(&t);
            continue;
        }
        assert_int_equal(s.nrows, 1);
        bool empty = true; /* rows of no length at one point make no window */
        for (int b = 0; b < SPAN; b++)
            empty &= !o.window[b];
        if (!empty)
            compare(&s, &o);
        identities(&s);
        table_free(&s);
        trace_close(&t);
    }
}

/* Idle is the window less busy, on every device by itself. */
TEST(idle_and_busy_make_the_window)
{
    PROP(300)
    {
        struct maker m = maker("idle");
        struct row rows[MOST];
        struct trace t;
        struct arena a = {0};
        random_rows(&m, rows);
        make_work(&m, EV_KERNEL, "other", 1, 7, 0, 70, -1);
        make_open(&m, NULL, &t);
        assert_int_equal(t.nlanes, 2);
        for (size_t i = 0; i < t.nlanes; i++) {
            struct ivlset busy = trace_union(&t, &a, &t.lanes[i], WORK_ANY), idle = trace_idle(&t, &a, &t.lanes[i]);
            assert_int_equal(ivl_len(busy) + ivl_len(idle), ivl_len(t.lanes[i].window));
            assert_int_equal(ivl_len(ivl_and(&a, busy, idle)), 0);
        }
        arena_free(&a);
        trace_close(&t);
    }
}

UNIT_MAIN(UNIT(summary_matches_a_timeline), UNIT(idle_and_busy_make_the_window))
