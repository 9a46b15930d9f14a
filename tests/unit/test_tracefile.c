/* test_tracefile.c - a trace written and loaded is the same; a damaged file is an error or a trace, never a crash. */
#include "random_trace.h"
#include "schemas/tracefile.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64];

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

/* A row of each table with nothing but what it cannot lack, and one with all of it: what SQL sees is NULL or the value. */
static const struct {
    const char *table, *none, *all;
} seen[] = {
    {"sync", "0||||", "1|0|0|0|7"},      {"kernel", "|||||||0|0||", "1|2|3|4|5|6|7|8|9|10|11"},
    {"comm", "||||||", "1|1|1|0|0|0|0"}, {"copy", "||", "1|2|3"},
    {"range", "|0|", "1|1|0"},
};

static void add_rows(struct tracedata *d, bool all)
{
    static const int kinds[] = {EV_SYNC, EV_KERNEL, EV_COMM, EV_MEMCPY, EV_RANGE};
    uint32_t x = intern_id(&d->strings, "x"), rows[5];
    struct err e = {0};
    rows[0] = tracedata_sync_row(d, all ? (struct ev_sync){1, 0, 0, 0, 7} : (struct ev_sync){0, -1, -1, -1, 0});
    rows[1] = tracedata_kernel_row(d, all ? (struct ev_kernel){{1, 2, 3}, {4, 5, 6}, 7, 8, 9, 10, 11} : (struct ev_kernel){0});
    rows[2] = tracedata_comm_row(d, all ? (struct ev_comm){x, x, x, 0, 0, 0, 0} : (struct ev_comm){0, 0, 0, -1, -1, -1, -1});
    rows[3] = tracedata_copy_row(d, all ? (struct ev_copy){1, 2, 3} : (struct ev_copy){0});
    rows[4] = tracedata_range_row(d, all ? (struct ev_range){x, 1, 0} : (struct ev_range){0, 0, -1});
    for (int k = 0; k < 5; k++) {
        struct event v = event_none((enum ev_kind)kinds[k], -5, 0);
        v.detail = rows[k];
        if (all)
            v.rank = v.device = 0, v.correlation = v.bytes = 0, v.name = x;
        assert_ok(tracedata_event(d, &v, &e), &e);
    }
}

/* The columns behind the first one of the row with this key, with | between them. */
static void assert_row(sqlite3 *db, const char *table, int key, const char *want)
{
    char sql[100], got[200] = "";
    sqlite3_stmt *s;
    snprintf(sql, sizeof sql, "SELECT * FROM %s WHERE %s = %d", table, strcmp(table, "event") ? "event" : "id", key);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    for (int k = 1, n = 0; k < sqlite3_column_count(s); k++)
        n += snprintf(got + n, sizeof got - (size_t)n, "%s%s", k > 1 ? "|" : "",
                      sqlite3_column_type(s, k) == SQLITE_NULL ? "" : (const char *)sqlite3_column_text(s, k));
    sqlite3_finalize(s);
    if (strcmp(got, want) != 0)
        fail_msg("%s %d: %s, should be %s", table, key, got, want);
}

TEST(what_is_absent_is_null)
{
    struct tracedata d;
    struct err e = {0};
    sqlite3 *db;
    tracedata_init(&d);
    add_rows(&d, false);
    add_rows(&d, true);
    struct tracefile *f = tracefile_create(path, true, &e);
    assert_ok(f && tracefile_finish(f, &d, &e), &e);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    for (int k = 0; k < 5; k++) {
        assert_row(db, seen[k].table, k + 1, seen[k].none);
        assert_row(db, seen[k].table, k + 6, seen[k].all);
    }
    assert_row(db, "event", 5, "-5|0|7||||||||");
    assert_row(db, "event", 10, "-5|0|7|1|0|0|||0|0|");
    sqlite3_close(db);
    tracedata_free(&d);
    unlink(path);
}

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

/* A recording that was only committed: everything is there, and it says that it has no end. */
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

/* The head says WAL, and there is none: whoever looked on at the recording's end. Reading leaves one plain file. */
static void make_wal_mode(void)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode=WAL; UPDATE meta SET value = value", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static const char *const sides[] = {"-wal", "-shm"};

/* As readers leave it that open the file while its mode is being changed. */
static void make_empty_sides(void)
{
    for (int i = 0; i < 2; i++) {
        char side[80];
        snprintf(side, sizeof side, "%s%s", path, sides[i]);
        FILE *f = fopen(side, "w");
        assert_non_null(f);
        fclose(f);
    }
}

static void check_loads_and_is_plain(void)
{
    struct tracedata got;
    struct err e = {0};
    tracedata_init(&got);
    assert_ok(tracefile_load(path, &got, &e), &e);
    assert_int_equal(got.n, 100);
    for (int i = 0; i < 2; i++) {
        char side[80];
        snprintf(side, sizeof side, "%s%s", path, sides[i]);
        assert_int_equal(access(side, F_OK), -1);
    }
    assert_false(tracefile_in_wal(path));
    tracedata_free(&got);
}

TEST(a_finished_recording_that_is_still_in_wal_mode)
{
    struct tracedata d;
    struct err e = {0};
    unit_prop(__func__);
    random_trace(&d, 100);
    struct tracefile *f = tracefile_record(path, false, &e);
    assert_ok(f != NULL && tracefile_append(&d, f, &e) && tracefile_finish(f, &d, &e), &e);
    make_wal_mode();
    check_loads_and_is_plain();
    make_empty_sides();
    check_loads_and_is_plain();
    make_wal_mode();
    make_empty_sides();
    check_loads_and_is_plain();
    tracedata_free(&d);
    remove_all();
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
    assert_true(refused * 5 > (size_t)unit_cases(1500));
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

UNIT_MAIN(UNIT(what_is_written_is_loaded), UNIT(what_is_absent_is_null), UNIT(writing_behind_gives_the_same_file), UNIT(threads_load_the_same),
          UNIT(an_unfinished_recording_is_read), UNIT(a_finished_recording_that_is_still_in_wal_mode), UNIT(a_trace_of_version_1_opens),
          UNIT(damage_is_an_error_or_a_trace), UNIT(what_is_there_is_not_overwritten))
