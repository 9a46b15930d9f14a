/* test_table_ranks.c - clocks of ranks, waiting, and who came last. */
#include "range_maker.h"

/* A file of one rank: calls that end at `ends` and take `ns`, seen by a clock that is `offset` ahead. */
static struct maker rank_file(const char *name, int32_t rank, const int64_t *ends, const int64_t *ns, int n, int64_t offset)
{
    struct maker m = maker(name);
    m.rank = rank;
    m.d.t0 = 1000000;
    for (int i = 0; i < n; i++)
        make_comm(&m, "cp", "all_gather", 0, ends[i] - ns[i] + offset, ends[i] + offset, i, 2, 8);
    return m;
}

static void open_both(struct maker *a, struct maker *b, struct trace *t)
{
    static const struct trace_opts all = {.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX, .span = "all"};
    const char *paths[] = {a->path, b->path};
    struct err e = {0};
    make_file(a);
    make_file(b);
    assert_ok(trace_open(paths, 2, &all, t, &e), &e);
    unlink(a->path);
    unlink(b->path);
}

/* HTA and others call the rank with the long collective slow: it is the one that waits (NVIDIA/nccl#460). */
TEST(the_shortest_came_last)
{
    struct maker a = rank_file("a", 0, (int64_t[]){100, 200, 300, 400}, (int64_t[]){50, 10, 60, 20}, 4, 0);
    struct maker b = rank_file("b", 1, (int64_t[]){103, 201, 300, 400}, (int64_t[]){10, 40, 20, 20}, 4, 7000);
    struct trace t;
    struct table s;
    open_both(&a, &b, &t);
    make_table(&t, "ranks", NULL, &s);
    assert_int_equal(s.nrows, 2);
    assert_int_equal(cell_of(&s, 0, "last_arrivals"), 1);
    assert_int_equal(cell_of(&s, 1, "last_arrivals"), 2); /* of equal ones nobody is last */
    assert_int_equal(cell_of(&s, 0, "comm_wait_ns"), 40 + 40);
    assert_int_equal(cell_of(&s, 1, "comm_wait_ns"), 30);
    assert_string_equal(text_of(&s, 1, "last_at"), "cp all_gather");
    assert_int_equal(cell_of(&s, 0, "offset_ns"), 0);
    assert_int_equal(cell_of(&s, 1, "offset_ns"), 7000); /* lower median of 7003 7001 7000 7000 */
    assert_int_equal(cell_of(&s, 1, "residual_ns"), 0);  /* of 3 1 0 0 */
    assert_string_equal(text_of(&s, 0, "host"), "host");
    assert_non_null(strstr(s.notes[0], "offsets are estimated"));
    table_free(&s);
    trace_close(&t);
}

TEST(the_residual_is_what_alignment_leaves)
{
    struct maker a = rank_file("c", 0, (int64_t[]){100, 200, 300}, (int64_t[]){10, 10, 10}, 3, 0);
    struct maker b = rank_file("d", 1, (int64_t[]){104, 200, 297}, (int64_t[]){11, 11, 11}, 3, -500);
    struct trace t;
    struct table s;
    open_both(&a, &b, &t);
    make_table(&t, "ranks", NULL, &s);
    assert_int_equal(cell_of(&s, 1, "offset_ns"), -500);
    assert_int_equal(cell_of(&s, 1, "residual_ns"), 3); /* of 4 0 3 */
    table_free(&s);
    trace_close(&t);
}

/* One file has one clock, whatever the ends say. */
TEST(ranks_of_one_file_share_its_clock)
{
    struct maker m = maker("one");
    struct trace t;
    struct table s;
    for (m.rank = 0; m.rank < 2; m.rank++)
        make_comm(&m, "cp", "all_gather", m.rank, 10, 30 + 5 * m.rank, 1, 2, 8);
    make_open(&m, NULL, &t);
    make_table(&t, "ranks", NULL, &s);
    assert_int_equal(cell_of(&s, 1, "offset_ns"), 0);
    assert_int_equal(cell_of(&s, 1, "residual_ns"), 5);
    assert_int_equal(cell_of(&s, 0, "last_arrivals"), 1);
    table_free(&s);
    trace_close(&t);
}

/* The same rank twice is two runs: never matched with each other. */
TEST(two_runs_are_kept_apart)
{
    struct maker a = rank_file("e", 0, (int64_t[]){100}, (int64_t[]){10}, 1, 0);
    struct maker b = rank_file("f", 0, (int64_t[]){100}, (int64_t[]){20}, 1, 50);
    struct trace t;
    struct table s;
    open_both(&a, &b, &t);
    make_table(&t, "ranks", NULL, &s);
    assert_int_equal(s.nrows, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(cell_of(&s, i, "offset_ns"), 0); /* each the first of its run */
        assert_true(is_absent(&s, i, "comm_wait_ns") && is_absent(&s, i, "last_arrivals"));
    }
    table_free(&s);
    trace_close(&t);
}

/* No alignment without something to align by (attention-gym#487). */
TEST(unmatched_clocks_are_not_compared)
{
    struct maker a = rank_file("g", 0, (int64_t[]){100, 200}, (int64_t[]){10, 10}, 2, 0);
    struct maker b = rank_file("h", 1, (int64_t[]){100}, (int64_t[]){20}, 1, 50);
    struct trace t;
    struct table s;
    b.d.comms[0].sequence = 2; /* another call than those of rank 0 */
    open_both(&a, &b, &t);
    make_table(&t, "ranks", NULL, &s);
    assert_int_equal(cell_of(&s, 0, "offset_ns"), 0);
    assert_true(is_absent(&s, 1, "offset_ns") && is_absent(&s, 1, "residual_ns"));
    table_free(&s);
    trace_close(&t);
}

/* What both have on record ties their clocks; waiting that is known in part is not told. */
TEST(a_shorter_trace_is_aligned_by_what_it_has)
{
    struct maker a = rank_file("i", 0, (int64_t[]){100, 200, 300}, (int64_t[]){10, 10, 10}, 3, 0);
    struct maker b = rank_file("j", 1, (int64_t[]){100, 200}, (int64_t[]){20, 30}, 2, 50);
    struct trace t;
    struct table s;
    open_both(&a, &b, &t);
    make_table(&t, "ranks", NULL, &s);
    assert_int_equal(cell_of(&s, 1, "offset_ns"), 50);
    assert_true(is_absent(&s, 0, "comm_wait_ns") && is_absent(&s, 0, "last_arrivals"));
    assert_int_equal(cell_of(&s, 1, "comm_wait_ns"), 10 + 20);
    assert_int_equal(cell_of(&s, 1, "last_arrivals"), 0);
    table_free(&s);
    trace_close(&t);
}

/* Three ranks, whose clocks agree, pass blocks round a ring, a rank behind the other: only what ends on all at once tells clocks. */
TEST(a_ring_does_not_tell_clocks)
{
    struct maker m[3] = {maker("ring0"), maker("ring1"), maker("ring2")};
    static const struct trace_opts all = TRACE_OPTS_NONE;
    const char *paths[] = {m[0].path, m[1].path, m[2].path};
    struct trace t;
    struct table s;
    struct err e = {0};
    for (int r = 0; r < 3; r++) {
        m[r].rank = r;
        for (int k = 0; k < 4; k++) {
            make_comm(&m[r], "cp", "send_recv", 0, 100 * k + 20 * r, 100 * k + 20 * r + 30, k, 3, 8);
            m[r].d.comms[m[r].d.ncomms - 1].peer = (r + 1) % 3;
        }
        make_comm(&m[r], "cp", "all_gather", 0, 500 + 20 * r, 600, 4, 3, 8);
        make_file(&m[r]);
    }
    assert_ok(trace_open(paths, 3, &all, &t, &e), &e);
    make_table(&t, "ranks", NULL, &s);
    for (size_t r = 0; r < 3; r++) {
        unlink(m[r].path);
        assert_int_equal(cell_of(&s, r, "offset_ns"), 0);
        assert_int_equal(cell_of(&s, r, "residual_ns"), 0);
        assert_int_equal(cell_of(&s, r, "comm_wait_ns"), 40 - 20 * (int64_t)r);
    }
    table_free(&s);
    trace_close(&t);
}

/* Several devices under one unknown rank: which of them came last is not this table's to say. */
TEST(a_rank_of_several_devices_in_one_call)
{
    struct maker m = maker("several");
    struct trace t;
    struct table s;
    m.rank = -1;
    make_comm(&m, "cp", "all_gather", 0, 10, 30, 1, 2, 8);
    make_comm(&m, "cp", "all_gather", 1, 20, 30, 1, 2, 8);
    make_open(&m, NULL, &t);
    make_table(&t, "ranks", NULL, &s);
    assert_int_equal(s.nrows, 1);
    assert_int_equal(cell_of(&s, 0, "comm_wait_ns"), 10);
    assert_true(is_absent(&s, 0, "last_arrivals"));
    assert_true(real_of(&s, 0, "busy_pct") == 100);
    table_free(&s);
    trace_close(&t);
}

/* Calls each 100 us on a clock of rank 1 that gains 1 part in 20000 and is seen to do so by readings of the wall; the ends
 * seen there are off by -6 .. 6 ns. */
static struct maker drifting(const char *name, int32_t rank, bool readings, const char *boot)
{
    struct maker m = maker(name);
    m.rank = rank;
    m.d.t0 = rank ? 5000 : 1000000;
    if (boot)
        tracedata_meta(&m.d, "boot_id", boot);
    for (int64_t i = 0; readings && i < 5; i++) {
        int64_t t = 4000000 * i, own = rank ? t + t / 20000 + 5000 : t + 1000000;
        make_reading(&m, own, INT64_C(1700000000000000000) + t);
    }
    for (int64_t i = 0; i <= 101; i++) {
        int64_t t = 100000 * (i + 1), own = rank ? t + t / 20000 + i % 13 - 6 : t;
        make_comm(&m, "cp", "all_gather", 0, own - 50, own, i, 2, 8);
    }
    return m;
}

static int64_t clock_cell(const char *boot0, const char *boot1, bool readings, const char *column, const char *note)
{
    struct maker a = drifting("i", 0, readings, boot0), b = drifting("j", 1, readings, boot1);
    struct trace t;
    struct table s;
    open_both(&a, &b, &t);
    make_table(&t, "ranks", NULL, &s);
    bool said = false;
    for (size_t i = 0; i < s.nnotes; i++)
        said |= strstr(s.notes[i], note) != NULL;
    assert_true(said);
    assert_int_equal(cell_of(&s, 0, "offset_ns"), 0);
    int64_t v = cell_of(&s, 1, column);
    table_free(&s);
    trace_close(&t);
    return v;
}

TEST(readings_of_the_wall_take_out_drift)
{
    int64_t middle = 5150000, want = middle / 20000 + 5000 - 1000000; /* of the calls */
    int64_t off = clock_cell("x", "y", true, "offset_ns", "readings of the wall clock") - want;
    assert_true(off >= -1 && off <= 1);
    assert_int_equal(clock_cell("x", "y", true, "residual_ns", "readings of the wall clock"), 3);
    assert_int_equal(clock_cell(NULL, NULL, true, "residual_ns", "readings of the wall clock"), 3);
    int64_t without = clock_cell("x", "y", false, "residual_ns", "offsets are estimated"); /* drift: 5 ns a call, over 51 calls, half of them */
    assert_true(without > 120 && without < 135);
}

/* One boot's clock is one, whatever readings and ends say. */
TEST(one_boot_is_one_clock)
{
    assert_int_equal(clock_cell("x", "x", true, "offset_ns", "one boot of a host"), 0);
    assert_true(clock_cell("x", "x", false, "residual_ns", "one boot of a host") > 990000);
}

UNIT_MAIN(UNIT(readings_of_the_wall_take_out_drift), UNIT(one_boot_is_one_clock), UNIT(the_shortest_came_last),
          UNIT(the_residual_is_what_alignment_leaves), UNIT(ranks_of_one_file_share_its_clock), UNIT(two_runs_are_kept_apart),
          UNIT(unmatched_clocks_are_not_compared), UNIT(a_shorter_trace_is_aligned_by_what_it_has), UNIT(a_ring_does_not_tell_clocks),
          UNIT(a_rank_of_several_devices_in_one_call))
