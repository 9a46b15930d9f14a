/* test_table_ranges.c - paths, calls, host time, projected device work and syncs of ranges. */
#include "analyzer/ranges.h"
#include "range_maker.h"

static struct opened open_ranges(struct maker *m, const struct ranges_args *args)
{
    static const struct trace_opts all = {.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX, .span = "all"};
    return open_table(m, &all, "ranges", args);
}

static void assert_path(const struct table *s, const char *path, int64_t calls, int64_t host, int64_t gpu)
{
    size_t i = row_with(s, "path", path);
    assert_int_equal(cell_of(s, i, "calls"), calls);
    assert_int_equal(cell_of(s, i, "host_ns"), host);
    assert_int_equal(cell_of(s, i, "gpu_ns"), gpu);
}

/*   outer 0 .. 100: inner 10 .. 30, inner 40 .. 60;   device: 20 .. 50 (inner), 45 .. 70 (inner), 200 .. 210 (outer) */
static void nested(struct maker *m)
{
    make_push(m, "outer", 1, 0, 100);
    make_push(m, "inner", 1, 10, 30);
    make_push(m, "inner", 1, 40, 60);
    make_launched(m, "a", 1, 1, 12, 20, 50);
    make_launched(m, "b", 1, 1, 42, 45, 70);
    make_launched(m, "c", 1, 1, 80, 200, 210);
    make_launched(m, "d", 1, 1, 150, 220, 230); /* outside of ranges */
}

TEST(numbers_include_inner_ranges)
{
    struct maker m = maker("nested");
    nested(&m);
    struct opened x = open_ranges(&m, NULL);
    assert_int_equal(x.s.nrows, 2);
    assert_path(&x.s, "outer", 1, 100, 60); /* 20 .. 70 once, and c */
    assert_path(&x.s, "outer/inner", 2, 40, 50);
    close_table(&x);
}

TEST(domains_nest_apart_and_threads_too)
{
    struct maker m = maker("domains");
    make_push(&m, "outer", 1, 0, 100);
    make_range(&m, "mine", "indomain", RANGE_PUSH_POP, 1, 10, 30);
    make_push(&m, "inner", 1, 15, 20);
    make_push(&m, "other", 2, 15, 20);
    make_launched(&m, "a", 1, 1, 16, 20, 50);
    struct opened x = open_ranges(&m, NULL);
    assert_int_equal(x.s.nrows, 4);
    assert_path(&x.s, "mine/indomain", 1, 20, 30); /* a was launched inside of all three */
    assert_path(&x.s, "outer", 1, 100, 30);
    assert_path(&x.s, "outer/inner", 1, 5, 30);
    assert_path(&x.s, "other", 1, 5, 0);
    close_table(&x);
}

/* open 5 .. 50 overlaps outer 0 .. 40 and after 45 .. 60: it is in none of them and none is in it, but its work is. */
TEST(start_end_ranges_stand_apart)
{
    struct maker m = maker("startend");
    make_push(&m, "outer", 1, 0, 40);
    make_range(&m, "", "open", RANGE_START_END, 1, 5, 50);
    make_push(&m, "inner", 1, 10, 20);
    make_push(&m, "after", 1, 45, 60);
    make_launched(&m, "a", 1, 1, 12, 100, 110);
    make_launched(&m, "b", 1, 1, 42, 110, 120);
    make_launched(&m, "c", 1, 1, 55, 120, 130);
    struct opened x = open_ranges(&m, NULL);
    assert_int_equal(x.s.nrows, 4);
    assert_path(&x.s, "open", 1, 45, 20);
    assert_path(&x.s, "outer", 1, 40, 10);
    assert_path(&x.s, "outer/inner", 1, 10, 10);
    assert_path(&x.s, "after", 1, 15, 10);
    close_table(&x);
}

/* Two of a name at once: each is a call, the work in both counts once. */
TEST(start_end_ranges_may_overlap_themselves)
{
    struct maker m = maker("self");
    make_range(&m, "", "req", RANGE_START_END, 1, 0, 40);
    make_range(&m, "", "req", RANGE_START_END, 1, 10, 50);
    make_launched(&m, "a", 1, 1, 12, 100, 110);
    struct opened x = open_ranges(&m, NULL);
    assert_int_equal(x.s.nrows, 1);
    assert_path(&x.s, "req", 2, 80, 10);
    close_table(&x);
}

TEST(numbers_of_names_are_dropped_unless_asked_for)
{
    static const struct ranges_args each = {.each = true};
    for (int k = 0; k < 2; k++) {
        struct maker m = maker("each");
        make_push(&m, "layer#3", 1, 0, 10);
        make_push(&m, "layer#4", 1, 10, 25);
        make_mark(&m, "cpscope.batch tokens=1", 1, 12);
        make_push(&m, "cpscope.cache name=route hits=1", 1, 13, 13); /* as formats without marks have it */
        struct opened x = open_ranges(&m, k ? &each : NULL);
        assert_int_equal(x.s.nrows, k ? 2 : 1);
        assert_int_equal(cell_of(&x.s, row_with(&x.s, "path", k ? "layer#4" : "layer"), "host_ns"), k ? 15 : 25);
        assert_true(is_absent(&x.s, 0, "gpu_ns") && is_absent(&x.s, 0, "op_syncs") && is_absent(&x.s, 0, "wait_syncs")); /* not 0 */
        close_table(&x);
    }
}

TEST(syncs_are_counted_where_they_lie)
{
    struct maker m = maker("syncs");
    nested(&m);
    make_host(&m, EV_OP, "aten::item", 1, 14, 20);
    make_call(&m, "cudaStreamSynchronize", 1, 15, 19, 70);
    make_call(&m, "cudaStreamSynchronize", 1, 90, 95, 71);
    struct opened x = open_ranges(&m, NULL);
    size_t outer = row_with(&x.s, "path", "outer"), inner = row_with(&x.s, "path", "outer/inner");
    assert_int_equal(cell_of(&x.s, outer, "op_syncs"), 1);
    assert_int_equal(cell_of(&x.s, outer, "wait_syncs"), 2);
    assert_int_equal(cell_of(&x.s, inner, "op_syncs"), 1);
    assert_int_equal(cell_of(&x.s, inner, "wait_syncs"), 1);
    close_table(&x);
}

/* A graph's kernels share their launch: each counts, the launch once (HTA#290). */
TEST(kernels_of_one_launch_all_count)
{
    struct maker m = maker("graph");
    make_push(&m, "replay", 1, 0, 20);
    make_call(&m, "cudaGraphLaunch", 1, 5, 6, 9);
    for (int64_t i = 0; i < 4; i++)
        make_work(&m, EV_KERNEL, "g", 0, 7, 30 + 10 * i, 35 + 10 * i, 9);
    struct opened x = open_ranges(&m, NULL);
    assert_path(&x.s, "replay", 1, 20, 20);
    close_table(&x);
}

/* A range around everything holds the busy time of the device, and no inner one more than that. */
TEST(the_outermost_range_holds_all_work)
{
    PROP(200)
    {
        struct maker m = maker("random");
        tracedata_meta(&m.d, "source_format", "cpscope");
        make_push(&m, "all", 1, 0, 1000);
        int64_t at = 1;
        while (at < 900) {
            int64_t end = at + 2 + (int64_t)rnd(60);
            if (rnd(2))
                make_push(&m, rnd(2) ? "x" : "y", 1, at, end);
            int64_t start = at + 1 + (int64_t)rnd(40);
            make_launched(&m, "k", 1, 1, at + 1, start, start + (int64_t)rnd(50));
            at = rnd(3) ? end : at + 2;
        }
        struct opened x = open_ranges(&m, NULL);
        struct table summary;
        make_table(&x.t, "summary", NULL, &summary);
        int64_t busy = cell_of(&summary, 0, "busy_ns");
        assert_int_equal(cell_of(&x.s, row_with(&x.s, "path", "all"), "gpu_ns"), busy);
        for (size_t i = 0; i < x.s.nrows; i++)
            assert_true(cell_of(&x.s, i, "gpu_ns") >= 0 && cell_of(&x.s, i, "gpu_ns") <= busy);
        table_free(&summary);
        close_table(&x);
    }
}

enum { SPAN = 200, RANGES = 8, LAUNCHES = 12 };

struct drawn {
    int64_t start[RANGES], end[RANGES];                   /* of range rN */
    int64_t call[LAUNCHES], from[LAUNCHES], to[LAUNCHES]; /* launches and their kernels */
};

static struct drawn draw(struct maker *m)
{
    struct drawn d;
    for (int i = 0; i < RANGES; i++) {
        char name[16];
        snprintf(name, sizeof name, "r%c", 'a' + i);
        d.start[i] = (int64_t)rnd(SPAN);
        d.end[i] = d.start[i] + 2 + (int64_t)rnd(80);
        make_range(m, "", name, rnd(2) ? RANGE_PUSH_POP : RANGE_START_END, 1, d.start[i], d.end[i]);
    }
    for (int i = 0; i < LAUNCHES; i++) {
        d.call[i] = (int64_t)rnd(SPAN);
        d.from[i] = d.call[i] + 1 + (int64_t)rnd(60);
        d.to[i] = d.from[i] + (int64_t)rnd(30);
        make_launched(m, "k", 1, 1, d.call[i], d.from[i], d.to[i]);
    }
    return d;
}

/* ns of device work launched inside range r, counted one by one. */
static int64_t counted(const struct drawn *d, int r)
{
    int64_t n = 0;
    for (int64_t k = 0; k < 2 * SPAN; k++) {
        bool busy = false;
        for (int i = 0; i < LAUNCHES; i++)
            busy |= d->call[i] >= d->start[r] && d->call[i] + 1 <= d->end[r] && d->from[i] <= k && k < d->to[i];
        n += busy;
    }
    return n;
}

/* However ranges of both flavours lie across each other. */
TEST(device_work_matches_a_bitmap)
{
    PROP(300)
    {
        struct maker m = maker("bitmap");
        tracedata_meta(&m.d, "source_format", "cpscope");
        struct drawn d = draw(&m);
        struct opened x = open_ranges(&m, NULL);
        int seen = 0;
        for (size_t i = 0; i < x.s.nrows; i++) {
            const char *path = text_of(&x.s, i, "path");
            int r = path[strlen(path) - 1] - 'a';
            seen++;
            assert_int_equal(cell_of(&x.s, i, "host_ns"), d.end[r] - d.start[r]);
            assert_int_equal(cell_of(&x.s, i, "gpu_ns"), counted(&d, r));
        }
        assert_int_equal(seen, RANGES);
        close_table(&x);
    }
}

UNIT_MAIN(UNIT(numbers_include_inner_ranges), UNIT(domains_nest_apart_and_threads_too), UNIT(start_end_ranges_stand_apart),
          UNIT(start_end_ranges_may_overlap_themselves), UNIT(numbers_of_names_are_dropped_unless_asked_for), UNIT(syncs_are_counted_where_they_lie),
          UNIT(kernels_of_one_launch_all_count), UNIT(the_outermost_range_holds_all_work), UNIT(device_work_matches_a_bitmap))
