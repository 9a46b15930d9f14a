/* test_table_steps.c - steps, their tokens and outliers. */
#include "range_maker.h"

struct opened {
    struct trace t;
    struct table s;
};

static struct opened open_steps(struct maker *m)
{
    struct opened x;
    make_open(m, NULL, &x.t);
    make_table(&x.t, "steps", NULL, &x.s);
    return x;
}

static void close_steps(struct opened *x)
{
    table_free(&x->s);
    trace_close(&x->t);
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
    close_steps(&x);
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
    close_steps(&x);
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
    close_steps(&x);
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

UNIT_MAIN(UNIT(an_outlier_is_over_1_6_medians), UNIT(tokens_tell_long_from_slow), UNIT(busy_is_of_the_busiest_device), UNIT(no_phantom_steps))
