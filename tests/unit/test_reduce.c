/* test_reduce.c - a job of four ranks in two parts, in one folder, mixed: every table has the same bytes. Packed rows come
 * back as they were; damaged parts are refused.
 *
 *   oracle: the same table of all traces opened at once
 */
#include "analyzer/part.h"
#include "analyzer/part_pack.h"
#include "analyzer/reduce.h"
#include "analyzer/reduce_part.h"
#include "analyzer/syncs.h"
#include "range_maker.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { RANKS = 4 };

struct job {
    char dir[200], trace[RANKS][256], part[3][256]; /* parts: of ranks 0 and 1, of 2 and 3, of 2 and 3 without rows */
};

static void make_layer(struct maker *m, int i, int64_t at)
{
    char name[32];
    snprintf(name, sizeof name, "layer#%d", i);
    make_push(m, name, 1, at, at + 900);
    make_launched(m, i % 2 ? "gemm" : "void scan<float>(int)", 1 + i % 2, 1, at + 10, at + 20 + rnd(30), at + 60 + rnd(100));
    make_host(m, EV_OP, "aten::item", 1, at + 200, at + 420 + rnd(40));
    make_host(m, EV_FRAME, "model/layer.py(12): forward", 1, at + 190, at + 500);
    make_call(m, "cudaStreamSynchronize", 1, at + 210, at + 400, 7000 + (int64_t)m->d.n);
    make_launched(m, "aten_copy", 1, 1, at + 520, at + 540, at + 550 + rnd(200));
}

/* A message from each rank to the next. */
static void make_chain(struct maker *m, int rank, int64_t at)
{
    for (int receives = 0; receives < 2; receives++) {
        int peer = receives ? rank - 1 : rank + 1;
        if (peer < 0 || peer >= RANKS)
            continue;
        make_comm(m, "pp", receives ? "recv" : "send", rank % 2, at + 100 * receives, at + 100 * receives + 20 + rnd(70), -1, RANKS, 50);
        m->d.comms[m->d.ncomms - 1].peer = peer;
    }
}

/* Collectives start when each rank comes and end together. */
static void make_rank(struct job *j, int rank, int steps, const int64_t *ends, int64_t clock)
{
    struct maker m = maker("reduce");
    snprintf(m.path, sizeof m.path, "%s", j->trace[rank]);
    m.rank = rank;
    m.pid = 100 + rank;
    m.d.t0 = clock;
    tracedata_metaf(&m.d, "t0_ns", "%lld", (long long)clock);
    tracedata_meta(&m.d, "world", "4"); /* two TP groups of one name */
    tracedata_meta(&m.d, "tp", "2");
    tracedata_loss(&m.d, "rows that a test left out", rank, 0, 10);
    for (int s = 0; s < steps; s++) {
        char name[32];
        int64_t at = s * 10000;
        snprintf(name, sizeof name, "step#%d", s);
        make_push(&m, name, 1, at, at + 9000);
        make_push(&m, "microbatch#0", 1, at + 10, at + 8000);
        make_push(&m, "forward", 1, at + 20, at + 7000);
        for (int i = 0; i < 3; i++)
            make_layer(&m, i, at + 100 + i * 1000);
        make_call(&m, "ncclLaunch", 1, at + 4000, at + 4010, 9000 + s);
        make_comm(&m, "cp", "all_gather", rank % 2, at + 4100 + rnd(500), at + ends[s] + rnd(3), s, RANKS, 100 + s);
        make_chain(&m, rank, at + 5000);
        make_comm(&m, "tp", "all_reduce", rank % 2, at + 6100 + rnd(500), at + 7000 + 200 * (rank / 2) + rnd(3), s, 2, 50);
    }
    make_file(&m);
}

static void reduce(struct job *j, int part, int first, const struct trace_opts *o, bool rows)
{
    struct err e = {0};
    const char *paths[] = {j->trace[first], j->trace[first + 1]};
    assert_ok(reduce_part(paths, 2, o, rows, j->part[part], true, &e), &e);
}

static struct job job_open(void)
{
    struct job j;
    const char *dir = getenv("TMPDIR");
    int64_t ends[4];
    int steps = 1 + rnd(3);
    snprintf(j.dir, sizeof j.dir, "%s/cpscope-reduce-XXXXXX", dir ? dir : "/tmp");
    assert_non_null(mkdtemp(j.dir));
    for (int i = 0; i < 3; i++)
        snprintf(j.part[i], sizeof j.part[i], "%s.%d.part", j.dir, i);
    for (int s = 0; s < 4; s++)
        ends[s] = 5000 + rnd(1000);
    for (int r = 0; r < RANKS; r++) {
        snprintf(j.trace[r], sizeof j.trace[r], "%s/rank%d.sqlite", j.dir, r);
        make_rank(&j, r, steps, ends, 1000000 + rnd(5000));
    }
    return j;
}

static void job_close(struct job *j)
{
    for (int r = 0; r < RANKS; r++)
        unlink(j->trace[r]);
    for (int i = 0; i < 3; i++)
        unlink(j->part[i]);
    rmdir(j->dir);
}

/* All that is printed of a table; an error where there is none. The caller frees. */
static char *print(const struct table *t, bool ok, const struct err *e)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    if (ok)
        table_csv(t, f);
    else
        fprintf(f, "%d %s\n", e->kind, e->msg);
    for (size_t i = 0; ok && i < t->nnotes; i++)
        fprintf(f, "%s\n", t->notes[i]);
    fclose(f);
    return text;
}

static char *of_open(const struct table_desc *d, const char *path, const struct trace_opts *o, const void *args)
{
    struct trace t;
    struct table out = {0};
    struct err e = {0};
    const char *paths[] = {path};
    bool opened = trace_open(paths, 1, o, &t, &e), ok = opened && table_build(d, &t, args, &out, &e);
    char *text = print(&out, ok, &e);
    table_free(&out);
    if (opened)
        trace_close(&t);
    return text;
}

static char *of_paths(const struct table_desc *d, const char *const *paths, size_t n, const struct trace_opts *o, const void *args)
{
    struct reduced r;
    struct table out = {0};
    struct err e = {0};
    bool ok = reduce_table(d, paths, n, o, args, &r, &out, &e);
    char *text = print(&out, ok, &e);
    table_free(&out);
    reduced_close(&r);
    return text;
}

static void same(const struct table_desc *d, const char *want, char *got, const char *what)
{
    if (strcmp(want, got) != 0)
        fail_msg("%s of %s differs:\n%s--- instead of\n%s", d->name, what, got, want);
    free(got);
}

static void compare(const struct job *j, const struct table_desc *d, const struct trace_opts *o, const void *args, bool default_options)
{
    char *want = of_open(d, j->dir, o, args);
    const char *folder[] = {j->dir}, *parts[] = {j->part[0], j->part[1]}, *mixed[] = {j->trace[0], j->trace[1], j->part[1]},
               *results[] = {j->part[0], j->part[2]};
    same(d, want, of_paths(d, folder, 1, o, args), "the folder");
    same(d, want, of_paths(d, parts, 2, o, args), "two parts");
    same(d, want, of_paths(d, mixed, 3, o, args), "traces and a part");
    if (default_options && !(d->whole && d->whole(args)))
        same(d, want, of_paths(d, results, 2, o, args), "a part without rows");
    free(want);
}

static const struct trace_opts all = {.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX};

TEST(every_table_has_the_same_bytes)
{
    PROP(3)
    {
        struct job j = job_open();
        struct trace_opts rank = all, cut = all, range = all, gpu = all, none = all;
        const struct trace_opts *others[] = {&rank, &cut, &range, &gpu, &none};
        rank.rank = rnd(RANKS);
        cut.from = 2000, cut.to = 4500;
        range.range = "layer#1";
        gpu.span = "gpu";
        none.range = "nosuch";
        reduce(&j, 0, 0, &all, true);
        reduce(&j, 1, 2, &all, true);
        reduce(&j, 2, 2, &all, false);
        for (size_t i = 0; table_descs[i]; i++) {
            if (strcmp(table_descs[i]->name, "whatif") == 0)
                continue;
            compare(&j, table_descs[i], &all, NULL, true);
            for (size_t k = 0; k < sizeof others / sizeof *others; k++)
                compare(&j, table_descs[i], others[k], NULL, false);
        }
        compare(&j, table_find("syncs"), &all, &(struct syncs_args){.ledger = "op"}, false);
        compare(&j, table_find("syncs"), &all, &(struct syncs_args){.no_replay = true, .by = "stack"}, false);
        job_close(&j);
    }
}

/* Other ranks' collectives tell how long one rank waits, whether they are shown or not. */
TEST(a_rank_alone_knows_its_waiting)
{
    struct job j = job_open();
    const char *folder[] = {j.dir};
    struct reduced r;
    struct table full = {0}, one = {0};
    struct err e = {0};
    struct trace_opts o = all;
    o.rank = 2;
    assert_ok(reduce_table(table_find("summary"), folder, 1, &all, NULL, &r, &full, &e), &e);
    size_t row = 0;
    while (cell_of(&full, row, "rank") != 2) /* of which the one device has all */
        row++;
    int64_t want = cell_of(&full, row, "comm_wait_ns");
    assert_true(want >= 0);
    reduced_close(&r);
    assert_ok(reduce_table(table_find("summary"), folder, 1, &o, NULL, &r, &one, &e), &e);
    assert_int_equal(one.nrows, 1);
    assert_int_equal(cell_of(&one, 0, "comm_wait_ns"), want);
    reduced_close(&r);
    table_free(&full);
    table_free(&one);
    job_close(&j);
}

static void refused(const char *table, const char *const *paths, size_t n, const struct trace_opts *o, const void *args, const char *word)
{
    char *text = of_paths(table_find(table), paths, n, o, args);
    if (text[0] != '0' + ERR_UNDECIDED || !strstr(text, word))
        fail_msg("not refused with '%s': %s", word, text);
    free(text);
}

TEST(what_a_part_cannot_answer_names_the_option)
{
    struct job j = job_open();
    struct trace_opts gpu = all, other = all, cut = all;
    const char *both[] = {j.part[0], j.part[1]};
    gpu.span = "gpu";
    other.span = "all";
    cut.from = 1000;
    reduce(&j, 0, 0, &gpu, true);
    reduce(&j, 1, 2, &all, false);
    refused("summary", both, 2, &all, NULL, "reduce all parts with the same options");
    refused("summary", both, 1, &other, NULL, "--span gpu");
    refused("summary", both + 1, 1, &cut, NULL, "--from needs");
    refused("syncs", both + 1, 1, &all, NULL, "without --no-rows");
    refused("syncs", both + 1, 1, &all, &(struct syncs_args){.ledger = "op"}, "--ledger needs");
    char *want = of_open(table_find("summary"), j.trace[0], &gpu, NULL), *got;
    const char *one[] = {j.trace[0]};
    struct err e = {0};
    assert_ok(reduce_part(one, 1, &gpu, false, j.part[0], true, &e), &e);
    got = of_paths(table_find("summary"), both, 1, &all, NULL); /* made with --span gpu, and so it stays */
    assert_string_equal(got, want);
    free(want);
    free(got);
    job_close(&j);
}

static void equal_rows(const struct tracedata *x, const struct tracedata *y)
{
    assert_int_equal(x->t0, y->t0);
    assert_int_equal(x->strings.n, y->strings.n);
    for (size_t i = 0; i < x->strings.n; i++)
        assert_string_equal(x->strings.strings[i], y->strings.strings[i]);
#define EQUAL(v, n)                                                                                                                                  \
    assert_int_equal(x->n, y->n);                                                                                                                    \
    if (x->n)                                                                                                                                        \
    assert_memory_equal(x->v, y->v, x->n * sizeof *x->v)
    EQUAL(ev, n);
    EQUAL(threads, nthreads);
    EQUAL(sites, nsites);
    EQUAL(ranges, nranges);
    EQUAL(meta, nmeta);
#undef EQUAL
    assert_int_equal(x->nprocesses, y->nprocesses); /* structs with gaps: number by number */
    for (size_t i = 0; i < x->nprocesses; i++)
        assert_true(x->processes[i].pid == y->processes[i].pid && x->processes[i].host == y->processes[i].host &&
                    x->processes[i].rank == y->processes[i].rank);
    assert_int_equal(x->ncomms, y->ncomms);
    for (size_t i = 0; i < x->ncomms; i++)
        assert_true(x->comms[i].communicator == y->comms[i].communicator && x->comms[i].sequence == y->comms[i].sequence &&
                    x->comms[i].peer == y->comms[i].peer && x->comms[i].message_bytes == y->comms[i].message_bytes);
    assert_int_equal(x->nloss, y->nloss);
    for (size_t i = 0; i < x->nloss; i++)
        assert_true(x->loss[i].reason == y->loss[i].reason && x->loss[i].count == y->loss[i].count && x->loss[i].start == y->loss[i].start);
}

/* A row with anything in it; its keys are among the few there are. */
static void random_rows(struct tracedata *d)
{
    uint32_t process = tracedata_process(d, 1, "host", 0), thread = tracedata_thread(d, process, 1, "main");
    uint32_t stream = tracedata_stream(d, process, 0, 7), site = tracedata_site(d, "f", "x.py", 3);
    d->t0 = INT64_C(1) << (10 + rnd(50));
    for (int n = rnd(60); n > 0; n--) {
        struct err e = {0};
        struct event ev = event_none((enum ev_kind)rnd(EV_NKINDS), (int64_t)rnd(1000) << rnd(50), 0);
        char name[16];
        snprintf(name, sizeof name, "n%d", (int)rnd(9));
        ev.end = ev.start + (int64_t)rnd(2000) - 1000;
        ev.name = intern_id(&d->strings, name);
        ev.correlation = (int64_t)rnd(100) - 1;
        ev.bytes = (int64_t)rnd(1 << 20) - 1;
        ev.thread = rnd(2) ? thread : 0;
        ev.stream = rnd(2) ? stream : 0;
        ev.site = rnd(2) ? site : 0;
        if (ev.kind == EV_COMM && rnd(2))
            ev.detail = tracedata_comm_row(d, (struct ev_comm){.communicator = ev.name, .peer = -1, .sequence = rnd(9), .message_bytes = -1});
        if (ev.kind == EV_RANGE && rnd(2))
            ev.detail = tracedata_range_row(d, (struct ev_range){.domain = ev.name, .flavour = (int)rnd(3), .index = (int64_t)rnd(9) - 1});
        assert_ok(tracedata_event(d, &ev, &e), &e);
    }
    tracedata_meta(d, "backend", "cpu");
    tracedata_loss(d, "some", 3, INT64_MIN, INT64_MIN);
}

TEST(packed_rows_come_back)
{
    PROP(300)
    {
        struct tracedata d, back;
        tracedata_init(&d);
        tracedata_init(&back);
        random_rows(&d);
        struct bytes b = tracedata_pack(&d);
        assert_true(tracedata_unpack(b.v, b.n, &back));
        equal_rows(&d, &back);
        tracedata_free(&back);
        tracedata_free(&d);
        bytes_free(&b);
    }
}

/* Whatever is taken fits; most is refused. */
TEST(damaged_rows_are_refused)
{
    PROP(300)
    {
        struct tracedata d, back;
        struct bytes raw, bad;
        tracedata_init(&d);
        tracedata_init(&back);
        random_rows(&d);
        struct bytes b = tracedata_pack(&d);
        assert_true(bytes_unpack(b.v, b.n, &raw));
        for (int i = 1 + (int)rnd(3); i > 0; i--)
            raw.v[rnd((unsigned)raw.n)] = (uint8_t)rnd(256);
        raw.n -= rnd(4) ? 0 : rnd((unsigned)raw.n);
        raw.n += raw.n == 0;
        bad = bytes_pack(&raw, 1);
        if (tracedata_unpack(bad.v, bad.n, &back))
            for (size_t i = 0; i < back.n; i++)
                assert_true(back.ev[i].name < back.strings.n && back.ev[i].thread < back.nthreads && back.ev[i].stream < back.nstreams);
        tracedata_free(&back);
        tracedata_free(&d);
        bytes_free(&b);
        bytes_free(&raw);
        bytes_free(&bad);
    }
}

TEST(damaged_parts_are_refused)
{
    struct job j = job_open();
    struct stat st;
    reduce(&j, 0, 0, &all, true);
    assert_int_equal(stat(j.part[0], &st), 0);
    PROP(60)
    {
        FILE *f = fopen(j.part[0], "r+b");
        assert_non_null(f);
        fseek(f, 100 + (long)rnd((unsigned)st.st_size - 100), SEEK_SET);
        putc((int)rnd(256), f);
        fclose(f);
        const char *paths[] = {j.part[0]};
        char *text = of_paths(table_find(rnd(2) ? "comm" : "cp"), paths, 1, &all, NULL),
             *more = of_paths(table_find("critical"), paths, 1, &all, NULL);
        free(text);
        free(more);
    }
    assert_int_equal(truncate(j.part[0], st.st_size / 2), 0);
    const char *paths[] = {j.part[0]};
    char *text = of_paths(table_find("summary"), paths, 1, &all, NULL);
    assert_int_equal(text[0], '0' + ERR_FAIL);
    free(text);
    job_close(&j);
}

UNIT_MAIN(UNIT(every_table_has_the_same_bytes), UNIT(a_rank_alone_knows_its_waiting), UNIT(what_a_part_cannot_answer_names_the_option),
          UNIT(packed_rows_come_back), UNIT(damaged_rows_are_refused), UNIT(damaged_parts_are_refused))
