/* sqlbound.c - counting the steps of a connection. */
#include "schemas/sqlbound.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* What the header says, -1: it is not up to date (a program of before 2010 wrote last). */
static int64_t length_of(const unsigned char *head)
{
    int64_t page = head[16] << 8 | head[17], pages = (int64_t)head[28] << 24 | head[29] << 16 | head[30] << 8 | head[31];
    bool counted = memcmp(head + 24, head + 92, 4) == 0;
    return counted ? pages * (page == 1 ? 65536 : page) : -1;
}

bool sqlbound_whole(const char *path, struct err *e)
{
    enum { HEAD = 100 };
    unsigned char head[HEAD];
    struct stat st = {.st_size = 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 && fstat(fd, &st) == 0 ? read(fd, head, sizeof head) : 0;
    if (fd >= 0)
        close(fd);
    int64_t length = n == HEAD ? length_of(head) : HEAD;
    return length <= st.st_size || fail(e, ERR_FAIL, "%s: the database is cut: %lld of %s%lld bytes are there; copy or export it again", path,
                                        (long long)st.st_size, n == HEAD ? "" : "at least ", (long long)length);
}
