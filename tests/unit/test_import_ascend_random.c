/* Ascend by property: one random case is written as a database and as a text trace; from both come the same rows, and the
 * tables say what a bitmap of every nanosecond says of the case: counts, spans, unions, overlap, syncs. */
#include "ascend_random.h"
#include "import_run.h"
#include "trace_maker.h"

/* ---- rows ---- */

struct seen {
    char v[MOST][160];
    size_t n;
};

static int by_text(const void *x, const void *y)
{
    return strcmp(x, y);
}

static void see(struct seen *s, int kind, const char *name, int64_t start, int64_t length, int device, int64_t place, int64_t correlation)
{
    assert_in_range(s->n, 0, MOST - 1);
    snprintf(s->v[s->n++], sizeof s->v[0], "%s %s at %lld for %lld on %d/%lld, %lld", ev_kind_name((enum ev_kind)kind), name, (long long)start,
             (long long)length, device, (long long)place, (long long)correlation);
}

static struct seen rows_of(const struct made *m)
{
    static const enum ev_kind kinds[] = {
        [CALL] = EV_RUNTIME, [OP] = EV_OP, [STEP] = EV_RANGE, [KERNEL] = EV_KERNEL, [COPY] = EV_MEMCPY, [WAIT] = EV_SYNC, [COMM] = EV_COMM};
    struct seen s = {.n = 0};
    for (size_t i = 0; i < m->n; i++) {
        const struct row *r = &m->v[i];
        if (is_kept(r))
            see(&s, (int)kinds[r->what], name_of(r), r->start, r->length, on_device(r) ? r->device : -1,
                r->what == COMM ? 0
                : on_device(r)  ? r->stream
                                : r->tid,
                r->connection);
    }
    qsort(s.v, s.n, sizeof s.v[0], by_text);
    return s;
}

static struct seen rows_read(const char *path)
{
    struct seen s = {.n = 0};
    struct tracedata d;
    struct err e = {0};
    assert_ok(import_quietly(path, &d, &e), &e);
    assert_int_equal(d.nloss, 0);
    for (size_t i = 0; i < d.n; i++) {
        const struct event *ev = &d.ev[i];
        int64_t place = ev->kind == EV_COMM ? 0 : ev->thread ? d.threads[ev->thread].tid : d.streams[ev->stream].native;
        assert_int_equal(d.processes[process_of_event(&d, ev)].pid, PID);
        see(&s, ev->kind, event_name(&d, i), d.t0 + ev->start - epoch, ev->end - ev->start, ev->device, place, ev->correlation);
    }
    tracedata_free(&d);
    qsort(s.v, s.n, sizeof s.v[0], by_text);
    return s;
}

static void same_rows(const struct seen *want, const char *path)
{
    struct seen got = rows_read(path);
    for (size_t i = 0; i < want->n || i < got.n; i++)
        if (i >= want->n || i >= got.n || strcmp(want->v[i], got.v[i]) != 0)
            fail_msg("%s: row %zu: %s; want %s", path, i, i < got.n ? got.v[i] : "none", i < want->n ? want->v[i] : "none");
}

/* ---- tables ---- */

/* Nanoseconds in which rows of either kind are there (want_both: of both). */
static int64_t covered(const struct made *m, int device, unsigned a, unsigned b, bool want_both)
{
    static unsigned char map[SPAN + 1];
    int64_t n = 0;
    memset(map, 0, sizeof map);
    for (size_t i = 0; i < m->n; i++)
        for (int64_t t = m->v[i].start; m->v[i].device == device && on_device(&m->v[i]) && t < m->v[i].start + m->v[i].length; t++)
            map[t] |= (unsigned char)((a >> m->v[i].what & 1) | (b >> m->v[i].what & 1) << 1);
    for (int64_t t = 0; t < SPAN; t++)
        n += want_both ? map[t] == 3 : map[t] != 0;
    return n;
}

static void check_device(const struct made *m, int device, const struct table *s, size_t row)
{
    enum { K = 1u << KERNEL, C = 1u << COMM, M = 1u << COPY };
    int64_t first = SPAN, last = 0, kernels = 0, comms = 0, sum = 0, comm_sum = 0, copied = 0;
    for (size_t i = 0; i < m->n; i++) {
        const struct row *r = &m->v[i];
        if (r->device != device || (r->what != KERNEL && r->what != COMM && r->what != COPY))
            continue;
        first = r->start < first ? r->start : first;
        last = r->start + r->length > last ? r->start + r->length : last;
        kernels += r->what != COPY;
        comms += r->what == COMM;
        sum += r->what != COPY ? r->length : 0;
        comm_sum += r->what == COMM ? r->length : 0;
        copied += r->what == COPY ? r->length : 0;
    }
    assert_int_equal(cell_of(s, row, "device"), device);
    assert_int_equal(cell_of(s, row, "span_ns"), last - first);
    assert_int_equal(cell_of(s, row, "busy_ns"), covered(m, device, K | C | M, 0, false));
    assert_int_equal(cell_of(s, row, "kernels"), kernels);
    assert_int_equal(cell_of(s, row, "comm_kernels"), comms);
    assert_int_equal(cell_of(s, row, "kernel_sum_ns"), sum);
    assert_int_equal(cell_of(s, row, "comm_sum_ns"), comm_sum);
    assert_int_equal(cell_of(s, row, "kernel_union_ns"), covered(m, device, K | C, 0, false));
    assert_int_equal(cell_of(s, row, "compute_union_ns"), covered(m, device, K, 0, false));
    assert_int_equal(cell_of(s, row, "comm_union_ns"), covered(m, device, C, 0, false));
    assert_int_equal(cell_of(s, row, "overlap_ns"), covered(m, device, K, C, true));
    assert_int_equal(cell_of(s, row, "memcpy_ns"), copied);
}

static bool has_work(const struct made *m, int device)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].device == device && (m->v[i].what == KERNEL || m->v[i].what == COMM || m->v[i].what == COPY))
            return true;
    return false;
}

static void check_syncs(const struct made *m, const struct trace *t)
{
    struct table s;
    struct err e = {0};
    int64_t count = 0, blocked = 0, calls = 0;
    for (size_t i = 0; i < m->n; i++) {
        calls += m->v[i].what == CALL;
        count += m->v[i].sync && !m->v[i].inner;
        blocked += m->v[i].sync && !m->v[i].inner ? m->v[i].length : 0;
    }
    bool ok = table_build(table_find("syncs"), t, NULL, &s, &e);
    assert_int_equal(ok, calls > 0); /* without a call nobody knows */
    for (size_t i = 0; ok && i < s.nrows; i++) {
        count -= cell_of(&s, i, "count");
        blocked -= cell_of(&s, i, "blocked_ns");
    }
    assert_true(!ok || (count == 0 && blocked == 0));
    table_free(&s);
}

static void check_tables(const struct made *m, const char *path)
{
    struct trace_opts o = {.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX, .quiet = true, .span = "gpu"};
    struct trace t;
    struct table s;
    struct err e = {0};
    size_t row = 0;
    assert_ok(trace_open(&path, 1, &o, &t, &e), &e);
    make_table(&t, "summary", NULL, &s);
    for (int d = 0; d < DEVICES; d++)
        if (has_work(m, d))
            check_device(m, d, &s, row++);
    assert_int_equal(s.nrows, row);
    table_free(&s);
    trace_close(&t);
    o.span = "all";
    assert_ok(trace_open(&path, 1, &o, &t, &e), &e);
    check_syncs(m, &t);
    trace_close(&t);
}

TEST(a_database_and_a_text_of_one_case_agree_with_a_bitmap)
{
    PROP(25)
    {
        struct made m = random_case();
        struct seen want = rows_of(&m);
        write_database(&m, "ascend.db");
        write_text(&m, "ascend.json");
        same_rows(&want, "ascend.db");
        same_rows(&want, "ascend.json");
        check_tables(&m, "ascend.db");
        check_tables(&m, "ascend.json");
    }
    unlink("ascend.db");
    unlink("ascend.json");
}

UNIT_MAIN(UNIT(a_database_and_a_text_of_one_case_agree_with_a_bitmap))
