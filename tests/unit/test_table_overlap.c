/* test_table_overlap.c - communication behind compute, and what it costs. */
#include "analyzer/overlap.h"
#include "range_maker.h"

/*   comm     |10 ##### 30|   |40 # 50|
 *   compute       |20 ## 35|               |60 ## 70|      */
static void two_streams(struct maker *m)
{
    make_work(m, EV_KERNEL, "ncclDevKernel_AllReduce", 0, 9, 10, 30, -1);
    make_work(m, EV_KERNEL, "nccldevkernel_SendRecv", 0, 9, 40, 50, -1);
    make_work(m, EV_KERNEL, "gemm", 0, 7, 20, 35, -1);
    make_work(m, EV_KERNEL, "gemm", 0, 7, 60, 70, -1);
}

TEST(overlap_is_what_both_cover)
{
    struct maker m = maker("two");
    struct trace t;
    struct table s;
    two_streams(&m);
    make_open(&m, NULL, &t);
    make_table(&t, "overlap", NULL, &s);
    assert_int_equal(s.nrows, 1);
    assert_int_equal(cell_of(&s, 0, "comm_union_ns"), 30);
    assert_int_equal(cell_of(&s, 0, "overlap_ns"), 10);
    assert_int_equal(cell_of(&s, 0, "exposed_comm_ns"), 20);
    assert_true(real_of(&s, 0, "overlap_pct") > 33.3333 && real_of(&s, 0, "overlap_pct") < 33.3334);
    assert_true(real_of(&s, 0, "dilation_pct") > 49.9999 && real_of(&s, 0, "dilation_pct") < 50.0001); /* 15 against 10 */
    table_free(&s);
    trace_close(&t);
}

/* HTA#56: no NaN, no 0 % of nothing. */
TEST(without_collectives_there_is_no_share)
{
    struct maker m = maker("none");
    struct trace t;
    struct table s;
    make_work(&m, EV_KERNEL, "gemm", 0, 7, 20, 35, -1);
    make_open(&m, NULL, &t);
    make_table(&t, "overlap", NULL, &s);
    assert_int_equal(cell_of(&s, 0, "comm_union_ns"), 0);
    assert_true(is_absent(&s, 0, "overlap_pct") && is_absent(&s, 0, "dilation_pct"));
    assert_non_null(strstr(s.notes[0], "no collective was found"));
    table_free(&s);
    trace_close(&t);
}

/* HTA#4: all-to-all against all-reduce, any kernels against any. */
TEST(other_pairs_can_be_asked_for)
{
    struct maker m = maker("pairs");
    struct trace t;
    struct table s;
    make_work(&m, EV_KERNEL, "ncclDevKernel_AllToAll", 0, 9, 10, 30, -1);
    make_work(&m, EV_KERNEL, "ncclDevKernel_AllReduce", 0, 8, 25, 45, -1);
    make_work(&m, EV_KERNEL, "gemm", 0, 7, 0, 100, -1);
    make_open(&m, NULL, &t);
    make_table(&t, "overlap", &(struct overlap_args){"all_to_all", "all_reduce"}, &s);
    assert_int_equal(cell_of(&s, 0, "comm_union_ns"), 20);
    assert_int_equal(cell_of(&s, 0, "overlap_ns"), 5);
    table_free(&s);
    make_table(&t, "overlap", &(struct overlap_args){"gemm", "nccl"}, &s);
    assert_int_equal(cell_of(&s, 0, "comm_union_ns"), 100);
    assert_int_equal(cell_of(&s, 0, "overlap_ns"), 35);
    table_free(&s);
    struct err e = {0};
    assert_false(table_build(table_find("overlap"), &t, &(struct overlap_args){"(", NULL}, &s, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    table_free(&s);
    trace_close(&t);
}

/* One generic kernel for everything (RCCL): the collective's function tells. */
TEST(functions_of_collectives_are_names_too)
{
    struct maker m = maker("generic");
    struct trace t;
    struct table s;
    make_comm(&m, "0", "allreduce", 0, 10, 30, 1, 2, 8);
    make_comm(&m, "0", "broadcast", 0, 40, 45, 2, 2, 8);
    make_work(&m, EV_KERNEL, "gemm", 0, 9, 20, 60, -1);
    make_open(&m, NULL, &t);
    make_table(&t, "overlap", &(struct overlap_args){.of = "all_reduce"}, &s);
    assert_int_equal(cell_of(&s, 0, "comm_union_ns"), 20);
    assert_int_equal(cell_of(&s, 0, "overlap_ns"), 10);
    table_free(&s);
    trace_close(&t);
}

/* A kernel of another shape is another kernel; one that only grazes a collective is on neither side. */
TEST(dilation_compares_equal_kernels_only)
{
    struct maker m = maker("shapes");
    struct trace t;
    struct table s;
    make_work(&m, EV_KERNEL, "ncclDevKernel_AllReduce", 0, 9, 100, 200, -1);
    make_launched(&m, "gemm", 4, 1, 0, 10, 20);
    make_launched(&m, "gemm", 4, 1, 1, 110, 130); /* beside: 20 against 10 */
    make_launched(&m, "gemm", 4, 1, 2, 191, 210); /* grazes: 9 of 19 */
    make_launched(&m, "gemm", 4, 1, 2, 180, 220); /* beside, by half: 40 */
    make_launched(&m, "gemm", 8, 1, 3, 140, 190); /* never alone */
    make_open(&m, NULL, &t);
    make_table(&t, "overlap", NULL, &s);
    assert_true(real_of(&s, 0, "dilation_pct") == 200); /* 60 against 20 */
    table_free(&s);
    trace_close(&t);
}

enum { SPAN = 200 };

/* A lane at random, written down ns by ns. Kernels may overlap on one stream: they are real. */
static void random_lane(struct maker *m, bool comm[2 * SPAN], bool compute[2 * SPAN])
{
    for (size_t i = rnd(20) + 2; i-- > 0;) {
        bool is_comm = i == 0 || rnd(2);
        int64_t start = 1 + (int64_t)rnd(SPAN), end = start + (int64_t)rnd(20) + (i < 2);
        make_work(m, EV_KERNEL, is_comm ? "rcclKernel" : "gemm", 0, (int)rnd(3), start, end, -1);
        for (int64_t k = start; k < end; k++)
            (is_comm ? comm : compute)[k] = true;
    }
}

TEST(unions_match_a_bitmap)
{
    PROP(300)
    {
        static bool comm[2 * SPAN], compute[2 * SPAN];
        struct maker m = maker("bitmap");
        struct trace t;
        struct table s;
        int64_t total = 0, both = 0;
        memset(comm, 0, sizeof comm);
        memset(compute, 0, sizeof compute);
        random_lane(&m, comm, compute);
        for (size_t k = 0; k < 2 * SPAN; k++) {
            total += comm[k];
            both += comm[k] && compute[k];
        }
        make_open(&m, NULL, &t);
        make_table(&t, "overlap", NULL, &s);
        assert_int_equal(cell_of(&s, 0, "comm_union_ns"), total);
        assert_int_equal(cell_of(&s, 0, "overlap_ns"), both);
        assert_int_equal(cell_of(&s, 0, "exposed_comm_ns"), total - both);
        assert_true(real_of(&s, 0, "overlap_pct") >= 0 && real_of(&s, 0, "overlap_pct") <= 100);
        table_free(&s);
        trace_close(&t);
    }
}

UNIT_MAIN(UNIT(overlap_is_what_both_cover), UNIT(without_collectives_there_is_no_share), UNIT(other_pairs_can_be_asked_for),
          UNIT(functions_of_collectives_are_names_too), UNIT(dilation_compares_equal_kernels_only), UNIT(unions_match_a_bitmap))
