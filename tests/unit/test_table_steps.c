/* test_table_steps.c - steps, their tokens and outliers. */
#include "range_maker.h"

static struct opened open_steps(struct maker *m)
{
    return open_table(m, NULL, "steps", NULL);
}

/* Steps of these lengths end to end from 100 on, each with one mark of so many tokens (0: none). */
static void make_steps(struct maker *m, const int64_t *ns, const int64_t *tokens, int n)
{
    int64_t at = 100;
    for (int i = 0; i < n; i++) {
        char name[64], mark[64];
        snprintf(name, sizeof name, "step#%d", i);
        snprintf(mark, sizeof mark, "cpscope.batch tokens=%lld sequences=1", (long long)tokens[i]);
        make_push(m, name, 1, at, at + ns[i]);
        if (tokens[i])
            make_mark(m, mark, 1, at + 1);
        at += ns[i];
    }
}

TEST(an_outlier_is_over_1_6_medians)
{
    struct maker m = maker("outlier");
    make_steps(&m, (int64_t[]){100, 160, 100, 161, 100}, (int64_t[]){0, 0, 0, 0, 0}, 5);
    struct opened x = open_steps(&m);
    assert_int_equal(x.s.nrows, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(cell_of(&x.s, i, "outlier"), i == 3);
    assert_int_equal(cell_of(&x.s, 1, "start_ns"), 100); /* since the first row */
    assert_int_equal(cell_of(&x.s, 1, "duration_ns"), 160);
    assert_true(is_absent(&x.s, 0, "tokens") && is_absent(&x.s, 0, "ns_per_token") && is_absent(&x.s, 0, "busy_pct"));
    close_table(&x);
}

TEST(tokens_tell_long_from_slow)
{
    struct maker m = maker("tokens");
    make_steps(&m, (int64_t[]){100, 400, 100}, (int64_t[]){10, 40, 5}, 3);
    struct opened x = open_steps(&m);
    assert_int_equal(cell_of(&x.s, 1, "tokens"), 40);
    assert_true(real_of(&x.s, 1, "ns_per_token") == 10);
    assert_int_equal(cell_of(&x.s, 1, "outlier"), 0);
    assert_int_equal(cell_of(&x.s, 2, "outlier"), 1);
    close_table(&x);
}

TEST(busy_is_of_the_busiest_device)
{
    struct maker m = maker("busy");
    make_steps(&m, (int64_t[]){100}, (int64_t[]){0}, 1);
    make_work(&m, EV_KERNEL, "a", 0, 7, 110, 150, -1);
    make_work(&m, EV_KERNEL, "a", 0, 8, 120, 160, -1); /* beside it: 50, not 80 */
    make_work(&m, EV_KERNEL, "a", 1, 7, 190, 290, -1); /* 10 of it in the step */
    struct opened x = open_steps(&m);
    assert_true(real_of(&x.s, 0, "busy_pct") == 50);
    close_table(&x);
}

/* A step that begins inside its predecessor, and the shorter one of the same number, are said in every table. */
TEST(steps_that_overlap_are_said)
{
    static const char *const tables[] = {"steps", "ranges"};
    struct maker m = maker("overlap");
    make_push(&m, "step#1", 1, 100, 200);
    make_push(&m, "step#2", 2, 190, 300);
    make_push(&m, "step#3", 1, 300, 400);
    make_push(&m, "step#3", 2, 310, 320);
    struct opened x = open_steps(&m);
    assert_int_equal(x.s.nrows, 2);
    assert_int_equal(cell_of(&x.s, 1, "step"), 3);
    assert_int_equal(cell_of(&x.s, 1, "duration_ns"), 100);
    for (size_t i = 0; i < 2; i++) {
        struct table s;
        bool said = false;
        make_table(&x.t, tables[i], NULL, &s);
        for (size_t k = 0; k < s.nnotes; k++)
            said |= strstr(s.notes[k], "ranges called steps that overlap another step or repeat its number, left out: 2") != NULL;
        assert_true(said);
        table_free(&s);
    }
    close_table(&x);
}

/* Ranges of libraries are no steps, and warm-up is none. */
TEST(no_phantom_steps)
{
    struct maker m = maker("phantom");
    struct trace t;
    struct table out = {0};
    struct err e = {0};
    make_push(&m, "Optimizer.step#Adam.step", 1, 0, 10);
    make_push(&m, "warmup#0", 1, 10, 20);
    make_push(&m, "forward_step", 1, 20, 30);
    make_open(&m, NULL, &t);
    assert_false(table_build(table_find("steps"), &t, NULL, &out, &e));
    assert_int_equal(e.kind, ERR_UNDECIDED);
    assert_non_null(strstr(e.msg, "--step-marker"));
    table_free(&out);
    trace_close(&t);
}

/* Kernels of these letters on stream 7, 10 long, 5 apart, and `more` before those at `at`. */
static void make_letters(struct maker *m, const char *letters, char at, int64_t more)
{
    int64_t now = 1000;
    for (const char *p = letters; *p; p++) {
        char name[2] = {*p};
        now += *p == at ? more : 0;
        make_work(m, EV_KERNEL, name, 0, 7, now, now + 10, -1);
        now += 15;
    }
}

TEST(kernels_that_repeat_are_steps)
{
    struct maker m = maker("repeated");
    make_letters(&m, "xyabbcabbcabbcab", 'c', 100); /* a step begins at c */
    make_work(&m, EV_KERNEL, "other", 0, 8, 0, 900, -1);
    make_push(&m, "Optimizer.step#Adam.step", 1, 1000, 1010);
    struct opened x = open_steps(&m);
    assert_int_equal(x.s.nrows, 2); /* c a b b: what is before the first c and behind the last is cut */
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(cell_of(&x.s, i, "step"), i);
        assert_int_equal(cell_of(&x.s, i, "start_ns"), 1000 + 5 * 15 + 100 + 160 * (int64_t)i);
    }
    assert_int_equal(cell_of(&x.s, 0, "duration_ns"), 160);
    assert_int_equal(cell_of(&x.s, 1, "duration_ns"), 160);
    close_table(&x);
}

/* One forward pass: layers repeat, but something else comes behind them; one kernel in a loop; twice is not often enough. */
TEST(layers_and_loops_are_no_steps)
{
    static const char *const none[] = {"eabcabcabcabcabcabch", "aaaaaaaaaaaaaaaaaaaa", "abcdabcd", "xxxxxxabcabcabc"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct maker m = maker("layers");
        struct trace t;
        struct table out = {0};
        struct err e = {0};
        make_letters(&m, none[i], 0, 0);
        make_open(&m, NULL, &t);
        if (table_build(table_find("steps"), &t, NULL, &out, &e))
            fail_msg("steps in %s", none[i]);
        assert_int_equal(e.kind, ERR_UNDECIDED);
        table_free(&out);
        trace_close(&t);
    }
}

struct expected {
    int64_t start[64], end[64];
    size_t n;
};

/* Every tail, every period, every row that a step might begin at. */
static struct expected by_trial(const int *name, const int64_t *start, const int64_t *end, size_t n)
{
    struct expected x = {0};
    for (size_t length = n; 4 * length >= 3 * n && length; length--)
        for (size_t p = 1, from = n - length; 3 * p <= length; p++) {
            size_t same = 0, at = from;
            int64_t most = -1;
            bool one = true;
            for (size_t i = from + p; i < n; i++)
                same += name[i] == name[i - p];
            for (size_t i = from; i < from + p; i++)
                one &= name[i] == name[from];
            if (same < length - p)
                continue;
            for (size_t k = from; k < from + p; k++) {
                int64_t still = 0;
                for (size_t i = k; i < n; i += p)
                    still += i > from && start[i] > end[i - 1] ? start[i] - end[i - 1] : 0;
                at = still > most ? k : at;
                most = still > most ? still : most;
            }
            for (; !one && at + p <= n; at += p) {
                x.start[x.n] = start[at];
                x.end[x.n++] = at + p < n ? start[at + p] : end[n - 1];
            }
            return x;
        }
    return x;
}

TEST(repetitions_are_those_of_trial)
{
    PROP(2000)
    {
        struct maker m = maker("trial");
        struct trace t;
        int name[48];
        int64_t start[48], end[48], now = 100;
        size_t n = 1 + rnd(40), period = 1 + rnd(9), noise = rnd(4);
        for (size_t i = 0; i < n; i++) {
            char text[2] = {0};
            name[i] = i >= period && (noise || rnd(9)) && i > 3 * noise ? name[i - period] : (int)rnd(3);
            text[0] = (char)('a' + name[i]);
            start[i] = now + (int64_t)rnd(30);
            end[i] = start[i] + 1 + (int64_t)rnd(20);
            now = end[i] - (rnd(5) ? 0 : (int64_t)rnd(5));
            now = now > start[i] ? now : start[i] + 1; /* rows come in order of their starts */
            make_work(&m, EV_KERNEL, text, 0, 7, start[i], end[i], -1);
        }
        make_work(&m, EV_MEMCPY, "copy", 0, 7, 0, 5, -1);
        make_open(&m, NULL, &t);
        struct arena a = {0};
        size_t rows = 0;
        struct steplist got = steps_repeated(&t.files[0].d, t.lanes[0].ev, t.lanes[0].n, &rows, &a);
        struct expected want = by_trial(name, start, end, n);
        if (got.n != want.n)
            fail_msg("%zu steps, by trial %zu", got.n, want.n);
        for (size_t i = 0; i < got.n; i++)
            if (got.v[i].start != want.start[i] || got.v[i].end != want.end[i])
                fail_msg("step %zu: %lld to %lld, by trial %lld to %lld", i, (long long)got.v[i].start, (long long)got.v[i].end,
                         (long long)want.start[i], (long long)want.end[i]);
        arena_free(&a);
        trace_close(&t);
    }
}

UNIT_MAIN(UNIT(an_outlier_is_over_1_6_medians), UNIT(tokens_tell_long_from_slow), UNIT(busy_is_of_the_busiest_device),
          UNIT(steps_that_overlap_are_said), UNIT(no_phantom_steps), UNIT(kernels_that_repeat_are_steps), UNIT(layers_and_loops_are_no_steps),
          UNIT(repetitions_are_those_of_trial))
