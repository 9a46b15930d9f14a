/* test_sim_ranks.c - ranks on a modelled machine: fibers, collectives and messages by hand on a machine of round numbers, and
 * hosts that run ahead of their peers against hosts that wait for every collective. */
#include "activity_log.h"
#include "kernels/comm/comm.h"
#include "kernels/device/fiber.h"
#include "sim_round.h"

/* ---- fibers ---- */

static int order_[16], norder;

static void take_turns(int i, void *ctx)
{
    (void)ctx;
    order_[norder++] = i;
    if (i < 2)
        fiber_wait(); /* woken by the last */
    else {
        fiber_wake(1);
        fiber_wake(0);
        fiber_wake(0); /* once is enough */
    }
    order_[norder++] = 10 + i;
}

TEST(fibers_go_on_in_the_order_in_which_they_became_ready)
{
    norder = 0;
    assert_true(fibers_run(3, take_turns, NULL, NULL));
    static const int want[] = {0, 1, 2, 12, 11, 10};
    assert_int_equal(norder, 6);
    assert_memory_equal(order_, want, sizeof want);
}

static void wait_for_ever(int i, void *ctx)
{
    (void)i;
    while (!*(bool *)ctx)
        fiber_wait();
}

static bool give_up(void *ctx)
{
    *(bool *)ctx = true;
    fiber_wake(0);
    fiber_wake(1);
    return true;
}

TEST(fibers_that_all_wait_are_noticed)
{
    bool over = false;
    assert_false(fibers_run(2, wait_for_ever, NULL, &over));
    assert_true(fibers_run(2, wait_for_ever, give_up, &over));
}

/* ---- ranks ---- */

struct job {
    struct comm_world *w;
    int64_t ends[8], sends[8];
    bool (*work)(struct job *j, int rank, struct device *d, struct comm *c, struct err *e);
};

static bool rank_main(int rank, void *ctx, struct err *e)
{
    struct job *j = ctx;
    struct device *d = device_open("sim", rank, rank, e);
    struct comm *c = comm_open(j->w, rank, "cp", e);
    bool ok = j->work(j, rank, d, c, e);
    comm_close(c);
    device_close(d);
    return ok;
}

static struct job ranks(int n, bool (*work)(struct job *j, int rank, struct device *d, struct comm *c, struct err *e), struct err *e)
{
    struct job j = {.work = work};
    sim_use_machine(&round_numbers);
    j.w = comm_world_open("sim", n, e);
    assert_non_null(j.w);
    ranks_run_here(j.w, rank_main, &j, e);
    comm_world_close(j.w);
    return j;
}

/* Rank r is (r + 1) * 1000 ns late. */
static bool gather(struct job *j, int rank, struct device *d, struct comm *c, struct err *e)
{
    (void)j;
    (void)e;
    float *x = dev_alloc(d, 4000), *y = dev_alloc(d, 4 * 4000);
    DEV_LAUNCH(device_stream(d), add, (struct amount){0, 1000.0 * (rank + 1)});
    comm_all_gather(c, device_stream(d), x, y, 4000);
    comm_all_reduce_f32(c, device_stream(d), x, 1000);
    dev_free(d, x);
    dev_free(d, y);
    return true;
}

TEST(a_collective_ends_for_all_when_the_last_has_come_and_the_transfer_is_done)
{
    struct err e = {0};
    log_start();
    ranks(4, gather, &e);
    log_stop();
    assert_ok(!e.kind, &e);
    int64_t end = 11 + 4000 + 300 + 3 * 50 + 3 * 4000 / 4; /* latest start, start of a ring, three hops, three blocks at 4 bytes a ns */
    for (int r = 0; r < 4; r++) {
        const struct activity *a = NULL, *b = NULL;
        for (size_t i = 0; i < log_.n; i++)
            if (log_.a[i].kind == EV_COMM && log_.a[i].rank == r)
                *(a ? &b : &a) = &log_.a[i];
        assert_int_equal(a->start, 11 + 1000 * (r + 1));
        assert_int_equal(a->end, end);
        assert_int_equal(b->start, end);
        assert_int_equal(b->end, end + 2 * (300 + 3 * 50 + 3 * 1000 / 4));
    }
}

/* A chain: each rank receives from the one below, works, sends to the one above. */
static bool chain(struct job *j, int rank, struct device *d, struct comm *c, struct err *e)
{
    (void)e;
    struct stream *s = device_stream(d);
    float *x = dev_alloc(d, 400), *y = dev_alloc(d, 400);
    if (rank > 0)
        comm_send_recv(c, s, NULL, -1, y, rank - 1, 400);
    DEV_LAUNCH(s, add, (struct amount){0, 2000});
    if (rank + 1 < comm_size(c))
        comm_send_recv(c, s, x, rank + 1, NULL, -1, 400);
    dev_device_sync(d, SITE_HERE);
    j->ends[rank] = dev_now(d);
    dev_free(d, x);
    dev_free(d, y);
    return true;
}

TEST(messages_of_a_chain_follow_each_other_and_cross_nodes_slowly)
{
    struct err e = {0};
    struct job j = ranks(6, chain, &e);
    assert_ok(!e.kind, &e);
    int64_t near = 300 + 400 / 4, far = 900 + 400, end = 11 + 2000; /* ranks 3 and 4 are on two nodes of four */
    for (int r = 0; r < 6; r++) {
        int64_t received = end + (r == 4 ? far : near);
        end = r ? received + 2000 : end;
        int64_t sent = end + (r == 3 ? far : near);
        assert_int_equal(j.ends[r], (r < 5 ? sent : end) + 100000);
    }
}

/* Both halves at once, in a circle: nobody waits for ever. */
static bool circle(struct job *j, int rank, struct device *d, struct comm *c, struct err *e)
{
    (void)e;
    int n = comm_size(c);
    float *x = dev_alloc(d, 400), *y = dev_alloc(d, 400);
    for (int k = 0; k < 3; k++)
        comm_send_recv(c, device_stream(d), x, (rank + 1) % n, y, (rank + n - 1) % n, 400);
    comm_barrier(c);
    j->ends[rank] = dev_now(d);
    dev_device_sync(d, SITE_HERE);
    j->sends[rank] = dev_now(d);
    dev_free(d, x);
    dev_free(d, y);
    return true;
}

TEST(a_ring_of_messages_takes_as_many_transfers_as_rounds)
{
    struct err e = {0};
    struct job j = ranks(4, circle, &e);
    assert_ok(!e.kind, &e);
    for (int r = 0; r < 4; r++) {
        assert_int_equal(j.ends[r], 30);
        assert_int_equal(j.sends[r], 11 + 3 * 400 + 100000);
    }
}

static bool fails_on_2(struct job *j, int rank, struct device *d, struct comm *c, struct err *e)
{
    (void)j;
    if (rank == 2)
        return fail(e, ERR_USAGE, "rank 2 has had enough");
    float *x = dev_alloc(d, 4);
    comm_all_reduce_f32(c, device_stream(d), x, 1);
    comm_send_recv(c, device_stream(d), x, (rank + 1) % 4, x, (rank + 3) % 4, 4);
    comm_barrier(c);
    dev_free(d, x);
    return true;
}

/* When rank 2 fails, rank 0 waits both to send and to receive, rank 1 to send to rank 2, and rank 3 has not called yet. */
static bool fails_on_2_in_a_ring(struct job *j, int rank, struct device *d, struct comm *c, struct err *e)
{
    if (rank == 2)
        return fail(e, ERR_USAGE, "rank 2 has had enough");
    float *x = dev_alloc(d, 4), *y = dev_alloc(d, 4);
    DEV_LAUNCH(device_stream(d), add, (struct amount){0, 2000});
    comm_send_recv(c, device_stream(d), x, (rank + 1) % 4, y, rank == 1 ? -1 : (rank + 3) % 4, 4);
    dev_stream_sync(device_stream(d), SITE_HERE);
    j->ends[rank] = dev_now(d);
    dev_free(d, x);
    dev_free(d, y);
    return true;
}

static bool one_call_more(struct job *j, int rank, struct device *d, struct comm *c, struct err *e)
{
    (void)j;
    (void)e;
    if (rank == 1)
        comm_barrier(c);
    (void)d;
    return true;
}

TEST(ranks_do_not_wait_for_one_that_failed_or_for_each_other)
{
    struct err e = {0};
    ranks(4, fails_on_2, &e);
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg, "rank 2 has had enough");
    e = (struct err){0};
    struct job j = ranks(4, fails_on_2_in_a_ring, &e);
    assert_string_equal(e.msg, "rank 2 has had enough");
    for (int r = 0; r < 4; r++)
        assert_int_equal(j.ends[r], r == 2 ? 0 : 2011 + 100000); /* a call that is given up ends as it starts */
    e = (struct err){0};
    ranks(3, one_call_more, &e);
    assert_int_equal(e.kind, ERR_FAIL);
    assert_non_null(strstr(e.msg, "waits"));
}

/* ---- hosts that run ahead ---- */

enum { RANKS_MAX = 6, CALLS_MAX = 60 };

enum call { CALL_KERNEL, CALL_SET, CALL_GATHER, CALL_REDUCE, CALL_PAIR, CALL_SHIFT, CALL_RECORD, CALL_AWAIT, CALL_SYNC, CALL_BARRIER, NCALLS };

/* What all ranks do; how long their kernels are differs. */
static struct program {
    int size, n, depth;
    struct {
        enum call call;
        int stream, by;
        double work[RANKS_MAX];
    } calls[CALLS_MAX];
    int64_t clocks[2][RANKS_MAX][CALLS_MAX]; /* of the host, after every call; [1]: somebody listens */
    bool heard;
} program;

static void draw_program(void)
{
    struct program *p = &program;
    *p = (struct program){.size = 2 * (int)(1 + rnd(RANKS_MAX / 2)), .n = 1 + (int)rnd(CALLS_MAX), .depth = 1 + (int)rnd(20)};
    for (int i = 0; i < p->n; i++) {
        p->calls[i].call = (enum call)rnd(NCALLS);
        p->calls[i].stream = rnd(3) == 0;
        p->calls[i].by = (int)rnd((uint64_t)p->size);
        for (int r = 0; r < p->size; r++)
            p->calls[i].work[r] = (double)rnd(20000);
    }
}

struct open_rank {
    struct device *d;
    struct stream *streams[2];
    struct dev_event *event;
    struct comm *all, *pair;
    float *x, *y;
};

static void do_call(const struct open_rank *o, int rank, int i)
{
    const struct program *p = &program;
    struct stream *s = o->streams[p->calls[i].stream];
    int n = p->size, to = (rank + p->calls[i].by) % n, from = (rank + n - p->calls[i].by) % n;
    switch (p->calls[i].call) {
    case CALL_KERNEL:
        DEV_LAUNCH(s, add, (struct amount){0, p->calls[i].work[rank]});
        break;
    case CALL_SET:
        dev_set_async(s, o->x, 0, (size_t)p->calls[i].work[rank] % 4000);
        break;
    case CALL_GATHER:
        comm_all_gather(o->all, s, o->x, o->y, 400);
        break;
    case CALL_REDUCE:
        comm_all_reduce_f32(o->all, s, o->x, 100);
        break;
    case CALL_PAIR:
        comm_all_gather(o->pair, s, o->x, o->y, 400);
        break;
    case CALL_SHIFT:
        comm_send_recv(o->all, s, o->x, rank % 2 ? to : -1, o->y, from % 2 ? from : -1, 400);
        break;
    case CALL_RECORD:
        dev_event_record(o->event, s);
        break;
    case CALL_AWAIT:
        dev_stream_wait_event(s, o->event);
        break;
    case CALL_SYNC:
        dev_stream_sync(s, SITE_HERE);
        break;
    default:
        comm_barrier(o->all);
        break;
    }
}

static bool follow(int rank, void *ctx, struct err *e)
{
    struct program *p = &program;
    struct open_rank o = {.d = device_open("sim", rank, rank, e)};
    o.streams[0] = device_stream(o.d);
    o.streams[1] = stream_open(o.d);
    o.event = dev_event_open(o.d);
    o.all = comm_open(ctx, rank, "cp", e);
    o.pair = comm_open_part(ctx, rank, "tp", (struct comm_part){rank / 2 * 2, 1, 2}, e);
    o.x = dev_alloc(o.d, 4000);
    o.y = dev_alloc(o.d, 4000);
    for (int i = 0; i < p->n; i++) {
        do_call(&o, rank, i);
        p->clocks[p->heard][rank][i] = dev_now(o.d);
    }
    dev_free(o.d, o.x);
    dev_free(o.d, o.y);
    comm_close(o.all);
    comm_close(o.pair);
    dev_event_close(o.event);
    device_close(o.d);
    return true;
}

static void follow_all(bool heard)
{
    struct err e = {0};
    struct machine m = round_numbers;
    m.queue_depth = program.depth;
    sim_use_machine(&m);
    struct comm_world *w = comm_world_open("sim", program.size, &e);
    program.heard = heard;
    if (heard)
        log_start();
    assert_ok(ranks_run_here(w, follow, w, &e), &e);
    if (heard)
        log_stop();
    comm_world_close(w);
}

/* A host that runs ahead of its peers has the clock of one that waits for each of its collectives: after every call. */
TEST(clocks_are_the_same_whoever_listens)
{
    PROP(500)
    {
        draw_program();
        follow_all(false);
        follow_all(true);
        for (int r = 0; r < program.size; r++)
            for (int i = 0; i < program.n; i++)
                if (program.clocks[0][r][i] != program.clocks[1][r][i])
                    fail_msg("case %d, %d ranks, depth %d: rank %d, call %d (kind %d): clock %lld, while heard %lld", prop_, program.size,
                             program.depth, r, i, program.calls[i].call, (long long)program.clocks[0][r][i], (long long)program.clocks[1][r][i]);
    }
}

UNIT_MAIN(UNIT(fibers_go_on_in_the_order_in_which_they_became_ready), UNIT(fibers_that_all_wait_are_noticed),
          UNIT(a_collective_ends_for_all_when_the_last_has_come_and_the_transfer_is_done),
          UNIT(messages_of_a_chain_follow_each_other_and_cross_nodes_slowly), UNIT(a_ring_of_messages_takes_as_many_transfers_as_rounds),
          UNIT(ranks_do_not_wait_for_one_that_failed_or_for_each_other), UNIT(clocks_are_the_same_whoever_listens))
