/* test_table_idle.c - causes of idle time: known answers, and every ns exactly once against a bitmap. */
#include "analyzer/idle.h"
#include "range_maker.h"

static const struct trace_opts all_rows = {.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX, .span = "all"};

static struct opened open_idle(struct maker *m, const struct trace_opts *o)
{
    return open_table(m, o, "idle", NULL);
}

static void assert_row(const struct table *s, const char *cause, const char *site, int64_t gaps, int64_t ns)
{
    for (size_t i = 0; i < s->nrows; i++)
        if (strcmp(text_of(s, i, "cause"), cause) == 0 && strcmp(text_of(s, i, "site"), site) == 0) {
            assert_int_equal(cell_of(s, i, "gaps"), gaps);
            assert_int_equal(cell_of(s, i, "idle_ns"), ns);
            return;
        }
    fail_msg("no row %s %s", cause, site);
}

/*   host   |L 0..2|  |sync 10 .. 52|   |op 58 .. 64: L 60..62|
 *   device     |5 ### 50|                                   |70 ## 80|   */
TEST(idle_after_a_sync_is_its_sites)
{
    struct maker m = maker("sync");
    make_call(&m, "cudaLaunchKernel", 1, 0, 2, 1);
    make_work(&m, EV_KERNEL, "a", 0, 7, 5, 50, 1);
    make_call(&m, "cudaStreamSynchronize", 1, 10, 52, 2);
    make_host(&m, EV_OP, "aten::mm", 1, 58, 64);
    make_call(&m, "cudaLaunchKernel", 1, 60, 62, 3);
    make_work(&m, EV_KERNEL, "b", 0, 7, 70, 80, 3);
    struct opened x = open_idle(&m, NULL);
    assert_int_equal(x.s.nrows, 1);
    assert_row(&x.s, "sync", "cudaStreamSynchronize", 1, 20); /* the whole bubble, as in syncs */
    close_table(&x);
}

TEST(a_late_launch_is_the_operators)
{
    struct maker m = maker("launch");
    make_launched(&m, "a", 1, 1, 0, 5, 50);
    make_host(&m, EV_OP, "aten::mm", 1, 40, 75);
    make_launched(&m, "b", 1, 1, 65, 70, 80);
    struct opened x = open_idle(&m, NULL);
    assert_int_equal(x.s.nrows, 1);
    assert_row(&x.s, "launch", "aten::mm", 1, 20);
    assert_true(real_of(&x.s, 0, "share_pct") == 100);
    close_table(&x);
}

/* Nobody is at anything for longer than the allowance between rows. */
TEST(nothing_to_do_is_none)
{
    struct maker m = maker("none");
    int64_t late = 50 + 3 * (int64_t)IDLE_UNTRACED;
    make_launched(&m, "a", 1, 1, 0, 5, 50);
    make_push(&m, "work", 1, late - 100, late + 10);
    make_launched(&m, "b", 1, 1, late - 20, late, late + 10);
    struct opened x = open_idle(&m, NULL);
    assert_int_equal(x.s.nrows, 2);
    assert_row(&x.s, "none", "", 1, late - 100 - 50);
    assert_row(&x.s, "launch", "work", 1, 100);
    close_table(&x);
}

/* Code between two rows counts as busy up to the allowance; the profiler's own time does not. */
TEST(short_stretches_between_rows_are_busy)
{
    for (int over = 0; over < 2; over++) {
        struct maker m = maker("between");
        int64_t end = 50 + (int64_t)IDLE_UNTRACED + over;
        make_launched(&m, "a", 1, 1, 0, 5, 20);
        make_host(&m, EV_OP, "aten::mm", 1, 2, 50);
        make_host(&m, EV_OVERHEAD, "flush", 1, 100, 200);
        make_launched(&m, "b", 1, 1, end, end + 1, end + 2);
        struct opened x = open_idle(&m, NULL);
        assert_int_equal(x.s.nrows, 1 + over);
        assert_row(&x.s, "launch", "cudaLaunchKernel", 1, over ? 30 + 1 : end + 1 - 20);
        if (over)
            assert_row(&x.s, "none", "", 1, end - 50);
        close_table(&x);
    }
}

static void stream_wait(struct maker *m, int stream, int64_t at, int64_t corr)
{
    struct event ev = event_none(EV_SYNC, at, at + 1);
    ev.name = intern_id(&m->d.strings, "Stream Wait Event");
    ev.rank = 0;
    ev.device = 0;
    ev.correlation = corr;
    ev.stream = tracedata_stream(&m->d, tracedata_process(&m->d, m->pid, "host", -1), 0, stream);
    make_call(m, "cudaStreamWaitEvent", 1, at, at + 1, corr);
    make_event(m, ev);
}

/* c is launched at 8, on a stream told to wait at 6: from 50 to 70 it waits for that. Without the wait it is on its way. */
TEST(launched_work_waits_for_an_event)
{
    for (int told = 0; told < 2; told++) {
        struct maker m = maker("event");
        make_call(&m, "cudaLaunchKernel", 1, 0, 2, 1);
        make_work(&m, EV_KERNEL, "a", 0, 7, 5, 50, 1);
        if (told)
            stream_wait(&m, 9, 6, 2);
        make_call(&m, "cudaLaunchKernel", 1, 8, 9, 3);
        make_work(&m, EV_KERNEL, "c", 0, 9, 70, 80, 3);
        struct opened x = open_idle(&m, NULL);
        assert_int_equal(x.s.nrows, 1);
        assert_row(&x.s, told ? "event" : "launch", told ? "" : "cudaLaunchKernel", 1, 20);
        close_table(&x);
    }
}

/* Told to wait for the kernel after: not this one's event. */
TEST(a_wait_belongs_to_the_next_launch_of_its_stream)
{
    struct maker m = maker("order");
    make_call(&m, "cudaLaunchKernel", 1, 0, 2, 1);
    make_work(&m, EV_KERNEL, "a", 0, 7, 5, 50, 1);
    make_call(&m, "cudaLaunchKernel", 1, 4, 5, 2);
    make_work(&m, EV_KERNEL, "b", 0, 7, 60, 70, 2);
    stream_wait(&m, 7, 10, 3);
    make_call(&m, "cudaLaunchKernel", 1, 12, 13, 4);
    make_work(&m, EV_KERNEL, "c", 0, 7, 75, 80, 4);
    struct opened x = open_idle(&m, NULL);
    assert_row(&x.s, "launch", "cudaLaunchKernel", 1, 10);
    assert_row(&x.s, "event", "", 1, 5);
    close_table(&x);
}

/* nsys-ai#599: waiting and copying are different. */
TEST(no_device_is_idle_while_it_copies)
{
    struct maker m = maker("copy");
    make_launched(&m, "a", 1, 1, 0, 5, 50);
    make_call(&m, "cudaMemcpyAsync", 1, 45, 47, 77);
    make_work(&m, EV_MEMCPY, "Memcpy DtoH", 0, 9, 50, 70, 77);
    make_launched(&m, "b", 1, 1, 65, 72, 80);
    struct opened x = open_idle(&m, NULL);
    assert_int_equal(x.s.nrows, 1);
    assert_int_equal(cell_of(&x.s, 0, "idle_ns"), 2);
    close_table(&x);
}

TEST(without_host_rows_there_is_no_cause)
{
    struct maker m = maker("hostless");
    make_work(&m, EV_KERNEL, "a", 0, 7, 5, 50, -1);
    make_work(&m, EV_KERNEL, "b", 0, 7, 70, 80, -1);
    struct opened x = open_idle(&m, NULL);
    assert_int_equal(x.s.nrows, 1);
    assert_true(is_absent(&x.s, 0, "cause"));
    assert_int_equal(cell_of(&x.s, 0, "idle_ns"), 20);
    close_table(&x);
}

/* Unlinked rows: the host as a whole decides, and nothing is lost. */
TEST(work_without_launch_rows_counts)
{
    struct maker m = maker("unlinked");
    make_work(&m, EV_KERNEL, "a", 0, 7, 5, 50, -1);
    make_host(&m, EV_OP, "aten::mm", 1, 0, 75);
    make_work(&m, EV_KERNEL, "b", 0, 7, 70, 80, -1);
    struct opened x = open_idle(&m, NULL);
    assert_row(&x.s, "launch", "", 1, 20);
    close_table(&x);
}

TEST(a_cpu_trace_says_so)
{
    struct maker m = maker("cpuonly");
    struct trace t;
    struct table out = {0};
    struct err e = {0};
    make_host(&m, EV_OP, "aten::mm", 1, 0, 75);
    make_open(&m, NULL, &t);
    assert_false(table_build(table_find("idle"), &t, NULL, &out, &e));
    assert_int_equal(e.kind, ERR_UNDECIDED);
    table_free(&out);
    trace_close(&t);
}

/* ---- against a bitmap ---- */

enum { SPAN = 300, DEVICES = 2 };

static void random_host(struct maker *m, int64_t tid)
{
    static const char *const calls[] = {"cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaMemcpy", "cudaLaunchKernel", "cudaStreamWaitEvent"};
    static const enum ev_kind kinds[] = {EV_OP, EV_RANGE, EV_FRAME, EV_OVERHEAD};
    int64_t at = (int64_t)rnd(20);
    while (at < SPAN) {
        int64_t end = at + 1 + (int64_t)rnd(30);
        if (rnd(3))
            make_call(m, calls[rnd(5)], tid, at, end, (int64_t)rnd(60));
        else
            make_host(m, kinds[rnd(4)], "x", tid, at, end + (int64_t)rnd(40));
        at = end + (int64_t)rnd(15);
    }
}

static void random_work(struct maker *m, bool busy[DEVICES][2 * SPAN])
{
    static const enum ev_kind kinds[] = {EV_KERNEL, EV_MEMCPY, EV_MEMSET, EV_COMM};
    for (size_t i = rnd(25) + 1; i-- > 0;) {
        int device = (int)rnd(DEVICES);
        int64_t start = (int64_t)rnd(SPAN), end = start + (int64_t)rnd(30);
        make_work(m, kinds[rnd(4)], "w", device, (int)rnd(3), start, end, (int64_t)rnd(60));
        for (int64_t k = start; k < end; k++)
            busy[device][k] = true;
    }
}

/* Idle ns of the lane in its window, by counting. */
static int64_t idle_of(const struct lane *l, bool busy[2 * SPAN])
{
    int64_t n = 0;
    for (size_t i = 0; i < l->window.n; i++)
        for (int64_t k = l->window.v[i].start; k < l->window.v[i].end; k++)
            n += !busy[k];
    return n;
}

static void check_pieces(const struct trace *t, bool busy[DEVICES][2 * SPAN])
{
    struct idles x;
    int64_t sum[DEVICES] = {0};
    idles_find(t, &x);
    for (size_t i = 0; i < x.n; i++) {
        const struct idle_piece *p = &x.v[i];
        assert_true(p->end > p->start);
        assert_true(!i || x.v[i - 1].lane < p->lane || x.v[i - 1].end <= p->start);
        for (int64_t k = p->start; k < p->end; k++)
            assert_false(busy[t->lanes[p->lane].device][k]);
        sum[t->lanes[p->lane].device] += p->end - p->start;
    }
    for (size_t l = 0; l < t->nlanes; l++)
        assert_int_equal(sum[t->lanes[l].device], idle_of(&t->lanes[l], busy[t->lanes[l].device]));
    idles_free(&x);
}

/* The rows of the table add up to what summary calls span less busy, no share is over 100 %, and a site's bubble is part
 * of its idle time. */
static void check_table(const struct trace *t)
{
    struct table idle, summary, syncs;
    int64_t sum = 0, want = 0;
    make_table(t, "idle", NULL, &idle);
    make_table(t, "summary", NULL, &summary);
    make_table(t, "syncs", NULL, &syncs);
    for (size_t i = 0; i < idle.nrows; i++) {
        sum += cell_of(&idle, i, "idle_ns");
        assert_true(cell_of(&idle, i, "idle_ns") > 0 && cell_of(&idle, i, "gaps") > 0);
        assert_true(real_of(&idle, i, "share_pct") > 0 && real_of(&idle, i, "share_pct") <= 100);
    }
    for (size_t i = 0; i < summary.nrows; i++)
        want += cell_of(&summary, i, "span_ns") - cell_of(&summary, i, "busy_ns");
    assert_int_equal(sum, want);
    int64_t bubbles = 0, synced = 0;
    for (size_t i = 0; i < syncs.nrows; i++)
        bubbles += cell_of(&syncs, i, "bubble_ns") > 0 ? cell_of(&syncs, i, "bubble_ns") : 0;
    for (size_t i = 0; i < idle.nrows; i++)
        synced += strcmp(text_of(&idle, i, "cause"), "sync") == 0 ? cell_of(&idle, i, "idle_ns") : 0;
    assert_true(bubbles <= synced); /* nsys-ai#240: never more than there is */
    table_free(&idle);
    table_free(&summary);
    table_free(&syncs);
}

TEST(causes_add_up_on_random_traces)
{
    PROP(300)
    {
        static bool busy[DEVICES][2 * SPAN];
        struct maker m = maker("random");
        struct trace t;
        memset(busy, 0, sizeof busy);
        tracedata_meta(&m.d, "source_format", "cpscope"); /* time zero is a recording's start, not an impossible row */
        for (int64_t tid = 1; tid <= (int64_t)rnd(3) + 1; tid++)
            random_host(&m, tid);
        random_work(&m, busy);
        make_open(&m, rnd(2) ? NULL : &all_rows, &t);
        check_pieces(&t, busy);
        check_table(&t);
        trace_close(&t);
    }
}

UNIT_MAIN(UNIT(idle_after_a_sync_is_its_sites), UNIT(a_late_launch_is_the_operators), UNIT(nothing_to_do_is_none),
          UNIT(short_stretches_between_rows_are_busy), UNIT(launched_work_waits_for_an_event), UNIT(a_wait_belongs_to_the_next_launch_of_its_stream),
          UNIT(no_device_is_idle_while_it_copies), UNIT(without_host_rows_there_is_no_cause), UNIT(work_without_launch_rows_counts),
          UNIT(a_cpu_trace_says_so), UNIT(causes_add_up_on_random_traces))
