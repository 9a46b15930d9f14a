/* test_table_spares.c - a table is the same, byte for byte, when the side tables and rows that it spares are not loaded. */
#include "analyzer/kernels.h"
#include "trace_maker.h"

static const char *some(const char *const *texts, size_t n)
{
    return texts[rnd(n)];
}

static void random_host_row(struct maker *m, int64_t at, int64_t corr)
{
    static const char *const ranges[] = {"cpscope.step#1", "cpscope.step#2", "microbatch#0", "layer#3", "thd_route", "attention"};
    static const char *const calls[] = {"cudaLaunchKernel", "cudaStreamSynchronize", "cudaMemcpyAsync", "cudaMalloc", "cudaStreamWaitEvent"};
    static const char *const frames[] = {"torch/nn.py(9): call", "model/a.py(7): forward", "model/b.py(8): route"};
    static const char *const ops[] = {"aten::item", "aten::nonzero", "item", "aten::mm"};
    int64_t tid = (int64_t)rnd(2), end = at + (int64_t)rnd(60);
    struct event ev;
    if (!rnd(30)) /* not possible, or hardly */
        end = rnd(2) ? at - 7 : at + (rnd(2) ? INT64_C(7200) : INT64_C(40)) * 1000000000;
    switch (rnd(6)) {
    case 0:
        ev = host_event(m, EV_RANGE, some(ranges, 6), tid, at, end + 200);
        if (rnd(2))
            ev.detail = tracedata_range_row(&m->d, (struct ev_range){intern_id(&m->d.strings, rnd(2) ? "cp" : ""), (int32_t)rnd(3), -1});
        break;
    case 1:
        ev = host_event(m, EV_OP, some(ops, 4), tid, at, end);
        break;
    case 2:
        ev = host_event(m, EV_FRAME, some(frames, 3), tid, at, end + 300);
        break;
    default:
        ev = host_event(m, EV_RUNTIME, some(calls, 5), tid, at, end);
        ev.correlation = corr;
        if (!rnd(3))
            ev.detail = tracedata_sync_row(&m->d, (struct ev_sync){(int32_t)rnd(6), (int32_t)rnd(3) - 1, 7, -1});
    }
    if (rnd(2))
        ev.site = tracedata_site(&m->d, rnd(2) ? "route_build" : "item", "route.c", (int32_t)rnd(4));
    if (!rnd(3)) { /* what says nothing of a host row */
        ev.bytes = (int64_t)rnd(99);
        ev.device = ev.kind == EV_RUNTIME ? -1 : (int32_t)rnd(2);
        ev.correlation = ev.kind == EV_RUNTIME ? corr : (int64_t)rnd(20);
    }
    make_event(m, ev);
}

static void random_device_row(struct maker *m, int64_t at, int64_t corr)
{
    static const char *const kernels[] = {"gemm_bf16", "ncclDevKernel_AllGather", "elementwise", "flash_fwd_kernel"};
    int device = (int)rnd(2), stream = 7 + (int)rnd(2);
    int64_t end = at + (int64_t)rnd(50);
    struct tracedata *d = &m->d;
    switch (rnd(5)) {
    case 0:
        make_comm(m, rnd(2) ? "cp" : "tp", "all_gather", device, at, end, (int64_t)rnd(4), 2, 512);
        return;
    case 1:
        make_work(m, rnd(2) ? EV_MEMCPY : EV_MEMSET, "Memcpy DtoH", device, stream, at, end, corr);
        if (rnd(2))
            d->ev[d->n - 1].detail = tracedata_copy_row(d, (struct ev_copy){(int32_t)rnd(7), (int32_t)rnd(6), (int32_t)rnd(6)});
        return;
    default:
        make_work(m, EV_KERNEL, some(kernels, 4), device, stream, at, end, corr);
        if (rnd(2))
            d->ev[d->n - 1].detail = tracedata_kernel_row(d, (struct ev_kernel){{1 + (int32_t)rnd(3), 1, 1}, {128, 1, 1}, 32});
    }
}

static struct maker random_file(void)
{
    struct maker m = maker("spares");
    size_t n = 5 + rnd(120);
    for (size_t i = 0; i < n; i++) {
        int64_t at = (int64_t)rnd(2000), corr = (int64_t)rnd(20);
        m.rank = (int32_t)rnd(2);
        rnd(2) ? random_host_row(&m, at, corr) : random_device_row(&m, at + 20, corr);
        if (!rnd(3) && ev_kind_class((enum ev_kind)m.d.ev[m.d.n - 1].kind) == EV_WORK)
            m.d.ev[m.d.n - 1].site = tracedata_site(&m.d, "kernel_site", "k.cu", 7);
    }
    make_file(&m);
    return m;
}

/* Everything that a table shows, or why there is none. */
static char *shown(const struct table_desc *d, const char *path, int64_t rank, unsigned spared)
{
    char *text = NULL;
    size_t size;
    struct trace_opts o = TRACE_OPTS_NONE;
    struct trace t;
    struct table out = {0};
    struct err e = {0};
    FILE *f = open_memstream(&text, &size);
    o.rank = rank;
    o.spared = spared;
    if (trace_open(&path, 1, &o, &t, &e)) {
        if (table_build(d, &t, NULL, &out, &e))
            table_csv(&out, f);
        for (size_t i = 0; i < out.nnotes; i++)
            fprintf(f, "%s\n", out.notes[i]);
        table_free(&out);
        trace_close(&t);
    }
    fprintf(f, "%d %s\n", e.kind, e.msg);
    fclose(f);
    return text;
}

TEST(what_is_spared_changes_nothing)
{
    PROP(150)
    {
        struct maker m = random_file();
        for (size_t i = 0; table_descs[i]; i++) {
            const struct table_desc *d = table_descs[i];
            int64_t rank = (int64_t)rnd(3) - 1;
            struct trace_opts none = TRACE_OPTS_NONE;
            char *all = shown(d, m.path, rank, 0), *some = shown(d, m.path, rank, table_spares(d, &none, NULL));
            if (strcmp(all, some) != 0)
                fail_msg("%s: differs without what it spares:\n%s\n%s", d->name, all, some);
            free(all);
            free(some);
        }
        unlink(m.path);
    }
}

TEST(what_is_spared_is_not_loaded)
{
    struct maker m = maker("spared");
    struct trace t;
    struct trace_opts o = TRACE_OPTS_NONE;
    make_comm(&m, "cp", "all_gather", 0, 10, 20, 1, 2, 64);
    for (int i = 0; i < 9; i++)
        make_host(&m, EV_OP, "aten::mm", 1, 100 + i, 110 + i);
    o.spared = SIDE_COMM | ROWS_OP;
    make_open(&m, &o, &t);
    assert_int_equal(t.files[0].d.n, 3); /* the first and the last operator stand for all */
    assert_int_equal(t.files[0].end, 118);
    assert_int_equal(t.files[0].d.ncomms, 0);
    assert_int_equal(t.files[0].d.ev[0].detail, 0);
    trace_close(&t);
}

/* A selection, or an option of the table's own, may ask for any row. */
TEST(rows_are_left_out_only_of_a_plain_table)
{
    const struct table_desc *d = table_find("kernels");
    struct kernels_args args = {0};
    struct trace_opts o = TRACE_OPTS_NONE;
    assert_true(table_spares(d, &o, &args) & ROWS_OP);
    assert_true(table_spares(d, &o, &args) & COLUMNS_ALL);
    args.by = "range";
    assert_false(table_spares(d, &o, &args) & ROWS_ANY);
    o.from = 5;
    assert_false(table_spares(d, &o, NULL) & ROWS_ANY);
    o = TRACE_OPTS_NONE;
    o.step = "1";
    assert_false(table_spares(d, &o, NULL) & ROWS_ANY);
    o.step = NULL, o.range = "x";
    assert_false(table_spares(d, &o, NULL) & (ROWS_ANY | SIDE_RANGE));
}

UNIT_MAIN(UNIT(what_is_spared_changes_nothing), UNIT(what_is_spared_is_not_loaded), UNIT(rows_are_left_out_only_of_a_plain_table))
