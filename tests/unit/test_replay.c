/* test_replay.c - replays with answers worked out by hand, and what holds for any trace at all. */
#include "analyzer/recover.h"
#include "analyzer/replay_net.h"
#include "analyzer/whatif.h"
#include "replay_maker.h"

/*  host    |L|..|== sync ==|....|L|..|== sync ==|........|      step 0 .. 300
 *          0 2  10       110  150 152 160     260       300
 *  stream    |## a ##|            |## b ##|
 *            5     105            155   255                     launch latency 5, waking up 5 */
static void make_step_at(struct maker *m, const char *step, int64_t t, int64_t corr)
{
    make_host(m, EV_RANGE, step, 1, t, t + 300);
    make_call(m, "cudaLaunchKernel", 1, t, t + 2, corr);
    make_work(m, EV_KERNEL, "a", 0, 7, t + 5, t + 105, corr);
    make_host(m, EV_RANGE, "first", 1, t + 9, t + 111);
    make_call(m, "cudaStreamSynchronize", 1, t + 10, t + 110, corr + 1);
    make_host(m, EV_RANGE, "think", 1, t + 120, t + 140);
    make_call(m, "cudaLaunchKernel", 1, t + 150, t + 152, corr + 2);
    make_work(m, EV_KERNEL, "b", 0, 7, t + 155, t + 255, corr + 2);
    make_host(m, EV_RANGE, "second", 1, t + 159, t + 261);
    make_call(m, "cudaStreamSynchronize", 1, t + 160, t + 260, corr + 3);
}

static void make_two_syncs(struct maker *m)
{
    make_step_at(m, "step#0", 0, 1);
}

static void assert_step(void (*make)(struct maker *), struct whatif_args o, int64_t step_ns)
{
    struct maker m = maker("whatif");
    struct trace t;
    make(&m);
    make_open(&m, NULL, &t);
    assert_int_equal(predicted(&t, &o, 0, "step_ns"), step_ns);
    trace_close(&t);
}

TEST(a_sync_less)
{
    assert_step(make_two_syncs, (struct whatif_args){0}, 300);
    /* b is launched at 50 and starts behind a, at 105; its sync ends at 205 + 5; the step 40 later. */
    assert_step(make_two_syncs, (struct whatif_args){.drop_syncs = "first"}, 250);
    assert_step(make_two_syncs, (struct whatif_args){.drop_syncs = "cudaStreamSynchronize"}, 100); /* 300 less 100 less 100 */
}

/* What lies before the window is replayed with its waits, or its backlog would come into the window. */
TEST(steps_before_the_window_are_replayed_too)
{
    struct maker m = maker("steps");
    struct trace_opts o = TRACE_OPTS_NONE;
    struct trace t;
    for (int i = 0; i < 3; i++)
        make_step_at(&m, (const char *const[]){"step#0", "step#1", "step#2"}[i], 300 * i, 1 + 10 * i);
    o.step = "2";
    make_open(&m, &o, &t);
    assert_int_equal(predicted(&t, &(struct whatif_args){.drop_range = "first|think"}, 0, "step_ns"), 250);
    assert_int_equal(predicted(&t, &(struct whatif_args){.drop_syncs = "first"}, 0, "step_ns"), 250);
    trace_close(&t);
}

/* c comes as its launch allows, 3 behind the end of b: that is no gap of the device's. Without the first sync the launches
 * are early, and b and c follow a without one.
 *  host    |L|.. sync ..|.|L|...|L|..... sync
 *  stream    |# a #|## a ##|   |# b #|  |# c #| */
static void make_launch_bound(struct maker *m)
{
    make_host(m, EV_RANGE, "step#0", 1, 0, 300);
    make_call(m, "cudaLaunchKernel", 1, 0, 2, 1);
    make_work(m, EV_KERNEL, "a", 0, 7, 10, 60, 1);
    make_call(m, "cudaLaunchKernel", 1, 2, 4, 9);
    make_work(m, EV_KERNEL, "a", 0, 7, 60, 100, 9); /* launched early: the gap is 0 */
    make_host(m, EV_RANGE, "first", 1, 4, 111);
    make_call(m, "cudaStreamSynchronize", 1, 5, 110, 2);
    for (int64_t k = 0; k < 2; k++) {
        make_call(m, "cudaLaunchKernel", 1, 120 + 33 * k, 122 + 33 * k, 3 + k);
        make_work(m, EV_KERNEL, k ? "c" : "b", 0, 7, 130 + 33 * k, 160 + 33 * k, 3 + k);
    }
    make_call(m, "cudaStreamSynchronize", 1, 160, 203, 5);
}

TEST(a_gap_is_the_launch_s_where_the_launch_was_late)
{
    /* a to 100, b to 130, c to 160, awake at 170 and on for 97 */
    assert_step(make_launch_bound, (struct whatif_args){.drop_syncs = "first"}, 267);
}

/* The device's row of a blocking call, with the stream that it waits for. */
static void make_sync_row(struct maker *m, int64_t start, int64_t end, int64_t corr, int64_t stream)
{
    struct event ev = event_none(EV_SYNC, start, end);
    ev.name = intern_id(&m->d.strings, "Stream Sync");
    ev.rank = 0, ev.device = 0, ev.correlation = corr;
    ev.detail = tracedata_sync_row(&m->d, (struct ev_sync){.class = SYNC_STREAM, .did_block = -1, .wait_stream = stream, .wait_event = -1});
    make_event(m, ev);
}

/* The wait is for stream 7 and says so in the device's row of it; stream 13 runs on.
 *  host       |L a|L b|== sync 7 ==|
 *  stream 7      |## a ##|
 *  stream 13       |######## b ########|                 and the step ends without b */
static void make_sync_of_one(struct maker *m)
{
    make_host(m, EV_RANGE, "step#0", 1, 0, 200);
    for (int64_t k = 0; k < 2; k++) {
        make_call(m, "cudaLaunchKernel", 1, 2 * k, 2 * k + 2, 1 + k);
        make_work(m, EV_KERNEL, k ? "b" : "a", 0, k ? 13 : 7, 5 + 2 * k, k ? 106 : 105, 1 + k);
    }
    make_call(m, "cudaStreamSynchronize", 1, 10, 110, 3);
    make_sync_row(m, 10, 110, 3, 7);
}

TEST(a_wait_is_for_the_stream_that_its_row_names)
{
    assert_step(make_sync_of_one, (struct whatif_args){.scale = "^b$=2"}, 200);
    assert_step(make_sync_of_one, (struct whatif_args){.scale = "^a$=2"}, 300);
    assert_step(make_sync_of_one, (struct whatif_args){.drop_kernels = "^a$"}, 100); /* the call finds nothing and sleeps not */
}

TEST(kernels_less_and_longer)
{
    assert_step(make_two_syncs, (struct whatif_args){.drop_kernels = "^a$"}, 200); /* it was over before the first sync */
    assert_step(make_two_syncs, (struct whatif_args){.scale = "^a$=2"}, 400);
    assert_step(make_two_syncs, (struct whatif_args){.scale = "^[ab]$=0.5"}, 200);
}

TEST(ranges_go_with_all_that_is_in_them)
{
    assert_step(make_two_syncs, (struct whatif_args){.drop_range = "think"}, 280);       /* 20 of host time */
    assert_step(make_two_syncs, (struct whatif_args){.scale = "think=3"}, 340);          /* 20 become 60 */
    assert_step(make_two_syncs, (struct whatif_args){.drop_range = "first|think"}, 250); /* b is launched at 28 but follows a */
}

TEST(what_matches_nothing_is_said)
{
    struct maker m = maker("none");
    struct trace t;
    struct table s;
    struct err e = {0};
    make_two_syncs(&m);
    make_open(&m, NULL, &t);
    assert_false(table_build(table_find("whatif"), &t, &(struct whatif_args){.drop_range = "nosuch"}, &s, &e));
    assert_int_equal(e.kind, ERR_UNDECIDED);
    table_free(&s);
    e = (struct err){0};
    assert_false(table_build(table_find("whatif"), &t, &(struct whatif_args){.scale = "a=x"}, &s, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    table_free(&s);
    trace_close(&t);
}

/*  host       |L a|L event wait|L b|== sync b ==|
 *  stream 7      |###### a ######|
 *  stream 13                      |## b ##|            b waits for a's event, not for its own stream */
static void make_streams(struct maker *m, int64_t of)
{
    make_host(m, EV_RANGE, "step#0", 1, 0, 220);
    make_call(m, "cudaLaunchKernel", 1, 0, 2, 1);
    make_work(m, EV_KERNEL, "a", 0, 7, 5, 105, 1);
    make_call(m, "cudaStreamWaitEvent", 1, 10, 11, 2);
    struct event ev = event_none(EV_SYNC, 12, 12);
    ev.name = intern_id(&m->d.strings, "Stream Wait Event");
    ev.rank = 0, ev.device = 0, ev.correlation = 2;
    ev.stream = tracedata_stream(&m->d, tracedata_process(&m->d, m->pid, "host", -1), 0, 13);
    ev.detail = tracedata_sync_row(&m->d, (struct ev_sync){.class = SYNC_NONE, .did_block = -1, .wait_stream = of, .wait_event = -1});
    make_event(m, ev);
    make_call(m, "cudaLaunchKernel", 1, 20, 22, 3);
    make_work(m, EV_KERNEL, "b", 0, 13, 107, 157, 3);
    make_call(m, "cudaStreamSynchronize", 1, 30, 160, 4);
}

static void make_two_streams(struct maker *m)
{
    make_streams(m, -1);
}

/* A third stream's work ends later than a, and nobody waits for it. */
static void make_three_streams(struct maker *m)
{
    make_streams(m, 7);
    make_call(m, "cudaLaunchKernel", 1, 13, 15, 5);
    make_work(m, EV_KERNEL, "c", 0, 21, 18, 106, 5);
    make_sync_row(m, 30, 160, 4, 13);
}

TEST(an_event_is_of_the_stream_that_its_row_names)
{
    assert_step(make_three_streams, (struct whatif_args){.scale = "^c$=2"}, 220);
    assert_step(make_three_streams, (struct whatif_args){.scale = "^a$=2"}, 320);
}

TEST(streams_wait_for_events)
{
    assert_step(make_two_streams, (struct whatif_args){.scale = "^a$=2"}, 320);
    assert_step(make_two_streams, (struct whatif_args){.scale = "^b$=2"}, 270);
    /* a ends at 25: b at 25 + 2 to 77, the sync at 80, the step 60 later */
    assert_step(make_two_streams, (struct whatif_args){.scale = "^a$=0.2"}, 140);
}

/* ---- any trace ---- */

static const char *const calls[] = {"cudaLaunchKernel",      "cudaStreamSynchronize", "cudaMemcpy",
                                    "cudaDeviceSynchronize", "cudaEventSynchronize",  "cudaMalloc"};

/* Times as a device might have them, or as no device could. */
static void make_random(struct maker *m, bool possible)
{
    int64_t corr = 1;
    for (m->rank = 0; m->rank < 2; m->rank++) {
        int64_t now = 0, device[2] = {0};
        m->pid = 100 + m->rank;
        for (int i = 0, n = 5 + (int)rnd(20); i < n; i++) {
            const char *api = calls[rnd(6)];
            int64_t start = now + (int64_t)rnd(20), end = start + 1 + (int64_t)rnd(5);
            bool launch = api == calls[0] || api == calls[2];
            int s = (int)rnd(2);
            if (launch) {
                int64_t from = start + (int64_t)rnd(9);
                from = possible && from < device[s] ? device[s] : from - (possible ? 0 : (int64_t)rnd(20));
                device[s] = from + (int64_t)rnd(60);
                make_work(m, EV_KERNEL, "k", m->rank, s ? 13 : 7, from, device[s], corr);
            }
            if (possible && api != calls[0] && api != calls[5])
                end = device[s] >= end ? device[s] + 1 : end;
            make_call(m, api, 1 + m->rank, start, end, corr++);
            now = end;
        }
        int64_t until = device[0] > device[1] ? device[0] : device[1];
        for (int k = 0; k < 2; k++)
            make_comm(m, "cp", "all_gather", m->rank, until + 5 + 40 * k, until + 15 + 40 * k + (int64_t)rnd(20), k + 1, 2, 8);
        make_host(m, EV_RANGE, "step#0", 1 + m->rank, 1, now / 2 + 2);
        make_host(m, EV_RANGE, "step#1", 1 + m->rank, now / 2 + 2, (now > until ? now : until) + 100);
    }
}

TEST(nothing_changed_gives_the_measured_times)
{
    PROP(400)
    {
        struct maker m = maker("same");
        struct trace t;
        struct replay r;
        struct arena a = {0};
        make_random(&m, prop_ % 2);
        make_open(&m, NULL, &t);
        replay_build(&t, SITE_FUNCTION, &r);
        struct replayed p = replay_run(&r, NULL, &a);
        assert_int_equal(r.norder, 2 * r.n + r.ngroups);
        for (uint32_t i = 0; i < r.norder; i++)
            if (p.at[i] != replay_measured(&r, i))
                fail_msg("instant %u of %zu tasks: %lld, measured %lld", i, r.n, (long long)p.at[i], (long long)replay_measured(&r, i));
        replay_free(&r);
        arena_free(&a);
        trace_close(&t);
    }
}

/* The shrunk graph gives, for every instant, what the whole one gives. */
TEST(a_shrunk_graph_answers_as_the_whole_one)
{
    PROP(400)
    {
        struct maker m = maker("net");
        struct trace t;
        struct replay r;
        struct replay_net net;
        struct arena a = {0};
        make_random(&m, prop_ % 2);
        make_open(&m, NULL, &t);
        replay_build(&t, SITE_FUNCTION, &r);
        uint32_t *place_of = arena_array(&a, uint32_t, r.waits.n + 1);
        for (size_t i = 0; i < r.waits.n; i++)
            place_of[i] = rnd(4) ? rnd(3) : REPLAY_NONE;
        replay_net_build(&r, place_of, 2, &net);
        for (uint32_t place = 0; place < 2; place++) {
            uint8_t *task = arena_array(&a, uint8_t, r.n + 1);
            for (uint32_t i = 0; i < r.n; i++)
                if (replay_tie(&r, i)->wait && place_of[replay_tie(&r, i)->wait - 1] == place)
                    task[i] = NO_WAIT;
            struct scenario s = {.task = task, .ppm = 1000000};
            struct replayed whole = replay_run(&r, &s, &a), shrunk = replay_net_run(&net, place, &a);
            for (uint32_t i = 0; i < r.norder; i++)
                if (replayed_at(&r, &whole, i) != replayed_at(&r, &shrunk, i))
                    fail_msg("instant %u of %zu tasks: %lld, shrunk %lld, measured %lld", i, r.n, (long long)replayed_at(&r, &whole, i),
                             (long long)replayed_at(&r, &shrunk, i), (long long)replay_measured(&r, i));
        }
        replay_net_free(&net);
        replay_free(&r);
        arena_free(&a);
        trace_close(&t);
    }
}

TEST(the_path_adds_up_and_nobody_gets_more_than_was_idle)
{
    PROP(400)
    {
        struct maker m = maker("sums");
        struct trace t;
        struct table s;
        int64_t total = 0, got[2] = {0};
        struct arena a = {0};
        make_random(&m, prop_ % 2);
        make_open(&m, NULL, &t);
        make_table(&t, "critical", NULL, &s);
        for (size_t i = 0; i < s.nrows; i++)
            total += cell_of(&s, i, "total_ns");
        int64_t first = ivl_len(t.ranks[0].window), second = ivl_len(t.ranks[1].window);
        if (total != first && total != second)
            fail_msg("the path is %lld long, the windows %lld and %lld", (long long)total, (long long)first, (long long)second);
        table_free(&s);
        make_table(&t, "syncs", NULL, &s);
        for (size_t i = 0; i < s.nrows; i++) {
            int64_t back = cell_of(&s, i, "recoverable_ns");
            if (back == INT64_MIN)
                continue;
            assert_true(back >= 0);
            got[cell_of(&s, i, "rank")] += back;
        }
        for (uint32_t l = 0; l < t.nlanes; l++)
            assert_true(got[t.lanes[l].rank] <= ivl_len(trace_idle(&t, &a, &t.lanes[l])));
        table_free(&s);
        arena_free(&a);
        trace_close(&t);
    }
}

/* The hand-made path: 300 = launch latency, a, waking up, host, launch, b, waking up, host. */
TEST(path_of_two_syncs)
{
    struct maker m = maker("path");
    struct trace t;
    struct table s;
    int64_t compute = 0, launch = 0, sync = 0, host = 0;
    make_two_syncs(&m);
    make_open(&m, NULL, &t);
    make_table(&t, "critical", NULL, &s);
    for (size_t i = 0; i < s.nrows; i++) {
        const char *kind = text_of(&s, i, "kind");
        int64_t ns = cell_of(&s, i, "total_ns");
        compute += strcmp(kind, "compute") == 0 ? ns : 0;
        launch += strcmp(kind, "launch") == 0 ? ns : 0;
        sync += strcmp(kind, "sync") == 0 ? ns : 0;
        host += strcmp(kind, "host") == 0 ? ns : 0;
    }
    assert_int_equal(compute, 200);
    assert_int_equal(launch, 10);
    assert_int_equal(sync, 10);
    assert_int_equal(host, 80); /* 110 to 150, 260 to 300 */
    table_free(&s);
    make_table(&t, "syncs", NULL, &s);
    assert_int_equal(cell_of(&s, 0, "recoverable_ns"), 50); /* a's: 105 to 155 is its bubble, and all of it comes back */
    table_free(&s);
    trace_close(&t);
}

UNIT_MAIN(UNIT(a_sync_less), UNIT(steps_before_the_window_are_replayed_too), UNIT(kernels_less_and_longer),
          UNIT(a_gap_is_the_launch_s_where_the_launch_was_late), UNIT(a_wait_is_for_the_stream_that_its_row_names),
          UNIT(ranges_go_with_all_that_is_in_them), UNIT(what_matches_nothing_is_said), UNIT(streams_wait_for_events),
          UNIT(an_event_is_of_the_stream_that_its_row_names), UNIT(nothing_changed_gives_the_measured_times),
          UNIT(a_shrunk_graph_answers_as_the_whole_one), UNIT(the_path_adds_up_and_nobody_gets_more_than_was_idle), UNIT(path_of_two_syncs))
