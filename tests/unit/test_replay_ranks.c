/* test_replay_ranks.c - replays of several ranks: collectives, and clocks of files and hosts. */
#include "replay_maker.h"

/*  rank 0   |# k #|------- all_gather: waits -------|t|
 *  rank 1   |########## k ##########|- all_gather -|t|      120 later by its clock's account; transfer 30 */
static void make_ranks(struct maker *m)
{
    for (m->rank = 0; m->rank < 2; m->rank++) {
        int64_t arrives = m->rank ? 200 : 100;
        m->pid = 100 + m->rank;
        make_host(m, EV_RANGE, "step#0", 1 + m->rank, 0, 300);
        make_call(m, "cudaLaunchKernel", 1 + m->rank, 0, 2, 1);
        make_work(m, EV_KERNEL, m->rank ? "slow" : "fast", m->rank, 7, 0, arrives, 1);
        make_call(m, "cudaLaunchKernel", 1 + m->rank, 10, 12, 2);
        make_comm(m, "cp", "all_gather", m->rank, arrives, 230, 1, 2, 8);
        m->d.ev[m->d.n - 1].correlation = 2;
        make_call(m, "cudaDeviceSynchronize", 1 + m->rank, 20, 240, 3);
    }
}

TEST(collectives_move_when_the_last_rank_has_come)
{
    struct maker m = maker("ranks");
    struct trace t;
    make_ranks(&m);
    make_open(&m, NULL, &t);
    for (uint32_t lane = 0; lane < 2; lane++) {
        assert_int_equal(predicted(&t, &(struct whatif_args){0}, lane, "step_ns"), 300);
        assert_int_equal(predicted(&t, &(struct whatif_args){.scale = "slow=0.75"}, lane, "step_ns"), 250); /* comes at 150 */
        assert_int_equal(predicted(&t, &(struct whatif_args){.scale = "slow=0.1"}, lane, "step_ns"), 200);  /* now rank 0 is last, at 100 */
        assert_int_equal(predicted(&t, &(struct whatif_args){.scale = "all_gather=2"}, lane, "step_ns"), 330);
    }
    assert_int_equal(predicted(&t, &(struct whatif_args){.drop_comm = "^cp$"}, 0, "step_ns"), 170);
    assert_int_equal(predicted(&t, &(struct whatif_args){.drop_comm = "^cp$"}, 1, "step_ns"), 270);
    assert_int_equal(predicted(&t, &(struct whatif_args){.scale = "slow=0.75"}, 0, "comm_sum_ns"), 80); /* 100 to 180 */
    trace_close(&t);
}

/*  rank 0   |.. think ..|L|== sync ==|              rank 1 gets there 80 earlier without what it thinks before its first
 *  rank 1   |........ think ........|L|= sync =|    call, and then rank 0 is the last */
TEST(host_time_before_the_first_call_goes_from_each_rank)
{
    struct maker m = maker("think");
    struct trace t;
    for (m.rank = 0; m.rank < 2; m.rank++) {
        int64_t at = m.rank ? 100 : 20;
        m.pid = 100 + m.rank;
        make_host(&m, EV_RANGE, "step#0", 1 + m.rank, 0, 200);
        make_host(&m, EV_RANGE, m.rank ? "think" : "work", 1 + m.rank, 0, at);
        make_call(&m, "cudaLaunchKernel", 1 + m.rank, at, at + 2, 1);
        make_comm(&m, "cp", "all_gather", m.rank, at + 5, 135, 1, 2, 8);
        m.d.ev[m.d.n - 1].correlation = 1;
        make_call(&m, "cudaDeviceSynchronize", 1 + m.rank, at + 10, 140, 3);
    }
    make_open(&m, NULL, &t);
    for (uint32_t lane = 0; lane < 2; lane++) /* moves at 25 instead of 105; for rank 1 its 100 are gone, so 80 is left of 200 */
        assert_int_equal(predicted(&t, &(struct whatif_args){.drop_range = "think"}, lane, "step_ns"), 120);
    trace_close(&t);
}

/* The same, one file a rank; the second one's clock is an hour ahead. */
TEST(clocks_are_told_by_the_ends_of_collectives)
{
    const int64_t ahead = INT64_C(3600000000000);
    struct maker one[2] = {maker("clock0"), maker("clock1")};
    struct trace t;
    struct err e = {0};
    const struct trace_opts o = TRACE_OPTS_NONE;
    const char *paths[] = {one[0].path, one[1].path};
    for (int k = 0; k < 2; k++) {
        int64_t arrives = k ? 200 : 100, at = k ? ahead : 0;
        one[k].rank = k;
        make_host(&one[k], EV_RANGE, "step#0", 1, at, at + 300);
        make_call(&one[k], "cudaLaunchKernel", 1, at, at + 2, 1);
        make_work(&one[k], EV_KERNEL, k ? "slow" : "fast", 0, 7, at, at + arrives, 1);
        make_call(&one[k], "cudaLaunchKernel", 1, at + 10, at + 12, 2);
        make_comm(&one[k], "cp", "all_gather", 0, at + arrives, at + 230, 1, 2, 8);
        one[k].d.ev[one[k].d.n - 1].correlation = 2;
        make_call(&one[k], "cudaDeviceSynchronize", 1, at + 20, at + 240, 3);
        make_file(&one[k]);
    }
    assert_ok(trace_open(paths, 2, &o, &t, &e), &e);
    unlink(paths[0]);
    unlink(paths[1]);
    for (uint32_t lane = 0; lane < 2; lane++) {
        assert_int_equal(predicted(&t, &(struct whatif_args){0}, lane, "step_ns"), 300);
        assert_int_equal(predicted(&t, &(struct whatif_args){.scale = "slow=0.75"}, lane, "step_ns"), 250);
    }
    trace_close(&t);
}

/* Exchanges need not end together: here rank 1's end 40 later. They tell where nothing else does. */
TEST(exchanges_tell_clocks_where_nothing_else_does)
{
    const int64_t ahead = 5000;
    for (int gathers = 0; gathers < 2; gathers++) {
        struct maker one[2] = {maker("exchange0"), maker("exchange1")};
        const struct trace_opts o = TRACE_OPTS_NONE;
        const char *paths[] = {one[0].path, one[1].path};
        struct trace t;
        struct replay r;
        struct err e = {0};
        for (int k = 0; k < 2; k++) {
            one[k].rank = k;
            for (int i = 0; i < 3; i++) {
                make_comm(&one[k], "cp", "send_recv", 0, 100 * i + 10 + 40 * k + ahead * k, 100 * i + 50 + 40 * k + ahead * k, i, 2, 8);
                one[k].d.comms[one[k].d.ncomms - 1].peer = 1 - k;
            }
            if (gathers)
                make_comm(&one[k], "cp", "all_gather", 0, 400 + ahead * k, 430 + ahead * k, 3, 2, 8);
            make_file(&one[k]);
        }
        assert_ok(trace_open(paths, 2, &o, &t, &e), &e);
        replay_graph(&t, SITE_FUNCTION, &r);
        assert_int_equal(r.ngroups, 3 + gathers);
        for (size_t q = 0; q < r.nqueues; q++)
            assert_int_equal(r.queues[q].offset, r.queues[q].file ? -ahead - (gathers ? 0 : 40) : 0);
        replay_free(&r);
        trace_close(&t);
        unlink(paths[0]);
        unlink(paths[1]);
    }
}

/* Twenty collectives of three hosts. The clocks of the second and third gain 500 and lose 250 ns a ms and began elsewhere; the
 * third host has two files of one boot. In each call rank 3 is the last, by 10 ns, to arrive: drift would hide it. */
enum { HOSTS_CALLS = 20, HOSTS_EVERY = 100000 };

static int64_t host_clock(int host, int64_t t)
{
    static const int64_t ahead[] = {1000, 77000000, 5000}, gains[] = {0, 2000, -4000};
    return t + ahead[host] + (gains[host] ? t / gains[host] : 0);
}

static void make_host_rank(struct maker *m, int rank)
{
    int host = rank < 2 ? rank : 2;
    int64_t zero = host_clock(host, 40000 * rank); /* each file begins at its own zero */
    m->rank = rank;
    m->d.t0 = zero;
    tracedata_meta(&m->d, "boot_id", host == 0 ? "first" : host == 1 ? "second" : "third");
    for (int i = 0; i < 3; i++)
        make_reading(m, host_clock(host, 1500000 * i), INT64_C(1700000000000000000) + 1500000 * i + 3 * host);
    for (int i = 1; i <= HOSTS_CALLS; i++) {
        int64_t t = HOSTS_EVERY * (int64_t)i + 100000, arrives = t + 1000 + (rank == 3 ? 10 : 0);
        make_comm(m, "cp", "all_gather", 0, host_clock(host, arrives) - zero, host_clock(host, t + 2000) - zero, i, 4, 8);
    }
}

TEST(hosts_are_put_on_one_clock_drift_and_all)
{
    struct maker m[4] = {maker("host0"), maker("host1"), maker("host2"), maker("host3")};
    const char *paths[] = {m[0].path, m[1].path, m[2].path, m[3].path};
    const struct trace_opts o = TRACE_OPTS_NONE;
    struct trace t;
    struct err e = {0};
    struct replay r;
    struct arena a = {0};
    for (int k = 0; k < 4; k++) {
        make_host_rank(&m[k], k);
        make_file(&m[k]);
    }
    assert_ok(trace_open(paths, 4, &o, &t, &e), &e);
    replay_build(&t, SITE_FUNCTION, &r);
    assert_int_equal(r.ngroups, HOSTS_CALLS);
    for (int i = 0; i < HOSTS_CALLS; i++) {
        int64_t off = r.groups[i].join - (HOSTS_EVERY * (int64_t)(i + 1) + 100000 + 1010);
        if (off < -2 || off > 2) /* whole ns, twice rounded */
            fail_msg("call %d: the last arrives %lld ns off", i, (long long)off);
    }
    struct replayed p = replay_run(&r, NULL, &a);
    for (uint32_t i = 0; i < r.norder; i++)
        assert_int_equal(p.at[i], replay_measured(&r, i));
    replay_free(&r);
    arena_free(&a);
    trace_close(&t);
    for (int k = 0; k < 4; k++)
        unlink(paths[k]);
}

UNIT_MAIN(UNIT(collectives_move_when_the_last_rank_has_come), UNIT(host_time_before_the_first_call_goes_from_each_rank),
          UNIT(clocks_are_told_by_the_ends_of_collectives), UNIT(exchanges_tell_clocks_where_nothing_else_does),
          UNIT(hosts_are_put_on_one_clock_drift_and_all))
