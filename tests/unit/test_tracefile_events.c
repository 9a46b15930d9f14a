/* test_tracefile_events.c - events in parts, with and without rows that nobody looks at. */
#include "random_trace.h"
#include "schemas/tracefile_events.h"

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
    snprintf(path, sizeof path, "events-%d.sqlite", (int)getpid());
    struct tracefile *f = tracefile_create(path, true, &e);
    assert_ok(f && tracefile_append(d, f, &e), &e);
    assert_ok(tracefile_finish(f, d, &e), &e);
}

/* Keys as they were written, so that rows can be held against them. */
static bool read_columns(const struct tracedata *keys, size_t n, unsigned spared, bool few, struct event_rows *rows, struct err *e)
{
    *rows = (struct event_rows){.spared = spared, .few = few, .threads = 3};
    return tracefile_events(path, keys, (int64_t)n, rows, e);
}

static bool read_rows(const struct tracedata *keys, size_t n, unsigned spared, struct event_rows *rows, struct err *e)
{
    return read_columns(keys, n, spared, false, rows, e);
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

/* Each of three parts lies elsewhere in the array; the rows must not. */
TEST(parts_hold_what_was_written)
{
    enum { N = 3 * FEW_EVENTS };
    struct tracedata d;
    struct event_rows rows;
    struct err e = {0};
    tracedata_init(&d);
    uint32_t process = tracedata_process(&d, 5, "host", 0), thread = tracedata_thread(&d, process, 6, "main");
    uint32_t stream = tracedata_stream(&d, process, 0, 7);
    for (int64_t i = 0; i < N; i++) {
        struct event ev = {.start = 2 * i, .end = 2 * i + 1 + i % 7, .kind = i % 3 ? EV_KERNEL : EV_OP, .rank = -1, .device = -1, .bytes = i};
        ev.thread = i % 3 ? 0 : thread;
        ev.stream = i % 3 ? stream : 0;
        assert_ok(tracedata_event(&d, &ev, &e), &e);
    }
    write_trace(&d);
    assert_ok(read_rows(&d, N, 0, &rows, &e), &e);
    assert_int_equal(rows.n, N);
    for (int64_t i = 0; i < N; i++)
        assert_true(rows.ev[i].start == 2 * i && rows.ev[i].end == 2 * i + 1 + i % 7 && rows.ev[i].bytes == i);
    free_rows(&rows);
    assert_ok(read_rows(&d, N, 1u << EV_OP, &rows, &e), &e);
    assert_int_equal(rows.nid, N - N / 3);
    for (size_t i = 0; i < rows.nid; i++)
        assert_true(rows.id[i] % 3 != 1 && rows.ev[i].bytes == rows.id[i] - 1);
    free_rows(&rows);
    assert_ok(read_columns(&d, N, 0, true, &rows, &e), &e);
    assert_int_equal(rows.n, N);
    for (int64_t i = 0; i < N; i++)
        assert_true(rows.ev[i].start == 2 * i && rows.ev[i].end == 2 * i + 1 + i % 7 && rows.ev[i].bytes == (i % 3 ? i : -1));
    free_rows(&rows);
    tracedata_free(&d);
    unlink(path);
}

TEST(damaged_tables_are_refused)
{
    static const char *const changes[] = {
        "DELETE FROM event WHERE id = 3",
        "DELETE FROM event WHERE id = 500",
        "UPDATE event SET id = 501 WHERE id = 500",
        "UPDATE event SET id = 501 WHERE id = 9",
        "UPDATE event SET name = 99999 WHERE id = 7",
        "UPDATE event SET kind = -1 WHERE id = 7",
        "UPDATE event SET \"end\" = 1 << 62 WHERE id = 7",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct tracedata d;
        struct event_rows rows;
        struct err e = {0};
        random_trace(&d, 500);
        write_trace(&d);
        assert_ok(read_rows(&d, 500, 0, &rows, &e), &e);
        free_rows(&rows);
        sql(changes[i]);
        for (int few = 0; few < 2; few++) {
            e = (struct err){0};
            assert_false(read_columns(&d, 500, 0, few, &rows, &e));
            assert_non_null(strstr(e.msg, "damaged"));
            free_rows(&rows);
        }
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
        struct err e = {0};
        size_t n = 1 + rnd(600), at = 0;
        random_trace(&d, n);
        for (size_t i = 0; i < n; i++) /* few keys, so that there is something to leave out */
            if (is_spared(d.ev[i].kind, spared) && rnd(4)) {
                d.ev[i].start = (int64_t)i, d.ev[i].end = (int64_t)(i + rnd(50));
                d.ev[i].rank = (int32_t)rnd(2), d.ev[i].thread = 0, d.ev[i].stream = 0;
            }
        write_trace(&d);
        load(&all);
        assert_ok(read_rows(&d, n, spared, &rows, &e), &e);
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

UNIT_MAIN(UNIT(parts_hold_what_was_written), UNIT(damaged_tables_are_refused), UNIT(rows_left_out_change_nothing_of_the_whole))
