/* test_thin.c - rows that a table of all files lets go while it loads and works: what goes, and that the table is the same,
 * byte for byte, as of a trace that keeps them. */
#include "analyzer/reduce.h"
#include "analyzer/thin.h"
#include "analyzer/whatif.h"
#include "trace_maker.h"

static const char *some(const char *const *texts, size_t n)
{
    return texts[rnd(n)];
}

static void random_host_row(struct maker *m, int64_t at, int64_t corr)
{
    static const char *const ranges[] = {"step#1", "step#2", "microbatch#0", "thd_route", "attention"};
    static const char *const calls[] = {"cudaLaunchKernel", "cudaStreamSynchronize", "cudaMemcpy", "cudaMalloc"};
    static const char *const frames[] = {"torch/nn.py(9): call", "model/a.py(7): forward", "model/b.py(8): route"};
    int64_t tid = (int64_t)rnd(2), end = at + 1 + (int64_t)rnd(60);
    struct event ev;
    if (!rnd(40)) /* not possible, or hardly */
        end = rnd(2) ? at - 7 : at + (rnd(2) ? INT64_C(7200) : INT64_C(40)) * 1000000000;
    switch (rnd(6)) {
    case 0:
        ev = host_event(m, EV_RANGE, some(ranges, 5), tid, at, end + 300);
        break;
    case 1:
        ev = host_event(m, EV_OP, rnd(2) ? "aten::item" : "aten::mm", tid, at, end);
        break;
    case 2:
        ev = host_event(m, EV_FRAME, some(frames, 3), tid, at, end + 300);
        break;
    default:
        ev = host_event(m, EV_RUNTIME, some(calls, 4), tid, at, end);
        ev.correlation = corr;
        if (!rnd(3))
            ev.detail = tracedata_sync_row(&m->d, (struct ev_sync){(int32_t)rnd(6), (int32_t)rnd(3) - 1, 7, -1});
    }
    if (!rnd(3))
        ev.site = tracedata_site(&m->d, rnd(2) ? "route_build" : "item", "route.c", 3);
    make_event(m, ev);
}

static void random_device_row(struct maker *m, int64_t at, int64_t corr)
{
    int64_t end = at + (int64_t)rnd(50);
    if (rnd(4))
        make_work(m, rnd(5) ? EV_KERNEL : EV_MEMCPY, rnd(2) ? "gemm" : "scan", 0, 7 + (int)rnd(2), at, end, corr);
    else
        make_comm(m, "cp", "all_gather", 0, at, end, (int64_t)rnd(4), 2, 512);
}

static struct maker random_file(int32_t rank)
{
    char name[16];
    snprintf(name, sizeof name, "thin%d", rank);
    struct maker m = maker(name);
    m.rank = rank;
    for (size_t n = 5 + rnd(120); n-- > 0;) {
        int64_t at = (int64_t)rnd(2000), corr = (int64_t)rnd(40);
        rnd(2) ? random_host_row(&m, at, corr) : random_device_row(&m, at + 20, corr);
    }
    make_file(&m);
    return m;
}

static struct whatif_args random_args(void)
{
    static const char *const ranges[] = {NULL, NULL, "thd_route", "aten::item", "a.py", "tention|mm", "("}, *const syncs[] = {NULL, NULL,
                                                                                                                              "a.py|route", "Malloc"};
    static const char *const scales[] = {NULL, NULL, "b.py=0.5", "aten=2", "gemm=3", "=1", "[=1"};
    return (struct whatif_args){
        .drop_range = some(ranges, 7), .drop_syncs = some(syncs, 4), .scale = some(scales, 7), .drop_comm = rnd(4) ? NULL : "."};
}

static char *text_of_table(const struct table *out, const struct err *e)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!e->kind)
        table_csv(out, f);
    for (size_t i = 0; !e->kind && i < out->nnotes; i++)
        fprintf(f, "%s\n", out->notes[i]);
    fprintf(f, "%d %s\n", e->kind, e->msg);
    fclose(f);
    return text;
}

/* Of a trace that keeps all rows; the same as the command has it. */
static char *kept(const struct table_desc *d, const char *const *paths, size_t n, const void *args)
{
    struct trace t;
    struct table out = {0};
    struct err e = {0};
    struct trace_opts o = TRACE_OPTS_NONE;
    bool open = trace_open(paths, n, &o, &t, &e);
    if (open)
        table_build(d, &t, args, &out, &e);
    char *text = text_of_table(&out, &e);
    table_free(&out);
    if (open)
        trace_close(&t);
    return text;
}

static char *thinned(const struct table_desc *d, const char *const *paths, size_t n, const void *args)
{
    struct reduced r;
    struct table out = {0};
    struct err e = {0};
    struct trace_opts o = TRACE_OPTS_NONE;
    o.quiet = true;
    reduce_table(d, paths, n, &o, args, &r, &out, &e);
    char *text = text_of_table(&out, &e);
    table_free(&out);
    reduced_close(&r);
    return text;
}

TEST(what_goes_changes_nothing)
{
    PROP(60)
    {
        struct maker m[2] = {random_file(0), random_file(1)};
        const char *paths[] = {m[0].path, m[1].path};
        size_t n = 1 + rnd(2);
        struct whatif_args args = random_args();
        bool whatif = rnd(3);
        const struct table_desc *d = table_find(whatif ? "whatif" : "critical");
        char *all = kept(d, paths, n, whatif ? &args : NULL), *less = thinned(d, paths, n, whatif ? &args : NULL);
        if (strcmp(all, less) != 0)
            fail_msg("%s: differs when rows are let go:\n%s\n%s", d->name, all, less);
        free(all);
        free(less);
        unlink(paths[0]);
        unlink(paths[1]);
    }
}

static size_t left(const struct trace *t, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < t->files[0].d.n; i++)
        n += strcmp(trace_string(&t->files[0], t->files[0].d.ev[i].name), name) == 0;
    return n;
}

/* The first and the last row of a thread and kind stand for those that go. */
static void make_rows(struct maker *m, const char *name, enum ev_kind kind)
{
    for (int i = 0; i < 9; i++)
        make_host(m, kind, name, 1, 100 + 10 * i, 105 + 10 * i);
}

TEST(what_goes_is_gone)
{
    struct maker m = maker("gone");
    struct thin thin = {{"^aten::it"}};
    struct trace_opts o = TRACE_OPTS_NONE;
    struct trace t;
    make_host(&m, EV_OP, "first", 1, 1, 2);
    make_host(&m, EV_FRAME, "first", 1, 1, 2);
    make_rows(&m, "aten::mm", EV_OP);
    make_rows(&m, "aten::item", EV_OP);
    make_rows(&m, "frame", EV_FRAME);
    make_host(&m, EV_FRAME, "around", 1, 300, 320);
    make_host(&m, EV_RUNTIME, "cudaStreamSynchronize", 1, 310, 315);
    make_host(&m, EV_FRAME, "beside", 1, 320, 330);
    struct event ev = host_event(&m, EV_RUNTIME, "cudaStreamSynchronize", 1, 321, 325); /* knows its site by itself */
    ev.site = tracedata_site(&m.d, "item", "a.c", 1);
    make_event(&m, ev);
    make_host(&m, EV_OP, "last", 1, 900, 901);
    make_host(&m, EV_FRAME, "last", 1, 900, 901);
    o.thin = &thin;
    make_open(&m, &o, &t);
    assert_int_equal(left(&t, "aten::mm"), 0);
    assert_int_equal(left(&t, "aten::item"), 9);
    assert_int_equal(left(&t, "frame"), 0);
    assert_int_equal(left(&t, "around"), 1);
    assert_int_equal(left(&t, "beside"), 0);
    assert_int_equal(left(&t, "cudaStreamSynchronize"), 2);
    assert_int_equal(left(&t, "first"), 2);
    assert_int_equal(left(&t, "last"), 2);
    assert_int_equal(t.files[0].end, 901);
    trace_close(&t);
}

UNIT_MAIN(UNIT(what_goes_changes_nothing), UNIT(what_goes_is_gone))
