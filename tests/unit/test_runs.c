/* test_runs.c - which files are ranks of one job, and which are runs of their own. */
#include "trace_maker.h"

enum { FILES = 5 };

/* What a file of one device holds: its rank (-1: it does not say), its collectives a letter each: r all_reduce, g all_gather,
 * b broadcast; when each starts beside the first file's, and how long it takes. */
struct part {
    int32_t rank;
    const char *calls;
    int64_t shift, ns;
    int64_t utc; /* of its zero; 0: it does not say */
};

static struct maker make_part(const char *name, const struct part *p)
{
    static const char *const ops['r' + 1] = {['r'] = "all_reduce", ['g'] = "all_gather", ['b'] = "broadcast"};
    struct maker m = maker(name);
    m.rank = p->rank;
    make_work(&m, EV_KERNEL, "gemm", 0, 7, 5, 10 + p->ns, 1);
    for (size_t i = 0; i < strlen(p->calls); i++)
        make_work(&m, EV_KERNEL, ops[(int)p->calls[i]], 0, 7, 100 * (int64_t)i + 100 + p->shift, 100 * (int64_t)i + 100 + p->shift + p->ns, -1);
    if (p->utc)
        tracedata_metaf(&m.d, "utc_epoch_ns", "%lld", (long long)p->utc);
    return m;
}

/* paths[i]: the file of v[i], or of the one before it when its calls are NULL. */
static void open_parts(const struct part *v, int n, const struct trace_opts *o, struct trace *t)
{
    struct maker m[FILES];
    const char *paths[FILES];
    struct err e = {0};
    for (int i = 0; i < n; i++) {
        char name[8];
        snprintf(name, sizeof name, "runs%d", i);
        if (v[i].calls) {
            m[i] = make_part(name, &v[i]);
            make_file(&m[i]);
        }
        paths[i] = v[i].calls ? m[i].path : paths[i - 1];
    }
    bool ok = trace_open(paths, (size_t)n, o, t, &e);
    for (int i = 0; i < n; i++)
        unlink(paths[i]);
    assert_ok(ok, &e);
}

/* patterns: our names of collectives are no kernels that anybody takes for some. */
static void assert_runs(const struct part *v, int n, const char *want)
{
    const struct trace_opts o = {
        .rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX, .patterns = "-", .patterns_text = "comm ^(all_|broad)\n"};
    char got[FILES + 1] = "";
    struct trace t;
    open_parts(v, n, &o, &t);
    for (int i = 0; i < n; i++)
        got[i] = (char)('0' + t.files[i].run);
    assert_string_equal(got, want);
    struct table s; /* file by file, calls condensed: the same runs, seen by what is known of waiting */
    make_table(&t, "summary", NULL, &s);
    for (int i = 0; i < n; i++) {
        bool beside = false;
        for (int k = 0; k < n; k++)
            beside |= k != i && got[k] == got[i] && strcmp(v[i].calls ? v[i].calls : "", v[k].calls ? v[k].calls : "") == 0;
        assert_int_equal(cell_of(&s, (size_t)i, "comm_wait_ns") != INT64_MIN, beside && *v[i].calls);
    }
    table_free(&s);
    trace_close(&t);
}

TEST(files_that_agree_are_ranks_of_one_job)
{
    assert_runs((const struct part[]){{-1, "rgr", 0, 50}, {-1, "rgr", 0, 30}}, 2, "00");
    assert_runs((const struct part[]){{-1, "rgr", 0, 50}, {-1, "rgr", 7, 30}, {-1, "rgr", 5000000000, 40}}, 3, "000"); /* whatever their clocks say */
    assert_runs((const struct part[]){{-1, "rg", 0, 50}, {-1, "rb", 0, 30}}, 2, "01");                                 /* a name */
    assert_runs((const struct part[]){{-1, "rg", 0, 50}, {-1, "rgg", 0, 30}}, 2, "01");                                /* a count */
    assert_runs((const struct part[]){{-1, "rg", 0, 50}, {-1, "gr", 0, 30}}, 2, "01");                                 /* an order */
    assert_runs((const struct part[]){{-1, "rg", 0, 50}, {-1, "b", 0, 30}, {-1, "rg", 0, 20}, {-1, "b", 0, 10}}, 4, "0101");
}

TEST(nothing_says_that_files_without_collectives_belong_together)
{
    assert_runs((const struct part[]){{-1, "", 0, 50}, {-1, "", 0, 30}, {-1, "", 0, 20}}, 3, "012");
    assert_runs((const struct part[]){{0, "r", 0, 50}, {1, "r", 0, 30}, {-1, "", 0, 20}}, 3, "001");
}

TEST(known_ranks_are_one_job_whatever_they_do)
{
    assert_runs((const struct part[]){{0, "r", 0, 50}, {1, "r", 0, 30}, {0, "r", 0, 20}, {1, "r", 0, 10}}, 4, "0011");
    assert_runs((const struct part[]){{3, "", 0, 50}, {5, "", 0, 30}}, 2, "00");
}

/* In any order. */
TEST(a_file_without_a_rank_joins_known_ranks_that_it_agrees_with)
{
    assert_runs((const struct part[]){{0, "rg", 0, 50}, {-1, "rg", 0, 30}}, 2, "00");
    assert_runs((const struct part[]){{-1, "rg", 0, 30}, {0, "rg", 0, 50}}, 2, "00");
    assert_runs((const struct part[]){{0, "rg", 0, 50}, {-1, "g", 0, 30}}, 2, "01");
    assert_runs((const struct part[]){{-1, "g", 0, 30}, {0, "rg", 0, 50}, {1, "rg", 0, 40}}, 3, "011");
}

TEST(a_copy_is_another_run)
{
    assert_runs((const struct part[]){{-1, "rg", 0, 50}, {-1, "rg", 0, 50}}, 2, "01");
    assert_runs((const struct part[]){{-1, "rg", 0, 50}, {-1, "rg", 0, 30}, {-1, "rg", 0, 50}, {-1, "rg", 0, 30}}, 4, "0011");
}

/* Walls of two hosts may disagree by up to a second. */
TEST(what_ran_at_another_time_is_another_run)
{
    static const int64_t second = 1000000000, now = INT64_C(1700000000) * 1000000000;
    assert_runs((const struct part[]){{-1, "rg", 0, 50, now}, {-1, "rg", 0, 30, now + second}}, 2, "00");
    assert_runs((const struct part[]){{-1, "rg", 0, 50, now}, {-1, "rg", 0, 30, now + 2 * second}}, 2, "01");
    assert_runs((const struct part[]){{-1, "rg", 0, 50, now}, {-1, "rg", 0, 30, now - 2 * second}}, 2, "01");
    assert_runs((const struct part[]){{-1, "rg", 0, 50, now}, {-1, "rg", 0, 30}}, 2, "00"); /* nothing compares */
}

/* A shorter trace of a group that has a name, a size and numbers is its rank all the same. */
TEST(numbers_need_no_equal_lists)
{
    for (int size = 2; size < 4; size++) {
        struct maker m[2] = {maker("numbers0"), maker("numbers1")};
        const struct trace_opts o = TRACE_OPTS_NONE;
        struct trace t;
        struct err e = {0};
        for (int i = 0; i < 2; i++) {
            m[i].rank = -1;
            for (int k = 0; k < 3 - i; k++)
                make_comm(&m[i], "cp", k ? "all_gather" : "all_reduce", 0, 100 * k, 100 * k + 10 + i, k, i ? 2 : size, 8);
            make_file(&m[i]);
        }
        const char *paths[] = {m[0].path, m[1].path};
        assert_ok(trace_open(paths, 2, &o, &t, &e), &e);
        unlink(m[0].path);
        unlink(m[1].path);
        assert_int_equal(t.files[1].run, size != 2); /* another size is another group */
        trace_close(&t);
    }
}

/* A selection changes what is shown, not what belongs together. */
TEST(a_selection_leaves_the_runs)
{
    const struct part v[] = {{-1, "rgr", 0, 50}, {-1, "rgr", 0, 30}};
    struct trace_opts o = {.rank = -1, .device = -1, .from = 150, .to = INT64_MAX, .patterns = "-", .patterns_text = "comm ^all_\n"};
    struct trace t;
    struct table s;
    open_parts(v, 2, &o, &t);
    assert_int_equal(t.files[1].run, 0);
    make_table(&t, "summary", NULL, &s);
    assert_int_equal(cell_of(&s, 0, "comm_sum_ns"), 100);
    assert_int_equal(cell_of(&s, 0, "comm_wait_ns"), 40);
    table_free(&s);
    trace_close(&t);
}

UNIT_MAIN(UNIT(files_that_agree_are_ranks_of_one_job), UNIT(nothing_says_that_files_without_collectives_belong_together),
          UNIT(known_ranks_are_one_job_whatever_they_do), UNIT(a_file_without_a_rank_joins_known_ranks_that_it_agrees_with),
          UNIT(a_copy_is_another_run), UNIT(what_ran_at_another_time_is_another_run), UNIT(numbers_need_no_equal_lists),
          UNIT(a_selection_leaves_the_runs))
