/* The tables of a report: made at the same time they are those made alone, and the two sides are brought onto one measure. */
#include "unit.h"

#include "analyzer/report.h"

#include <string.h>

static void open_pair(struct report *r, const char *after, const char *before)
{
    const char *files[] = {after};
    struct opt_list list = {files, 1};
    struct trace_opts o = TRACE_OPTS_NONE;
    struct err e = {0};
    o.quiet = true;
    assert_ok(report_open(r, &list, before, &o, &e), &e);
}

static char *csv(const struct table *t)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    table_csv(t, out);
    fclose(out);
    return text;
}

TEST(tables_made_together_are_those_made_alone)
{
    static const struct {
        enum report_table of;
        const char *name;
    } plain[] = {{RT_SUMMARY, "summary"}, {RT_IDLE, "idle"}, {RT_STEPS, "steps"}, {RT_CRITICAL, "critical"}, {RT_COMM, "comm"}, {RT_WAITS, "syncs"}};
    struct report r = {0};
    struct err e = {0};
    open_pair(&r, TEST_DATA "/gate_after.json", TEST_DATA "/gate_before.json");
    assert_ok(report_tabulate(&r, REPORT_ALL, &e), &e);
    const struct side *sides[] = {&r.before, &r.after};
    for (int i = 0; i < 2; i++) {
        assert_non_null(strstr(sides[i]->explain, "verdict: "));
        for (size_t k = 0; k < sizeof plain / sizeof *plain; k++) {
            struct table alone = {0};
            assert_null(sides[i]->missing[plain[k].of]);
            assert_ok(table_build(table_find(plain[k].name), &sides[i]->t, NULL, &alone, &e), &e);
            char *want = csv(&alone), *got = csv(&sides[i]->tables[plain[k].of]);
            assert_string_equal(got, want);
            free(want);
            free(got);
            table_free(&alone);
        }
    }
    report_close(&r);
}

TEST(what_is_not_asked_for_is_missing)
{
    struct report r = {0};
    struct err e = {0};
    open_pair(&r, TEST_DATA "/gate_after.json", NULL);
    assert_ok(report_tabulate(&r, 1 << RT_STEPS, &e), &e);
    for (int i = 0; i < RT_N; i++)
        assert_int_equal(r.after.missing[i] == NULL, i == RT_STEPS);
    assert_null(r.after.explain);
    report_close(&r);
}

/* Three steps of the same against two: every row is the same, in the numbers of a step. */
TEST(sums_are_of_a_step_where_steps_differ)
{
    struct report r = {0};
    struct err e = {0};
    struct table t;
    const char *why;
    open_pair(&r, TEST_DATA "/gate_longer.json", TEST_DATA "/gate_before.json");
    assert_ok(report_tabulate(&r, REPORT_ALL, &e), &e);
    assert_true(report_per_step(&r) && r.before.divisor == 2 && r.after.divisor == 3);
    assert_true(report_join(&r, &join_kernels, "", &t, &why));
    assert_true(t.nrows > 0);
    for (size_t i = 0; i < t.nrows; i++) {
        const struct cell *row = table_at(&t, i);
        assert_true(row[table_column(&t, "calls_before")].r == row[table_column(&t, "calls_after")].r);
        assert_int_equal(row[table_column(&t, "total_before_ns")].i, row[table_column(&t, "total_after_ns")].i);
        assert_string_equal(row[table_column(&t, "change")].s, "same");
    }
    table_free(&t);
    report_close(&r);
}

UNIT_MAIN(UNIT(tables_made_together_are_those_made_alone), UNIT(what_is_not_asked_for_is_missing), UNIT(sums_are_of_a_step_where_steps_differ))
