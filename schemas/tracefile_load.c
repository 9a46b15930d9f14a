/* tracefile_load.c - reading trace files, and finishing those that were cut off. */
#include "schemas/tracefile.h"
#include "schemas/tracefile_sql.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool query(sqlite3 *db, const char *path, const char *sql, sqlite3_stmt **s, struct err *e)
{
    return sqlite3_prepare_v2(db, sql, -1, s, NULL) == SQLITE_OK || fail(e, ERR_FAIL, "%s: %s", path, sqlite3_errmsg(db));
}

static int64_t get(sqlite3_stmt *s, int column, int64_t none)
{
    return sqlite3_column_type(s, column) == SQLITE_NULL ? none : sqlite3_column_int64(s, column);
}

static const char *text(sqlite3_stmt *s, int column)
{
    const unsigned char *p = sqlite3_column_text(s, column);
    return p ? (const char *)p : "";
}

struct load {
    sqlite3 *db;
    const char *path;
    struct tracedata *d;
    bool broken; /* a key is out of its table */
};

static void row_string(struct load *l, sqlite3_stmt *s)
{
    int64_t id = sqlite3_column_int64(s, 0);
    uint32_t got = intern_id_n(&l->d->strings, text(s, 1), (size_t)sqlite3_column_bytes(s, 1));
    l->broken |= id != got;
}

/* By number, not by value: processes of two hosts or of merged files may look alike. */
static void row_process(struct load *l, sqlite3_stmt *s)
{
    struct tracedata *d = l->d;
    struct processkey p = {get(s, 1, -1), (uint32_t)get(s, 2, 0), (uint32_t)get(s, 3, 0), (int32_t)get(s, 4, -1)};
    l->broken |= sqlite3_column_int64(s, 0) != (int64_t)d->nprocesses || p.host >= d->strings.n || p.name >= d->strings.n;
    ARRAY_PUSH(d->processes, d->nprocesses, d->processes_cap, p);
}

static void row_thread(struct load *l, sqlite3_stmt *s)
{
    struct tracedata *d = l->d;
    uint32_t process = (uint32_t)get(s, 1, 0);
    uint32_t id = tracedata_thread(d, process, get(s, 3, -1), intern_str(&d->strings, (uint32_t)get(s, 4, 0)));
    l->broken |= id != sqlite3_column_int64(s, 0) || process >= d->nprocesses;
}

static void row_stream(struct load *l, sqlite3_stmt *s)
{
    uint32_t process = (uint32_t)get(s, 1, 0);
    uint32_t id = tracedata_stream(l->d, process, (int32_t)get(s, 2, -1), get(s, 3, -1));
    l->broken |= id != sqlite3_column_int64(s, 0) || process >= l->d->nprocesses;
}

static void row_site(struct load *l, sqlite3_stmt *s)
{
    const struct intern *n = &l->d->strings;
    uint32_t id = tracedata_site(l->d, intern_str(n, (uint32_t)get(s, 1, 0)), intern_str(n, (uint32_t)get(s, 2, 0)), (int32_t)get(s, 3, 0));
    l->broken |= id != sqlite3_column_int64(s, 0);
}

/* Differences of any two times must fit: 146 years either way. */
static bool is_time(int64_t t)
{
    return t < INT64_C(1) << 62 && t > -(INT64_C(1) << 62);
}

static void row_event(struct load *l, sqlite3_stmt *s)
{
    struct tracedata *d = l->d;
    struct event v = {
        .start = sqlite3_column_int64(s, 1),
        .end = sqlite3_column_int64(s, 2),
        .kind = sqlite3_column_int(s, 3),
        .name = (uint32_t)sqlite3_column_int64(s, 4),
        .rank = (int32_t)get(s, 5, -1),
        .device = (int32_t)get(s, 6, -1),
        .stream = (uint32_t)sqlite3_column_int64(s, 7),
        .thread = (uint32_t)sqlite3_column_int64(s, 8),
        .correlation = get(s, 9, -1),
        .bytes = get(s, 10, -1),
        .site = (uint32_t)sqlite3_column_int64(s, 11),
    };
    l->broken |= v.name >= d->strings.n || v.stream >= d->nstreams || v.thread >= d->nthreads || v.site >= d->nsites || v.kind < 0;
    l->broken |= !is_time(v.start) || !is_time(v.end);
    l->broken |= sqlite3_column_int64(s, 0) != (int64_t)d->n + 1;
    ARRAY_PUSH(d->ev, d->n, d->cap, v);
}

/* The event that a side row belongs to; NULL (and broken) when there is none of a fitting kind. */
static struct event *owner(struct load *l, sqlite3_stmt *s, enum ev_kind a, enum ev_kind b)
{
    int64_t id = sqlite3_column_int64(s, 0);
    struct event *ev = id > 0 && id <= (int64_t)l->d->n ? &l->d->ev[id - 1] : NULL;
    if (!ev || (ev->kind != (int)a && ev->kind != (int)b) || ev->detail) {
        l->broken = true;
        return NULL;
    }
    return ev;
}

static void row_sync(struct load *l, sqlite3_stmt *s)
{
    struct event *ev = owner(l, s, EV_RUNTIME, EV_SYNC);
    if (ev)
        ev->detail = tracedata_sync_row(l->d, (struct ev_sync){(int32_t)get(s, 1, 0), (int32_t)get(s, 2, -1), get(s, 3, -1), get(s, 4, -1)});
}

static void row_kernel(struct load *l, sqlite3_stmt *s)
{
    struct event *ev = owner(l, s, EV_KERNEL, EV_KERNEL);
    struct ev_kernel k = {.registers = sqlite3_column_int(s, 7),
                          .static_shared = sqlite3_column_int(s, 8),
                          .dynamic_shared = sqlite3_column_int(s, 9),
                          .graph = sqlite3_column_int64(s, 10),
                          .graph_node = sqlite3_column_int64(s, 11)};
    for (int i = 0; i < 3; i++)
        k.grid[i] = sqlite3_column_int(s, 1 + i), k.block[i] = sqlite3_column_int(s, 4 + i);
    if (ev)
        ev->detail = tracedata_kernel_row(l->d, k);
}

static void row_comm(struct load *l, sqlite3_stmt *s)
{
    struct event *ev = owner(l, s, EV_COMM, EV_COMM);
    struct ev_comm c = {(uint32_t)get(s, 1, 0), (uint32_t)get(s, 2, 0), (uint32_t)get(s, 3, 0), (int32_t)get(s, 4, -1),
                        (int32_t)get(s, 5, -1), get(s, 6, -1),          get(s, 7, -1)};
    size_t n = l->d->strings.n;
    l->broken |= c.communicator >= n || c.function >= n || c.dtype >= n;
    if (ev)
        ev->detail = tracedata_comm_row(l->d, c);
}

static void row_copy(struct load *l, sqlite3_stmt *s)
{
    struct event *ev = owner(l, s, EV_MEMCPY, EV_MEMSET);
    if (ev)
        ev->detail = tracedata_copy_row(l->d, (struct ev_copy){sqlite3_column_int(s, 1), sqlite3_column_int(s, 2), sqlite3_column_int(s, 3)});
}

static void row_range(struct load *l, sqlite3_stmt *s)
{
    struct event *ev = owner(l, s, EV_RANGE, EV_RANGE);
    struct ev_range r = {(uint32_t)get(s, 1, 0), sqlite3_column_int(s, 2), get(s, 3, -1)};
    l->broken |= r.domain >= l->d->strings.n;
    if (ev)
        ev->detail = tracedata_range_row(l->d, r);
}

static void row_meta(struct load *l, sqlite3_stmt *s)
{
    struct tracedata *d = l->d;
    uint32_t key = intern_id(&d->strings, text(s, 0));
    tracedata_meta(d, intern_str(&d->strings, key), text(s, 1));
}

static void row_clock(struct load *l, sqlite3_stmt *s)
{
    struct tracedata *d = l->d;
    struct clock_row c = {intern_id(&d->strings, text(s, 0)), get(s, 1, -1), get(s, 2, -1), get(s, 3, -1)};
    ARRAY_PUSH(d->clocks, d->nclocks, d->clocks_cap, c);
}

static void row_loss(struct load *l, sqlite3_stmt *s)
{
    tracedata_loss(l->d, text(s, 0), get(s, 1, -1), get(s, 2, INT64_MIN), get(s, 3, INT64_MIN));
}

static void row_memory(struct load *l, sqlite3_stmt *s)
{
    struct tracedata *d = l->d;
    struct memory_row m = {get(s, 0, 0), get(s, 4, -1), (int32_t)get(s, 1, -1), (int32_t)get(s, 2, -1), intern_id(&d->strings, text(s, 3))};
    ARRAY_PUSH(d->memory, d->nmemory, d->memory_cap, m);
}

static const struct {
    const char *sql;
    void (*row)(struct load *, sqlite3_stmt *);
} parts[] = {
    {"SELECT id, value FROM string ORDER BY id", row_string},
    {"SELECT id, pid, host, name, rank FROM process ORDER BY id", row_process},
    {"SELECT id, process, pid, tid, name FROM thread ORDER BY id", row_thread},
    {"SELECT id, process, device, native FROM stream ORDER BY id", row_stream},
    {"SELECT id, function, file, line FROM site ORDER BY id", row_site},
    {"SELECT id, start, \"end\", kind, name, rank, device, stream, thread, correlation, bytes, site FROM event ORDER BY id", row_event},
    {"SELECT event, class, did_block, wait_stream, wait_event FROM sync ORDER BY event", row_sync},
    {"SELECT event, grid_x, grid_y, grid_z, block_x, block_y, block_z, registers, static_shared, dynamic_shared, graph, graph_node FROM kernel ORDER "
     "BY event",
     row_kernel},
    {"SELECT event, communicator, function, dtype, peer, group_size, sequence, message_bytes FROM comm ORDER BY event", row_comm},
    {"SELECT event, kind, src, dst FROM copy ORDER BY event", row_copy},
    {"SELECT event, domain, flavour, idx FROM range ORDER BY event", row_range},
    {"SELECT key, value FROM meta ORDER BY key", row_meta},
    {"SELECT clock, before, other, after FROM clock ORDER BY rowid", row_clock},
    {"SELECT reason, count, start, \"end\" FROM loss ORDER BY rowid", row_loss},
    {"SELECT time, rank, device, what, bytes FROM memory ORDER BY rowid", row_memory},
};

static bool load_part(struct load *l, const char *sql, void (*row)(struct load *, sqlite3_stmt *), struct err *e)
{
    sqlite3_stmt *s;
    if (!query(l->db, l->path, sql, &s, e))
        return false;
    int rc;
    while ((rc = sqlite3_step(s)) == SQLITE_ROW && !l->broken)
        row(l, s);
    sqlite3_finalize(s);
    if (l->broken)
        return fail(e, ERR_FAIL, "%s: damaged: a row holds a key that is not there or an impossible time", l->path);
    return rc == SQLITE_DONE || fail(e, ERR_FAIL, "%s: damaged: %s", l->path, sqlite3_errmsg(l->db));
}

static bool load_all(struct load *l, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && ok; i++)
        ok = load_part(l, parts[i].sql, parts[i].row, e);
    const char *t0 = ok ? tracedata_meta_get(l->d, "t0_ns") : NULL;
    l->d->t0 = t0 ? strtoll(t0, NULL, 10) : 0;
    if (ok && !tracedata_meta_get(l->d, "clean_end"))
        tracedata_meta(l->d, "clean_end", "0");
    return ok;
}

bool tracefile_is(const char *path)
{
    unsigned char h[100] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, h, sizeof h);
    close(fd);
    uint32_t id = (uint32_t)h[68] << 24 | (uint32_t)h[69] << 16 | (uint32_t)h[70] << 8 | h[71];
    if (n == 0) { /* a recording whose first pages are still in its WAL */
        char wal[4096];
        snprintf(wal, sizeof wal, "%s-wal", path);
        return access(wal, R_OK) == 0;
    }
    return n == sizeof h && memcmp(h, "SQLite format 3", 16) == 0 && id == TRACEFILE_APPLICATION_ID;
}

static bool has_wal(const char *path)
{
    char wal[4096];
    snprintf(wal, sizeof wal, "%s-wal", path);
    return access(wal, F_OK) == 0;
}

/* Opening for writing replays the WAL; then it is folded in, unless the recording still runs. */
static bool fold_in(const char *path, struct err *e)
{
    sqlite3 *db = NULL;
    bool ok = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
              sqlite3_exec(db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL) == SQLITE_OK;
    if (ok)
        sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE;", NULL, NULL, NULL);
    else
        fail(e, ERR_FAIL, "%s: cannot be recovered: %s", path, sqlite3_errmsg(db));
    sqlite3_close(db);
    return ok;
}

bool tracefile_recover(const char *path, bool *done, struct err *e)
{
    if (!tracefile_is(path))
        return fail(e, ERR_FAIL, "%s: not a recording of cpscope", path);
    *done = has_wal(path);
    return !*done || fold_in(path, e);
}

static bool copy_file(const char *from, const char *to, struct err *e)
{
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
    static char buf[1 << 16];
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

/* A folder that cannot be written: the pair is copied, folded in and read there. */
static bool load_copy(const char *path, struct tracedata *d, struct err *e)
{
    const char *dir = getenv("TMPDIR");
    char folder[2048], file[4096], wal[4096], copied_wal[4200];
    snprintf(folder, sizeof folder, "%s/cpscope-XXXXXX", dir && *dir ? dir : "/tmp");
    if (!mkdtemp(folder))
        return fail(e, ERR_FAIL, "%s: unfinished recording in a folder that cannot be written, and no temporary folder: %s", path, strerror(errno));
    snprintf(file, sizeof file, "%s/trace.sqlite", folder);
    snprintf(wal, sizeof wal, "%s-wal", path);
    snprintf(copied_wal, sizeof copied_wal, "%s-wal", file);
    bool ok = copy_file(path, file, e) && copy_file(wal, copied_wal, e) && fold_in(file, e) && tracefile_load(file, d, e);
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        char s[4200];
        snprintf(s, sizeof s, "%s%s", file, ends[i]);
        unlink(s);
    }
    rmdir(folder);
    return ok;
}

bool tracefile_load(const char *path, struct tracedata *d, struct err *e)
{
    struct load l = {.path = path, .d = d};
    if (has_wal(path)) {
        char folder[4096];
        snprintf(folder, sizeof folder, "%s", path);
        char *slash = strrchr(folder, '/');
        if (slash)
            slash[slash == folder] = '\0';
        if (access(slash ? folder : ".", W_OK) != 0 || access(path, W_OK) != 0)
            return load_copy(path, d, e);
        if (!fold_in(path, e))
            return false;
    }
    bool ok = sqlite3_open_v2(path, &l.db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK ||
              fail(e, ERR_FAIL, "%s: cannot open: %s", path, sqlite3_errmsg(l.db));
    ok = ok && load_all(&l, e);
    sqlite3_close(l.db);
    return ok;
}
