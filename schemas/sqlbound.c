/* sqlbound.c - counting the steps of a connection. */
#include "schemas/sqlbound.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum { STRIDE = 100000, PER_BYTE = 200, AT_LEAST = 20000000 }; /* steps: between two looks, per byte of the file, for any file */

static int spend(void *left)
{
    int64_t *n = left;
    *n -= STRIDE;
    return *n < 0;
}

static void nothing(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    (void)v;
    sqlite3_result_null(c);
}

bool sqlbound_set(sqlite3 *db, const char *path)
{
    struct stat st;
    int64_t *left = sqlite3_malloc(sizeof *left);
    if (!left)
        return false;
    *left = AT_LEAST + (stat(path, &st) == 0 ? PER_BYTE * (int64_t)st.st_size : 0);
    /* A function, never called, that frees the counter with the connection. */
    if (sqlite3_create_function_v2(db, "cpscope_bound", 0, SQLITE_UTF8 | SQLITE_DIRECTONLY, left, nothing, NULL, NULL, sqlite3_free) != SQLITE_OK)
        return false;
    sqlite3_progress_handler(db, STRIDE, spend, left);
    return true;
}

const char *sqlbound_why(sqlite3 *db)
{
    return sqlite3_errcode(db) == SQLITE_INTERRUPT ? "reading it does not end, as with views that recurse" : sqlite3_errmsg(db);
}
