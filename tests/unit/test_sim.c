/* test_sim.c - the modelled device and its ranks: clocks by hand on a machine of round numbers, fibers, addresses without
 * memory, machine files. */
#include "kernels/device/sim.h"
#include "activity_log.h"
#include "kernels/comm/comm.h"
#include "kernels/comm/fiber.h"
#include "kernels/device/hostread.h"
#include "kernels/device/simmem.h"

/* Every step of a time is a decimal digit of its own: which were taken can be read off the sum. */
static const struct machine round_numbers = {.name = "round",
                                             .gpus_per_node = 4,
                                             .peak_fp32_tflops = 0.001, /* 1 flop a ns */
                                             .peak_bf16_tflops = 0.002,
                                             .peak_fp16_tflops = 0.004,
                                             .memory_gbps = 2,
                                             .gemm_share = 0.5,
                                             .attention_share = 0.25,
                                             .scan_share = 0.125,
                                             .memory_share = 0.5,
                                             .launch_ns = 10,
                                             .framework_op_ns = 7,
                                             .sync_ns = 100000,
                                             .copy_ns = 20,
                                             .host_link_gbps = 0.5,
                                             .queue_depth = 3,
                                             .launch_latency_ns = 1,
                                             .kernel_min_ns = 1000,
                                             .nvlink_gbps = 4,
                                             .nvlink_start_ns = 300,
                                             .nvlink_hop_ns = 50,
                                             .ib_gbps = 1,
                                             .ib_start_ns = 900,
                                             .ib_hop_ns = 70};

struct amount {
    double flops, bytes;
};

static struct cost amount_cost(const void *args)
{
    const struct amount *a = args;
    return (struct cost){a->flops, a->bytes};
}

static void never(const void *args)
{
    (void)args;
    abort(); /* bulk kernels do not run */
}

static const struct kernel gemm = {"gemm_nt", never, amount_cost}, add = {"elementwise_add", never, amount_cost},
                           scan = {"gdn_scan", never, amount_cost};

static struct device *device(int rank)
{
    struct err e = {0};
    sim_use_machine(&round_numbers);
    struct device *d = device_open("sim", rank, rank, &e);
    assert_ok(d != NULL, &e);
    return d;
}

/* ---- one rank ---- */

TEST(kernels_take_the_larger_of_arithmetic_memory_and_the_least)
{
    struct device *d = device(0);
    struct stream *s = device_stream(d);
    log_start();
    DEV_LAUNCH(s, gemm, (struct amount){5000, 100}); /* 5000 / (1 * 0.5) */
    DEV_LAUNCH(s, add, (struct amount){9e9, 3000});  /* 3000 / (2 * 0.5): no family of its own, so bytes count */
    DEV_LAUNCH(s, scan, (struct amount){1, 1});      /* the least */
    device_number(d, DEV_BF16);
    DEV_LAUNCH(s, gemm, (struct amount){5000, 100});
    DEV_LAUNCH(s, add, (struct amount){0, 3000});
    log_stop();
    static const int64_t want[] = {10000, 3000, 1000, 5000, 1500};
    for (int i = 0; i < 5; i++)
        assert_int_equal(log_.a[2 * i].end - log_.a[2 * i].start, want[i]);
    device_close(d);
}

TEST(the_host_runs_ahead_and_a_wait_pays_the_drain_and_a_fixed_cost)
{
    struct device *d = device(0);
    struct stream *s = device_stream(d);
    log_start();
    DEV_LAUNCH(s, add, (struct amount){0, 2000});
    DEV_LAUNCH(s, add, (struct amount){0, 2000});
    assert_int_equal(dev_now(d), 20); /* two launches, nothing waited for */
    dev_stream_sync(s, SITE_HERE);
    assert_int_equal(dev_now(d), 11 + 4000 + 100000); /* first start: launch + latency */
    dev_stream_sync(s, SITE_HERE);
    assert_int_equal(dev_now(d), 11 + 4000 + 200000);
    log_stop();
    const struct activity *first = log_find(EV_KERNEL, "elementwise_add", 0), *second = log_find(EV_KERNEL, "elementwise_add", 1);
    assert_int_equal(first->start, 11);
    assert_int_equal(second->start, 2011); /* in order, back to back */
    assert_int_equal(log_waits(SYNC_STREAM), 2);
    const struct activity *wait = log_find(EV_RUNTIME, "deviceStreamSynchronize", 0);
    assert_int_equal(wait->did_block, 1);
    assert_int_equal(log_find(EV_RUNTIME, "deviceStreamSynchronize", 1)->did_block, 0);
    assert_int_equal(wait->start, 20);
    assert_int_equal(wait->end, 104011);
    assert_true(wait->modelled && wait->thread == 1);
    device_close(d);
}

TEST(the_host_is_at_most_the_queue_ahead)
{
    struct device *d = device(0);
    struct stream *s = device_stream(d);
    for (int i = 0; i < 4; i++)
        DEV_LAUNCH(s, add, (struct amount){0, 5000});
    assert_int_equal(dev_now(d), 11 + 5000 + 10); /* the fourth launch waits until the first of three has ended */
    device_close(d);
}

TEST(the_dispatch_of_a_framework_costs_the_host)
{
    struct device *d = device(0);
    device_host_cost(d, 7);
    DEV_LAUNCH(device_stream(d), add, (struct amount){0, 0});
    assert_int_equal(dev_now(d), 17);
    device_close(d);
}

TEST(streams_run_side_by_side_and_wait_for_events)
{
    struct device *d = device(0);
    struct stream *s = device_stream(d), *side = stream_open(d);
    struct dev_event *ev = dev_event_open(d);
    log_start();
    DEV_LAUNCH(s, add, (struct amount){0, 8000});
    dev_event_record(ev, s);
    DEV_LAUNCH(side, add, (struct amount){0, 2000}); /* does not wait */
    dev_stream_wait_event(side, ev);
    DEV_LAUNCH(side, add, (struct amount){0, 2000});
    dev_event_sync(ev, SITE_HERE);
    log_stop();
    assert_int_equal(log_find(EV_KERNEL, "elementwise_add", 1)->start, 31);
    assert_int_equal(log_find(EV_KERNEL, "elementwise_add", 2)->start, 8011);
    assert_int_equal(dev_event_time(ev), 8011);
    assert_int_equal(dev_now(d), 108011);
    dev_event_close(ev);
    stream_close(side);
    device_close(d);
}

TEST(host_reads_see_what_index_kernels_wrote)
{
    struct device *d = device(0);
    struct stream *s = device_stream(d);
    const int64_t three[] = {3, 1, 4};
    const uint8_t mask[] = {1, 0, 1};
    int64_t *v = dev_alloc_index(d, sizeof three), count;
    uint8_t *m = dev_alloc_index(d, sizeof mask);
    log_start();
    dev_upload(s, v, three, sizeof three, SITE_HERE);
    dev_upload_async(s, m, mask, sizeof mask);
    assert_int_equal(hostread_item_i64(s, v + 2, SITE_HERE), 4);
    int64_t *kept = hostread_index_mask_i64(s, v, m, 3, &count, SITE_HERE);
    assert_int_equal(count, 2);
    assert_int_equal(hostread_item_i64(s, kept + 1, SITE_HERE), 4);
    log_stop();
    assert_int_equal(log_count(EV_OP, "item"), 2);
    assert_int_equal(log_count(EV_OP, "index"), 1);
    assert_int_equal(log_waits(SYNC_COPY), 4); /* upload, item, the count, item */
    dev_free(d, kept);
    dev_free(d, v);
    dev_free(d, m);
    device_close(d);
}

TEST(bulk_tensors_have_sizes_and_no_storage)
{
    struct device *d = device(0);
    struct stream *s = device_stream(d);
    size_t huge = (size_t)1 << 45;
    float *x = dev_alloc(d, huge), one = 1, back = 5, *y = dev_alloc(d, 4);
    assert_false(device_has_storage(d));
    assert_int_equal(dev_memory_peak(d), (int64_t)huge + 4);
    dev_set_async(s, x, 0, huge);
    dev_copy_async(s, x + 1, x, huge / 2);
    dev_upload_async(s, y, &one, sizeof one);
    dev_download(s, &back, x + 7, sizeof back, SITE_HERE);
    assert_true(back == 0);
    dev_free(d, x);
    dev_memory_reset_peak(d);
    assert_int_equal(dev_memory_peak(d), 4);
    dev_free(d, y);
    device_close(d);
}

TEST(noise_is_seeded_and_bounded)
{
    struct machine m = round_numbers;
    m.jitter = 0.25;
    int64_t times[2][2][200]; /* repeat, rank */
    for (int i = 0; i < 4; i++) {
        struct err e = {0};
        sim_use_machine(&m);
        struct device *d = device_open("sim", i % 2, 0, &e);
        log_start();
        for (int k = 0; k < 200; k++)
            DEV_LAUNCH(device_stream(d), add, (struct amount){0, 100000});
        log_stop();
        for (int k = 0; k < 200; k++)
            times[i / 2][i % 2][k] = log_.a[2 * k].end - log_.a[2 * k].start;
        device_close(d);
    }
    assert_memory_equal(times[0], times[1], sizeof times[0]);
    assert_memory_not_equal(times[0][0], times[0][1], sizeof times[0][0]);
    int64_t low = INT64_MAX, high = 0;
    for (int k = 0; k < 200; k++) {
        low = times[0][0][k] < low ? times[0][0][k] : low;
        high = times[0][0][k] > high ? times[0][0][k] : high;
    }
    assert_in_range(low, 75000, 80000);
    assert_in_range(high, 120000, 125000);
}

/* ---- addresses ---- */

TEST(addresses_of_live_blocks_do_not_overlap)
{
    enum { LIVE = 200 };
    struct simmem m = {0};
    struct {
        uintptr_t at;
        size_t bytes;
    } live[LIVE] = {{0}};
    PROP(4000)
    {
        int k = (int)rnd(LIVE);
        if (live[k].at) {
            assert_int_equal(simmem_release(&m, (void *)live[k].at), live[k].bytes);
            live[k].at = 0;
            continue;
        }
        size_t bytes = (size_t)(rnd(2) ? rnd(5000) : rnd((uint64_t)1 << (1 + rnd(48))));
        uintptr_t at = (uintptr_t)simmem_alloc(&m, bytes);
        assert_true(simmem_is((void *)at) && simmem_is((char *)at + bytes) && at % 64 == 0);
        for (int i = 0; i < LIVE; i++)
            if (live[i].at && at < live[i].at + live[i].bytes && live[i].at < at + bytes)
                fail_msg("%zx +%zx lies in %zx +%zx", (size_t)at, bytes, (size_t)live[i].at, live[i].bytes);
        live[k].at = at;
        live[k].bytes = bytes;
    }
    int here;
    assert_false(simmem_is(&here));
    simmem_free(&m);
}

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
    ranks(3, one_call_more, &e);
    assert_int_equal(e.kind, ERR_FAIL);
    assert_non_null(strstr(e.msg, "waits"));
}

/* ---- machine files ---- */

TEST(shipped_machines_load_and_write_themselves)
{
    for (int i = 0; machine_files[i].name; i++) {
        struct machine m, again;
        struct err e = {0};
        assert_ok(machine_load(&m, machine_files[i].name, &e), &e);
        char *text = machine_text(&m);
        assert_ok(machine_parse(&again, text, "text", &e), &e);
        assert_memory_equal(&m, &again, sizeof m);
        free(text);
        assert_non_null(machine_constant(&m, "launch_ns"));
        assert_null(machine_constant(&m, "queue_depth"));
        assert_null(machine_constant(&m, "name"));
    }
}

static void refused(const char *line, const char *replaces, const char *message)
{
    const char *text = machine_files[0].text, *at = strstr(text, replaces);
    char changed[8192];
    struct machine m;
    struct err e = {0};
    assert_non_null(at);
    size_t before = (size_t)(at - text), rest = strcspn(at, "\n");
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)before, text, line, at + rest);
    assert_false(machine_parse(&m, changed, "m", &e));
    assert_int_equal(e.kind, ERR_USAGE);
    if (!strstr(e.msg, message))
        fail_msg("'%s' has no '%s'", e.msg, message);
}

TEST(machine_files_are_refused_with_line_and_reason)
{
    refused("launch_ms = 3", "launch_ns ", "launch_ms: not a constant");
    refused("", "launch_ns ", "launch_ns is missing");
    refused("ib_gbps = 3", "launch_ns ", "ib_gbps: given twice");
    refused("launch_ns = fast", "launch_ns ", "launch_ns = fast: want a number");
    refused("launch_ns = nan", "launch_ns ", "launch_ns = nan: want");
    refused("launch_ns = -1", "launch_ns ", "launch_ns = -1: want");
    refused("gemm_share = 1.5", "gemm_share ", "from 1e-06 to 1");
    refused("queue_depth = 2.5", "queue_depth ", "want a whole number");
    refused("launch_ns 4", "launch_ns ", "want key = value");
    refused("name =", "name ", "name: want 1 to");
    struct machine m;
    struct err e = {0};
    assert_false(machine_load(&m, "/nowhere/at/all", &e));
    assert_int_equal(e.kind, ERR_FAIL);
}

UNIT_MAIN(UNIT(kernels_take_the_larger_of_arithmetic_memory_and_the_least), UNIT(the_host_runs_ahead_and_a_wait_pays_the_drain_and_a_fixed_cost),
          UNIT(the_host_is_at_most_the_queue_ahead), UNIT(the_dispatch_of_a_framework_costs_the_host),
          UNIT(streams_run_side_by_side_and_wait_for_events), UNIT(host_reads_see_what_index_kernels_wrote),
          UNIT(bulk_tensors_have_sizes_and_no_storage), UNIT(noise_is_seeded_and_bounded), UNIT(addresses_of_live_blocks_do_not_overlap),
          UNIT(fibers_go_on_in_the_order_in_which_they_became_ready), UNIT(fibers_that_all_wait_are_noticed),
          UNIT(a_collective_ends_for_all_when_the_last_has_come_and_the_transfer_is_done),
          UNIT(messages_of_a_chain_follow_each_other_and_cross_nodes_slowly), UNIT(a_ring_of_messages_takes_as_many_transfers_as_rounds),
          UNIT(ranks_do_not_wait_for_one_that_failed_or_for_each_other), UNIT(shipped_machines_load_and_write_themselves),
          UNIT(machine_files_are_refused_with_line_and_reason))
