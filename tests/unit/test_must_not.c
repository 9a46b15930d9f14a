/* test_must_not.c - faults that users of other analyzers met, a file each: tests/data/must_not/NN_what(EXPECTATIONS).
 *
 * NN is the row of formats.md section 3. A file or a folder of ranks is opened as a user would, and each expectation held:
 *     refused                     not a trace, with a reason
 *     TABLE.COLUMN=N              the sum of the column over the rows; `none`: empty in all of them
 *     TABLE.rows=N                so many rows
 *     TABLE.status=N              4: it cannot be judged, with a reason
 *     TABLE.says=WORD             in a note below the table or in the reason
 *     TABLE.names=WORD            in a text of one of its rows
 * A file whose name holds "by_pattern" is read with --patterns (below). Of every file all tables are built besides, no cell may be impossible, each sync has its site, and idle is span less busy.
 * Rows whose files lie elsewhere: 3 gate_*.json with tests/cli/gate.sh, 30 import_kineto, 34 tests/long/import_5gb.sh.
 */
#include "analyzer/overlap.h"
#include "cell_rules.h"
#include "import_cases.h"
#include "trace_maker.h"

static const struct overlap_args groups = {.of = "all_to_all", .with = "all_reduce"};

static const struct {
    const char *name, *table;
    const void *args;
} words[] = {{"groups", "overlap", &groups}}; /* tables with options */

static bool says(const struct table *s, const struct err *e, const char *word)
{
    bool found = e->kind && strstr(e->msg, word);
    for (size_t i = 0; i < s->nnotes; i++)
        found |= strstr(s->notes[i], word) != NULL;
    return found;
}

static bool names(const struct table *s, const char *word)
{
    bool found = false;
    for (size_t i = 0; i < s->nrows; i++)
        for (size_t c = 0; c < s->ncolumns; c++) {
            struct cell x = table_at(s, i)[c];
            found |= x.kind == CELL_TEXT && strstr(x.s, word);
        }
    return found;
}

static void hold_sum(const struct table *s, const char *column, const char *value, const char *path)
{
    int c = table_column(s, column);
    int64_t sum = 0;
    bool any = false;
    if (c < 0)
        fail_msg("%s: no column %s", path, column);
    for (size_t i = 0; i < s->nrows; i++) {
        struct cell x = table_at(s, i)[c];
        any |= x.kind != CELL_ABSENT;
        sum += x.kind == CELL_INT ? x.i : 0;
    }
    if (any == (strcmp(value, "none") == 0) || (any && sum != atoll(value)))
        fail_msg("%s: %s is %s%lld, want %s", path, column, any ? "" : "absent ", (long long)sum, value);
}

static void hold(const struct trace *t, char *expectation, const char *path)
{
    char *column = strchr(expectation, '.'), *value = column ? strchr(column, '=') : NULL;
    if (!value)
        fail_msg("%s: expectation '%s' is not TABLE.COLUMN=VALUE", path, expectation);
    *column++ = '\0', *value++ = '\0';
    const char *table = expectation;
    const void *args = NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].name, expectation) == 0)
            table = words[i].table, args = words[i].args;
    struct table s;
    struct err e = {0};
    bool ok = table_build(table_find(table), t, args, &s, &e);
    if (strcmp(column, "says") == 0)
        assert_true(says(&s, &e, value));
    else if (strcmp(column, "names") == 0)
        assert_true(ok && names(&s, value));
    else if (ok == (strcmp(column, "status") == 0))
        fail_msg("%s: %s: %s", path, table, ok ? "has an answer" : e.msg);
    else if (!ok)
        assert_int_equal(err_status(&e), atoi(value));
    else if (strcmp(column, "rows") == 0)
        assert_int_equal(s.nrows, atoi(value));
    else
        hold_sum(&s, column, value, path);
    table_free(&s);
}

static int64_t sum_of(const struct trace *t, const char *table, const char *column)
{
    struct table s;
    int64_t sum = 0;
    make_table(t, table, NULL, &s);
    for (size_t i = 0; i < s.nrows; i++)
        sum += cell_of(&s, i, column);
    table_free(&s);
    return sum;
}

static bool has_answer(const struct trace *t, const char *table)
{
    struct table s;
    struct err e = {0};
    bool ok = table_build(table_find(table), t, NULL, &s, &e);
    table_free(&s);
    return ok;
}

static void hold_always(const struct trace *t)
{
    for (size_t i = 0; table_descs[i]; i++) {
        struct table s;
        struct err e = {0};
        if (table_build(table_descs[i], t, NULL, &s, &e))
            check_cells(&s);
        else
            assert_int_equal(e.kind, ERR_UNDECIDED);
        for (size_t r = 0; e.kind == ERR_NONE && strcmp(s.name, "syncs") == 0 && r < s.nrows; r++)
            assert_true(*text_of(&s, r, "site"));
        table_free(&s);
    }
    if (has_answer(t, "summary"))
        assert_int_equal(sum_of(t, "idle", "idle_ns"), sum_of(t, "summary", "span_ns") - sum_of(t, "summary", "busy_ns"));
}

static void one_file(const char *path)
{
    char name[512];
    const char *open = strchr(strrchr(path, '/'), '(');
    struct trace_opts o = TRACE_OPTS_NONE;
    struct trace t;
    struct err e = {0};
    o.quiet = true;
    if (strstr(path, "by_pattern"))
        o.patterns = "patterns", o.patterns_text = "comm cross_device_reduce\ncomm ^deep_ep::\n";
    snprintf(name, sizeof name, "%s", open + 1);
    *strrchr(name, ')') = '\0';
    const char *trace = path;
    if (strcmp(path + strlen(path) - 4, ".sql") == 0)
        case_build(path, trace = "case.db");
    bool ok = trace_open(&trace, 1, &o, &t, &e);
    if (ok == (strcmp(name, "refused") == 0) || (!ok && (e.kind != ERR_FAIL || strchr(e.msg, '\n'))))
        fail_msg("%s: %s", path, ok ? "taken, should be refused" : e.msg);
    for (char *rest = name, *part; ok && (part = strsep(&rest, ","));)
        hold(&t, part, path);
    if (ok)
        hold_always(&t);
    trace_close(&t);
    unlink("case.db");
}

TEST(each_fault_has_its_file)
{
    glob_t g;
    unsigned rows[36] = {[3] = 1, [30] = 1, [34] = 1};
    assert_int_equal(glob(TEST_DATA "/must_not/*(*", 0, NULL, &g), 0);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        int row = atoi(strrchr(g.gl_pathv[i], '/') + 1);
        assert_in_range(row, 1, 35);
        rows[row]++;
        one_file(g.gl_pathv[i]);
    }
    for (int i = 1; i <= 35; i++)
        if (!rows[i])
            fail_msg("row %d has no file", i);
    globfree(&g);
}

UNIT_MAIN(UNIT(each_fault_has_its_file))
