/* sqlin.c - foreign SQLite databases. */
#include "analyzer/sqlin.h"
#include "analyzer/decimal.h"
#include "schemas/sqlbound.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char magic[16] = "SQLite format 3";

/* A path as a URI of SQLite; "immutable" also keeps it from looking for a journal. */
sqlite3 *sqlin_open_immutable(const char *path)
{
    char uri[3 * 4096 + 32] = "file:", *to = uri + 5;
    if (strlen(path) >= 4096)
        return NULL;
    for (const unsigned char *p = (const unsigned char *)path; *p; p++)
        to += *p == '%' || *p == '?' || *p == '#' ? sprintf(to, "%%%02x", *p) : sprintf(to, "%c", *p);
    sprintf(to, "?immutable=1");
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) == SQLITE_OK && sqlbound_set(db, path)) {
        sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        sqlite3_exec(db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
        return db;
    }
    sqlite3_close(db);
    return NULL;
}

bool sqlin_is_database(const struct input *in)
{
    return in->nhead >= sizeof magic && memcmp(in->head, magic, sizeof magic) == 0;
}

static bool has(sqlite3 *db, const char *table)
{
    sqlite3_stmt *s = NULL;
    bool found = sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name GLOB ?", -1, &s, NULL) == SQLITE_OK &&
                 sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW;
    sqlite3_finalize(s);
    return found;
}

enum sniffed sqlin_sniff(const struct input *in, const char *const *tables)
{
    if (!sqlin_is_database(in))
        return SNIFF_NO;
    sqlite3 *db = sqlin_open_immutable(in->path);
    bool all = db != NULL;
    for (; all && *tables; tables++)
        all = has(db, *tables);
    sqlite3_close(db);
    return all ? SNIFF_YES : SNIFF_NO;
}

bool sqlin_sniff_like(const struct input *in, const char *glob)
{
    const char *const tables[] = {glob, NULL};
    return sqlin_sniff(in, tables) == SNIFF_YES;
}

bool sqlin_open(struct sqlin *q, struct input *in, const char *what, struct tracedata *d, struct err *e)
{
    *q = (struct sqlin){.what = what, .r = rows_start(d, in->path, e)};
    if (!sqlbound_whole(in->path, e))
        return false;
    q->db = sqlin_open_immutable(in->path);
    if (!q->db || sqlite3_exec(q->db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL) != SQLITE_OK)
        return fail(e, ERR_FAIL, "%s: an SQLite database that cannot be read: %s", in->path, q->db ? sqlite3_errmsg(q->db) : "cannot open");
    return true;
}

void sqlin_close(struct sqlin *q)
{
    sqlite3_close(q->db);
    rows_free(&q->r);
}

bool sqlin_has(struct sqlin *q, const char *table)
{
    return has(q->db, table);
}

const char *sqlin_column(struct sqlin *q, const char *table, const char *alias, const char *column)
{
    char *sql = sqlite3_mprintf("SELECT 1 FROM pragma_table_info(%Q) WHERE name = %Q COLLATE NOCASE", table, column);
    bool there = *sqlin_text(q, sql) != '\0';
    sqlite3_free(sql);
    return there ? arena_printf(&q->r.scratch, "%s.\"%s\"", alias, column) : "NULL";
}

const char *sqlin_text(struct sqlin *q, const char *sql)
{
    sqlite3_stmt *s = NULL;
    const char *text = "";
    if (sqlite3_prepare_v2(q->db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW && sqlite3_column_text(s, 0))
        text = arena_strdup(&q->r.scratch, (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    return text;
}

static bool damaged(struct sqlin *q)
{
    if (sqlite3_errcode(q->db) == SQLITE_ERROR) /* what was asked for is not there */
        return fail(q->r.e, ERR_FAIL, "%s: %s of an unknown version: %s", q->r.path, q->what, sqlite3_errmsg(q->db));
    return fail(q->r.e, ERR_FAIL, "%s: damaged %s: %s", q->r.path, q->what, sqlbound_why(q->db));
}

/* A view of the table's name stands in front of it. */
static bool complete(struct sqlin *q, const struct sqlin_table *t)
{
    const char *missing = "";
    for (const char *const *c = t->columns; *c; c++)
        if (strcmp(sqlin_column(q, t->name, "t", *c), "NULL") == 0)
            missing = arena_printf(&q->r.scratch, "%s, NULL AS \"%s\"", missing, *c);
    if (!*missing || !sqlin_has(q, t->name))
        return true;
    const char *sql =
        arena_printf(&q->r.scratch, "CREATE TEMP VIEW \"%s\" AS SELECT rowid AS rowid, *%s FROM main.\"%s\"", t->name, missing, t->name);
    return sqlite3_exec(q->db, sql, NULL, NULL, NULL) == SQLITE_OK || damaged(q);
}

bool sqlin_complete(struct sqlin *q, const struct sqlin_table *tables)
{
    bool ok = true;
    for (; ok && tables->name; tables++)
        ok = complete(q, tables);
    return ok;
}

bool sqlin_rows(struct sqlin *q, const char *sql, bool (*row)(void *ctx, sqlite3_stmt *s), void *ctx)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(q->db, sql, -1, &s, NULL);
    bool ok = rc == SQLITE_OK || damaged(q);
    while (ok && (rc = sqlite3_step(s)) == SQLITE_ROW)
        ok = row(ctx, s);
    ok = ok && (rc == SQLITE_DONE || damaged(q));
    sqlite3_finalize(s);
    return ok;
}

/* Beyond 2^53 a real number has no room for its last digits: such a one is not known exactly. */
static int64_t whole_real(double v, int64_t none)
{
    static const double exact = (double)(INT64_C(1) << 53);
    return v >= -exact && v <= exact && v == (double)(int64_t)v ? (int64_t)v : none;
}

int64_t sqlin_int(sqlite3_stmt *s, int column, int64_t none)
{
    int64_t v;
    int type = sqlite3_column_type(s, column);
    if (type == SQLITE_INTEGER)
        return sqlite3_column_int64(s, column);
    if (type == SQLITE_FLOAT)
        return whole_real(sqlite3_column_double(s, column), none);
    const char *text = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(s, column) : NULL;
    return text && decimal_whole(text, strlen(text), &v) ? v : none;
}

/* Up to the first NUL: blocks of NUL-separated text are environments. */
uint32_t sqlin_string(struct sqlin *q, sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    return text ? rows_text(&q->r, text, strlen(text)) : 0;
}

bool sqlin_event(struct sqlin *q, sqlite3_stmt *s, enum ev_kind kind, struct event *ev)
{
    return rows_between(&q->r, kind, sqlin_int(s, 0, INT64_MIN), sqlin_int(s, 1, INT64_MIN), ev);
}

bool sqlin_finish(struct sqlin *q, const char *format, const char *backend)
{
    char wal[4200];
    struct stat st;
    if (q->r.n == 0)
        return fail(q->r.e, ERR_FAIL, "%s: a database of a %s without one event", q->r.path, q->what);
    rows_facts(&q->r, format, backend);
    snprintf(wal, sizeof wal, "%s-wal", q->r.path);
    if (stat(wal, &st) == 0 && st.st_size > 0)
        rows_loss(&q->r, "a write-ahead log lies beside the file and is not read: let SQLite fold it in first", -1);
    return true;
}
