/* tracefile_open.c - what a trace file is told by, and finishing those that were cut off before they are read. */
#include "schemas/arena.h"
#include "schemas/recover.h"
#include "schemas/sqlbound.h"
#include "schemas/tmpfolder.h"
#include "schemas/tracefile.h"
#include "schemas/tracefile_sql.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool has_side(const char *path, const char *end)
{
    char side[4200];
    snprintf(side, sizeof side, "%s%s", path, end);
    return access(side, F_OK) == 0;
}

enum { HEAD_BYTES = 100, WRITE_VERSION = 18, VERSION_WAL = 2 }; /* SQLite's file head */

/* How much of a database's head there is: all of it, 0 = an empty file, -1 = something else. */
static ssize_t read_head(const char *path, unsigned char h[HEAD_BYTES])
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is neither waited for nor read from */
    if (fd < 0)
        return -1;
    ssize_t n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, h, HEAD_BYTES) : -1;
    close(fd);
    return n == 0 || (n == HEAD_BYTES && memcmp(h, "SQLite format 3", 16) == 0) ? n : -1;
}

bool tracefile_in_wal(const char *path)
{
    unsigned char h[HEAD_BYTES];
    return has_side(path, "-wal") || (read_head(path, h) > 0 && h[WRITE_VERSION] == VERSION_WAL);
}

int64_t tracefile_application_id(const char *path)
{
    unsigned char h[HEAD_BYTES];
    ssize_t n = read_head(path, h);
    if (n <= 0)
        return n == 0 ? -1 : 0;
    return (uint32_t)h[68] << 24 | (uint32_t)h[69] << 16 | (uint32_t)h[70] << 8 | h[71];
}

bool tracefile_is(const char *path)
{
    int64_t id = tracefile_application_id(path);
    if (id < 0) /* a recording whose first pages are still in its WAL, or of which there is its ring alone */
        return has_side(path, "-wal") || has_side(path, "-ring");
    return id == TRACEFILE_APPLICATION_ID;
}

bool tracefile_fold(sqlite3 *db)
{
    static const struct timespec pause = {.tv_nsec = 50 * 1000000};
    for (int waited = 0;; waited += 50) {
        int rc = sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE;", NULL, NULL, NULL);
        if (rc != SQLITE_BUSY || waited >= BUSY_MS)
            return rc == SQLITE_OK || rc == SQLITE_BUSY;
        nanosleep(&pause, NULL);
    }
}

/* Opening for writing replays the WAL; then it is folded in, unless the recording still runs. An empty WAL beside a file whose
 * head no longer says so, which a reader left that opened it while the mode was being changed, is taken up to be removed. */
static bool fold_in(const char *path, struct err *e)
{
    sqlite3 *db = NULL;
    bool ok = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK && sqlite3_busy_timeout(db, BUSY_MS) == SQLITE_OK &&
              sqlite3_exec(db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL) == SQLITE_OK;
    if (ok)
        sqlite3_exec(db, "PRAGMA journal_mode=WAL; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE;", NULL, NULL, NULL);
    else
        fail(e, ERR_FAIL, "%s: cannot be recovered: %s", path, sqlite3_errmsg(db));
    sqlite3_close(db);
    return ok;
}

static bool is_empty(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_size == 0 && !has_side(path, "-wal");
}

bool tracefile_recover(const char *path, bool *done, struct err *e)
{
    if (!tracefile_is(path))
        return fail(e, ERR_FAIL, "%s: not a recording of cpscope", path);
    enum leftover left = recover_left(path);
    if (left == LEFT_RUNNING)
        return fail(e, ERR_FAIL, "%s: is still being recorded", path);
    if (left != LEFT_NOTHING && !recover_merge(path, done, e))
        return false;
    bool wal = tracefile_in_wal(path);
    *done = (left != LEFT_NOTHING && *done) || wal;
    return wal ? fold_in(path, e) : is_empty(path) || sqlbound_whole(path, e);
}

static bool copy_file(const char *from, const char *to, struct err *e)
{
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
    char buf[1 << 14];
    ssize_t n = -1;
    bool ok = in >= 0 && out >= 0;
    while (ok && (n = read(in, buf, sizeof buf)) > 0)
        ok = write(out, buf, (size_t)n) == n;
    ok = ok && n == 0;
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return ok || fail(e, ERR_FAIL, "%s: cannot copy to %s: %s", from, to, strerror(errno));
}

static bool copy_all(const char *path, const char *file, struct err *e)
{
    static const char *const sides[] = {"-wal", "-ring"};
    char from[4200], to[4200];
    bool ok = copy_file(path, file, e);
    for (int i = 0; i < 2 && ok; i++) {
        snprintf(from, sizeof from, "%s%s", path, sides[i]);
        snprintf(to, sizeof to, "%s%s", file, sides[i]);
        ok = access(from, F_OK) != 0 || copy_file(from, to, e);
    }
    return ok;
}

/* A folder that cannot be written: all files are copied, folded in and read there. */
static bool load_copy(const char *path, bool left, unsigned parts, int threads, struct tracedata *d, struct err *e)
{
    struct arena a = {0};
    const char *folder = tmpfolder_make(arena_printf(&a, "%s: unfinished recording in a folder that cannot be written", path), &a, e);
    bool ok = folder != NULL, done;
    if (ok) {
        const char *file = arena_printf(&a, "%s/trace.sqlite", folder);
        ok = copy_all(path, file, e) && (!left || recover_merge(file, &done, e)) && fold_in(file, e) && tracefile_read(file, parts, threads, d, e);
        tmpfolder_remove(folder);
    }
    arena_free(&a);
    return ok;
}

static bool can_write(const char *path)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    return access(slash ? folder : ".", W_OK) == 0 && access(path, W_OK) == 0;
}

/* A recording that has just begun has its name before it has its first rows. */
static enum leftover wait_for_rows(const char *path)
{
    static const struct timespec pause = {.tv_nsec = 20 * 1000000};
    enum leftover left = recover_left(path);
    for (int waited = 0; waited < BUSY_MS && left == LEFT_RUNNING && is_empty(path); waited += 20) {
        nanosleep(&pause, NULL);
        left = recover_left(path);
    }
    return left;
}

bool tracefile_load_some(const char *path, unsigned parts, int threads, struct tracedata *d, struct err *e)
{
    enum leftover left = wait_for_rows(path);
    bool done;
    if (left != LEFT_BEHIND && is_empty(path))
        return fail(e, ERR_FAIL, "%s: empty: the program was ended before its first event", path);
    if (left == LEFT_BEHIND || tracefile_in_wal(path)) {
        if (!can_write(path))
            return load_copy(path, left == LEFT_BEHIND, parts, threads, d, e);
        if ((left == LEFT_BEHIND && !recover_merge(path, &done, e)) || !fold_in(path, e))
            return false;
    }
    return (has_side(path, "-wal") || sqlbound_whole(path, e)) && tracefile_read(path, parts, threads, d, e);
}

bool tracefile_load(const char *path, struct tracedata *d, struct err *e)
{
    return tracefile_load_some(path, SIDE_ALL, 0, d, e);
}
