/* Logs as csv: what was written comes back, whatever the fields hold. */
#include "unit.h"

#include "analyzer/csvlog.h"

#include <math.h>
#include <unistd.h>

static const char path[] = "csvlog.csv";

static void put_field(const char *s, bool quote, FILE *out)
{
    if (quote)
        putc('"', out);
    for (; *s; s++)
        fputs(*s == '"' ? "\"\"" : (char[]){*s, 0}, out);
    if (quote)
        putc('"', out);
}

TEST(what_was_written_comes_back)
{
    static const char *const texts[] = {"", "x", "a,b", "\"", "two\nlines", "nan", "1e999x"};
    PROP(300)
    {
        struct arena a = {0};
        struct err e = {0};
        struct csvlog log;
        size_t columns = 1 + rnd(4), nrows = rnd(6);
        double want[32];
        FILE *out = fopen(path, "w");
        const char *end = rnd(2) ? "\r\n" : "\n";
        for (size_t c = 0; c < columns; c++)
            fprintf(out, "%sc%zu", c ? "," : "", c);
        for (size_t i = 0; i < nrows * columns; i++) {
            char number[32];
            bool text = rnd(3) == 0;
            want[i] = text ? NAN : (double)rnd(1000) / 8 - 3;
            snprintf(number, sizeof number, "%.17g", want[i]);
            const char *s = text ? texts[rnd(sizeof texts / sizeof *texts)] : number;
            fputs(i % columns ? "," : end, out);
            put_field(s, strpbrk(s, ",\"\n") || rnd(2) || columns == 1, out);
        }
        fputs(rnd(2) ? end : "", out);
        fclose(out);
        assert_ok(csvlog_read(path, &a, &log, &e), &e);
        assert_int_equal(log.ncolumns, columns);
        assert_int_equal(log.nrows, nrows);
        assert_int_equal(csvlog_column(&log, "c0"), 0);
        assert_int_equal(csvlog_column(&log, "c9"), -1);
        for (size_t i = 0; i < nrows * columns; i++)
            if (isnan(want[i]) ? !isnan(log.v[i]) : log.v[i] != want[i])
                fail_msg("value %zu is %g, not %g", i, log.v[i], want[i]);
        arena_free(&a);
    }
    unlink(path);
}

TEST(what_is_no_csv_is_refused_by_line)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"a,b\n1\n", "line 2: 1 fields"}, {"a\n1,2\n", "line 2: 2 fields"}, {"a\n\"1\n", "line 2"}, {"\"a\"b\n1\n", "line 1"}, {"", "empty"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct err e = {0};
        struct csvlog log;
        FILE *out = fopen(path, "w");
        fputs(cases[i].text, out);
        fclose(out);
        assert_false(csvlog_read(path, &a, &log, &e));
        assert_int_equal(e.kind, ERR_FAIL);
        assert_non_null(strstr(e.msg, cases[i].why));
        arena_free(&a);
    }
    unlink(path);
}

UNIT_MAIN(UNIT(what_was_written_comes_back), UNIT(what_is_no_csv_is_refused_by_line))
