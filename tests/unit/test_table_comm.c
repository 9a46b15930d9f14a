/* test_table_comm.c - waiting against transfer, only where the ranks agree. */
#include "analyzer/commop.h"
#include "trace_maker.h"

struct expect {
    int64_t total, wait, transfer; /* INT64_MIN: absent */
};

static void assert_rows(struct maker *m, const struct expect *want, size_t n)
{
    struct trace t;
    struct table s;
    make_open(m, NULL, &t);
    make_table(&t, "comm", NULL, &s);
    assert_int_equal(s.nrows, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(cell_of(&s, i, "total_ns"), want[i].total);
        assert_int_equal(cell_of(&s, i, "wait_ns"), want[i].wait);
        assert_int_equal(cell_of(&s, i, "transfer_ns"), want[i].transfer);
    }
    table_free(&s);
    trace_close(&t);
}

TEST(the_last_rank_shows_the_transfer)
{
    struct maker m = maker("last");
    m.rank = 0;
    make_comm(&m, "cp", "all_gather", 0, 0, 100, 1, 2, 8);
    make_comm(&m, "cp", "all_gather", 0, 200, 210, 2, 2, 8);
    m.rank = 1; /* its clock may be hours away; only durations count */
    make_comm(&m, "cp", "all_gather", 1, 9000, 9030, 1, 2, 8);
    make_comm(&m, "cp", "all_gather", 1, 9100, 9150, 2, 2, 8);
    assert_rows(&m, (const struct expect[]){{110, 70, 40}, {80, 40, 40}}, 2);
}

TEST(calls_match_by_sequence_not_by_time)
{
    struct maker m = maker("sequence");
    for (m.rank = 0; m.rank < 2; m.rank++) {
        make_comm(&m, "cp", "all_gather", m.rank, m.rank ? 0 : 100, m.rank ? 10 : 130, 7, 2, 8);
        make_comm(&m, "cp", "all_gather", m.rank, m.rank ? 100 : 0, m.rank ? 150 : 60, 8, 2, 8);
    }
    assert_rows(&m, (const struct expect[]){{90, 30, 60}, {60, 0, 60}}, 2); /* 7: 30 10, 8: 60 50 */
}

TEST(what_does_not_agree_is_unknown)
{
    for (int bad = 0; bad < 4; bad++) {
        struct maker m = maker("bad");
        for (m.rank = 0; m.rank < 2; m.rank++) {
            bool odd = m.rank == 1;
            make_comm(&m, "cp", "all_gather", m.rank, 0, 10, odd && bad == 0 ? 2 : 1, bad == 1 ? 3 : 2, 8); /* sequence; a rank is missing */
            make_comm(&m, "cp", odd && bad == 2 ? "broadcast" : "all_gather", m.rank, 20, 30, 3, bad == 1 ? 3 : 2, 8);
            if (odd && bad == 3)
                make_comm(&m, "cp", "all_gather", m.rank, 40, 50, 4, 2, 8); /* one more call */
        }
        struct trace t;
        struct table s;
        make_open(&m, NULL, &t);
        make_table(&t, "comm", NULL, &s);
        for (size_t i = 0; i < s.nrows; i++) /* by numbers the others of rank 0 are known to be whole, those of rank 1 not to be */
            assert_int_equal(cell_of(&s, i, "wait_ns"), bad == 3 && cell_of(&s, i, "rank") == 0 ? 0 : INT64_MIN);
        table_free(&s);
        make_table(&t, "summary", NULL, &s);
        assert_int_equal(cell_of(&s, 0, "comm_wait_ns"), bad == 3 ? 0 : INT64_MIN);
        assert_int_equal(cell_of(&s, 1, "comm_wait_ns"), INT64_MIN);
        table_free(&s);
        trace_close(&t);
    }
}

/* Rank 1 lacks a call in the middle and rank 2 ends early: the numbers tell which calls are whole. */
TEST(numbers_tell_what_is_whole)
{
    static const int made[3][4] = {{1, 1, 1, 1}, {1, 0, 1, 1}, {1, 1, 1, 0}};
    struct maker m = maker("whole");
    struct trace t;
    struct table s;
    for (m.rank = 0; m.rank < 3; m.rank++)
        for (int k = 0; k < 4; k++)
            if (made[m.rank][k])
                make_comm(&m, "cp", k % 2 ? "all_reduce" : "all_gather", m.rank, 100 * k, 100 * k + 10 + 3 * m.rank, k, 3, 8);
    make_open(&m, NULL, &t);
    make_table(&t, "comm", NULL, &s);
    assert_int_equal(s.nrows, 6);
    for (size_t i = 0; i < s.nrows; i++) {
        bool gather = strcmp(text_of(&s, i, "op"), "all_gather") == 0; /* numbers 0 and 2 are everywhere, 1 and 3 are not */
        assert_int_equal(cell_of(&s, i, "transfer_ns"), gather ? 20 : INT64_MIN);
        assert_int_equal(cell_of(&s, i, "wait_ns"), gather ? 6 * cell_of(&s, i, "rank") : INT64_MIN);
    }
    table_free(&s);
    trace_close(&t);
}

/* Two calls of one number, as where several are launched together; one of them is missing on rank 1. */
TEST(several_calls_of_one_number)
{
    for (int missing = 0; missing < 2; missing++) {
        struct maker m = maker("number");
        for (m.rank = 0; m.rank < 2; m.rank++)
            for (int k = 0; k < 4 - missing * m.rank; k++)
                make_comm(&m, "cp", "all_gather", m.rank, 100 * k, 100 * k + 10 + (k + m.rank) % 2, k / 2, 2, 8);
        if (missing)
            assert_rows(&m, (const struct expect[]){{42, INT64_MIN, INT64_MIN}, {32, INT64_MIN, INT64_MIN}}, 2);
        else
            assert_rows(&m, (const struct expect[]){{42, 2, 40}, {42, 2, 40}}, 2);
    }
}

TEST(groups_are_apart)
{
    struct maker m = maker("groups");
    for (m.rank = 0; m.rank < 2; m.rank++) {
        make_comm(&m, "cp", "all_gather", m.rank, 0, 10 + 5 * m.rank, 1, 2, 8);
        make_comm(&m, "grad", "all_reduce", m.rank, 20, 40 - 5 * m.rank, 1, 2, 8);
    }
    struct trace t;
    struct table s;
    make_open(&m, NULL, &t);
    make_table(&t, "summary", NULL, &s);
    assert_int_equal(cell_of(&s, 0, "comm_wait_ns"), 5);
    assert_int_equal(cell_of(&s, 1, "comm_wait_ns"), 5);
    table_free(&s);
    make_table(&t, "comm", NULL, &s);
    assert_int_equal(s.nrows, 4);
    assert_string_equal(text_of(&s, 0, "group"), "grad"); /* the longest first */
    assert_string_equal(text_of(&s, 0, "op"), "all_reduce");
    assert_int_equal(cell_of(&s, 0, "bytes"), 8);
    table_free(&s);
    trace_close(&t);
}

/* The same file twice is two runs: nothing matches across. */
TEST(a_rank_given_twice_is_two_runs)
{
    struct maker m = maker("twice");
    struct trace t;
    struct table s;
    struct err e = {0};
    const struct trace_opts o = TRACE_OPTS_NONE;
    make_comm(&m, "cp", "all_gather", 0, 0, 10, 1, 2, 8);
    const char *paths[] = {m.path, m.path};
    make_file(&m);
    assert_ok(trace_open(paths, 2, &o, &t, &e), &e);
    unlink(m.path);
    assert_int_equal(t.files[1].run, 1);
    make_table(&t, "comm", NULL, &s);
    assert_int_equal(s.nrows, 2);
    assert_int_equal(cell_of(&s, 0, "wait_ns"), INT64_MIN);
    table_free(&s);
    trace_close(&t);
}

TEST(names_of_collectives)
{
    static const char *const cases[][2] = {
        {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "all_reduce"},
        {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", "send_recv"},
        {"_allgather_base", "all_gather"},
        {"all_to_allv", "all_to_all_v"},
        {"reduce_scatter", "reduce_scatter"},
        {"broadcast", "broadcast"},
        {"ncclDevKernel_Reduce_Sum_f32", "reduce"},
        {"collective-permute-done.7", "send_recv"},
        {"all-reduce.12", "all_reduce"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(commop_of(cases[i][0]), cases[i][1]);
    assert_null(commop_of("ncclDevKernel_Generic_1"));
    assert_true(commop_bus_factor("all_reduce", 4) == 1.5);
    assert_true(commop_bus_factor("all_gather", 4) == 0.75);
}

/* A chain: rank 0 only sends once, rank 1 takes part twice. The gathers of the group are matched all the same. */
TEST(point_to_point_calls_do_not_spoil_the_collectives)
{
    struct maker m = maker("chain");
    struct trace t;
    struct table s;
    for (m.rank = 0; m.rank < 2; m.rank++) {
        int64_t sequence = 0;
        for (int i = 0; i <= m.rank; i++) {
            make_comm(&m, "cp", "send_recv", m.rank, 10 + 10 * i, 15 + 10 * i, sequence++, 2, 8);
            m.d.comms[m.d.ncomms - 1].peer = 1 - m.rank;
        }
        make_comm(&m, "cp", "all_gather", m.rank, 50 + 4 * m.rank, 60, sequence, 2, 8);
    }
    make_open(&m, NULL, &t);
    make_table(&t, "comm", NULL, &s);
    for (size_t i = 0; i < s.nrows; i++) {
        bool gather = strcmp(text_of(&s, i, "op"), "all_gather") == 0;
        assert_int_equal(cell_of(&s, i, "transfer_ns"), gather ? 6 : INT64_MIN); /* absent: numbers of calls differ */
        assert_int_equal(cell_of(&s, i, "wait_ns"), !gather ? INT64_MIN : cell_of(&s, i, "rank") == 0 ? 4 : 0);
    }
    assert_int_equal(s.nrows, 4);
    table_free(&s);
    trace_close(&t);
}

/* A send, a receive or an exchange of m->rank with `peer`. */
static void make_peer(struct maker *m, const char *function, int peer, int size, int64_t start, int64_t end, int64_t sequence, int64_t bytes)
{
    make_comm(m, "cp", function, m->rank, start, end, sequence, size, bytes);
    m->d.comms[m->d.ncomms - 1].peer = peer;
}

/* A pipeline: 0 sends to 1, 1 to 2, twice; then 2 back to 1. Numbers say nothing, for each rank counts its own. */
TEST(a_send_is_matched_with_its_receive)
{
    struct maker m = maker("pairs");
    make_peer(&m, "send", 1, 3, 0, 50, 0, 8);
    make_peer(&m, "send", 1, 3, 60, 72, 1, 8);
    m.rank = 1;
    make_peer(&m, "recv", 0, 3, 30, 50, 0, 0);
    make_peer(&m, "send", 2, 3, 51, 57, 1, 8);
    make_peer(&m, "recv", 0, 3, 58, 72, 2, 0);
    make_peer(&m, "send", 2, 3, 73, 80, 3, 8);
    make_peer(&m, "recv", 2, 3, 81, 100, 4, 0);
    m.rank = 2;
    make_peer(&m, "recv", 1, 3, 10, 57, 0, 0);
    make_peer(&m, "recv", 1, 3, 58, 80, 1, 0);
    make_peer(&m, "send", 1, 3, 96, 100, 2, 8);
    assert_rows(&m, (const struct expect[]){{62, 30, 32}, {53, 17, 36}, {13, 0, 13}, {69, 56, 13}, {4, 0, 4}}, 5);
}

/* Halves that are not as many, a peer that is not there, two messages of other sizes: not known. */
TEST(a_pair_that_does_not_agree_is_unknown)
{
    for (int bad = 0; bad < 4; bad++) {
        struct maker m = maker("half");
        int size = bad == 1 ? 3 : 2;
        make_peer(&m, "send", 1, size, 0, 10, 0, 8);
        m.d.comms[m.d.ncomms - 1].message_bytes = 8;
        m.rank = 1;
        make_peer(&m, bad == 3 ? "send" : "recv", 0, size, 4, 10, 0, 0);
        m.d.comms[m.d.ncomms - 1].message_bytes = bad == 2 ? 4 : 8;
        if (bad == 0)
            make_peer(&m, "recv", 0, size, 14, 20, 1, 0);
        assert_rows(&m, (const struct expect[]){{10, INT64_MIN, INT64_MIN}, {bad == 0 ? 12 : 6, INT64_MIN, INT64_MIN}}, 2);
    }
}

/* Exchanges along a chain of ours: what has no peer there waits for nobody. */
TEST(the_ends_of_a_chain_wait_for_nobody)
{
    struct maker m = maker("ends");
    make_peer(&m, "send_recv", -1, 3, 0, 3, 0, 0);
    make_peer(&m, "send_recv", 1, 3, 5, 20, 1, 8);
    m.rank = 1;
    make_peer(&m, "send_recv", 0, 3, 0, 20, 0, 0);
    make_peer(&m, "send_recv", 2, 3, 21, 30, 1, 8);
    m.rank = 2;
    make_peer(&m, "send_recv", 1, 3, 2, 30, 0, 0);
    make_peer(&m, "send_recv", -1, 3, 31, 33, 1, 0);
    for (m.rank = 0; m.rank < 3; m.rank++)
        make_comm(&m, "cp", "all_gather", m.rank, 40 + m.rank, 44, 2, 3, 8); /* and does not spoil this */
    assert_rows(&m, (const struct expect[]){{18, 0, 18}, {4, 2, 2}, {29, 5, 24}, {3, 1, 2}, {30, 19, 11}, {2, 0, 2}}, 6);
}

/* A send whose peer is not told spoils nothing; of two ranks it is the other one. */
TEST(a_send_to_somebody_leaves_the_collectives)
{
    for (int ranks = 2; ranks <= 3; ranks++) {
        struct maker m = maker("somebody");
        for (m.rank = 0; m.rank < ranks; m.rank++) {
            make_comm(&m, "cp", "all_gather", m.rank, 0, 10 + m.rank, 1, ranks, 8);
            make_comm(&m, "cp", m.rank ? "recv" : "send", m.rank, 20, 21 + m.rank, 1, ranks, 8);
        }
        if (ranks == 2)
            assert_rows(&m, (const struct expect[]){{10, 0, 10}, {1, 0, 1}, {11, 1, 10}, {2, 1, 1}}, 4);
        else
            assert_rows(&m,
                        (const struct expect[]){
                            {10, 0, 10}, {1, INT64_MIN, INT64_MIN}, {11, 1, 10}, {2, INT64_MIN, INT64_MIN}, {12, 2, 10}, {3, INT64_MIN, INT64_MIN}},
                        6);
    }
}

UNIT_MAIN(UNIT(a_send_is_matched_with_its_receive), UNIT(a_pair_that_does_not_agree_is_unknown), UNIT(the_ends_of_a_chain_wait_for_nobody),
          UNIT(a_send_to_somebody_leaves_the_collectives), UNIT(point_to_point_calls_do_not_spoil_the_collectives),
          UNIT(the_last_rank_shows_the_transfer), UNIT(calls_match_by_sequence_not_by_time), UNIT(what_does_not_agree_is_unknown),
          UNIT(numbers_tell_what_is_whole), UNIT(several_calls_of_one_number), UNIT(groups_are_apart), UNIT(a_rank_given_twice_is_two_runs),
          UNIT(names_of_collectives))
