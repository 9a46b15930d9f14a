/* test_sqlbound.c - databases whose tables are views without end are refused after so many steps, not read for good. */
#include "import_run.h"
#include "schemas/tracefile.h"

#include <sqlite3.h>

static const char endless[] = "WITH RECURSIVE c(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM c)";

static const char *database(char path[256], const char *name, const char *sql)
{
    const char *dir = getenv("TMPDIR");
    sqlite3 *db;
    snprintf(path, 256, "%s/cpscope-unit-%d-%s.sqlite", dir ? dir : "/tmp", (int)getpid(), name);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    char *why = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", name, why);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return path;
}

static void refused(const char *path)
{
    struct tracedata d;
    struct err e = {0};
    assert_false(import_quietly(path, &d, &e));
    assert_int_equal(e.kind, ERR_FAIL);
    assert_non_null(strstr(e.msg, "does not end"));
    tracedata_free(&d);
    unlink(path);
}

TEST(a_trace_of_ours_without_end)
{
    char path[256], sql[1024];
    struct tracedata d;
    struct err e = {0};
    tracedata_init(&d);
    snprintf(path, sizeof path, "%s/cpscope-unit-%d-ours.sqlite", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
    struct tracefile *f = tracefile_create(path, true, &e);
    assert_ok(f && tracefile_finish(f, &d, &e), &e);
    tracedata_free(&d);
    snprintf(sql, sizeof sql,
             "PRAGMA legacy_alter_table = ON; ALTER TABLE event RENAME TO event0;"
             "CREATE VIEW event AS %s SELECT id, id AS start, id AS \"end\", 0 AS kind, NULL AS name, NULL AS rank, NULL AS device, NULL AS stream,"
             " NULL AS thread, NULL AS correlation, NULL AS bytes, NULL AS site FROM c",
             endless);
    refused(database(path, "ours", sql));
}

TEST(a_foreign_trace_without_end)
{
    char path[256], sql[2048];
    snprintf(sql, sizeof sql,
             "CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT); INSERT INTO rocpd_string VALUES (1, 'k');"
             "CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY, pid, tid, start, \"end\", apiName_id, args_id);"
             "CREATE VIEW rocpd_op AS %s SELECT id, 0 AS gpuId, 0 AS queueId, 0 AS sequenceId, id AS start, id + 1 AS \"end\", 1 AS description_id,"
             " 1 AS opType_id FROM c",
             endless);
    refused(database(path, "rpd", sql));
}

UNIT_MAIN(UNIT(a_trace_of_ours_without_end), UNIT(a_foreign_trace_without_end))
