/* tracefile.c - writing trace files. Reading: tracefile_load.c. */
#include "schemas/tracefile_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_kinds(struct tracefile *f, struct err *e)
{
    char sql[160];
    bool ok = true;
    for (int k = 0; k < EV_NKINDS && ok; k++) {
        snprintf(sql, sizeof sql, "INSERT INTO event_kind VALUES (%d, '%s', %d)", k, ev_kind_name((enum ev_kind)k),
                 (int)ev_kind_class((enum ev_kind)k));
        ok = tracefile_exec(f, sql, e);
    }
    return ok;
}

static bool write_schema(struct tracefile *f, struct err *e)
{
    return tracefile_exec(f, "PRAGMA page_size=8192; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN", e) &&
           tracefile_exec(f, tracefile_schema, e) && write_kinds(f, e) && tracefile_exec(f, "COMMIT", e);
}

/* Makes an empty FILE on the way to PATH; SQLite takes it for a new database. */
static bool claim(const char *file, const char *path, bool force, struct err *e)
{
    int fd = open(file, O_CREAT | O_WRONLY | (force ? O_TRUNC : O_EXCL), 0666);
    if (fd < 0 && errno == EEXIST)
        return fail(e, ERR_FAIL, "%s: exists already; give another name, or --force to replace it", path);
    if (fd < 0)
        return fail(e, ERR_FAIL, "%s: cannot write: %s", path, strerror(errno));
    close(fd);
    return true;
}

/* The handle of what will be PATH, whose bytes are in `file` now. */
static struct tracefile *open_handle(const char *path, const char *file, struct err *e)
{
    size_t cap = 0;
    struct tracefile *f = array_grow(NULL, &cap, 1, sizeof *f);
    *f = (struct tracefile){.path = strdup(path), .strings = 0, .processes = 1, .threads = 1, .streams = 1, .sites = 1, .stacks = 1};
    if (sqlite3_open_v2(file, &f->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK) {
        sqlite3_busy_timeout(f->db, BUSY_MS); /* somebody may look at a recording that runs */
        return f;
    }
    tracefile_sql_fail(f, e);
    tracefile_close(f);
    return NULL;
}

struct tracefile *tracefile_create(const char *path, bool force, struct err *e)
{
    if (!force && access(path, F_OK) == 0) {
        fail(e, ERR_FAIL, "%s: exists already; give another name, or --force to replace it", path);
        return NULL;
    }
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        fail(e, ERR_FAIL, "%s: not a file, and not replaced", path);
        return NULL;
    }
    char *tmp = sqlite3_mprintf("%s.tmp", path);
    struct tracefile *f = claim(tmp, path, true, e) ? open_handle(path, tmp, e) : NULL;
    if (f) {
        f->tmp = strdup(tmp);
        if (!write_schema(f, e) || !tracefile_prepare(f, e)) {
            tracefile_close(f);
            f = NULL;
        }
    }
    sqlite3_free(tmp);
    return f;
}

/* A whole file without rows, at `tmp`. */
static bool make_empty(const char *path, const char *tmp, struct err *e)
{
    struct tracefile *f = claim(tmp, path, true, e) ? open_handle(path, tmp, e) : NULL;
    bool ok = f && write_schema(f, e);
    tracefile_close(f);
    return ok;
}

/* Gives `tmp` its name in one step; an existing file is in the way unless `force`. */
static bool put_in_place(const char *tmp, const char *path, bool force, struct err *e)
{
    if (!force && link(tmp, path) == 0)
        return unlink(tmp) == 0;
    if (!force && (errno == EEXIST || !claim(path, path, false, e))) /* a file system without links: the name first, then the bytes */
        return fail(e, ERR_FAIL, "%s: exists already; give another name, or --force to replace it", path);
    return rename(tmp, path) == 0 || fail(e, ERR_FAIL, "%s: cannot write: %s", path, strerror(errno));
}

/* A handle whose appends are committed at once. */
static struct tracefile *open_wal(const char *path, struct err *e)
{
    struct tracefile *f = open_handle(path, path, e);
    if (f && !(tracefile_exec(f, "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=512", e) && tracefile_prepare(f, e))) {
        tracefile_close(f);
        f = NULL;
    }
    return f;
}

/* An empty trace of that name, without side files of an earlier one: they would be replayed into it. */
static bool make_recording(const char *path, bool force, struct err *e)
{
    static const char *const side[] = {"-wal", "-shm"};
    char *tmp = sqlite3_mprintf("%s.new-%d", path, (int)getpid());
    bool ok = make_empty(path, tmp, e) && put_in_place(tmp, path, force, e);
    if (!ok)
        unlink(tmp);
    for (int i = 0; i < 2 && ok; i++) {
        char *s = sqlite3_mprintf("%s%s", path, side[i]);
        unlink(s);
        sqlite3_free(s);
    }
    sqlite3_free(tmp);
    return ok;
}

struct tracefile *tracefile_record(const char *path, bool force, struct err *e)
{
    bool made = make_recording(path, force, e);
    struct tracefile *f = made ? open_wal(path, e) : NULL;
    if (made && !f)
        unlink(path);
    return f;
}

static bool read_marks(struct tracefile *f, struct ring_mark **v, size_t *n, struct err *e)
{
    sqlite3_stmt *s = NULL;
    size_t cap = 0;
    *v = NULL;
    *n = 0;
    if (sqlite3_prepare_v2(f->db, "SELECT id, read FROM ring ORDER BY id", -1, &s, NULL) != SQLITE_OK)
        return tracefile_sql_fail(f, e);
    while (sqlite3_step(s) == SQLITE_ROW) {
        struct ring_mark m = {sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1)};
        ARRAY_PUSH(*v, *n, cap, m);
    }
    return sqlite3_finalize(s) == SQLITE_OK || tracefile_sql_fail(f, e);
}

struct tracefile *tracefile_continue(const char *path, struct tracedata *d, struct ring_mark **marks, size_t *n, struct err *e)
{
    struct stat st;
    int64_t events = 0;
    char *wal = sqlite3_mprintf("%s-wal", path);
    bool fresh = stat(path, &st) == 0 && st.st_size == 0 && access(wal, F_OK) != 0; /* its name was taken, and no more */
    sqlite3_free(wal);
    *marks = NULL;
    *n = 0;
    struct tracefile *f = !fresh || make_recording(path, true, e) ? open_wal(path, e) : NULL;
    if (!f || !tracefile_read_keys(path, d, &events, e) || !read_marks(f, marks, n, e)) {
        tracefile_close(f);
        return NULL;
    }
    d->first = events;
    f->processes = d->nprocesses;
    f->threads = d->nthreads;
    f->streams = d->nstreams;
    f->sites = d->nsites;
    f->stacks = d->nstacks;
    f->memory = d->nmemory;
    return f;
}

bool tracefile_leave(struct tracefile *f, struct tracedata *d, struct err *e)
{
    bool ok = tracefile_append(d, f, e) && tracefile_facts(f, d, e);
    ok = ok && (tracefile_fold(f->db) || tracefile_sql_fail(f, e));
    tracefile_close(f);
    return ok;
}

int64_t tracefile_bytes(struct tracefile *f)
{
    sqlite3_stmt *s = NULL;
    bool ok = sqlite3_prepare_v2(f->db, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", -1, &s, NULL) == SQLITE_OK &&
              sqlite3_step(s) == SQLITE_ROW;
    int64_t bytes = ok ? sqlite3_column_int64(s, 0) : -1;
    sqlite3_finalize(s);
    return bytes;
}

/* Prepared statements hold the database open; they go before it does. */
static bool close_db(struct tracefile *f, struct err *e)
{
    for (int i = 0; i < IN_COUNT; i++)
        sqlite3_finalize(f->in[i]);
    memset(f->in, 0, sizeof f->in);
    tracefile_batch_close(f);
    bool ok = sqlite3_close(f->db) == SQLITE_OK || !e || tracefile_sql_fail(f, e);
    f->db = NULL;
    return ok;
}

bool tracefile_finish(struct tracefile *f, struct tracedata *d, struct err *e)
{
    if (!tracedata_meta_get(d, "clean_end"))
        tracedata_meta(d, "clean_end", "1");
    f->processes = f->threads = f->streams = 1; /* once more: pids, ranks and names may have become known late */
    bool ok = tracefile_append(d, f, e) && tracefile_facts(f, d, e);
    if (ok && !f->tmp)
        ok = tracefile_fold(f->db) || tracefile_sql_fail(f, e);
    ok = close_db(f, e) && ok;
    if (ok && f->tmp && rename(f->tmp, f->path) != 0)
        ok = fail(e, ERR_FAIL, "%s: cannot rename: %s", f->tmp, strerror(errno));
    if (ok && f->tmp) {
        free(f->tmp);
        f->tmp = NULL;
    }
    tracefile_close(f);
    return ok;
}

void tracefile_close(struct tracefile *f)
{
    if (!f)
        return;
    if (f->db)
        close_db(f, NULL);
    if (f->tmp)
        unlink(f->tmp);
    free(f->tmp);
    free(f->path);
    free(f);
}
