/* test_table_cp.c - layers, micro-batches and phases: kinds of device work, bubbles, padding, cache use. */
#include "range_maker.h"

static const struct trace_opts all_rows = {.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX, .span = "all"};

/* The row of a kind in a phase ("" none) of a layer (-1 none) and micro-batch. */
static size_t row_of(const struct table *s, int64_t microbatch, int64_t layer, const char *phase, const char *kind)
{
    for (size_t i = 0; i < s->nrows; i++) {
        int64_t l = is_absent(s, i, "layer") ? -1 : cell_of(s, i, "layer"), b = is_absent(s, i, "microbatch") ? -1 : cell_of(s, i, "microbatch");
        if (l == layer && b == microbatch && strcmp(text_of(s, i, "phase"), phase) == 0 && strcmp(text_of(s, i, "kind"), kind) == 0)
            return i;
    }
    fail_msg("no row %s %s of layer %lld", phase, kind, (long long)layer);
    return 0;
}

static void launched_comm_of(struct maker *m, const char *function, int size, int64_t call, int64_t start, int64_t end)
{
    int64_t corr = 5000 + (int64_t)m->d.n;
    make_call(m, "ncclLaunch", 1, call, call + 1, corr);
    struct event ev = event_none(EV_COMM, start, end);
    ev.name = intern_id(&m->d.strings, function);
    ev.rank = m->rank;
    ev.device = 0;
    ev.correlation = corr;
    ev.stream = tracedata_stream(&m->d, tracedata_process(&m->d, m->pid, "host", -1), 0, 9);
    ev.detail = tracedata_comm_row(&m->d, (struct ev_comm){.communicator = intern_id(&m->d.strings, "cp"),
                                                           .function = intern_id(&m->d.strings, function),
                                                           .peer = -1,
                                                           .group_size = size,
                                                           .sequence = -1,
                                                           .message_bytes = -1});
    make_event(m, ev);
}

static void launched_comm(struct maker *m, const char *function, int64_t call, int64_t start, int64_t end)
{
    launched_comm_of(m, function, -1, call, start, end);
}

/* One layer at `at`: compute 10, halo 5, idle 5, compute 10; a state exchange of 4 beside it; layout change: kernel 3, 6. */
static void layer(struct maker *m, const char *name, int64_t at)
{
    make_push(m, name, 1, at, at + 90);
    make_launched(m, "gemm", 1, 1, at + 1, at + 10, at + 20);
    make_push(m, "conv_halo", 1, at + 3, at + 8);
    launched_comm(m, "all_gather", at + 4, at + 20, at + 25);
    make_launched(m, "scan", 1, 1, at + 10, at + 30, at + 40);
    make_push(m, "state_exchange", 1, at + 12, at + 16);
    launched_comm(m, "all_gather", at + 13, at + 32, at + 36);
    make_push(m, "zigzag_to_contiguous", 1, at + 20, at + 50);
    make_push(m, "thd_route", 1, at + 21, at + 30);
    make_launched(m, "index", 1, 1, at + 22, at + 40, at + 42);
    make_launched(m, "gather", 1, 1, at + 32, at + 42, at + 45);
    launched_comm(m, "all_to_all_v", at + 34, at + 45, at + 51);
}

static void batch(struct maker *m)
{
    make_push(m, "microbatch#2", 1, 0, 400);
    make_mark(m, "cpscope.batch tokens=90 padded=10 sequences=3 work=4000 cp=4", 1, 2);
    make_push(m, "forward", 1, 5, 195);
    layer(m, "layer#7", 10);
    make_push(m, "backward", 1, 200, 395);
    layer(m, "layer#7", 210);
    make_mark(m, "cpscope.cache name=route hits=94 misses=1 rebuilds=1 uncached=2 reason=first-use", 1, 396);
    make_launched(m, "loss", 1, 1, 196, 300, 304); /* in the micro-batch, in no layer */
    make_launched(m, "adam", 1, 1, 500, 510, 520); /* in neither: not of this table */
}

static void assert_kind(const struct table *s, const char *kind, int64_t calls, int64_t ns)
{
    static const char *const phases[] = {"forward", "backward"};
    for (int i = 0; i < 2; i++) {
        size_t r = row_of(s, 2, 7, phases[i], kind);
        assert_int_equal(cell_of(s, r, "calls"), calls);
        assert_int_equal(cell_of(s, r, "time_ns"), ns);
    }
}

TEST(device_work_goes_to_its_layer_phase_and_kind)
{
    struct maker m = maker("kinds");
    struct trace t;
    struct table s;
    batch(&m);
    make_open(&m, &all_rows, &t);
    make_table(&t, "cp", NULL, &s);
    assert_kind(&s, "compute", 2, 20);
    assert_kind(&s, "halo", 1, 5);
    assert_kind(&s, "state", 1, 4);
    assert_kind(&s, "route", 1, 2);
    assert_kind(&s, "pack", 1, 3);
    assert_kind(&s, "swap", 1, 6);
    assert_kind(&s, "bubble", 1, 5);
    assert_int_equal(cell_of(&s, row_of(&s, 2, -1, "", "compute"), "time_ns"), 4);
    assert_int_equal(s.nrows, 2 * 7 + 3);
    table_free(&s);
    trace_close(&t);
}

TEST(marks_tell_work_padding_and_caches)
{
    struct maker m = maker("marks");
    struct trace t;
    struct table s;
    batch(&m);
    make_open(&m, &all_rows, &t);
    make_table(&t, "cp", NULL, &s);
    size_t b = row_of(&s, 2, -1, "", "batch"), c = row_of(&s, 2, -1, "", "cache route"), k = row_of(&s, 2, 7, "forward", "compute");
    assert_int_equal(cell_of(&s, b, "calls"), 1);
    assert_int_equal(cell_of(&s, b, "time_ns"), 400);
    assert_int_equal(cell_of(&s, b, "expected_work"), 1000);
    assert_int_equal(cell_of(&s, k, "expected_work"), 1000);
    assert_true(real_of(&s, b, "padding_pct") == 10);
    assert_int_equal(cell_of(&s, c, "calls"), 98);
    assert_int_equal(cell_of(&s, c, "cache_hits"), 94);
    assert_int_equal(cell_of(&s, c, "cache_misses"), 4);
    assert_true(is_absent(&s, c, "time_ns") && is_absent(&s, b, "cache_hits") && is_absent(&s, k, "padding_pct"));
    table_free(&s);
    trace_close(&t);
}

/* Send and receive of a ring, other collectives by name; what was not matched over ranks has no waiting. */
TEST(other_exchanges_go_by_operation)
{
    struct maker m = maker("ring");
    struct trace t;
    struct table s;
    make_push(&m, "layer#0", 1, 0, 100);
    launched_comm(&m, "send_recv", 10, 20, 30);
    launched_comm(&m, "reduce_scatter", 40, 50, 53);
    make_open(&m, &all_rows, &t);
    make_table(&t, "cp", NULL, &s);
    assert_int_equal(cell_of(&s, row_of(&s, -1, 0, "", "ring"), "time_ns"), 10);
    assert_int_equal(cell_of(&s, row_of(&s, -1, 0, "", "reduce_scatter"), "time_ns"), 3);
    assert_int_equal(cell_of(&s, row_of(&s, -1, 0, "", "bubble"), "time_ns"), 20);
    assert_true(is_absent(&s, row_of(&s, -1, 0, "", "ring"), "wait_ns"));
    table_free(&s);
    trace_close(&t);
}

TEST(without_marks_there_is_no_answer)
{
    struct maker m = maker("unmarked");
    struct trace t;
    struct table s = {0};
    struct err e = {0};
    make_push(&m, "player#0", 1, 0, 100);
    make_launched(&m, "gemm", 1, 1, 10, 20, 30);
    make_open(&m, &all_rows, &t);
    assert_false(table_build(table_find("cp"), &t, NULL, &s, &e));
    assert_int_equal(e.kind, ERR_UNDECIDED);
    table_free(&s);
    trace_close(&t);
}

/* ---- rings ---- */

static bool has_ring_step(const struct table *s, int step)
{
    char kind[32];
    snprintf(kind, sizeof kind, "ring#%d bubble", step);
    for (size_t i = 0; i < s->nrows; i++)
        if (strcmp(text_of(s, i, "kind"), kind) == 0)
            return true;
    return false;
}

static void assert_ring_step(const struct table *s, int step, int64_t attention, int64_t exchange, int64_t bubble)
{
    static const char *const parts[] = {"attention", "exchange", "bubble"};
    const int64_t ns[] = {attention, exchange, bubble};
    for (int i = 0; i < 3; i++) {
        char kind[32];
        snprintf(kind, sizeof kind, "ring#%d %s", step, parts[i]);
        if (ns[i] >= 0)
            assert_int_equal(cell_of(s, row_of(s, -1, 0, "forward", kind), "time_ns"), ns[i]);
    }
}

static void ring_layer(struct maker *m, int64_t until)
{
    make_push(m, "forward", 1, 0, until);
    make_push(m, "layer#0", 1, 0, until);
}

static const bool by_ring_step = true; /* the whole of the table's options */

/*  stream |gemm|# 0 #|= 0 =|# 1 #|merge|= 1 =|= 1 =|..|# 2 #|merge|  other |      all in one stream */
TEST(a_serial_ring_by_its_order)
{
    struct maker m = maker("serial");
    struct trace t;
    struct table s;
    ring_layer(&m, 1000);
    make_launched(&m, "gemm", 1, 1, 1, 10, 30);
    make_launched(&m, "attention_fwd", 1, 1, 2, 30, 50);
    launched_comm(&m, "send_recv", 3, 50, 57);
    make_launched(&m, "attention_fwd", 1, 1, 4, 58, 78);
    make_launched(&m, "attention_merge", 1, 1, 5, 78, 80);
    launched_comm(&m, "send", 6, 81, 90);
    launched_comm(&m, "recv", 7, 83, 91);
    make_launched(&m, "attention_fwd", 1, 1, 8, 95, 115);
    make_launched(&m, "attention_merge", 1, 1, 9, 115, 118);
    make_launched(&m, "gemm", 1, 1, 10, 118, 200);
    make_open(&m, &all_rows, &t);
    make_table(&t, "cp", &by_ring_step, &s);
    assert_ring_step(&s, 0, 20, 7, 8);      /* 30 to 58, 20 of it compute */
    assert_ring_step(&s, 1, 22, 9 + 8, 15); /* 58 to 95, 22 of it compute */
    assert_ring_step(&s, 2, 23, -1, 0);     /* 95 to 118 */
    assert_false(has_ring_step(&s, 3));
    table_free(&s);
    make_table(&t, "cp", NULL, &s);
    assert_false(has_ring_step(&s, 0)); /* only when asked for */
    table_free(&s);
    trace_close(&t);
}

/*  attention |#### 0 ####|..|## 1 ##|## 2 ##|      the second exchange is over before step 1 begins: it is the turn
 *  exchange  |== 0 ======|=1=|                       that tells, two kernels a step */
static void make_overlapping(struct maker *m, int ranks)
{
    ring_layer(m, 1000);
    launched_comm_of(m, "send_recv", ranks, 1, 95, 148);
    make_launched(m, "flash_fwd", 1, 1, 2, 100, 120);
    make_launched(m, "flash_fwd_merge", 1, 1, 3, 120, 140);
    launched_comm_of(m, "send_recv", ranks, 4, 148, 155);
    make_launched(m, "flash_fwd", 1, 1, 5, 150, 160);
    make_launched(m, "flash_fwd_merge", 1, 1, 6, 160, 170);
    make_launched(m, "flash_fwd", 1, 1, 7, 170, 180);
    make_launched(m, "flash_fwd_merge", 1, 1, 8, 181, 190);
}

TEST(an_overlapping_ring_by_turns)
{
    struct maker m = maker("turns");
    struct trace t;
    struct table s;
    make_overlapping(&m, 3);
    make_open(&m, &all_rows, &t);
    make_table(&t, "cp", &by_ring_step, &s);
    assert_ring_step(&s, 0, 40, 53 + 7, 10);
    assert_ring_step(&s, 1, 20, -1, 0);
    assert_ring_step(&s, 2, 19, -1, 1);
    table_free(&s);
    trace_close(&t);
}

TEST(a_ring_that_does_not_come_out_even_is_not_told)
{
    static const int sizes[] = {4, -1};
    for (size_t i = 0; i < 2; i++) {
        struct maker m = maker("uneven");
        struct trace t;
        struct table s;
        make_overlapping(&m, sizes[i]);
        make_open(&m, &all_rows, &t);
        make_table(&t, "cp", &by_ring_step, &s);
        assert_false(has_ring_step(&s, 0));
        assert_int_equal(cell_of(&s, row_of(&s, -1, 0, "forward", "ring"), "calls"), 2);
        table_free(&s);
        trace_close(&t);
    }
}

UNIT_MAIN(UNIT(device_work_goes_to_its_layer_phase_and_kind), UNIT(marks_tell_work_padding_and_caches), UNIT(other_exchanges_go_by_operation),
          UNIT(without_marks_there_is_no_answer), UNIT(a_serial_ring_by_its_order), UNIT(an_overlapping_ring_by_turns),
          UNIT(a_ring_that_does_not_come_out_even_is_not_told))
