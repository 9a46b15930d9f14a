/* test_tracefile_pages.c - events read from pages are those that SQLite gives; rows left out change nothing of the whole. */
#include "random_trace.h"
#include "schemas/tracefile_pages.h"

#include <sqlite3.h>
#include <unistd.h>

static char path[64];

static void sql(const char *text)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text, sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void write_trace(struct tracedata *d)
{
    struct err e = {0};
    snprintf(path, sizeof path, "pages-%d.sqlite", (int)getpid());
    struct tracefile *f = tracefile_create(path, true, &e);
    assert_ok(f && tracefile_append(d, f, &e), &e);
    assert_ok(tracefile_finish(f, d, &e), &e);
}

static void write_random(struct tracedata *d, size_t n)
{
    random_trace(d, n);
    write_trace(d);
}

/* Keys as they were written, so that rows can be held against them. */
static bool read_pages(const struct tracedata *keys, size_t n, unsigned spared, struct event_rows *rows)
{
    *rows = (struct event_rows){.spared = spared, .threads = 3};
    bool ok = tracefile_pages(path, keys, (int64_t)n, rows);
    if (!ok) {
        free(rows->ev);
        free(rows->id);
    }
    return ok;
}

static void free_rows(struct event_rows *rows)
{
    free(rows->ev);
    free(rows->id);
}

static void load(struct tracedata *d)
{
    struct err e = {0};
    tracedata_init(d);
    assert_ok(tracefile_load(path, d, &e), &e);
}

/* The same events under a table whose columns stand in another order: SQLite has to be asked. */
static const char reordered[] =
    "PRAGMA legacy_alter_table = ON; ALTER TABLE event RENAME TO was;"
    "CREATE TABLE event (id INTEGER PRIMARY KEY, \"end\" INTEGER, start INTEGER, kind INTEGER, name INTEGER, rank INTEGER,"
    "device INTEGER, stream INTEGER, thread INTEGER, correlation INTEGER, bytes INTEGER, site INTEGER);"
    "INSERT INTO event SELECT id, \"end\", start, kind, name, rank, device, stream, thread, correlation, bytes, site FROM was;";

TEST(pages_hold_what_sqlite_says)
{
    static const char *const sizes[] = {"512", "1024", "4096", "65536"};
    PROP(24)
    {
        struct tracedata d, whole, asked;
        struct event_rows rows;
        char vacuum[80];
        size_t n = 1 + (prop_ % 3 ? rnd(40) : rnd(4000));
        write_random(&d, n);
        snprintf(vacuum, sizeof vacuum, "PRAGMA page_size = %s; VACUUM;", sizes[prop_ % 4]);
        sql(vacuum);
        assert_true(read_pages(&d, n, 0, &rows));
        assert_int_equal(rows.n, n);
        assert_null(rows.id);
        free_rows(&rows);
        load(&whole);
        sql(reordered);
        assert_false(read_pages(&d, n, 0, &rows));
        load(&asked);
        same_trace(&whole, &asked);
        tracedata_free(&d);
        tracedata_free(&whole);
        tracedata_free(&asked);
        unlink(path);
    }
}

/* What is not plain is SQLite's to answer for. */
TEST(other_tables_are_left_to_sqlite)
{
    static const char *const changes[] = {
        "PRAGMA journal_mode = WAL",
        "DELETE FROM event WHERE id = 3",
        "UPDATE event SET name = 99999 WHERE id = 7",
        "UPDATE event SET kind = -1 WHERE id = 7",
        "UPDATE event SET \"end\" = 1 << 62 WHERE id = 7",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct tracedata d;
        struct event_rows rows;
        unit_random = 5 + i;
        write_random(&d, 500);
        assert_true(read_pages(&d, 500, 0, &rows));
        free_rows(&rows);
        sql(changes[i]);
        assert_false(read_pages(&d, 500, 0, &rows));
        sql("PRAGMA journal_mode = DELETE");
        tracedata_free(&d);
        unlink(path);
    }
}

static bool is_spared(int32_t kind, unsigned spared)
{
    return kind < EV_NKINDS && (spared >> kind & 1);
}

/* Ids ascend, so the row is looked for from where the one before was. */
static const struct event *with_id(const struct event_rows *r, size_t id, size_t *at)
{
    while (*at < r->nid && r->id[*at] < id)
        ++*at;
    return *at < r->nid && r->id[*at] == id ? &r->ev[*at] : NULL;
}

struct whole { /* of one thread, rank and kind: what must be as with all rows */
    int64_t start, end;
    size_t odd; /* rows that end before they start or last long */
};

static struct whole whole_of(const struct event *v, size_t n, const struct event *like)
{
    struct whole w = {INT64_MAX, INT64_MIN, 0};
    for (size_t i = 0; i < n; i++) {
        bool same = v[i].thread == like->thread && (like->thread || v[i].stream == like->stream);
        if (!same || v[i].rank != like->rank || v[i].kind != like->kind)
            continue;
        w.start = v[i].start < w.start ? v[i].start : w.start;
        w.end = v[i].end > w.end ? v[i].end : w.end;
        w.odd += v[i].end < v[i].start || v[i].end - v[i].start > INT64_C(3600000000000);
    }
    return w;
}

TEST(rows_left_out_change_nothing_of_the_whole)
{
    static const unsigned spared = 1u << EV_OP | 1u << EV_FRAME;
    PROP(40)
    {
        struct tracedata d, all;
        struct event_rows rows;
        size_t n = 1 + rnd(600), at = 0;
        random_trace(&d, n);
        for (size_t i = 0; i < n; i++) /* few keys, so that there is something to leave out */
            if (is_spared(d.ev[i].kind, spared) && rnd(4)) {
                d.ev[i].start = (int64_t)i, d.ev[i].end = (int64_t)(i + rnd(50));
                d.ev[i].rank = (int32_t)rnd(2), d.ev[i].thread = 0, d.ev[i].stream = 0;
            }
        write_trace(&d);
        load(&all);
        assert_true(read_pages(&d, n, spared, &rows));
        for (size_t i = 0; i < n; i++) {
            const struct event *kept = with_id(&rows, i + 1, &at);
            if (!is_spared(all.ev[i].kind, spared))
                assert_true(kept && kept->start == all.ev[i].start && kept->site == all.ev[i].site && kept->bytes == all.ev[i].bytes);
            struct whole x = whole_of(all.ev, n, &all.ev[i]), y = whole_of(rows.ev, rows.n, &all.ev[i]);
            assert_true(x.start == y.start && x.end == y.end && x.odd == y.odd);
        }
        free_rows(&rows);
        tracedata_free(&d);
        tracedata_free(&all);
        unlink(path);
    }
}

UNIT_MAIN(UNIT(pages_hold_what_sqlite_says), UNIT(other_tables_are_left_to_sqlite), UNIT(rows_left_out_change_nothing_of_the_whole))
