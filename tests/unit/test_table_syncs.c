/* test_table_syncs.c - both ledgers on traces whose answers are known. */
#include "analyzer/syncs.h"
#include "analyzer/waits.h"
#include "trace_maker.h"

static const struct syncs_args op = {.ledger = "op"}, by_line = {.by = "line"}, by_stack = {.by = "stack"};

static struct opened open_syncs(struct maker *m, const struct syncs_args *args)
{
    return open_table(m, NULL, "syncs", args);
}

/* The row of an API and site (NULL: any). */
static size_t row_of(const struct table *s, const char *api, const char *site)
{
    for (size_t i = 0; i < s->nrows; i++)
        if (strcmp(text_of(s, i, "api"), api) == 0 && (!site || strcmp(text_of(s, i, "site"), site) == 0))
            return i;
    fail_msg("no row %s %s among %zu", api, site ? site : "", s->nrows);
    return 0;
}

static void assert_cost(const struct table *s, size_t row, int64_t blocked, int64_t stall, int64_t bubble, int64_t did)
{
    assert_int_equal(cell_of(s, row, "blocked_ns"), blocked);
    assert_int_equal(cell_of(s, row, "stall_ns"), stall);
    assert_int_equal(cell_of(s, row, "bubble_ns"), bubble);
    assert_int_equal(cell_of(s, row, "did_block"), did);
}

/*   kernel   |5 ##### 50|                 |70 # 80|      idle 50 .. 70 */
static void two_kernels(struct maker *m)
{
    make_call(m, "cudaLaunchKernel", 1, 0, 2, 1);
    make_work(m, EV_KERNEL, "a", 0, 7, 5, 50, 1);
    make_call(m, "cudaLaunchKernel", 1, 60, 62, 2);
    make_work(m, EV_KERNEL, "b", 0, 7, 70, 80, 2);
}

TEST(a_wait_that_drains_the_device)
{
    struct maker m = maker("drain");
    two_kernels(&m);
    make_call(&m, "cudaStreamSynchronize_v3020", 1, 10, 52, 3);
    struct opened o = open_syncs(&m, NULL);
    assert_int_equal(o.s.nrows, 1);
    assert_string_equal(text_of(&o.s, 0, "api"), "cudaStreamSynchronize");
    assert_string_equal(text_of(&o.s, 0, "class"), "stream");
    assert_int_equal(cell_of(&o.s, 0, "count"), 1);
    assert_cost(&o.s, 0, 42, 2, 20, 1);
    close_table(&o);
}

TEST(a_wait_for_nothing_has_no_bubble)
{
    struct maker m = maker("nothing");
    two_kernels(&m);
    make_call(&m, "cudaDeviceSynchronize", 1, 55, 58, 3);
    struct opened o = open_syncs(&m, NULL);
    assert_cost(&o.s, 0, 3, 3, 0, 0);
    assert_string_equal(text_of(&o.s, 0, "class"), "device");
    close_table(&o);
}

TEST(of_two_waits_in_a_row_the_second_drains)
{
    struct maker m = maker("second");
    two_kernels(&m);
    make_call(&m, "cudaEventSynchronize", 1, 10, 40, 3);
    make_call(&m, "cudaStreamSynchronize", 1, 45, 51, 4);
    struct opened o = open_syncs(&m, NULL);
    assert_int_equal(o.s.nrows, 2); /* sorted by bubble */
    assert_string_equal(text_of(&o.s, 0, "api"), "cudaStreamSynchronize");
    assert_cost(&o.s, 0, 6, 1, 20, 1);
    assert_cost(&o.s, 1, 30, 0, 0, 1);
    close_table(&o);
}

TEST(an_idle_ns_is_charged_once)
{
    struct maker m = maker("once");
    two_kernels(&m);
    make_call(&m, "cudaStreamSynchronize", 1, 10, 52, 3);
    make_call(&m, "cudaDeviceSynchronize", 2, 20, 53, 4); /* another thread, which launches last */
    make_call(&m, "cudaLaunchKernel", 2, 63, 64, 5);
    make_work(&m, EV_KERNEL, "c", 0, 7, 75, 90, 5);
    struct opened o = open_syncs(&m, NULL);
    int64_t sum = cell_of(&o.s, 0, "bubble_ns") + cell_of(&o.s, 1, "bubble_ns");
    assert_int_equal(sum, 20);
    close_table(&o);
}

TEST(only_blocking_calls_and_only_the_outermost)
{
    struct maker m = maker("outer");
    two_kernels(&m);
    make_call(&m, "cudaMemcpy", 1, 10, 20, 3);
    make_call(&m, "cuMemcpyDtoH_v2", 1, 11, 19, 4); /* inside */
    make_call(&m, "cudaStreamWaitEvent", 1, 21, 22, 5);
    make_call(&m, "cudaEventQuery", 1, 23, 24, 6);
    make_call(&m, "cudaMemcpyAsync", 1, 25, 30, 7);
    make_call(&m, "cuMemcpyDtoH_v2", 1, 31, 32, 8);
    make_call(&m, "cudaMalloc", 1, 33, 35, 9);
    make_call(&m, "cudaMallocAsync", 1, 36, 37, 10);
    make_call(&m, "cudaMemcpyToSymbol", 1, 38, 39, 11);
    struct opened o = open_syncs(&m, NULL);
    assert_int_equal(o.s.nrows, 3);
    assert_int_equal(cell_of(&o.s, row_of(&o.s, "cudaMemcpy", NULL), "count"), 1);
    assert_int_equal(cell_of(&o.s, row_of(&o.s, "cuMemcpyDtoH_v2", NULL), "count"), 1);
    assert_string_equal(text_of(&o.s, row_of(&o.s, "cudaMalloc", NULL), "class"), "alloc");
    assert_int_equal(cell_of(&o.s, row_of(&o.s, "cudaMalloc", NULL), "did_block"), 0); /* the device worked on, before and after */
    close_table(&o);
}

static void copy(struct maker *m, int64_t corr, int64_t start, int src, int dst)
{
    struct event ev = event_none(EV_MEMCPY, start, start + 2);
    ev.rank = 0;
    ev.device = 0;
    ev.correlation = corr;
    ev.stream = tracedata_stream(&m->d, tracedata_process(&m->d, m->pid, "host", -1), 0, 7);
    ev.detail = tracedata_copy_row(&m->d, (struct ev_copy){COPY_DTOH, src, dst});
    make_event(m, ev);
}

TEST(async_copies_block_by_their_memory_and_process)
{
    struct maker m = maker("pageable");
    make_call(&m, "cudaMemcpyAsync", 1, 0, 9, 1);
    make_call(&m, "cudaMemcpyAsync", 1, 10, 19, 2);
    make_call(&m, "cudaMemcpyAsync", 1, 20, 29, 3);
    copy(&m, 1, 1, MEM_DEVICE, MEM_PAGEABLE);
    copy(&m, 2, 11, MEM_DEVICE, MEM_PINNED);
    m.pid++; /* the same correlation in another process */
    make_call(&m, "cudaLaunchKernel", 9, 20, 21, 4);
    copy(&m, 3, 21, MEM_DEVICE, MEM_PAGEABLE);
    struct opened o = open_syncs(&m, NULL);
    assert_int_equal(o.s.nrows, 1);
    assert_int_equal(cell_of(&o.s, 0, "count"), 1);
    assert_string_equal(text_of(&o.s, 0, "class"), "copy");
    close_table(&o);
}

TEST(our_own_rows_say_class_and_site)
{
    struct maker m = maker("own");
    two_kernels(&m);
    for (int i = 0; i < 3; i++) {
        struct event ev = host_event(&m, EV_RUNTIME, "deviceMemcpy", 1, 10 + 10 * i, 15 + 10 * i);
        ev.site = tracedata_site(&m.d, "route_build", "kernels/layout/route.c", i == 2 ? 41 : 40);
        ev.detail = tracedata_sync_row(&m.d, (struct ev_sync){SYNC_COPY, i == 0 ? 0 : 1, -1, -1});
        make_event(&m, ev);
    }
    struct trace t;
    struct table f, l;
    make_open(&m, NULL, &t);
    make_table(&t, "syncs", NULL, &f);
    make_table(&t, "syncs", &by_line, &l);
    assert_int_equal(f.nrows, 1);
    assert_string_equal(text_of(&f, 0, "site"), "kernels/layout/route.c:route_build");
    assert_int_equal(cell_of(&f, 0, "count"), 3);
    assert_int_equal(cell_of(&f, 0, "did_block"), 2);
    assert_int_equal(l.nrows, 2);
    assert_int_equal(cell_of(&l, row_of(&l, "deviceMemcpy", "kernels/layout/route.c:40 route_build"), "count"), 2);
    table_free(&f);
    table_free(&l);
    trace_close(&t);
}

TEST(op_ledger_counts_each_and_takes_self_time)
{
    struct maker m = maker("ops");
    two_kernels(&m);
    make_host(&m, EV_OP, "aten::is_nonzero", 1, 8, 54);
    make_host(&m, EV_OP, "aten::item", 1, 9, 53);
    make_host(&m, EV_OP, "aten::_local_scalar_dense", 1, 9, 53);
    make_call(&m, "cudaStreamSynchronize", 1, 10, 52, 3);
    make_host(&m, EV_OP, "aten::index", 1, 64, 69);
    make_host(&m, EV_OP, "aten::nonzero", 1, 65, 68);
    struct opened o = open_syncs(&m, &op);
    assert_int_equal(o.s.nrows, 3);
    size_t item = row_of(&o.s, "item", NULL), nz = row_of(&o.s, "is_nonzero", NULL), index = row_of(&o.s, "index", NULL);
    assert_cost(&o.s, item, 44, 2, 20, 1);
    assert_cost(&o.s, nz, 2, 0, 0, 1);
    assert_cost(&o.s, index, 3, 0, 0, 0);
    assert_string_equal(text_of(&o.s, index, "class"), "nonzero");
    close_table(&o);
}

TEST(sites_of_foreign_traces)
{
    struct maker m = maker("frames");
    two_kernels(&m);
    make_host(&m, EV_FRAME, "/usr/lib/python3.10/threading.py(10): run", 1, 0, 69);
    make_host(&m, EV_FRAME, "/opt/venv/lib/python3.10/site-packages/pkg/model.py(143): forward", 1, 9, 54);
    make_host(&m, EV_FRAME, "torch/_tensor.py(50): item", 1, 9, 53);
    make_host(&m, EV_FRAME, "<built-in method item>", 1, 9, 53);
    make_call(&m, "cudaStreamSynchronize", 1, 10, 52, 3);
    make_host(&m, EV_RANGE, "step 12", 1, 55, 59);
    make_host(&m, EV_RANGE, "aten::copy_, op_id = 7", 1, 55, 58);
    make_call(&m, "cudaStreamSynchronize", 1, 56, 57, 4);
    make_call(&m, "cudaDeviceSynchronize", 2, 56, 57, 5);
    struct trace t;
    struct table f, k;
    make_open(&m, NULL, &t);
    make_table(&t, "syncs", NULL, &f);
    make_table(&t, "syncs", &by_stack, &k);
    assert_int_equal(f.nrows, 3);
    row_of(&f, "cudaStreamSynchronize", "pkg/model.py:forward");
    row_of(&f, "cudaStreamSynchronize", "step");
    row_of(&f, "cudaDeviceSynchronize", "cudaDeviceSynchronize");
    row_of(&k, "cudaStreamSynchronize", "lib/python3.10/threading.py:run;pkg/model.py:forward;torch/_tensor.py:item;cudaStreamSynchronize");
    table_free(&f);
    table_free(&k);
    trace_close(&t);
}

TEST(absent_is_not_zero)
{
    struct maker m = maker("absent"); /* no device rows: what a wait cost the device is not in this trace */
    make_host(&m, EV_OP, "aten::item", 1, 0, 10);
    struct opened o = open_syncs(&m, &op);
    assert_int_equal(cell_of(&o.s, 0, "count"), 1);
    assert_int_equal(cell_of(&o.s, 0, "blocked_ns"), 10);
    assert_cost(&o.s, 0, 10, INT64_MIN, INT64_MIN, INT64_MIN);
    struct table s;
    struct err e = {0};
    assert_false(table_build(table_find("syncs"), &o.t, NULL, &s, &e));
    assert_int_equal(e.kind, ERR_UNDECIDED); /* no API calls were recorded */
    table_free(&s);
    close_table(&o);
}

/* Whatever the rows: no cost is negative, stall is within blocked, all bubbles together are within the device's idle. */
TEST(costs_stay_within_what_there_is)
{
    PROP(150)
    {
        struct maker m = maker("random");
        int64_t at[2] = {0, 0}, work = 0;
        for (int i = 0; i < 30; i++) {
            int th = (int)rnd(2);
            int64_t start = at[th] + (int64_t)rnd(6), end = start + 1 + (int64_t)rnd(9);
            bool launch = rnd(2);
            make_call(&m, launch ? "cudaLaunchKernel" : "cudaStreamSynchronize", th + 1, start, end, i);
            work = work > end ? work : end;
            if (launch)
                make_work(&m, EV_KERNEL, "k", 0, 7, work, work + 1 + (int64_t)rnd(12), i);
            work += launch ? (int64_t)rnd(16) : 0;
            at[th] = end;
        }
        make_work(&m, EV_KERNEL, "last", 0, 7, 500, 501, -1);
        make_call(&m, "cudaStreamSynchronize", 1, 502, 503, -1);
        struct opened o = open_syncs(&m, NULL);
        struct arena a = {0};
        int64_t bubbles = 0, idle = ivl_len(trace_idle(&o.t, &a, &o.t.lanes[0]));
        for (size_t i = 0; i < o.s.nrows; i++) {
            assert_in_range(cell_of(&o.s, i, "stall_ns"), 0, cell_of(&o.s, i, "blocked_ns"));
            assert_true(cell_of(&o.s, i, "bubble_ns") >= 0);
            bubbles += cell_of(&o.s, i, "bubble_ns");
        }
        assert_true(bubbles <= idle);
        arena_free(&a);
        close_table(&o);
    }
}

TEST(the_list_of_blocking_calls)
{
    static const struct {
        const char *api;
        enum sync_class plain, pageable;
    } cases[] = {
        {"cudaStreamSynchronize_v3020", SYNC_STREAM, SYNC_STREAM},
        {"cudaStreamSynchronize_ptsz_v7000", SYNC_STREAM, SYNC_STREAM},
        {"cudaMemcpy_ptds_v7000", SYNC_COPY, SYNC_COPY},
        {"cudaMemcpyAsync_ptsz", SYNC_NONE, SYNC_COPY},
        {"cuMemcpyDtoH_v2_ptds", SYNC_COPY, SYNC_COPY},
        {"cuCtxSynchronize", SYNC_DEVICE, SYNC_DEVICE},
        {"hipDeviceSynchronize", SYNC_DEVICE, SYNC_DEVICE},
        {"hipCtxSynchronize", SYNC_DEVICE, SYNC_DEVICE},
        {"musaDeviceSynchronize", SYNC_DEVICE, SYNC_DEVICE},
        {"hipEventSynchronize", SYNC_EVENT, SYNC_EVENT},
        {"AscendCL@aclrtSynchronizeEventWithTimeout", SYNC_EVENT, SYNC_EVENT},
        {"aclrtSynchronizeStreamWithTimeout", SYNC_STREAM, SYNC_STREAM},
        {"AscendCL@aclrtSynchronizeDevice", SYNC_DEVICE, SYNC_DEVICE},
        {"hipMemcpyWithStream", SYNC_COPY, SYNC_COPY},
        {"cudaMemcpyAsync_v3020", SYNC_NONE, SYNC_COPY},
        {"hipMemcpyAsync", SYNC_NONE, SYNC_NONE},
        {"cudaStreamWaitEvent_v3020", SYNC_NONE, SYNC_NONE},
        {"cudaEventQuery", SYNC_NONE, SYNC_NONE},
        {"cudaStreamQuery", SYNC_NONE, SYNC_NONE},
        {"cudaFree_v3020", SYNC_ALLOC, SYNC_ALLOC},
        {"cudaFreeAsync", SYNC_NONE, SYNC_NONE},
        {"cudaMemcpyToSymbol", SYNC_NONE, SYNC_NONE},
        {"cuMemcpyHtoD_v2", SYNC_COPY, SYNC_COPY},
        {"cudaLaunchKernel", SYNC_NONE, SYNC_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (wait_class(cases[i].api, false) != cases[i].plain || wait_class(cases[i].api, true) != cases[i].pageable)
            fail_msg("%s: %d %d", cases[i].api, wait_class(cases[i].api, false), wait_class(cases[i].api, true));
}

UNIT_MAIN(UNIT(a_wait_that_drains_the_device), UNIT(a_wait_for_nothing_has_no_bubble), UNIT(of_two_waits_in_a_row_the_second_drains),
          UNIT(an_idle_ns_is_charged_once), UNIT(only_blocking_calls_and_only_the_outermost), UNIT(async_copies_block_by_their_memory_and_process),
          UNIT(our_own_rows_say_class_and_site), UNIT(op_ledger_counts_each_and_takes_self_time), UNIT(sites_of_foreign_traces),
          UNIT(absent_is_not_zero), UNIT(costs_stay_within_what_there_is), UNIT(the_list_of_blocking_calls))
