/* nsys_db.c - the database of an Nsight Systems export: its tables and columns come and go with the version. */
#include "analyzer/nsys.h"
#include "analyzer/sqlin.h"
#include "schemas/sqlbound.h"
#include "schemas/utf8.h"

#include <string.h>

static bool damaged(struct nsys *n)
{
    return fail(n->e, ERR_FAIL, "%s: damaged Nsight Systems export: %s", n->path, sqlbound_why(n->db));
}

static bool has_table(struct nsys *n, const char *name)
{
    char *sql = sqlite3_mprintf("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = %Q", name);
    bool has = *nsys_text(n, sql) != '\0';
    sqlite3_free(sql);
    return has;
}

static bool has_column(struct nsys *n, const char *table, const char *column)
{
    char *sql = sqlite3_mprintf("SELECT 1 FROM pragma_table_info(%Q) WHERE name = %Q", table, column);
    bool has = *nsys_text(n, sql) != '\0';
    sqlite3_free(sql);
    return has;
}

const char *nsys_text(struct nsys *n, const char *sql)
{
    sqlite3_stmt *s = NULL;
    const char *text = "";
    if (sqlite3_prepare_v2(n->db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW && sqlite3_column_text(s, 0))
        text = arena_strdup(&n->scratch, (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    return text;
}

/* SELECT "a", NULL, "c" ... FROM table; NULL when its times are not there. */
static const char *query(struct nsys *n, const struct nsys_table *t)
{
    const char *sql = "SELECT ";
    for (int i = 0; t->columns[i]; i++) {
        bool has = has_column(n, t->name, t->columns[i]);
        if (!has && i == 0)
            return NULL;
        sql = arena_printf(&n->scratch, has ? "%s%s\"%s\"" : "%s%sNULL", sql, i ? ", " : "", t->columns[i]);
    }
    return arena_printf(&n->scratch, "%s FROM %s", sql, t->name);
}

bool nsys_read_table(struct nsys *n, const struct nsys_table *t)
{
    sqlite3_stmt *s = NULL;
    if (!has_table(n, t->name))
        return true;
    const char *sql = query(n, t);
    if (!sql && t->spare)
        return true;
    if (!sql)
        return fail(n->e, ERR_FAIL, "%s: table %s has no column %s; not an Nsight Systems export, or of an unknown version", n->path, t->name,
                    t->columns[0]);
    bool ok = sqlite3_prepare_v2(n->db, sql, -1, &s, NULL) == SQLITE_OK || damaged(n);
    while (ok && nsys_next(n, s)) {
        ok = t->row(n, s);
        if (n->scratch.total > 1 << 20)
            arena_free(&n->scratch);
    }
    sqlite3_finalize(s);
    return ok && n->e->kind == ERR_NONE;
}

int64_t nsys_int(sqlite3_stmt *s, int column, int64_t none)
{
    return sqlin_int(s, column, none);
}

/* cudaMemcpyAsync_v3020 -> cudaMemcpyAsync; driver names (cuMemFree_v2) have short numbers and keep them. */
static size_t api_length(const char *s)
{
    size_t n = strlen(s), digits = 0;
    while (digits < n && s[n - 1 - digits] >= '0' && s[n - 1 - digits] <= '9')
        digits++;
    bool suffix = digits >= 4 && n > digits + 2 && s[n - digits - 1] == 'v' && s[n - digits - 2] == '_';
    return suffix ? n - digits - 2 : n;
}

/* Up to the first NUL: blocks of NUL-separated text are environments. */
static uint32_t text_id(struct nsys *n, const unsigned char *text, bool api)
{
    const char *s = (const char *)text;
    return s ? utf8_intern(&n->d->strings, s, api ? api_length(s) : strlen(s), &n->scratch, &n->bad_bytes) : 0;
}

uint32_t nsys_own_text(struct nsys *n, sqlite3_stmt *s, int column)
{
    return text_id(n, sqlite3_column_text(s, column), false);
}

bool nsys_next(struct nsys *n, sqlite3_stmt *s)
{
    int rc = sqlite3_step(s);
    return rc == SQLITE_ROW || (rc != SQLITE_DONE && damaged(n));
}

uint32_t nsys_string(struct nsys *n, sqlite3_stmt *s, int column, bool api)
{
    if (sqlite3_column_type(s, column) == SQLITE_TEXT)
        return text_id(n, sqlite3_column_text(s, column), api);
    int64_t string = nsys_int(s, column, INT64_MIN);
    if (string == INT64_MIN || !n->string_of)
        return 0;
    int64_t key = (int64_t)((uint64_t)string * 2u + api);
    uint32_t known = idmap_get(&n->strings, key);
    if (known)
        return known - 1;
    sqlite3_reset(n->string_of);
    sqlite3_bind_int64(n->string_of, 1, string);
    uint32_t id = nsys_next(n, n->string_of) ? text_id(n, sqlite3_column_text(n->string_of, 0), api) : 0;
    idmap_set(&n->strings, key, id + 1);
    return id;
}

static uint32_t process_of(struct nsys *n, int64_t global)
{
    struct tracedata *d = n->d;
    int64_t key = global < 0 ? -1 : global >> 24;
    uint32_t id = idmap_get(&n->processes, key);
    if (id)
        return id;
    ARRAY_PUSH(d->processes, d->nprocesses, d->processes_cap, ((struct processkey){.pid = key < 0 ? -1 : key & 0xffffff, .rank = -1}));
    idmap_set(&n->processes, key, (uint32_t)d->nprocesses - 1);
    return (uint32_t)d->nprocesses - 1;
}

/* Old exports have no globalPid in device rows: then the one process that made calls, where there is only one. */
uint32_t nsys_process(struct nsys *n, sqlite3_stmt *s, int column)
{
    int64_t global = nsys_int(s, column, -1);
    return global < 0 && n->d->nprocesses == 2 ? 1 : process_of(n, global);
}

uint32_t nsys_thread(struct nsys *n, sqlite3_stmt *s, int column)
{
    int64_t global = nsys_int(s, column, -1);
    return global < 0 ? 0 : tracedata_thread(n->d, process_of(n, global), global & 0xffffff, NULL);
}
