/* test_table_repeats.c - equal work inside one micro-batch, and what only looks equal. */
#include "range_maker.h"

static struct opened open_repeats(struct maker *m)
{
    static const struct trace_opts all = {.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX, .span = "all"};
    return open_table(m, &all, "repeats", NULL);
}

/* A blocking copy from function `where` of route.c. */
static void make_wait(struct maker *m, const char *where, int64_t start, int64_t end)
{
    struct event ev = host_event(m, EV_RUNTIME, "cudaMemcpy", 1, start, end);
    ev.site = tracedata_site(&m->d, where, "route.c", 12);
    make_event(m, ev);
}

/* What was launched before the range is not its work. */
TEST(work_before_the_range_is_not_of_it)
{
    struct maker m = maker("before");
    make_push(&m, "microbatch#0", 1, 0, 1000);
    for (int i = 0; i < 2; i++) {
        int64_t at = 100 + 100 * i;
        make_launched(&m, i ? "gemm" : "scan", 1, 1, at - 10, at - 8, at - 4);
        make_push(&m, "thd_route", 1, at, at + 40);
        make_wait(&m, "route_build", at + 20, at + 30);
    }
    struct opened x = open_repeats(&m);
    assert_int_equal(x.s.nrows, 1);
    assert_int_equal(cell_of(&x.s, 0, "identical"), 1);
    assert_int_equal(cell_of(&x.s, 0, "gpu_ns"), 0);
    close_table(&x);
}

/* One route at `at`: 40 ns on the host; two kernels of `grid` blocks of 3 ns each, two blocking calls. */
static void route(struct maker *m, int64_t at, int grid)
{
    make_push(m, "thd_route", 1, at, at + 40);
    make_launched(m, "index", grid, 1, at + 2, at + 4, at + 7);
    make_wait(m, "route_build", at + 5, at + 10);
    make_launched(m, "index", 1, 1, at + 12, at + 14, at + 17);
    make_wait(m, "route_build", at + 20, at + 30);
}

TEST(equal_routes_of_a_microbatch_repeat)
{
    struct maker m = maker("repeat");
    make_push(&m, "microbatch#0", 1, 0, 1000);
    make_push(&m, "microbatch#1", 1, 1000, 2000);
    route(&m, 100, 5);
    route(&m, 200, 6);  /* another shape */
    route(&m, 300, 5);  /* as the first */
    route(&m, 400, 5);  /* and again */
    route(&m, 1100, 5); /* the first of its micro-batch */
    struct opened x = open_repeats(&m);
    assert_int_equal(x.s.nrows, 1);
    assert_string_equal(text_of(&x.s, 0, "site"), "route.c:route_build");
    assert_int_equal(cell_of(&x.s, 0, "calls"), 5);
    assert_int_equal(cell_of(&x.s, 0, "identical"), 2);
    assert_int_equal(cell_of(&x.s, 0, "syncs"), 4);
    assert_int_equal(cell_of(&x.s, 0, "host_ns"), 60); /* from the range's start to the last blocking call */
    assert_int_equal(cell_of(&x.s, 0, "gpu_ns"), 12);
    close_table(&x);
}

/* Another kernel, another order, another size of copy: not the same work. */
TEST(what_differs_does_not_repeat)
{
    for (int variant = 0; variant < 4; variant++) {
        struct maker m = maker("differs");
        make_push(&m, "microbatch#0", 1, 0, 1000);
        for (int i = 0; i < 2; i++) {
            int64_t at = 100 + 100 * i;
            make_push(&m, "thd_route", 1, at, at + 40);
            make_launched(&m, variant == 1 && i ? "other" : "index", 5, 1, at + 2, at + 4, at + 7);
            make_launched(&m, "scan", variant == 2 && i ? 2 : 1, 1, at + 6, at + 8, at + 9);
            make_call(&m, "cudaMemcpyAsync", 1, at + 10, at + 11, 50 + i);
            struct event ev = event_none(EV_MEMCPY, at + 12, at + 13);
            ev.rank = 0;
            ev.device = 0;
            ev.bytes = variant == 3 && i ? 16 : 8;
            ev.correlation = 50 + i;
            ev.stream = tracedata_stream(&m.d, tracedata_process(&m.d, m.pid, "host", -1), 0, 7);
            make_event(&m, ev);
            make_wait(&m, "route_build", at + 20, at + 30);
        }
        struct opened x = open_repeats(&m);
        assert_int_equal(x.s.nrows, variant == 0);
        close_table(&x);
    }
}

/* Work without a sync is a layer at its work; a sync outside of micro-batches is none of theirs. */
TEST(only_blocking_work_inside_counts)
{
    struct maker m = maker("inside");
    make_push(&m, "microbatch#0", 1, 0, 1000);
    for (int i = 0; i < 3; i++)
        make_launched(&m, "gemm", 5, 1, 100 + 10 * i, 104 + 10 * i, 108 + 10 * i);
    for (int i = 0; i < 3; i++) {
        make_push(&m, "thd_route", 1, 2000 + 100 * i, 2050 + 100 * i);
        make_wait(&m, "late", 2010 + 100 * i, 2020 + 100 * i);
    }
    struct opened x = open_repeats(&m);
    assert_int_equal(x.s.nrows, 0);
    close_table(&x);
}

TEST(without_microbatches_the_step_counts_and_is_named)
{
    struct maker m = maker("steps");
    make_push(&m, "step#0", 1, 0, 250);
    make_push(&m, "step#1", 1, 250, 500);
    route(&m, 100, 5);
    route(&m, 200, 5);
    route(&m, 300, 5);
    struct opened x = open_repeats(&m);
    assert_int_equal(cell_of(&x.s, 0, "identical"), 1);
    assert_non_null(strstr(x.s.notes[0], "no micro-batches are marked"));
    close_table(&x);
}

/* The frame of the user's own code is the instance, not torch's. */
TEST(user_frames_are_calls)
{
    struct maker m = maker("frames");
    for (int i = 0; i < 3; i++) {
        int64_t at = 100 * i;
        make_host(&m, EV_FRAME, "model/block.py(10): forward", 1, at, at + 50);
        make_host(&m, EV_FRAME, "torch/_tensor.py(20): item", 1, at + 5, at + 15);
        make_call(&m, "cudaMemcpy", 1, at + 6, at + 10, 900 + i);
        make_call(&m, "cudaMemcpy", 1, at + 20, at + 30, 950 + i);
    }
    struct opened x = open_repeats(&m);
    assert_int_equal(x.s.nrows, 1);
    assert_string_equal(text_of(&x.s, 0, "site"), "model/block.py:forward");
    assert_int_equal(cell_of(&x.s, 0, "calls"), 3);
    assert_int_equal(cell_of(&x.s, 0, "identical"), 2);
    assert_int_equal(cell_of(&x.s, 0, "syncs"), 4);
    assert_int_equal(cell_of(&x.s, 0, "host_ns"), 60);
    assert_true(is_absent(&x.s, 0, "gpu_ns"));
    close_table(&x);
}

UNIT_MAIN(UNIT(equal_routes_of_a_microbatch_repeat), UNIT(what_differs_does_not_repeat), UNIT(work_before_the_range_is_not_of_it),
          UNIT(only_blocking_work_inside_counts), UNIT(without_microbatches_the_step_counts_and_is_named), UNIT(user_frames_are_calls))
