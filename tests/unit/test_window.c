/* test_window.c - what a table's time is measured against. */
#include "trace_maker.h"

static const struct trace_opts all = {.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX};

static void steps(struct maker *m)
{
    make_host(m, EV_RANGE, "warmup#0", 1, 0, 100);
    make_host(m, EV_RANGE, "step#0", 1, 100, 200);
    make_host(m, EV_RANGE, "step#1", 1, 220, 300);
    make_host(m, EV_RANGE, "step#1", 1, 230, 240); /* the same number inside: one step */
    make_host(m, EV_RANGE, "step", 1, 0, 500);     /* no number: not ours */
    make_work(m, EV_KERNEL, "k", 0, 7, 90, 110, -1);
    make_work(m, EV_KERNEL, "k", 0, 7, 195, 225, -1);
    make_work(m, EV_KERNEL, "k", 0, 7, 400, 450, -1);
}

static void assert_summary(const struct trace_opts *o, int64_t span, int64_t busy, int64_t kernels)
{
    struct maker m = maker("window");
    struct trace t;
    struct table s;
    steps(&m);
    make_open(&m, o, &t);
    make_table(&t, "summary", NULL, &s);
    assert_int_equal(cell_of(&s, 0, "span_ns"), span);
    assert_int_equal(cell_of(&s, 0, "busy_ns"), busy);
    assert_int_equal(cell_of(&s, 0, "kernels"), kernels);
    table_free(&s);
    trace_close(&t);
}

TEST(steps_are_the_window_and_clip)
{
    struct trace_opts o = all;
    assert_summary(NULL, 180, 10 + 5 + 5, 2);
    o.step = "1";
    assert_summary(&o, 80, 5, 1);
    o.step = "0:1";
    assert_summary(&o, 180, 20, 2);
    o.step = NULL, o.from = 110, o.to = 250;
    assert_summary(&o, 90 + 30, 5 + 5, 1);
}

TEST(span_gpu_and_all)
{
    struct trace_opts o = all;
    o.span = "gpu";
    assert_summary(&o, 360, 100, 3);
    o.span = "all";
    assert_summary(&o, 500, 100, 3);
    o.step = "0"; /* cuts the extent too */
    assert_summary(&o, 100, 15, 2);
    o.step = NULL, o.span = "gpu", o.step_marker = "^warmup";
    assert_summary(&o, 360, 100, 3);
    o.span = NULL;
    assert_summary(&o, 100, 10, 1);
}

TEST(a_marker_without_numbers_counts_by_position)
{
    struct maker m = maker("marker");
    struct trace_opts o = all;
    struct trace t;
    o.step_marker = "^iteration$", o.step = "1";
    for (int i = 0; i < 3; i++)
        make_host(&m, EV_RANGE, "iteration", 1, 100 * i, 100 * i + 90);
    make_work(&m, EV_KERNEL, "k", 0, 7, 0, 300, -1);
    make_open(&m, &o, &t);
    assert_int_equal(t.ranks[0].steps.n, 1);
    assert_int_equal(t.ranks[0].steps.v[0].start, 100);
    assert_int_equal(ivl_len(t.lanes[0].window), 90);
    trace_close(&t);
}

TEST(a_step_inside_another_is_dropped)
{
    struct maker m = maker("inside");
    struct trace t;
    make_host(&m, EV_RANGE, "step#0", 1, 0, 100);
    make_host(&m, EV_RANGE, "step#5", 1, 20, 30);
    make_host(&m, EV_RANGE, "step#1", 1, 100, 150);
    make_open(&m, NULL, &t);
    assert_int_equal(t.ranks[0].steps.n, 2);
    assert_int_equal(t.ranks[0].steps.v[1].number, 1);
    assert_int_equal(t.ranks[0].steps.v[1].start, 100);
    trace_close(&t);
}

TEST(each_rank_has_its_own_steps)
{
    struct maker m = maker("ranks");
    struct trace t;
    for (m.rank = 0; m.rank < 2; m.rank++) {
        make_host(&m, EV_RANGE, "ProfilerStep#5", m.rank, 10 + 50 * m.rank, 50 + 60 * m.rank);
        make_work(&m, EV_KERNEL, "k", m.rank, 7, 0, 200, -1);
    }
    m.rank = -1; /* a helper thread of no rank: the steps of the others together */
    make_host(&m, EV_RANGE, "helper", 9, 0, 200);
    make_open(&m, NULL, &t);
    assert_int_equal(t.span, SPAN_STEP);
    assert_int_equal(ivl_len(t.lanes[0].window), 40);
    assert_int_equal(ivl_len(t.lanes[1].window), 50);
    assert_int_equal(t.ranks[0].rank, -1);
    assert_int_equal(ivl_len(t.ranks[0].window), 90);
    trace_close(&t);
}

TEST(what_is_asked_and_not_there_is_undecided)
{
    static const struct trace_opts cases[] = {
        {.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX, .span = "gpu"},
        {.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX, .span = "step"},
    };
    for (size_t i = 0; i < 2; i++) {
        struct maker m = maker("none");
        struct trace t;
        struct err e = {0};
        make_host(&m, EV_OP, "aten::item", 1, 0, 10);
        assert_false(make_try(&m, &cases[i], &t, &e));
        assert_int_equal(e.kind, ERR_UNDECIDED);
    }
}

UNIT_MAIN(UNIT(steps_are_the_window_and_clip), UNIT(span_gpu_and_all), UNIT(a_marker_without_numbers_counts_by_position),
          UNIT(a_step_inside_another_is_dropped), UNIT(each_rank_has_its_own_steps), UNIT(what_is_asked_and_not_there_is_undecided))
