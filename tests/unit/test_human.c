/* Numbers for reading: units by column, thousands, no rounding but the last; and what a layout leaves out. */
#include "unit.h"

#include "reports/human.h"
#include "reports/layout.h"

#include <inttypes.h>

static const char *shown(enum unit u, struct cell c, struct cell also)
{
    static char buf[HUMAN_SIZE];
    static struct column columns[] = {{"x"}, {0}};
    struct table t;
    columns[0].unit = u;
    table_init(&t, "t", "t", columns);
    *table_row(&t) = c;
    *table_row(&t) = also;
    struct human h = human_column(&t, 0);
    const char *text = human_cell(&h, c, buf);
    if (text != buf)
        snprintf(buf, sizeof buf, "%s", text);
    table_free(&t);
    return buf;
}

TEST(times_share_the_unit_of_the_largest)
{
    struct cell none = {0};
    assert_string_equal(shown(UNIT_NS, cell_int(999999), none), "999.999");          /* us */
    assert_string_equal(shown(UNIT_NS, cell_int(1000000), none), "1.000");           /* ms */
    assert_string_equal(shown(UNIT_NS, cell_int(2417612345), none), "2,417.612");    /* ms */
    assert_string_equal(shown(UNIT_NS, cell_int(99999999999), none), "100,000.000"); /* still ms */
    assert_string_equal(shown(UNIT_NS, cell_int(100000000000), none), "100.000");    /* s */
    assert_string_equal(shown(UNIT_NS, cell_int(1), cell_int(5000000)), "<0.001");   /* not 0 */
    assert_string_equal(shown(UNIT_NS, cell_int(499), cell_int(5000000)), "<0.001"); /* not 0 */
    assert_string_equal(shown(UNIT_NS, cell_int(500), cell_int(5000000)), "0.001");  /* half goes up */
    assert_string_equal(shown(UNIT_NS, cell_int(0), cell_int(5000000)), "0.000");
    assert_string_equal(shown(UNIT_NS, cell_int(-1500000), none), "-1.500");
    assert_string_equal(shown(UNIT_NS, none, cell_int(5)), "-");
    assert_string_equal(shown(UNIT_NS, cell_int(INT64_MAX), none), "9,223,372,036.855"); /* s */
}

/* In a row the cells of one unit share its size, whatever other rows hold. */
TEST(cells_may_have_units_of_their_own)
{
    static const struct column columns[] = {{"metric", UNIT_TEXT}, {"before", UNIT_REAL}, {"after", UNIT_REAL}, {"delta", UNIT_REAL}, {0}};
    static const struct {
        enum unit unit, difference;
        double v[2];
        const char *want[3];
    } rows[] = {{UNIT_NS, UNIT_NS, {950000, 1200000}, {"0.950 ms", "1.200 ms", "0.250 ms"}},
                {UNIT_NS, UNIT_NS, {2000, 1}, {"2.000 us", "0.001 us", "-1.999 us"}},
                {UNIT_PERCENT, UNIT_POINTS, {50, 37.5}, {"50.0 %", "37.5 %", "-12.5 points"}},
                {UNIT_BYTES, UNIT_BYTES, {12000, 20000000}, {"0.012 MB", "20.000 MB", "19.988 MB"}},
                {UNIT_COUNT, UNIT_COUNT, {1000, 999}, {"1,000", "999", "-1"}}};
    struct table t;
    struct arena a = {0};
    table_init(&t, "t", "t", columns);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cell *row = table_row(&t);
        row[0] = cell_text("m");
        for (int k = 0; k < 2; k++)
            row[1 + k] = cell_measure(cell_int((int64_t)rows[i].v[k]), rows[i].unit);
        row[3] = cell_measure(cell_real(rows[i].v[1] - rows[i].v[0]), rows[i].difference);
        if (rows[i].unit == UNIT_PERCENT)
            row[2] = cell_measure(cell_real(rows[i].v[1]), UNIT_PERCENT);
    }
    struct layout l = layout_of(&t, &a);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < 3; k++) {
            char buf[HUMAN_SIZE];
            assert_string_equal(layout_cell(&t, &l, i, 1 + k, buf), rows[i].want[k]);
        }
    table_free(&t);
    arena_free(&a);
}

TEST(counts_bytes_shares_and_reals)
{
    struct cell none = {0};
    assert_string_equal(shown(UNIT_COUNT, cell_int(61440), none), "61,440");
    assert_string_equal(shown(UNIT_COUNT, cell_int(999), none), "999");
    assert_string_equal(shown(UNIT_COUNT, cell_int(1000), none), "1,000");
    assert_string_equal(shown(UNIT_COUNT, cell_int(INT64_MIN), none), "-9,223,372,036,854,775,808");
    assert_string_equal(shown(UNIT_ID, cell_int(61440), none), "61440");
    assert_string_equal(shown(UNIT_BYTES, cell_int(9999), none), "9,999");
    assert_string_equal(shown(UNIT_BYTES, cell_int(10000), none), "10.000"); /* kB */
    assert_string_equal(shown(UNIT_PERCENT, cell_real(56.25), none), "56.3");
    assert_string_equal(shown(UNIT_PERCENT, cell_real(0), none), "0.0");
    assert_string_equal(shown(UNIT_REAL, cell_real(61440), none), "61,440");
    assert_string_equal(shown(UNIT_REAL, cell_real(0.5), none), "0.500");
    assert_string_equal(shown(UNIT_REAL, cell_real(0.00012), none), "0.00012");
    assert_string_equal(shown(UNIT_REAL, cell_real(-2.25), none), "-2.250");
}

TEST(sentences_get_three_digits)
{
    static const struct {
        int64_t ns;
        const char *want;
    } cases[] = {{0, "0 ms"},
                 {7, "7 ns"},
                 {1500, "1.50 us"},
                 {999499, "999 us"},
                 {999600, "1.00 ms"},
                 {943500000, "944 ms"},
                 {12345678, "12.3 ms"},
                 {1000000000, "1.00 s"},
                 {22731406000, "22.7 s"},
                 {-5000, "-5.00 us"},
                 {INT64_C(4000000000000), "4,000 s"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char buf[HUMAN_SIZE];
        assert_string_equal(human_brief(cases[i].ns, buf), cases[i].want);
    }
}

/* Grouping only adds commas, in the right places. */
TEST(grouping_keeps_the_digits)
{
    PROP(5000)
    {
        char buf[HUMAN_SIZE], plain[HUMAN_SIZE], want[HUMAN_SIZE];
        int64_t n = (int64_t)(rnd(UINT64_MAX) >> rnd(64));
        const char *s = human_count(n, buf);
        size_t k = 0, since = 0;
        for (const char *p = s + strlen(s); p-- > s; since = *p == ',' ? 0 : since + 1)
            if (*p == ',' && since != 3)
                fail_msg("%s: a comma after %zu digits", s, since);
        for (const char *p = s; *p; p++)
            if (*p != ',')
                plain[k++] = *p;
        plain[k] = 0;
        snprintf(want, sizeof want, "%" PRId64, n);
        assert_string_equal(plain, want);
        assert_true(strlen(want) < 4 || strchr(s, ','));
    }
}

TEST(before_and_after_have_one_unit)
{
    static const struct column columns[] = {{"blocked_before_ns", UNIT_NS}, {"blocked_after_ns", UNIT_NS}, {"other_ns", UNIT_NS}, {0}};
    char head[2 * HUMAN_SIZE];
    struct table t;
    table_init(&t, "t", "t", columns);
    struct cell *row = table_row(&t);
    row[0] = cell_int(5000000);
    row[1] = cell_int(70);
    row[2] = cell_int(70);
    assert_string_equal(human_heading(&t, 0, head), "blocked before (ms)");
    assert_string_equal(human_heading(&t, 1, head), "blocked after (ms)");
    assert_string_equal(human_heading(&t, 2, head), "other (us)");
    table_free(&t);
}

TEST(layout_says_once_what_is_the_same_and_what_is_missing)
{
    static const struct column columns[] = {{"rank", UNIT_ID},
                                            {"busy_pct", UNIT_PERCENT, .base = "span_ns"},
                                            {"stall_ns", UNIT_NS},
                                            {"backend", UNIT_TEXT},
                                            {"trace", UNIT_TEXT},
                                            {"gain", UNIT_NS, .asked = true},
                                            {0}};
    struct arena a = {0};
    struct table t;
    table_init(&t, "t", "t", columns);
    for (int i = 0; i < 2; i++) {
        struct cell *row = table_row(&t);
        row[0] = i ? cell_int(i) : (struct cell){0};
        row[1] = cell_real(50);
        row[3] = cell_text("cpu");
        row[4] = cell_text(i ? "b" : "a");
    }
    struct layout l = layout_of(&t, &a);
    assert_int_equal(l.n, 3); /* rank, busy, trace: the two traces differ */
    assert_string_equal(l.source, "backend cpu");
    assert_string_equal(l.bases, "busy is % of span");
    assert_string_equal(l.missing, "not in this trace: stall");
    assert_non_null(l.dash);
    table_free(&t);
    arena_free(&a);
}

UNIT_MAIN(UNIT(times_share_the_unit_of_the_largest), UNIT(cells_may_have_units_of_their_own), UNIT(counts_bytes_shares_and_reals),
          UNIT(sentences_get_three_digits), UNIT(grouping_keeps_the_digits), UNIT(before_and_after_have_one_unit),
          UNIT(layout_says_once_what_is_the_same_and_what_is_missing))
