/* test_schemas.c - the bottom layer: errors, memory, strings, options, result tables. */
#include "tests/unit.h"
#include "schemas/arena.h"
#include "schemas/intern.h"
#include "schemas/opt.h"
#include "schemas/opt_help.h"
#include "schemas/table.h"

TEST(first_failure_sticks_and_is_one_line)
{
    struct err e = {0};
    assert_false(fail(&e, ERR_USAGE, "a\nb\x1b[31m%d", 7));
    assert_false(fail(&e, ERR_FAIL, "later"));
    assert_string_equal(e.msg, "a?b?[31m7");
    assert_int_equal(err_status(&e), STATUS_USAGE);
    e.kind = ERR_NONE;
    char big[3000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = 0;
    fail(&e, ERR_FAIL, "%s", big);
    assert_int_equal(strlen(e.msg), sizeof e.msg - 1);
}

TEST(arena_gives_zeroed_disjoint_memory)
{
    PROP(20)
    {
        struct arena a = {0};
        unsigned char *p[200];
        size_t n[200];
        for (int i = 0; i < 200; i++) {
            n[i] = rnd(20000);
            p[i] = arena_alloc(&a, n[i]);
            assert_int_equal((uintptr_t)p[i] % 16, 0);
            for (size_t k = 0; k < n[i]; k++)
                assert_int_equal(p[i][k], 0);
            memset(p[i], i + 1, n[i]);
        }
        for (int i = 0; i < 200; i++)
            for (size_t k = 0; k < n[i]; k++)
                assert_int_equal(p[i][k], i + 1);
        arena_free(&a);
    }
}

TEST(interned_strings_keep_their_ids)
{
    struct intern t;
    intern_init(&t);
    assert_int_equal(intern_id(&t, ""), 0);
    assert_int_equal(intern_id(&t, NULL), 0);
    char name[32];
    for (uint32_t i = 1; i <= 5000; i++) {
        snprintf(name, sizeof name, "kernel_%u", i);
        assert_int_equal(intern_id(&t, name), i);
    }
    for (uint32_t i = 5000; i >= 1; i--) {
        snprintf(name, sizeof name, "kernel_%u", i);
        assert_int_equal(intern_find(&t, name), i);
        assert_string_equal(intern_str(&t, i), name);
    }
    assert_int_equal(intern_find(&t, "kernel_"), UINT32_MAX);
    assert_int_equal(intern_id_n(&t, "kernel_12345", 8), intern_find(&t, "kernel_1"));
    assert_string_equal(intern_str(&t, 99999), "");
    intern_free(&t);
}

TEST(times_are_exact_and_need_a_unit)
{
    static const struct {
        const char *text;
        int64_t ns; /* -1: refused */
    } cases[] = {{"12.5ms", 12500000},
                 {"0.001us", 1},
                 {"3s", 3000000000},
                 {"1h", 3600000000000},
                 {"-2us", -2000},
                 {"9223372036s", 9223372036000000000},
                 {"12", -1},
                 {"0", 0},
                 {"0s", 0},
                 {"00", -1},
                 {"ms", -1},
                 {"9223372037s", -1},
                 {"1.5x", -1},
                 {"", -1},
                 {"1e3ms", -1},
                 {"7ns", 7},
                 {"1m", 60000000000},
                 {"99999999999999999999s", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ns = -1;
        if (opt_time(cases[i].text, &ns) != (cases[i].ns != -1) || ns != cases[i].ns)
            fail_msg("%s: %lld", cases[i].text, (long long)ns);
    }
}

struct args {
    const char *trace, *format, *second;
    int64_t step, from;
    double x;
    bool quiet;
    struct opt_list rules, rest;
};

static const struct opt opts[] = {
    {OPT_ARG, "TRACE", offsetof(struct args, trace)},
    {OPT_ARG_OPTIONAL, "SECOND", offsetof(struct args, second)},
    {OPT_TEXT, "format", offsetof(struct args, format), "how", "NAME", 'f'},
    {OPT_INT, "step", offsetof(struct args, step), "which"},
    {OPT_TIME, "from", offsetof(struct args, from), "since"},
    {OPT_REAL, "x", offsetof(struct args, x), "x"},
    {OPT_FLAG, "quiet", offsetof(struct args, quiet), "say less", NULL, 'q'},
    {OPT_LIST, "rules", offsetof(struct args, rules), "may be repeated"},
    {0},
};

static struct args parsed(struct err *e, struct arena *a, const struct opt *rows, int argc, const char *const *argv)
{
    struct args got = {0};
    char *copy[32] = {0};
    for (int i = 0; i < argc; i++)
        copy[i] = arena_strdup(a, argv[i]);
    opt_parse(argc, copy, (const struct opt_group[]){{rows, &got, NULL}, {0}}, "doc", a, e);
    return got;
}

TEST(options_fill_their_rows)
{
    struct arena a = {0};
    struct err e = {0};
    const char *const argv[] = {"t", "--step=7", "a.db", "-q", "--rules", "r1", "-f", "csv", "--rules=r2", "--from", "3us", "--x", "0.5", "b.db"};
    struct args g = parsed(&e, &a, opts, 14, argv);
    assert_int_equal(e.kind, ERR_NONE);
    assert_string_equal(g.trace, "a.db");
    assert_string_equal(g.second, "b.db");
    assert_string_equal(g.format, "csv");
    assert_true(g.quiet && g.step == 7 && g.from == 3000 && g.x == 0.5 && g.rules.n == 2);
    assert_string_equal(g.rules.v[1], "r2");
    const char *const bad[] = {"t", "a.db", "--step", "7x"};
    parsed(&e, &a, opts, 4, bad);
    assert_int_equal(err_status(&e), STATUS_USAGE);
    assert_non_null(strstr(e.msg, "--step 7x"));
    arena_free(&a);
}

TEST(rest_takes_the_program_with_its_options)
{
    static const struct opt rest[] = {
        {OPT_REST, "PROGRAM", offsetof(struct args, rest)}, {OPT_TEXT, "format", offsetof(struct args, format), "how"}, {0}};
    struct arena a = {0};
    struct err e = {0};
    const char *const argv[] = {"t", "--format", "x", "--", "sh", "-c", "exit", "--format", "y"};
    struct args g = parsed(&e, &a, rest, 9, argv);
    assert_int_equal(g.rest.n, 5);
    assert_string_equal(g.rest.v[0], "sh");
    assert_string_equal(g.rest.v[4], "y");
    assert_string_equal(g.format, "x");
    arena_free(&a);
}

TEST(a_list_has_no_end)
{
    struct arena a = {0};
    struct opt_list l = {0};
    for (size_t i = 0; i < 5000; i++)
        opt_list_add(&l, &a, arena_printf(&a, "%zu", i));
    assert_int_equal(l.n, 5000);
    for (size_t i = 0; i < l.n; i++)
        assert_int_equal(strtoul(l.v[i], NULL, 10), i);
    arena_free(&a);
}

/* No line is wider than a terminal, parts hang where the text began, and with them put together it is what it was. */
TEST(long_lines_of_help_hang)
{
    PROP(300)
    {
        struct arena a = {0};
        const char *text = "What it is.\v  name      ", *got = NULL;
        for (size_t n = rnd(60); n > 0; n--)
            text = arena_printf(&a, "%s%.*s%s", text, 1 + (int)rnd(12), "abcdefghijkl", n > 1 ? " " : "");
        text = arena_printf(&a, "%s\n\nThe rest.", text);
        got = opt_doc(text, &a);
        char *joined = arena_alloc(&a, strlen(got) + 1), *to = joined;
        size_t width = 0, widest = 0;
        for (const char *p = got; *p; p++) {
            bool hangs = *p == '\n' && strncmp(p + 1, "            ", 12) == 0;
            width = *p == '\n' || *p == '\v' ? 0 : width + 1;
            widest = width > widest ? width : widest;
            *to++ = hangs ? ' ' : *p;
            if (hangs) {
                p += 12;
                width = 12;
            }
        }
        assert_string_equal(joined, text);
        if (widest > 78 || (strlen(text) > 110 && !strstr(got, "\n            a")))
            fail_msg("%zu columns: %s", widest, got);
        arena_free(&a);
    }
}

static const struct column columns[] = {{"name", UNIT_TEXT}, {"n", UNIT_COUNT}, {"pct", UNIT_PERCENT, "n"}, {"x", UNIT_REAL}, {0}};

TEST(csv_quotes_and_keeps_absent_empty)
{
    struct table t;
    table_init(&t, "t", "T", columns);
    struct cell *row = table_row(&t);
    row[0] = cell_text("a,\"b\"\nc");
    row[1] = cell_int(-3);
    row[2] = cell_share(1, 3);
    row[3] = cell_real(0.1);
    row = table_row(&t);
    row[2] = cell_share(5, 0);
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    table_csv(&t, f);
    fclose(f);
    assert_string_equal(text, "name,n,pct,x\n\"a,\"\"b\"\"\nc\",-3,33.3333,0.10000000000000001\n,,,\n");
    free(text);
    table_free(&t);
}

TEST(sorting_is_total_with_absent_last)
{
    PROP(200)
    {
        struct table t;
        table_init(&t, "t", "T", columns);
        size_t n = 1 + rnd(40);
        for (size_t i = 0; i < n; i++) {
            struct cell *row = table_row(&t);
            row[0] = cell_text((const char *[]){"a", "b", "c"}[rnd(3)]);
            if (rnd(4))
                row[1] = cell_int((int64_t)rnd(5));
        }
        bool down = rnd(2);
        table_sort(&t, 1, down);
        for (size_t i = 1; i < n; i++) {
            const struct cell *p = table_at(&t, i - 1), *q = table_at(&t, i);
            if (!p[1].kind)
                assert_false(q[1].kind);
            else if (q[1].kind)
                assert_true(down ? p[1].i >= q[1].i : p[1].i <= q[1].i);
            if (p[1].kind == q[1].kind && p[1].i == q[1].i)
                assert_true(strcmp(p[0].s, q[0].s) <= 0);
        }
        table_free(&t);
    }
}

UNIT_MAIN(UNIT(first_failure_sticks_and_is_one_line), UNIT(arena_gives_zeroed_disjoint_memory), UNIT(interned_strings_keep_their_ids),
          UNIT(times_are_exact_and_need_a_unit), UNIT(options_fill_their_rows), UNIT(rest_takes_the_program_with_its_options),
          UNIT(a_list_has_no_end), UNIT(long_lines_of_help_hang), UNIT(csv_quotes_and_keeps_absent_empty), UNIT(sorting_is_total_with_absent_last))
