/* test_tracefile.c - a trace written and loaded is the same; a damaged file is an error or a trace, never a crash. */
#include "unit.h"

#include "schemas/tracefile.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64];

static int64_t some(int64_t none) /* a value, sometimes the absent one, sometimes an extreme */
{
    static const int64_t odd[] = {0, 1, INT64_MAX, -1, 4096, INT64_C(1) << 40};
    uint64_t k = rnd(12);
    return k < 2 ? none : k < 8 ? odd[k - 2] : (int64_t)rnd(1u << 30);
}

static int64_t some_time(void)
{
    return rnd(8) ? (int64_t)rnd(1u << 30) : (int64_t)rnd(UINT64_C(1) << 62) - (INT64_C(1) << 61);
}

static uint32_t some_string(struct tracedata *d)
{
    static const char *const texts[] = {"gemm", "", "<script>", "a\nb\x01", "\xff\xfe not UTF-8", "it's \"quoted\"", "\xe2\x82\xac"};
    return intern_id(&d->strings, texts[rnd(7)]);
}

static uint32_t some_detail(struct tracedata *d, int kind)
{
    int32_t s = (int32_t)rnd(6);
    switch (rnd(4) ? kind : EV_NKINDS) {
    case EV_RUNTIME:
    case EV_SYNC:
        return tracedata_sync_row(d, (struct ev_sync){s, (int32_t)rnd(3) - 1, some(-1), some(-1)});
    case EV_KERNEL:
        return tracedata_kernel_row(d, (struct ev_kernel){{s, 1, 1}, {128, s, 1}, 32, s, 1024, some(0), some(0)});
    case EV_COMM:
        return tracedata_comm_row(d, (struct ev_comm){some_string(d), some_string(d), some_string(d), (int32_t)rnd(3) - 1, 4, some(-1), some(-1)});
    case EV_MEMCPY:
    case EV_MEMSET:
        return tracedata_copy_row(d, (struct ev_copy){s, (int32_t)rnd(6), (int32_t)rnd(6)});
    case EV_RANGE:
        return tracedata_range_row(d, (struct ev_range){some_string(d), (int32_t)rnd(3), some(-1)});
    }
    return 0;
}

static void add_event(struct tracedata *d, struct err *e)
{
    int kind = (int)rnd(EV_NKINDS);
    struct event v = event_none((enum ev_kind)kind, some_time(), some_time());
    uint32_t process = tracedata_process(d, some(-1), rnd(2) ? "host" : "", (int32_t)rnd(3) - 1);
    v.name = some_string(d);
    v.rank = (int32_t)rnd(5) - 1;
    v.device = (int32_t)rnd(5) - 1;
    v.correlation = some(-1);
    v.bytes = some(-1);
    if (rnd(2))
        v.thread = tracedata_thread(d, process, (int64_t)rnd(9), rnd(2) ? "worker" : NULL);
    if (rnd(2))
        v.stream = tracedata_stream(d, process, v.device, (int64_t)rnd(3));
    if (rnd(2))
        v.site = tracedata_site(d, "route_build", rnd(2) ? "route.c" : "", (int32_t)rnd(3));
    v.detail = some_detail(d, kind);
    assert_ok(tracedata_event(d, &v, e), e);
}

static void add_facts(struct tracedata *d)
{
    d->t0 = (int64_t)rnd(1u << 30);
    tracedata_meta(d, "backend", "cpu");
    tracedata_metaf(d, "tokens", "%d", (int)rnd(4096));
    tracedata_loss(d, "dropped", some(-1), 5, some(INT64_MIN));
    struct clock_row c = {intern_id(&d->strings, "realtime"), 1, 2, 3};
    ARRAY_PUSH(d->clocks, d->nclocks, d->clocks_cap, c);
    struct memory_row m = {5, some(-1), 0, 1, intern_id(&d->strings, "peak")};
    ARRAY_PUSH(d->memory, d->nmemory, d->memory_cap, m);
}

static void random_trace(struct tracedata *d, size_t events)
{
    struct err e = {0};
    tracedata_init(d);
    add_facts(d);
    for (size_t i = 0; i < events; i++)
        add_event(d, &e);
}

/* ---- equal, by meaning: ids may differ, what they stand for may not ---- */

static void same_text(const struct tracedata *a, uint32_t x, const struct tracedata *b, uint32_t y)
{
    assert_string_equal(intern_str(&a->strings, x), intern_str(&b->strings, y));
}

/* Two pieces of a side row, around the padding of its struct. */
static void same_side(const void *x, const void *y, size_t until, size_t from, size_t end)
{
    assert_int_equal(x != NULL, y != NULL);
    if (x) {
        assert_memory_equal(x, y, until);
        assert_memory_equal((const char *)x + from, (const char *)y + from, end - from);
    }
}
#define SAME_SIDE(fn, type, last, next)                                                                                                              \
    same_side(fn(a, x), fn(b, y), offsetof(struct type, last) + sizeof(((struct type *)0)->last), offsetof(struct type, next), sizeof(struct type))

static void same_event(const struct tracedata *a, const struct tracedata *b, size_t i)
{
    const struct event *x = &a->ev[i], *y = &b->ev[i];
    assert_int_equal(x->start, y->start);
    assert_int_equal(x->end, y->end);
    assert_int_equal(x->kind, y->kind);
    assert_int_equal(x->correlation, y->correlation);
    assert_int_equal(x->bytes, y->bytes);
    assert_int_equal(x->rank, y->rank);
    assert_int_equal(x->device, y->device);
    same_text(a, x->name, b, y->name);
    assert_int_equal(a->threads[x->thread].tid, b->threads[y->thread].tid);
    same_text(a, a->threads[x->thread].name, b, b->threads[y->thread].name);
    assert_int_equal(a->processes[a->threads[x->thread].process].pid, b->processes[b->threads[y->thread].process].pid);
    assert_int_equal(a->streams[x->stream].native, b->streams[y->stream].native);
    assert_int_equal(a->streams[x->stream].device, b->streams[y->stream].device);
    same_text(a, a->sites[x->site].file, b, b->sites[y->site].file);
    assert_int_equal(a->sites[x->site].line, b->sites[y->site].line);
    SAME_SIDE(ev_sync_of, ev_sync, wait_event, wait_event);
    SAME_SIDE(ev_kernel_of, ev_kernel, dynamic_shared, graph);
    SAME_SIDE(ev_comm_of, ev_comm, group_size, sequence);
    SAME_SIDE(ev_copy_of, ev_copy, dst, dst);
    SAME_SIDE(ev_range_of, ev_range, index, index);
}

static void same_trace(const struct tracedata *a, const struct tracedata *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->t0, b->t0);
    for (size_t i = 0; i < a->n; i++)
        same_event(a, b, i);
    assert_int_equal(a->nloss, b->nloss);
    assert_int_equal(a->loss[0].count, b->loss[0].count);
    assert_int_equal(a->loss[0].end, b->loss[0].end);
    same_text(a, a->loss[0].reason, b, b->loss[0].reason);
    assert_int_equal(a->nclocks, b->nclocks);
    assert_int_equal(a->clocks[0].after, b->clocks[0].after);
    assert_int_equal(a->nmemory, b->nmemory);
    assert_int_equal(a->memory[0].bytes, b->memory[0].bytes);
    for (size_t i = 0; i < a->nmeta; i++)
        assert_string_equal(intern_str(&a->strings, a->meta[i].value), tracedata_meta_get(b, intern_str(&a->strings, a->meta[i].key)));
}

static void remove_all(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", ".tmp"};
    for (int i = 0; i < 4; i++) {
        char s[80];
        snprintf(s, sizeof s, "%s%s", path, ends[i]);
        unlink(s);
    }
}

/* In batches of any size, as an importer or as a recorder writes. */
TEST(what_is_written_is_loaded)
{
    snprintf(path, sizeof path, "trace-%d.sqlite", (int)getpid());
    PROP(60)
    {
        struct tracedata d, whole, got;
        struct err e = {0};
        size_t n = rnd(200);
        uint64_t seed = unit_random;
        random_trace(&whole, n);
        unit_random = seed;
        struct tracefile *f = prop_ % 2 ? tracefile_create(path, false, &e) : tracefile_record(path, false, &e);
        assert_ok(f != NULL, &e);
        tracedata_init(&d);
        add_facts(&d);
        for (size_t i = 0; i < n; i++) {
            add_event(&d, &e);
            if (i % 64 == seed % 64)
                assert_ok(tracefile_append(&d, f, &e), &e);
        }
        assert_ok(tracefile_finish(f, &d, &e), &e);
        tracedata_init(&got);
        assert_ok(tracefile_load(path, &got, &e), &e);
        same_trace(&whole, &got);
        assert_string_equal(tracedata_meta_get(&got, "clean_end"), "1");
        tracedata_free(&d);
        tracedata_free(&whole);
        tracedata_free(&got);
        remove_all();
    }
}

/* A recording that was only committed: everything is there, and it says that it has no end. */
/* The bytes of a file written in batches, from the same random numbers each time. */
static char *written(uint64_t seed, bool behind, size_t *size)
{
    struct tracedata d;
    struct err e = {0};
    unit_random = seed;
    struct tracefile *f = tracefile_create(path, true, &e);
    assert_ok(f != NULL, &e);
    struct tracefile_behind *b = behind ? tracefile_behind(f) : NULL;
    random_trace(&d, rnd(40));
    for (size_t batches = rnd(5); batches > 0; batches--) {
        assert_ok(behind ? tracefile_append_behind(&d, b, &e) : tracefile_append(&d, f, &e), &e);
        for (size_t i = rnd(60); i > 0; i--)
            add_event(&d, &e);
    }
    assert_ok(!b || tracefile_behind_end(b, &e), &e);
    assert_ok(tracefile_finish(f, &d, &e), &e);
    tracedata_free(&d);
    char *bytes = malloc(1 << 22);
    FILE *in = fopen(path, "rb");
    *size = fread(bytes, 1, 1 << 22, in);
    fclose(in);
    unlink(path);
    return bytes;
}

TEST(writing_behind_gives_the_same_file)
{
    PROP(40)
    {
        uint64_t seed = unit_random;
        size_t n, m;
        char *a = written(seed, false, &n), *b = written(seed, true, &m);
        assert_int_equal(n, m);
        assert_memory_equal(a, b, n);
        free(a);
        free(b);
    }
}

/* Loaded by any number of threads a file is the same; enough events that each has some. */
TEST(threads_load_the_same)
{
    enum { MANY = 3 << 16 };
    struct tracedata d, one, four;
    struct err e = {0};
    unit_random = 1;
    random_trace(&d, MANY);
    struct tracefile *f = tracefile_create(path, true, &e);
    assert_ok(f && tracefile_finish(f, &d, &e), &e);
    tracedata_init(&one);
    tracedata_init(&four);
    assert_ok(tracefile_load_some(path, SIDE_ALL, 1, &one, &e) && tracefile_load_some(path, SIDE_ALL, 4, &four, &e), &e);
    assert_int_equal(one.n, MANY);
    same_trace(&one, &four);
    tracedata_free(&d);
    tracedata_free(&one);
    tracedata_free(&four);
    unlink(path);
}

TEST(an_unfinished_recording_is_read)
{
    struct tracedata d, got;
    struct err e = {0};
    bool done = false;
    unit_prop(__func__);
    random_trace(&d, 500);
    struct tracefile *f = tracefile_record(path, false, &e);
    assert_ok(f != NULL && tracefile_facts(f, &d, &e) && tracefile_append(&d, f, &e), &e);
    char copy[300];
    snprintf(copy, sizeof copy, "cp %s copy.sqlite && cp %s-wal copy.sqlite-wal", path, path);
    assert_int_equal(system(copy), 0); /* what SIGKILL leaves */
    tracefile_close(f);
    remove_all();
    assert_true(tracefile_is("copy.sqlite"));
    assert_ok(tracefile_recover("copy.sqlite", &done, &e), &e);
    assert_true(done);
    assert_int_equal(access("copy.sqlite-wal", F_OK), -1);
    tracedata_init(&got);
    assert_ok(tracefile_load("copy.sqlite", &got, &e), &e);
    assert_int_equal(got.n, 500);
    assert_string_equal(tracedata_meta_get(&got, "clean_end"), "0");
    assert_string_equal(tracedata_meta_get(&got, "backend"), "cpu");
    tracedata_free(&d);
    tracedata_free(&got);
    unlink("copy.sqlite");
}

static size_t read_file(const char *name, char *buf, size_t size)
{
    FILE *f = fopen(name, "rb");
    size_t n = fread(buf, 1, size, f);
    fclose(f);
    return n;
}

static void write_file(const char *name, const char *buf, size_t n)
{
    FILE *f = fopen(name, "wb");
    assert_int_equal(fwrite(buf, 1, n, f), n);
    fclose(f);
}

/* Cut, zeroed in parts, and with flipped bits: refused with a reason, or loaded with ids that all lead somewhere. */
/* Of the program before stacks came: 60 events of tests/fake/emitter.c, 10 of them host waits. */
TEST(a_trace_of_version_1_opens)
{
    struct tracedata d;
    struct err e = {0};
    int waits = 0;
    tracedata_init(&d);
    assert_ok(tracefile_load(TEST_DATA "/schema/version1.sqlite", &d, &e), &e);
    assert_int_equal(d.n, 60);
    assert_int_equal(d.nstacks, 1);
    for (size_t i = 0; i < d.n; i++) {
        const struct ev_sync *s = ev_sync_of(&d, &d.ev[i]);
        waits += s != NULL;
        assert_true(!s || (s->class == SYNC_STREAM && s->wait_stream == 7 && s->stack == 0));
    }
    assert_int_equal(waits, 10);
    tracedata_free(&d);
}

TEST(damage_is_an_error_or_a_trace)
{
    static char good[1 << 20], bad[1 << 20];
    struct tracedata d;
    struct err e = {0};
    unit_prop(__func__);
    random_trace(&d, 300);
    struct tracefile *f = tracefile_create(path, false, &e);
    assert_ok(f && tracefile_finish(f, &d, &e), &e);
    tracedata_free(&d);
    size_t n = read_file(path, good, sizeof good), refused = 0;
    PROP(1500)
    {
        struct tracedata got;
        struct err why = {0};
        size_t len = n, at = rnd(n);
        memcpy(bad, good, n);
        if (prop_ % 3 == 0)
            len = at;
        else if (prop_ % 3 == 1)
            memset(bad + at, 0, rnd(9000) < n - at ? rnd(n - at) : n - at);
        else
            for (int i = 0; i < 8; i++)
                bad[rnd(n)] ^= (char)(1 << rnd(8));
        write_file(path, bad, len);
        tracedata_init(&got);
        bool ok = tracefile_load(path, &got, &why);
        assert_int_equal(ok, why.kind == ERR_NONE);
        for (size_t i = 0; ok && i < got.n; i++) {
            const struct event *v = &got.ev[i];
            assert_true(v->name < got.strings.n && v->thread < got.nthreads && v->stream < got.nstreams && v->site < got.nsites);
            const struct ev_comm *c = ev_comm_of(&got, v);
            intern_str(&got.strings, c ? c->communicator : 0);
        }
        refused += !ok;
        tracedata_free(&got);
        remove_all();
    }
    assert_true(refused > 300);
}

TEST(what_is_there_is_not_overwritten)
{
    struct err e = {0};
    write_file(path, "mine", 4);
    assert_null(tracefile_create(path, false, &e));
    assert_non_null(strstr(e.msg, "exists already"));
    e = (struct err){0};
    assert_null(tracefile_record(path, false, &e));
    assert_int_equal(e.kind, ERR_FAIL);
    e = (struct err){0};
    struct tracefile *f = tracefile_create(path, true, &e); /* dropped before its end: the old one stays */
    assert_non_null(f);
    tracefile_close(f);
    char buf[8] = "";
    assert_int_equal(read_file(path, buf, sizeof buf), 4);
    remove_all();
}

UNIT_MAIN(UNIT(what_is_written_is_loaded), UNIT(writing_behind_gives_the_same_file), UNIT(threads_load_the_same),
          UNIT(an_unfinished_recording_is_read), UNIT(a_trace_of_version_1_opens), UNIT(damage_is_an_error_or_a_trace),
          UNIT(what_is_there_is_not_overwritten))
