/* test_export_clocks.c - files that are exported, or put into one, together: by how much each is moved, how well that is known, and
 * what is said of it. */
#include "analyzer/cmd.h"
#include "analyzer/export.h"
#include "import_run.h"
#include "trace_maker.h"

enum { CALLS = 102, APART = 100000, UTC = 4321 };

/* Calls each 100 us, whose ends rank 1 sees by a clock that gains 1 part in 20000 and shows 5000 where rank 0 shows 1000000. What the
 * file knows of its clock: `boot`, readings of the wall, UTC at its zero. */
struct knows {
    const char *boot;
    bool readings, utc, calls;
    int64_t wall_off; /* rank 1's wall is so much ahead */
};

static struct maker a_file(const char *name, int32_t rank, int process_rank, struct knows k)
{
    struct maker m = maker(name);
    m.rank = process_rank;
    m.d.t0 = rank ? 5000 : 1000000;
    if (k.boot)
        tracedata_metaf(&m.d, "boot_id", "%s%d", k.boot, *k.boot == 'x' ? rank : 0);
    if (k.utc)
        tracedata_metaf(&m.d, "utc_epoch_ns", "%lld", 1700000000000000000LL + (rank ? UTC : 0));
    for (int64_t i = 0; k.readings && i < 5; i++) {
        int64_t t = 4000000 * i, own = rank ? t + t / 20000 + 5000 : t + 1000000;
        make_reading(&m, own, INT64_C(1700000000000000000) + t + (rank ? k.wall_off : 0));
    }
    for (int64_t i = 0; k.calls && i < CALLS; i++) {
        int64_t t = APART * (i + 1), own = rank ? t + t / 20000 + i % 13 - 6 : t;
        make_comm(&m, "cp", "all_gather", 0, own - 50, own, i, 2, 8);
    }
    make_work(&m, EV_KERNEL, "k", 0, 7, 10, 20, 1);
    return m;
}

struct answer {
    int64_t shift, residual;
    char text[400];
};

static struct answer put_together(struct knows k, int second_rank, const struct trace_opts *o)
{
    static int n;
    char name[2][16];
    snprintf(name[0], sizeof name[0], "clock%d", n++);
    snprintf(name[1], sizeof name[1], "clock%d", n++);
    struct maker a = a_file(name[0], 0, 0, k), b = a_file(name[1], 1, second_rank, k);
    const char *paths[] = {a.path, b.path};
    struct trace t;
    struct export_job x = {0};
    struct err e = {0};
    struct answer r;
    make_file(&a);
    make_file(&b);
    assert_ok(trace_open(paths, 2, o, &t, &e), &e);
    assert_ok(export_open(&x, &t, &e), &e);
    const char *text = one_clock_text(&x.clock, &t, &x.arena);
    assert_int_equal(x.files[0].shift, 0);
    r.shift = x.files[1].shift;
    r.residual = x.clock.residual;
    snprintf(r.text, sizeof r.text, "%s", text ? text : "");
    export_close(&x);
    trace_close(&t);
    unlink(a.path);
    unlink(b.path);
    return r;
}

static struct answer both(struct knows k)
{
    return put_together(k, 1, &TRACE_OPTS_NONE);
}

static bool near(int64_t a, int64_t b, int64_t most)
{
    return a - b <= most && b - a <= most;
}

static const int64_t middle = APART * (CALLS + 1) / 2 / 20000; /* what the second clock has gained in the middle of the calls */

/* A wall that is wrong is put right by the ends; both tell more than UTC does. */
TEST(walls_then_ends)
{
    for (int64_t off = -70000; off <= 70000; off += 70000) {
        struct answer r = both((struct knows){.boot = "x", .readings = true, .utc = true, .calls = true, .wall_off = off});
        assert_true(near(r.shift, -middle, 4));
        assert_true(near(r.residual, middle / 2, 8)); /* the file is moved as a whole: drift stays */
        assert_non_null(strstr(r.text, "1 by readings of the wall clock and the ends of collectives; residual 1"));
    }
}

TEST(ends_without_walls)
{
    struct answer r = both((struct knows){.boot = "x", .utc = true, .calls = true});
    assert_true(near(r.shift, -middle, 8));
    assert_true(near(r.residual, middle / 2, 8));
    assert_non_null(strstr(r.text, ": 1 by the ends of collectives; residual 1"));
    assert_non_null(strstr(r.text, "on the clock of cpscope-unit-"));
}

TEST(walls_without_ends)
{
    struct answer r = both((struct knows){.boot = "x", .readings = true, .utc = true, .wall_off = 300});
    assert_true(near(r.shift, 300, 1)); /* 5000 there is 1000000 here */
    assert_int_equal(r.residual, -1);
    assert_non_null(strstr(r.text, ": 1 by readings of the wall clock alone; residual not known: no matched collectives"));
}

TEST(utc_then_clocks_then_nothing)
{
    struct answer r = both((struct knows){.utc = true});
    assert_int_equal(r.shift, UTC);
    assert_non_null(strstr(r.text, ": 1 by UTC alone; residual not known"));
    r = both((struct knows){0});
    assert_int_equal(r.shift, 5000 - 1000000);
    assert_non_null(strstr(r.text, "1 by clocks that lie within a day"));
}

TEST(one_boot_is_one_clock)
{
    struct answer r = both((struct knows){.boot = "same", .readings = true, .utc = true, .calls = true, .wall_off = 70000});
    assert_int_equal(r.shift, 5000 - 1000000);
    assert_string_equal(r.text, "");
    r = both((struct knows){.boot = "same", .utc = true});
    assert_int_equal(r.shift, 5000 - 1000000);
}

/* What is selected does not move the clocks. */
TEST(a_selection_has_the_same_clocks)
{
    struct trace_opts o = TRACE_OPTS_NONE;
    struct knows k = {.boot = "x", .readings = true, .calls = true, .wall_off = 70000};
    struct answer all = both(k);
    o.rank = 1;
    struct answer one = put_together(k, 1, &o);
    assert_int_equal(one.shift, all.shift);
    assert_string_equal(strstr(one.text, ": "), strstr(all.text, ": "));
}

/* The same rank twice is two runs: their calls are not matched, but their walls are walls. */
TEST(two_runs_have_their_walls)
{
    struct knows k = {.boot = "x", .readings = true, .utc = true, .calls = true, .wall_off = 300};
    struct answer r = put_together(k, 0, &TRACE_OPTS_NONE);
    assert_true(near(r.shift, 300, 1));
    assert_non_null(strstr(r.text, ": 1 by readings of the wall clock alone; residual not known"));
    k.boot = "same";
    r = put_together(k, 0, &TRACE_OPTS_NONE);
    assert_int_equal(r.shift, 5000 - 1000000);
    assert_string_equal(r.text, "");
}

extern const struct cmd cmd_import;

/* Both ranks in one file: moved as for an export, and what that file's clock is can be told again. */
TEST(import_moves_them_as_export_does)
{
    struct knows k = {.boot = "x", .readings = true, .calls = true, .wall_off = 70000};
    struct answer want = both(k);
    struct maker a = a_file("in0", 0, 0, k), b = a_file("in1", 1, 1, k);
    char out[300];
    struct tracedata d;
    struct err e = {0};
    snprintf(out, sizeof out, "%s.out", a.path);
    a.d.processes[1].rank = 0;
    b.d.processes[1].rank = 1;
    make_file(&a);
    make_file(&b);
    char *argv[] = {"cpscope import", a.path, b.path, "-o", out, NULL};
    int old = import_hush();
    enum status s = cmd_import.run(5, argv, &e);
    import_unhush(old);
    assert_int_equal(s, STATUS_OK);
    tracedata_init(&d);
    assert_ok(tracefile_load(out, &d, &e), &e);
    assert_int_equal(d.n, 2 * (CALLS + 1));
    int64_t first = APART + APART / 20000 - 6; /* the end of rank 1's first call, by its clock */
    assert_int_equal(d.ev[CALLS + 1].end, first + want.shift);
    assert_int_equal(d.ev[CALLS].start, 10);
    assert_int_equal(d.ev[2 * CALLS + 1].start, 10 + want.shift);
    assert_string_equal(tracedata_meta_get(&d, "aligned_by"), "wall, collectives");
    assert_int_equal(atoll(tracedata_meta_get(&d, "aligned_residual_ns")), want.residual);
    assert_string_equal(tracedata_meta_get(&d, "boot_id"), "x0");
    assert_int_equal(d.nclocks, 5); /* of the first file: its clock is the one of all */
    assert_int_equal(d.t0, 1000000);
    tracedata_free(&d);
    unlink(out);
    unlink(a.path);
    unlink(b.path);
}

UNIT_MAIN(UNIT(walls_then_ends), UNIT(ends_without_walls), UNIT(walls_without_ends), UNIT(utc_then_clocks_then_nothing), UNIT(one_boot_is_one_clock),
          UNIT(a_selection_has_the_same_clocks), UNIT(two_runs_have_their_walls), UNIT(import_moves_them_as_export_does))
