/* test_trace_lists.c - sorting, ranks, lanes, threads, bad rows, selection. */
#include "analyzer/nest.h"
#include "analyzer/rowsort.h"
#include "analyzer/sortkey.h"
#include "trace_maker.h"

TEST(sortkeys_is_stable_and_ascending)
{
    PROP(300)
    {
        enum { N = 200 };
        struct sortkey v[N], tmp[N];
        size_t n = rnd(N + 1);
        int64_t scale = INT64_C(1) << rnd(62);
        for (size_t i = 0; i < n; i++)
            v[i] = (struct sortkey){((int64_t)rnd(40) - 20) * (scale / 32), (uint32_t)i};
        sortkeys(v, tmp, n);
        for (size_t i = 1; i < n; i++)
            assert_true(v[i - 1].key < v[i].key || (v[i - 1].key == v[i].key && v[i - 1].at < v[i].at));
    }
}

static const struct event *compared;
static bool longest_first;

static int in_order(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    const struct event *p = &compared[a], *q = &compared[b];
    if (p->start != q->start)
        return p->start < q->start ? -1 : 1;
    if (p->end != q->end)
        return (p->end < q->end) == longest_first ? 1 : -1;
    return a < b ? -1 : 1;
}

TEST(rowsort_is_by_start_end_and_number)
{
    PROP(500)
    {
        enum { N = 300 };
        struct event ev[N];
        uint32_t v[N], sorted[N];
        size_t n = rnd(N + 1), rows = 0;
        uint64_t late = 1 + rnd(20), times = rnd(3) ? 60 : 3;
        for (size_t i = 0; i < n; i++) {
            int64_t start = rnd(late) ? (int64_t)(i * times / N) : (int64_t)rnd(times) - 2;
            ev[i] = event_none(EV_OP, start, start + (int64_t)rnd(5));
            if (rnd(4))
                v[rows++] = (uint32_t)i;
        }
        compared = ev;
        longest_first = rnd(2);
        memcpy(sorted, v, sizeof v);
        qsort(sorted, rows, sizeof *sorted, in_order);
        rowsort(ev, v, rows, longest_first);
        assert_memory_equal(v, sorted, rows * sizeof *v);
    }
}

TEST(rows_are_dealt_to_ranks_lanes_and_threads)
{
    struct maker m = maker("deal");
    for (m.rank = 1; m.rank >= 0; m.rank--) {
        make_work(&m, EV_KERNEL, "b", m.rank, 7, 50, 60, -1);
        make_work(&m, EV_KERNEL, "a", m.rank, 9, 10, 20, -1);
        make_host(&m, EV_RANGE, "inner", 2, 30, 40);
        make_host(&m, EV_RANGE, "outer", 2, 30, 90);
        make_host(&m, EV_OP, "op", 1, 5, 6);
    }
    struct trace t;
    make_open(&m, NULL, &t);
    assert_int_equal(t.nranks, 2);
    assert_int_equal(t.nlanes, 2);
    for (int r = 0; r < 2; r++) {
        const struct trace_rank *k = &t.ranks[r];
        const struct lane *l = &t.lanes[r];
        assert_int_equal(k->rank, r);
        assert_int_equal(l->rank, r);
        assert_int_equal(l->device, r);
        assert_int_equal(l->host, r);
        assert_int_equal(l->n, 2);
        assert_string_equal(trace_string(&t.files[0], t.files[0].d.ev[l->ev[0]].name), "a");
        assert_int_equal(k->nthreads, 2);
        const struct thread_events *th = k->threads[0].n == 2 ? &k->threads[0] : &k->threads[1];
        assert_string_equal(trace_string(&t.files[0], t.files[0].d.ev[th->ev[0]].name), "outer"); /* parents first */
    }
    assert_int_equal(t.span, SPAN_GPU);
    assert_int_equal(ivl_len(t.lanes[0].window), 50);
    trace_close(&t);
}

/* Several threads read them; order, contents and the failure reported do not depend on who is first. */
TEST(files_read_together_are_as_alone)
{
    enum { FILES = 7 };
    static const char *const names[FILES] = {"t0", "t1", "t2", "t3", "t4", "t5", "t6"};
    struct maker m[FILES];
    const char *paths[FILES + 2];
    for (int i = 0; i < FILES; i++) {
        m[i] = maker(names[i]);
        m[i].rank = FILES - i;
        for (int k = 0; k <= i * i; k++)
            make_work(&m[i], EV_KERNEL, names[i], i, 7, 10 * k, 10 * k + 5, -1);
        make_file(&m[i]);
        paths[i] = m[i].path;
    }
    struct trace t;
    struct err e = {0};
    struct trace_opts o = TRACE_OPTS_NONE;
    assert_ok(trace_open(paths, FILES, &o, &t, &e), &e);
    assert_int_equal(t.nfiles, FILES);
    for (int i = 0; i < FILES; i++) {
        assert_string_equal(t.files[i].path, paths[i]);
        assert_int_equal(t.files[i].d.n, i * i + 1);
        assert_string_equal(trace_string(&t.files[i], t.files[i].d.ev[0].name), names[i]);
        assert_int_equal(t.ranks[i].rank, FILES - i);
    }
    trace_close(&t);
    paths[FILES] = "not-there-1.sqlite";
    paths[FILES + 1] = "not-there-2.sqlite";
    for (int i = 0; i < 20; i++) {
        e = (struct err){0};
        assert_false(trace_open(paths, FILES + 2, &o, &t, &e));
        assert_non_null(strstr(e.msg, "not-there-1.sqlite"));
    }
    for (int i = 0; i < FILES; i++)
        unlink(paths[i]);
}

TEST(bad_rows_are_counted_and_left_out)
{
    struct maker m = maker("bad");
    m.d.t0 = INT64_C(1700000000000000000);
    make_work(&m, EV_KERNEL, "good", 0, 7, 100, 200, -1);
    make_work(&m, EV_KERNEL, "reversed", 0, 7, 300, 299, -1);
    make_work(&m, EV_KERNEL, "long", 0, 7, 300, 301 + INT64_C(3600000000000), -1);
    make_work(&m, EV_KERNEL, "hour", 0, 7, 100, 100 + INT64_C(3600000000000), -1);
    make_work(&m, EV_KERNEL, "zero", 0, 7, -m.d.t0, -m.d.t0 + 5, -1);
    make_work(&m, EV_KERNEL, "point", 0, 7, 150, 150, -1);
    struct trace t;
    struct table s;
    make_open(&m, NULL, &t);
    make_table(&t, "summary", NULL, &s);
    assert_int_equal(cell_of(&s, 0, "bad_rows"), 3);
    assert_int_equal(cell_of(&s, 0, "kernels"), 3); /* a duration of 0 is a short kernel, an hour is just allowed */
    assert_int_equal(cell_of(&s, 0, "span_ns"), INT64_C(3600000000000));
    table_free(&s);
    trace_close(&t);
}

static void two_ranks(struct maker *m)
{
    for (m->rank = 0; m->rank < 2; m->rank++) {
        make_call(m, "cudaLaunchKernel", m->rank, 10, 12, 1);
        make_call(m, "cudaLaunchKernel", m->rank, 40, 42, 2);
        make_host(m, EV_RANGE, "layer#3", m->rank, 5, 20);
        make_work(m, EV_KERNEL, "inside", m->rank, 7, 30, 35, 1);
        make_work(m, EV_KERNEL, "outside", m->rank, 7, 50, 58, 2);
        m->pid++;
    }
}

TEST(selection_restricts_or_says_why)
{
    static const struct {
        struct trace_opts o;
        size_t lanes, rows; /* of the first lane; 0 lanes: exit 4 */
    } cases[] = {
        {{.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX}, 2, 2},
        {{.rank = 1, .device = -1, .from = INT64_MIN, .to = INT64_MAX}, 1, 2},
        {{.rank = 2, .device = -1, .from = INT64_MIN, .to = INT64_MAX}, 0, 0},
        {{.rank = -1, .device = 1, .from = INT64_MIN, .to = INT64_MAX}, 1, 2},
        {{.rank = -1, .device = 7, .from = INT64_MIN, .to = INT64_MAX}, 0, 0},
        {{.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX, .range = "layer#3$"}, 2, 1},
        {{.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX, .range = "layer#4"}, 0, 0},
        {{.rank = -1, .device = -1, .from = 30, .to = INT64_MAX}, 2, 1}, /* since the first row, at 5 */
        {{.rank = -1, .device = -1, .from = INT64_MIN, .to = 45}, 2, 1},
        {{.rank = -1, .device = -1, .from = 1000, .to = INT64_MAX}, 0, 0},
        {{.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX, .step = "0"}, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct maker m = maker("select");
        struct trace t;
        struct err e = {0};
        two_ranks(&m);
        bool ok = make_try(&m, &cases[i].o, &t, &e);
        if (ok != (cases[i].lanes > 0) || (!ok && e.kind != ERR_UNDECIDED))
            fail_msg("case %zu: %s", i, ok ? "something is left" : e.msg);
        if (!ok)
            continue;
        assert_int_equal(t.nlanes, cases[i].lanes);
        assert_int_equal(t.lanes[0].n, cases[i].rows);
        trace_close(&t);
    }
}

/* What encloses a row, against looking at every earlier row: overlaps, nests and gaps, hundreds open at once. */
TEST(nest_matches_looking_at_everything)
{
    PROP(60)
    {
        enum { N = 400 };
        static struct event ev[N];
        uint32_t got[N];
        struct nest s = {0};
        int64_t at = 0, reach = 1 + (int64_t)rnd(400);
        for (uint32_t i = 0; i < N; i++) {
            at += (int64_t)rnd(3);
            ev[i] = event_none(EV_RANGE, at, at + 1 + (int64_t)rnd((uint64_t)reach));
            if (i && ev[i].start == ev[i - 1].start && ev[i].end > ev[i - 1].end)
                ev[i].end = ev[i - 1].end; /* longest first */
            nest_move(&s, ev, i);
            size_t n = nest_around(&s, ev, i, got), k = 0;
            for (uint32_t j = 0; j < i; j++)
                if (ev[j].end >= ev[i].end)
                    assert_true(k < n && got[k++] == j);
            assert_int_equal(k, n);
            nest_push(&s, i);
        }
        nest_free(&s);
    }
}

TEST(wrong_option_values_are_usage)
{
    static const struct trace_opts cases[] = {
        {.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX, .span = "never"},
        {.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX, .step = "3:1"},
        {.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX, .step = "x"},
        {.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX, .range = "("},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct maker m = maker("usage");
        struct trace t;
        struct err e = {0};
        two_ranks(&m);
        assert_false(make_try(&m, &cases[i], &t, &e));
        assert_int_equal(e.kind, ERR_USAGE);
    }
}

UNIT_MAIN(UNIT(sortkeys_is_stable_and_ascending), UNIT(rowsort_is_by_start_end_and_number), UNIT(rows_are_dealt_to_ranks_lanes_and_threads),
          UNIT(files_read_together_are_as_alone), UNIT(bad_rows_are_counted_and_left_out), UNIT(selection_restricts_or_says_why),
          UNIT(nest_matches_looking_at_everything), UNIT(wrong_option_values_are_usage))
