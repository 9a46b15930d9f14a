/* test_trace_exact.c - real traces against independently computed numbers, to the nanosecond.
 *
 * The files and the tables of expected values are not part of this repository; where they lie beside it they are used.
 */
#include "analyzer/syncs.h"
#include "trace_maker.h"

enum { FIELDS = 20, LINE = 1024 };

static const char *shared(const char *file)
{
    static char path[2048];
    snprintf(path, sizeof path, "%s/../shared/traces/%s", TEST_ROOT, file);
    return path;
}

/* Splits at tabs in place; how many fields. */
static int split(char *line, char *field[FIELDS])
{
    int n = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *p = line; p && n < FIELDS; n++) {
        field[n] = p;
        p = strchr(p, '\t');
        if (p)
            *p++ = '\0';
    }
    return n;
}

static bool is_ours(const char *file) /* formats that this build reads */
{
    return strncmp(file, "kineto/", 7) == 0 || strncmp(file, "nsys/", 5) == 0;
}

static const struct trace_opts span_gpu = {.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX, .span = "gpu"};
static const struct trace_opts span_all = {.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX, .span = "all"};

/* A table of one file, kept until another is asked for. */
static struct table *table_of(const char *file, const char *name, const struct trace_opts *o, struct trace *t, struct table *s, char kept[LINE])
{
    if (strcmp(kept, file) == 0)
        return s;
    struct err e = {0};
    const char *paths[] = {shared(file)};
    if (*kept) {
        table_free(s);
        trace_close(t);
    }
    snprintf(kept, LINE, "%s", file);
    assert_ok(trace_open(paths, 1, o, t, &e), &e);
    make_table(t, name, NULL, s);
    return s;
}

static size_t device_row(const struct table *s, const char *device)
{
    for (size_t i = 0; i < s->nrows; i++)
        if (strcmp(device, "all") == 0 || cell_of(s, i, "device") == atoll(device))
            return i;
    fail_msg("no row of device %s", device);
    return 0;
}

static int compare_row(char *names[FIELDS], char *field[FIELDS], int n, const struct table *s)
{
    size_t row = device_row(s, field[1]);
    int compared = 0;
    for (int i = 2; i < n; i++) {
        bool other = strcmp(names[i], "busy_pct") == 0 || strcmp(names[i], "memops") == 0;
        const char *column = strcmp(names[i], "neg_dur") == 0 ? "bad_rows" : names[i];
        if (other)
            continue;
        if (cell_of(s, row, column) != atoll(field[i]))
            fail_msg("%s device %s %s: %lld, want %s", field[0], field[1], column, (long long)cell_of(s, row, column), field[i]);
        compared++;
    }
    return compared;
}

/* Is the next line of another device of the same file? Then "all" is a merged row, which nobody should see. */
static bool merged(const char *file, const char *device)
{
    char line[LINE], *field[FIELDS];
    int rows = 0;
    FILE *f = fopen(shared("EXPECTED.tsv"), "r");
    while (f && fgets(line, sizeof line, f))
        rows += split(line, field) > 2 && strcmp(field[0], file) == 0;
    if (f)
        fclose(f);
    return rows > 1 && strcmp(device, "all") == 0;
}

TEST(summary_of_real_traces)
{
    char head[LINE], line[LINE], kept[LINE] = "", *names[FIELDS], *field[FIELDS];
    struct trace t;
    struct table s;
    int compared = 0;
    FILE *f = fopen(shared("EXPECTED.tsv"), "r");
    if (!f)
        skip_because("the shared traces are not beside this checkout");
    assert_non_null(fgets(head, sizeof head, f));
    split(head, names);
    while (fgets(line, sizeof line, f)) {
        int n = split(line, field);
        if (is_ours(field[0]) && !merged(field[0], field[1]))
            compared += compare_row(names, field, n, table_of(field[0], "summary", &span_gpu, &t, &s, kept));
    }
    fclose(f);
    table_free(&s);
    trace_close(&t);
    print_message("# %d values\n", compared);
    assert_true(compared > 300);
}

struct want {
    char file[256], api[96];
    int64_t count, ns;
};

static size_t read_syncs(FILE *f, struct want *w, size_t most)
{
    char line[LINE * 4], *field[FIELDS];
    size_t n = 0, i;
    while (fgets(line, sizeof line, f)) {
        if (split(line, field) < 4 || !is_ours(field[0]))
            continue;
        for (i = 0; i < n && (strcmp(w[i].file, field[0]) != 0 || strcmp(w[i].api, field[1]) != 0);)
            i++;
        assert_true(i < most);
        if (i == n) {
            w[n++] = (struct want){.count = 0};
            snprintf(w[i].file, sizeof w[i].file, "%s", field[0]);
            snprintf(w[i].api, sizeof w[i].api, "%s", field[1]);
        }
        w[i].count += atoll(field[2]);
        w[i].ns += atoll(field[3]);
    }
    return n;
}

TEST(waits_of_real_traces)
{
    static struct want want[128];
    char kept[LINE] = "";
    struct trace t;
    struct table s;
    FILE *f = fopen(shared("EXPECTED_SYNC.tsv"), "r");
    if (!f)
        skip_because("the shared traces are not beside this checkout");
    size_t n = read_syncs(f, want, 128);
    fclose(f);
    assert_true(n > 25);
    for (size_t i = 0; i < n; i++) {
        table_of(want[i].file, "syncs", &span_all, &t, &s, kept);
        int64_t count = 0, ns = 0;
        for (size_t r = 0; r < s.nrows; r++)
            if (strcmp(text_of(&s, r, "api"), want[i].api) == 0) {
                count += cell_of(&s, r, "count");
                ns += cell_of(&s, r, "blocked_ns");
            }
        if (count != want[i].count || ns != want[i].ns)
            fail_msg("%s %s: %lld %lld, want %lld %lld", want[i].file, want[i].api, (long long)count, (long long)ns, (long long)want[i].count,
                     (long long)want[i].ns);
    }
    print_message("# %zu pairs of file and API\n", n);
    table_free(&s);
    trace_close(&t);
}

/* All files of one job of EXPECTED_WAIT.tsv into one trace. */
static void compare_job(char (*rows)[LINE], size_t n)
{
    const char *paths[8];
    char *field[8][FIELDS], name[8][2048];
    size_t files = 0;
    struct trace t;
    struct table s;
    struct err e = {0};
    for (size_t i = 0; i < n; i++) {
        split(rows[i], field[i]);
        if (!i || strcmp(field[i][1], field[i - 1][1]) != 0) {
            snprintf(name[files], sizeof name[files], "%s", shared(field[i][1]));
            paths[files] = name[files];
            files++;
        }
    }
    assert_ok(trace_open(paths, files, &span_gpu, &t, &e), &e);
    make_table(&t, "comm", NULL, &s);
    for (size_t i = 0; i < n; i++) {
        static const char *const columns[] = {"calls", "total_ns", "transfer_ns", "wait_ns"};
        for (int c = 0; c < 4; c++) {
            int64_t sum = 0;
            for (size_t r = 0; r < s.nrows; r++)
                sum += cell_of(&s, r, "device") == atoll(field[i][2]) ? cell_of(&s, r, columns[c]) : 0;
            assert_int_equal(sum, atoll(field[i][3 + c]));
        }
    }
    table_free(&s);
    trace_close(&t);
}

TEST(waiting_in_collectives_of_real_traces)
{
    static char rows[64][LINE];
    size_t n = 0;
    FILE *f = fopen(shared("EXPECTED_WAIT.tsv"), "r");
    if (!f)
        skip_because("the shared traces are not beside this checkout");
    assert_non_null(fgets(rows[0], LINE, f)); /* the heading */
    while (n < 64 && fgets(rows[n], LINE, f))
        n++;
    fclose(f);
    for (size_t i = 0, j; i < n; i = j) {
        size_t job = strcspn(rows[i], "\t") + 1;
        for (j = i + 1; j < n && strncmp(rows[i], rows[j], job) == 0;)
            j++;
        compare_job(rows + i, j - i);
    }
    assert_true(n >= 10);
}

UNIT_MAIN(UNIT(summary_of_real_traces), UNIT(waits_of_real_traces), UNIT(waiting_in_collectives_of_real_traces))
