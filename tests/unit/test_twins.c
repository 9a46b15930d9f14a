/* test_twins.c - which files of a folder are other forms of those beside them. */
#include "analyzer/twins.h"
#include "tests/unit.h"

#include <string.h>

enum { MOST = 8 };

/* Both lists end with NULL; `given` is in order of strcmp(). */
static void check(const char *const *given, const char *const *want, const char *left, const char *by)
{
    struct arena a = {0};
    const char *v[MOST], *got_left = NULL, *got_by = NULL;
    size_t n = 0, k = 0;
    while (given[n]) {
        assert_true(!n || strcmp(given[n - 1], given[n]) < 0);
        v[n] = given[n];
        n++;
    }
    n = twins_drop(v, n, &a, &got_left, &got_by);
    for (; want[k]; k++) {
        assert_true(k < n);
        assert_string_equal(v[k], want[k]);
    }
    assert_int_equal(n, k);
    assert_string_equal(got_left ? got_left : "", left);
    assert_string_equal(got_by ? got_by : "", by);
    arena_free(&a);
}
#define CHECK(given, want, left, by) check((const char *const[])given, (const char *const[])want, left, by)
#define LIST(...)                                                                                                                                    \
    {                                                                                                                                                \
        __VA_ARGS__, NULL                                                                                                                            \
    }

TEST(packed_files_beside_themselves)
{
    CHECK(LIST("d/a.json", "d/a.json.gz", "d/a.json.zst", "d/b.json.gz"), LIST("d/a.json", "d/b.json.gz"), "d/a.json.gz", "d/a.json");
    CHECK(LIST("d/a.json", "e/a.json.gz"), LIST("d/a.json", "e/a.json.gz"), "", "");
    CHECK(LIST("a.json.gz", "a.json.zst"), LIST("a.json.gz", "a.json.zst"), "", ""); /* neither is plain: who knows */
}

TEST(reports_with_their_export)
{
    CHECK(LIST("r.nsys-rep", "r.sqlite", "s.nsys-rep"), LIST("r.sqlite", "s.nsys-rep"), "r.nsys-rep", "r.sqlite");
}

TEST(two_forms_of_one_profile)
{
    CHECK(LIST("d/ascend_pytorch_profiler_0.db", "d/trace_view.json.gz"), LIST("d/ascend_pytorch_profiler_0.db"), "d/trace_view.json.gz",
          "d/ascend_pytorch_profiler_0.db");
    CHECK(LIST("ascend_mindspore_profiler.db", "trace_view.json"), LIST("ascend_mindspore_profiler.db"), "trace_view.json",
          "ascend_mindspore_profiler.db");
    CHECK(LIST("msprof_1.db", "msprof_2.json", "trace_view.json"), LIST("msprof_1.db", "trace_view.json"), "msprof_2.json", "msprof_1.db");
    CHECK(LIST("d/ascend_pytorch_profiler_0.db", "d/e/trace_view.json", "trace_view.json"),
          LIST("d/ascend_pytorch_profiler_0.db", "d/e/trace_view.json", "trace_view.json"), "", "");
    CHECK(LIST("ascend_pytorch_profiler_0.db", "ascend_pytorch_profiler_1.db", "rank0.json"),
          LIST("ascend_pytorch_profiler_0.db", "ascend_pytorch_profiler_1.db", "rank0.json"), "", "");
}

UNIT_MAIN(UNIT(packed_files_beside_themselves), UNIT(reports_with_their_export), UNIT(two_forms_of_one_profile))
