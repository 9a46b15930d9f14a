/* test_tables_agree.c - on real traces: idle causes are span less busy, overlap is summary's, no number is impossible.
 *
 * The files are not part of this repository; where they lie beside it they are used.
 */
#include "cell_rules.h"
#include "trace_maker.h"

#include <glob.h>

static const char *const spans[] = {NULL, "gpu", "all"};

static void check_idle(const struct table *summary, const struct table *idle)
{
    for (size_t i = 0; i < summary->nrows; i++) {
        int64_t sum = 0;
        for (size_t k = 0; k < idle->nrows; k++)
            if (cell_of(idle, k, "rank") == cell_of(summary, i, "rank") && cell_of(idle, k, "device") == cell_of(summary, i, "device"))
                sum += cell_of(idle, k, "idle_ns");
        assert_int_equal(sum, cell_of(summary, i, "span_ns") - cell_of(summary, i, "busy_ns"));
    }
}

static void check_overlap(const struct table *summary, const struct table *overlap)
{
    static const char *const columns[] = {"comm_union_ns", "overlap_ns", "exposed_comm_ns"};
    assert_int_equal(summary->nrows, overlap->nrows);
    for (size_t i = 0; i < summary->nrows; i++)
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(cell_of(summary, i, columns[k]), cell_of(overlap, i, columns[k]));
}

static void check_others(const struct trace *t)
{
    static const char *const names[] = {"ranges", "steps", "repeats", "cp", "ranks", "comm", "syncs", "kernels"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct table s;
        struct err e = {0};
        if (table_build(table_find(names[i]), t, NULL, &s, &e))
            check_cells(&s);
        else
            assert_int_equal(e.kind, ERR_UNDECIDED); /* and a reason, never a made-up number */
        table_free(&s);
    }
}

static void check_file(const char *path, const char *span)
{
    struct trace_opts o = TRACE_OPTS_NONE;
    struct trace t;
    struct err e = {0};
    o.span = span;
    o.quiet = true;
    if (!trace_open(&path, 1, &o, &t, &e)) { /* --span gpu of a trace without GPU rows */
        assert_int_equal(e.kind, ERR_UNDECIDED);
        return;
    }
    struct table summary, idle, overlap;
    if (table_build(table_find("summary"), &t, NULL, &summary, &e)) {
        make_table(&t, "idle", NULL, &idle);
        make_table(&t, "overlap", NULL, &overlap);
        check_idle(&summary, &idle);
        check_overlap(&summary, &overlap);
        check_cells(&summary);
        check_cells(&idle);
        check_cells(&overlap);
        table_free(&idle);
        table_free(&overlap);
    }
    table_free(&summary);
    check_others(&t);
    trace_close(&t);
}

TEST(tables_of_real_traces_agree)
{
    static const char *const patterns[] = {"/../shared/traces/kineto/*.json*", "/../shared/traces/nsys/*.sqlite"};
    size_t n = 0;
    for (size_t i = 0; i < 2; i++) {
        char pattern[2048];
        glob_t g;
        snprintf(pattern, sizeof pattern, "%s%s", TEST_ROOT, patterns[i]);
        if (glob(pattern, 0, NULL, &g) != 0)
            continue;
        for (size_t k = 0; k < g.gl_pathc; k++, n++)
            for (size_t s = 0; s < sizeof spans / sizeof *spans; s++)
                check_file(g.gl_pathv[k], spans[s]);
        globfree(&g);
    }
    if (!n)
        skip_because("the shared traces are not beside this checkout");
}

UNIT_MAIN(UNIT(tables_of_real_traces_agree))
