/* part_file.c - parts on disk: the only SQL on them. */
#include "analyzer/part.h"
#include "analyzer/part_pack.h"
#include "analyzer/part_options.h"
#include "analyzer/sqlin.h"
#include "schemas/tracefile.h"
#include "schemas/version.h"

#define XXH_INLINE_ALL
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { PART_VERSION = 3 };

static const char schema[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; PRAGMA application_id = 1668313968; PRAGMA user_version = 3;"
    "CREATE TABLE option (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;"
    "CREATE TABLE trace (id INTEGER PRIMARY KEY, name TEXT NOT NULL, folder INTEGER NOT NULL, rows BLOB, digest BLOB) STRICT;"
    "CREATE TABLE result (trace INTEGER NOT NULL, \"table\" TEXT NOT NULL, content BLOB NOT NULL,"
    " PRIMARY KEY (trace, \"table\")) STRICT;";

struct part {
    sqlite3 *db;
    char *path, *tmp;
    bool force;
};

bool part_is(const char *path)
{
    return tracefile_application_id(path) == PART_APPLICATION_ID;
}

bool part_holds(const char *path, char part[4096], int64_t *id)
{
    const char *name = strrchr(path, '/'), *number = name;
    if (!name || name == path)
        return false;
    while (number > path && number[-1] != '/')
        number--;
    size_t n = number > path ? (size_t)(number - path) - 1 : 0;
    char *end;
    *id = n ? strtoll(number, &end, 10) : 0;
    if (*id <= 0 || end != name || n >= 4096)
        return false;
    memcpy(part, path, n);
    part[n] = '\0';
    return part_is(part);
}

uint64_t part_folder(const char *path)
{
    struct arena a = {0};
    const char *slash = strrchr(path, '/');
    const char *folder = slash ? arena_strndup(&a, path, (size_t)(slash - path)) : ".";
    char *real = realpath(*folder ? folder : "/", NULL); /* NULL: in an archive */
    const char *text = real ? real : folder;
    uint64_t h = XXH3_64bits(text, strlen(text));
    free(real);
    arena_free(&a);
    return h;
}

/* ---- reading ---- */

static sqlite3 *open_part(const char *path, struct err *e)
{
    sqlite3 *db = sqlin_open_immutable(path);
    sqlite3_stmt *s = NULL;
    int version = 0;
    if (db && sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
        version = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    if (version == PART_VERSION)
        return db;
    sqlite3_close(db);
    if (version > PART_VERSION)
        fail(e, ERR_FAIL, "%s: a part of version %d; this program knows version %d", path, version, PART_VERSION);
    else
        fail(e, ERR_FAIL, version > 0 ? "%s: a part of an older program; reduce again" : "%s: a part that is damaged or cannot be read", path);
    return NULL;
}

static bool damaged(const char *path, struct err *e)
{
    return fail(e, ERR_FAIL, "%s: a damaged part; reduce again", path);
}

bool part_list(const char *path, struct arena *a, struct part_entry **v, size_t *n, struct err *e)
{
    sqlite3 *db = open_part(path, e);
    sqlite3_stmt *s = NULL;
    size_t cap = 0;
    int rc = db ? sqlite3_prepare_v2(db, "SELECT id, name, folder FROM trace NOT INDEXED ORDER BY id", -1, &s, NULL) : SQLITE_ERROR;
    *v = NULL, *n = 0;
    while (rc == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(s, 1);
        const char *member = arena_printf(a, "%s/%lld/%s", path, (long long)sqlite3_column_int64(s, 0), name ? name : "");
        ARRAY_PUSH(*v, *n, cap, ((struct part_entry){member, (uint64_t)sqlite3_column_int64(s, 2)}));
    }
    bool ok = s && sqlite3_finalize(s) == SQLITE_OK;
    sqlite3_close(db);
    return ok || damaged(path, e);
}

uint64_t part_folder_of(const char *path)
{
    char part[4096];
    int64_t id;
    struct err none = {0};
    struct arena a = {0};
    struct part_entry *v = NULL;
    size_t n = 0;
    uint64_t folder = 0;
    if (part_holds(path, part, &id) && part_list(part, &a, &v, &n, &none))
        for (size_t i = 0; i < n; i++)
            folder = strcmp(v[i].path, path) == 0 ? v[i].folder : folder;
    free(v);
    arena_free(&a);
    return folder;
}

bool part_has_rows(const char *part)
{
    struct err none = {0};
    sqlite3 *db = open_part(part, &none);
    sqlite3_stmt *s = NULL;
    bool has =
        db && sqlite3_prepare_v2(db, "SELECT 1 FROM trace WHERE rows IS NULL LIMIT 1", -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_DONE;
    sqlite3_finalize(s);
    sqlite3_close(db);
    return has;
}

static bool take_rows(const void *v, size_t n, void *d)
{
    return tracedata_unpack(v, n, d);
}

static bool take_bytes(const void *v, size_t n, void *b)
{
    return bytes_unpack(v, n, b);
}

/* A blob that a query asks for: of a trace (?1), of a table (?2) when it names one. */
struct query {
    const char *sql, *table;
    bool (*take)(const void *v, size_t n, void *ctx);
    void *ctx;
    bool any; /* there was one */
};

static sqlite3_stmt *prepare(sqlite3 *db, int64_t id, const struct query *q)
{
    sqlite3_stmt *s = NULL;
    bool ok = sqlite3_prepare_v2(db, q->sql, -1, &s, NULL) == SQLITE_OK && sqlite3_bind_int64(s, 1, id) == SQLITE_OK &&
              (!q->table || sqlite3_bind_text(s, 2, q->table, -1, SQLITE_STATIC) == SQLITE_OK);
    if (ok)
        return s;
    sqlite3_finalize(s);
    return NULL;
}

static bool blob(const char *part, int64_t id, struct query *q, struct err *e)
{
    sqlite3 *db = open_part(part, e);
    sqlite3_stmt *s = db ? prepare(db, id, q) : NULL;
    int rc = s ? sqlite3_step(s) : SQLITE_ERROR;
    bool ok = rc == SQLITE_ROW || rc == SQLITE_DONE;
    q->any = rc == SQLITE_ROW && sqlite3_column_type(s, 0) == SQLITE_BLOB;
    if (q->any)
        ok = q->take(sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0), q->ctx);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return ok || damaged(part, e);
}

bool part_rows(const char *path, struct tracedata *d, struct err *e)
{
    char part[4096];
    int64_t id;
    struct query q = {.sql = "SELECT rows FROM trace WHERE id = ?1", .take = take_rows, .ctx = d};
    if (!part_holds(path, part, &id))
        return fail(e, ERR_FAIL, "%s: not a trace of a part", path);
    if (!blob(part, id, &q, e))
        return false;
    return q.any || fail(e, ERR_UNDECIDED, "%s: keeps no rows, which this needs: reduce again without --no-rows", part);
}

bool part_blob(const char *path, const char *table, struct bytes *out)
{
    char part[4096];
    int64_t id;
    struct err none = {0};
    struct query q = {.sql = table ? "SELECT content FROM result WHERE trace = ?1 AND \"table\" = ?2" : "SELECT digest FROM trace WHERE id = ?1",
                      .table = table,
                      .take = take_bytes,
                      .ctx = out};
    *out = (struct bytes){0};
    return part_holds(path, part, &id) && blob(part, id, &q, &none) && q.any;
}

bool part_each_option(const char *path, bool (*take)(void *ctx, const char *key, const char *value), void *ctx, struct err *e)
{
    sqlite3 *db = open_part(path, e);
    sqlite3_stmt *s = NULL;
    bool ok = db && sqlite3_prepare_v2(db, "SELECT key, value FROM option NOT INDEXED ORDER BY key", -1, &s, NULL) == SQLITE_OK;
    while (ok && sqlite3_step(s) == SQLITE_ROW)
        ok = take(ctx, (const char *)sqlite3_column_text(s, 0), (const char *)sqlite3_column_text(s, 1));
    ok = sqlite3_finalize(s) == SQLITE_OK && ok;
    sqlite3_close(db);
    return ok || e->kind || damaged(path, e);
}

/* ---- writing ---- */

static bool wrong(const struct part *p, struct err *e)
{
    return fail(e, ERR_FAIL, "%s: cannot write: %s", p->path, sqlite3_errmsg(p->db));
}

static bool put_option(void *ctx, const char *key, const char *value)
{
    struct part *p = ctx;
    sqlite3_stmt *s = NULL;
    bool ok = sqlite3_prepare_v2(p->db, "INSERT INTO option VALUES (?1, ?2)", -1, &s, NULL) == SQLITE_OK &&
              sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC) == SQLITE_OK && sqlite3_bind_text(s, 2, value, -1, SQLITE_STATIC) == SQLITE_OK &&
              sqlite3_step(s) == SQLITE_DONE;
    sqlite3_finalize(s);
    return ok;
}

struct part *part_create(const char *path, bool force, const struct trace_opts *o, struct err *e)
{
    struct stat st;
    if (stat(path, &st) == 0 && (!force || !S_ISREG(st.st_mode))) {
        const char *why = S_ISREG(st.st_mode) ? "exists already; give another name, or --force to replace it" : "not a file, and not replaced";
        fail(e, ERR_FAIL, "%s: %s", path, why);
        return NULL;
    }
    size_t cap = 0;
    struct part *p = array_grow(NULL, &cap, 1, sizeof *p);
    *p = (struct part){.path = strdup(path), .tmp = sqlite3_mprintf("%s.tmp", path), .force = force};
    unlink(p->tmp);
    bool ok = sqlite3_open_v2(p->tmp, &p->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) == SQLITE_OK &&
              sqlite3_exec(p->db, schema, NULL, NULL, NULL) == SQLITE_OK && part_text_options(o, put_option, p, e);
    if (ok)
        return p;
    if (!e->kind)
        wrong(p, e);
    part_drop(p);
    return NULL;
}

static bool bind_blob(sqlite3_stmt *s, int at, const struct bytes *b)
{
    return b && b->v ? sqlite3_bind_blob64(s, at, b->v, b->n, SQLITE_STATIC) == SQLITE_OK : sqlite3_bind_null(s, at) == SQLITE_OK;
}

bool part_add(struct part *p, int64_t id, const char *name, uint64_t folder, const struct bytes *rows, const struct bytes *digest, struct err *e)
{
    sqlite3_stmt *s = NULL;
    bool ok = sqlite3_prepare_v2(p->db, "INSERT INTO trace VALUES (?1, ?2, ?3, ?4, ?5)", -1, &s, NULL) == SQLITE_OK &&
              sqlite3_bind_int64(s, 1, id) == SQLITE_OK && sqlite3_bind_text(s, 2, name, -1, SQLITE_STATIC) == SQLITE_OK &&
              sqlite3_bind_int64(s, 3, (int64_t)folder) == SQLITE_OK && bind_blob(s, 4, rows) && bind_blob(s, 5, digest) &&
              sqlite3_step(s) == SQLITE_DONE;
    sqlite3_finalize(s);
    return ok || wrong(p, e);
}

bool part_add_result(struct part *p, int64_t id, const char *table, const struct bytes *content, struct err *e)
{
    sqlite3_stmt *s = NULL;
    bool ok = sqlite3_prepare_v2(p->db, "INSERT INTO result VALUES (?1, ?2, ?3)", -1, &s, NULL) == SQLITE_OK &&
              sqlite3_bind_int64(s, 1, id) == SQLITE_OK && sqlite3_bind_text(s, 2, table, -1, SQLITE_STATIC) == SQLITE_OK &&
              bind_blob(s, 3, content) && sqlite3_step(s) == SQLITE_DONE;
    sqlite3_finalize(s);
    return ok || wrong(p, e);
}

bool part_finish(struct part *p, struct err *e)
{
    bool ok = sqlite3_exec(p->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK || wrong(p, e);
    ok = ok && (sqlite3_close(p->db) == SQLITE_OK || wrong(p, e));
    if (ok)
        p->db = NULL;
    ok = ok && (rename(p->tmp, p->path) == 0 || fail(e, ERR_FAIL, "%s: cannot write: %s", p->path, strerror(errno)));
    part_drop(p);
    return ok;
}

void part_drop(struct part *p)
{
    if (!p)
        return;
    sqlite3_close(p->db);
    unlink(p->tmp); /* gone already when it was renamed */
    sqlite3_free(p->tmp);
    free(p->path);
    free(p);
}
