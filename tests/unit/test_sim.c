/* test_sim.c - a modelled device: clocks by hand on a machine of round numbers, addresses without memory, machine files. */
#include "activity_log.h"
#include "kernels/device/hostread.h"
#include "kernels/device/simmem.h"
#include "kernels/ops/round.h"
#include "sim_round.h"

static const struct kernel gemm = {"gemm_nt", never, amount_cost}, scan = {"gdn_scan", never, amount_cost};

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

TEST(narrow_rows_count_at_their_size_and_need_no_rounding)
{
    struct device *d = device(0);
    struct stream *s = device_stream(d);
    float *x = dev_alloc_rows(d, 3000), *y = dev_alloc_rows(d, 3000);
    log_start();
    op_round(s, DTYPE_FP32, x, 3000);
    op_round(s, DTYPE_BF16, x, 3000); /* a machine that stores float: a kernel */
    dev_clear_rows(s, x, 3000);
    device_number(d, DEV_BF16);
    op_round(s, DTYPE_BF16, x, 3000); /* what a kernel stores is rounded already */
    dev_clear_rows(s, x, 3000);
    dev_copy_rows(s, y, x, 3000);
    log_stop();
    assert_int_equal(log_count(EV_KERNEL, "round"), 1);
    assert_int_equal(log_find(EV_MEMSET, "Memset", 0)->bytes, 12000);
    assert_int_equal(log_find(EV_MEMSET, "Memset", 1)->bytes, 6000);
    assert_int_equal(log_find(EV_MEMCPY, "Memcpy DtoD", 0)->bytes, 6000);
    dev_free(d, x);
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

/* From rank to rank of a node, in equal steps; the next node begins anew. */
TEST(hosts_of_a_node_get_slower_by_rank)
{
    static const struct {
        int64_t gpus_per_node, ns;
        int rank;
    } want[] = {{5, 1000, 0}, {5, 1050, 1}, {5, 1200, 4}, {5, 1000, 5}, {5, 1200, 9}, {2, 1200, 1}, {1, 1000, 0}, {1, 1000, 3}};
    struct machine m = round_numbers;
    m.host_skew = 0.2;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct err e = {0};
        m.gpus_per_node = want[i].gpus_per_node;
        sim_use_machine(&m);
        struct device *d = device_open("sim", want[i].rank, 0, &e);
        dev_host_work(d, 1000);
        assert_int_equal(dev_now(d), want[i].ns);
        device_close(d);
    }
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
    assert_int_equal(e.kind, ERR_USAGE);
}

UNIT_MAIN(UNIT(kernels_take_the_larger_of_arithmetic_memory_and_the_least), UNIT(the_host_runs_ahead_and_a_wait_pays_the_drain_and_a_fixed_cost),
          UNIT(the_host_is_at_most_the_queue_ahead), UNIT(the_dispatch_of_a_framework_costs_the_host),
          UNIT(streams_run_side_by_side_and_wait_for_events), UNIT(host_reads_see_what_index_kernels_wrote),
          UNIT(bulk_tensors_have_sizes_and_no_storage), UNIT(narrow_rows_count_at_their_size_and_need_no_rounding), UNIT(noise_is_seeded_and_bounded),
          UNIT(hosts_of_a_node_get_slower_by_rank), UNIT(addresses_of_live_blocks_do_not_overlap), UNIT(shipped_machines_load_and_write_themselves),
          UNIT(machine_files_are_refused_with_line_and_reason))
