/* test_tables_random.c - traces at random, also such as cannot be: whatever the rows and the window, no table prints an
 * impossible number, and figures that must be equal are, against sums and bitmaps of the rows as they were made.
 */
#include "analyzer/diff.h"
#include "analyzer/whatif.h"
#include "cell_rules.h"
#include "range_maker.h"

enum { SPAN = 400, MOST = 64 };

struct blocking {
    int64_t start, end;
};

struct made {
    struct blocking wait[MOST]; /* blocking calls of rank 0; they do not overlap */
    size_t nwait;
};

static void random_device_rows(struct maker *m, int device, int64_t *corr)
{
    static const char *const names[] = {"gemm", "attention", "ncclDevKernel_AllReduce", "index"};
    for (size_t i = rnd(12); i-- > 0;) {
        int64_t start = (int64_t)rnd(SPAN), end = start + (int64_t)rnd(60) - (rnd(9) == 0);
        if (rnd(12) == 0)
            end = start + (rnd(2) ? INT64_C(7200000000000) : INT64_C(4000000000000000000)); /* two hours; a century */
        switch (rnd(5)) {
        case 0:
            make_work(m, EV_MEMCPY, "Memcpy DtoH", device, (int)rnd(3), start, end, (*corr)++);
            break;
        case 1:
            make_comm(m, rnd(2) ? "cp" : "dp", rnd(2) ? "all_gather" : "all_to_all_v", device, start, end, (int64_t)rnd(3), (int)rnd(3),
                      (int64_t)rnd(99));
            break;
        default:
            make_work(m, EV_KERNEL, names[rnd(4)], device, (int)rnd(3), start, end, rnd(2) ? (int64_t)rnd(30) : -1);
        }
    }
}

static void random_host_rows(struct maker *m, struct made *made, int64_t *corr)
{
    static const char *const calls[] = {"cudaLaunchKernel", "cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaMemcpy", "cudaMalloc"};
    static const char *const ranges[] = {"layer#1", "forward", "backward", "microbatch#0", "thd_route", "conv_halo"};
    int64_t tid = 1 + m->rank, now = 0;
    for (size_t i = rnd(20); i-- > 0;) {
        const char *api = calls[rnd(5)];
        int64_t start = now + (int64_t)rnd(20), end = start + 1 + (int64_t)rnd(30);
        make_call(m, api, tid, start, end, rnd(2) ? (int64_t)rnd(30) : (*corr)++);
        if (api != calls[0] && m->rank == 0)
            made->wait[made->nwait++] = (struct blocking){start, end};
        now = end;
    }
    for (size_t i = rnd(8); i-- > 0;) {
        int64_t start = (int64_t)rnd(SPAN);
        make_push(m, ranges[rnd(6)], tid, start, start + 1 + (int64_t)rnd(SPAN));
    }
    for (size_t i = rnd(4), at = rnd(50); i-- > 0;) {
        char name[32];
        int64_t end = (int64_t)at + 1 + (int64_t)rnd(200);
        snprintf(name, sizeof name, "step#%zu", i);
        make_push(m, name, tid, (int64_t)at, end);
        make_mark(m, rnd(2) ? "cpscope.batch tokens=7 padded=3 sequences=2 work=40 cp=2" : "cpscope.batch tokens=0", tid, (int64_t)at);
        at = (size_t)end + rnd(3);
    }
    make_host(m, EV_OP, rnd(2) ? "aten::item" : "aten::nonzero", tid, (int64_t)rnd(SPAN), SPAN + (int64_t)rnd(9));
}

static void make_anything(struct maker *m, struct made *made)
{
    int64_t corr = 1000;
    size_t ranks = 1 + rnd(2);
    for (m->rank = 0; m->rank < (int32_t)ranks; m->rank++) {
        m->pid = 100 + m->rank;
        random_host_rows(m, made, &corr);
        for (int device = 0; device < 1 + (int)rnd(2); device++)
            random_device_rows(m, device, &corr);
    }
}

static struct trace_opts random_opts(void)
{
    static const char *const spans[] = {NULL, NULL, "gpu", "all", "step"};
    struct trace_opts o = TRACE_OPTS_NONE;
    o.span = spans[rnd(5)];
    o.from = rnd(4) ? INT64_MIN : (int64_t)rnd(100);
    o.to = rnd(4) ? INT64_MAX : (int64_t)rnd(SPAN);
    o.device = rnd(5) ? -1 : 0;
    return o;
}

static int64_t total(const struct table *t, const char *column, int64_t rank, int64_t device)
{
    int64_t sum = 0;
    for (size_t i = 0; i < t->nrows; i++)
        if (cell_of(t, i, "rank") == rank && cell_of(t, i, "device") == device)
            sum += cell_of(t, i, column);
    return sum;
}

/* A table that cannot be judged has no rows. */
static void build(const struct trace *t, const char *name, struct table *out)
{
    struct err e = {0};
    if (!table_build(table_find(name), t, NULL, out, &e))
        assert_int_equal(e.kind, ERR_UNDECIDED);
}

/* Lane by lane: causes of idle, names of kernels and groups of collectives add up to the summary's figures. */
static void parts_make_the_whole(const struct trace *t, const struct table *summary)
{
    struct table idle, kernels, comm, overlap;
    build(t, "idle", &idle);
    build(t, "kernels", &kernels);
    build(t, "comm", &comm);
    build(t, "overlap", &overlap);
    for (size_t i = 0; i < summary->nrows; i++) {
        int64_t rank = cell_of(summary, i, "rank"), device = cell_of(summary, i, "device"), span = cell_of(summary, i, "span_ns");
        int64_t busy = cell_of(summary, i, "busy_ns");
        if (busy)
            assert_int_equal(total(&idle, "idle_ns", rank, device), span - busy);
        assert_int_equal(total(&kernels, "total_ns", rank, device), cell_of(summary, i, "kernel_sum_ns"));
        assert_int_equal(total(&kernels, "calls", rank, device), cell_of(summary, i, "kernels"));
        assert_int_equal(total(&comm, "total_ns", rank, device), cell_of(summary, i, "comm_sum_ns"));
        assert_int_equal(total(&comm, "calls", rank, device), cell_of(summary, i, "comm_kernels"));
        assert_int_equal(total(&overlap, "overlap_ns", rank, device), cell_of(summary, i, "overlap_ns"));
        if (span)
            assert_true(fabs(real_of(summary, i, "busy_pct") - 100.0 * (double)busy / (double)span) < 1e-9);
    }
    for (size_t i = 0; i < comm.nrows; i++)
        if (!is_absent(&comm, i, "wait_ns"))
            assert_int_equal(cell_of(&comm, i, "wait_ns") + cell_of(&comm, i, "transfer_ns"), cell_of(&comm, i, "total_ns"));
    table_free(&idle);
    table_free(&kernels);
    table_free(&comm);
    table_free(&overlap);
}

/* Blocked time of rank 0, ns by ns, in its window. */
static void waits_match_a_bitmap(const struct trace *t, const struct made *made)
{
    struct table syncs;
    struct err e = {0};
    int64_t blocked = 0, sum = 0;
    if (t->ranks[0].rank != 0 || !table_build(table_find("syncs"), t, NULL, &syncs, &e)) {
        table_free(&syncs);
        return;
    }
    for (size_t i = 0; i < made->nwait; i++)
        for (int64_t b = made->wait[i].start; b < made->wait[i].end; b++)
            blocked += ivl_within(t->ranks[0].window, b, b + 1);
    for (size_t i = 0; i < syncs.nrows; i++)
        sum += cell_of(&syncs, i, "rank") == 0 ? cell_of(&syncs, i, "blocked_ns") : 0;
    if (t->opts.from == INT64_MIN && t->opts.to == INT64_MAX)
        assert_int_equal(sum, blocked);
    for (size_t i = 0; i < syncs.nrows; i++)
        if (!is_absent(&syncs, i, "recoverable_ns"))
            assert_true(cell_of(&syncs, i, "recoverable_ns") <= cell_of(&syncs, i, "bubble_ns"));
    table_free(&syncs);
}

static void no_cell_is_impossible(const struct trace *t)
{
    static const struct whatif_args changes[] = {{.drop_syncs = "."}, {.drop_kernels = "gemm"}, {.scale = ".=3"}, {0}};
    for (size_t i = 0; table_descs[i]; i++) {
        struct table s;
        struct err e = {0};
        bool whatif = strcmp(table_descs[i]->name, "whatif") == 0;
        if (table_build(table_descs[i], t, whatif ? &changes[rnd(4)] : NULL, &s, &e))
            whatif ? (void)0 : check_cells(&s);
        else
            assert_int_equal(e.kind, ERR_UNDECIDED); /* with a reason */
        for (size_t r = 0; whatif && r < s.nrows; r++) {
            bool share = strcmp(text_of(&s, r, "metric"), "busy_pct") == 0;
            static const char *const columns[] = {"measured", "predicted", "predicted_low", "predicted_high"};
            for (size_t c = 0; c < 4; c++)
                if (!(real_of(&s, r, columns[c]) >= 0) || (share && real_of(&s, r, columns[c]) > 100))
                    fail_msg("whatif: %s of %s is %g", columns[c], text_of(&s, r, "metric"), real_of(&s, r, columns[c]));
        }
        table_free(&s);
    }
}

TEST(no_table_prints_the_impossible)
{
    PROP(400)
    {
        struct maker m = maker("anything");
        struct made made = {0};
        struct trace_opts o = random_opts();
        struct trace t;
        struct table summary;
        struct err e = {0};
        make_anything(&m, &made);
        if (!make_try(&m, &o, &t, &e)) {
            assert_int_equal(e.kind, ERR_UNDECIDED);
            continue;
        }
        if (table_build(table_find("summary"), &t, NULL, &summary, &e))
            parts_make_the_whole(&t, &summary);
        table_free(&summary);
        waits_match_a_bitmap(&t, &made);
        no_cell_is_impossible(&t);
        trace_close(&t);
    }
}

/* Two of them held against each other. */
TEST(a_headline_is_possible)
{
    PROP(100)
    {
        struct maker m[2] = {maker("before"), maker("after")};
        struct made made[2] = {0};
        struct trace t[2];
        struct table s = {0};
        struct err e = {0};
        bool open[2];
        for (int i = 0; i < 2; i++) {
            make_anything(&m[i], &made[i]);
            open[i] = make_try(&m[i], NULL, &t[i], &e);
        }
        if (open[0] && open[1] && diff_kinds[0].fill(&(struct diff_side){.before = &t[0], .after = &t[1]}, &s, &e))
            for (size_t r = 0; r < s.nrows; r++)
                for (int c = 0; c < 2; c++) {
                    const char *column = c ? "after" : "before", *metric = text_of(&s, r, "metric");
                    struct cell x = table_at(&s, r)[table_column(&s, column)];
                    double v = x.kind == CELL_REAL ? x.r : x.kind == CELL_INT ? (double)x.i : 0;
                    if (!isfinite(v) || v < 0 || (strstr(metric, "_pct") && v > 100))
                        fail_msg("headline: %s of %s is %g", column, metric, v);
                }
        table_free(&s);
        for (int i = 0; i < 2; i++)
            if (open[i])
                trace_close(&t[i]);
    }
}

UNIT_MAIN(UNIT(no_table_prints_the_impossible), UNIT(a_headline_is_possible))
