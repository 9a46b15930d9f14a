/* tracefile_load.c - reading trace files.
 *
 * Events are numbered from 1 without a gap, so threads fill disjoint parts of the array:
 *
 *   keys, strings, facts      |--- main ---|
 *   event 1 .. n/4                         |--- thread 1 ---|
 *   event n/4+1 ..                         |--- thread 2 ---| ...
 *   sync, kernel, ... (side rows find their event)          |--- thread 1 ---|--- thread 2 ...
 */
#include "schemas/sqlbound.h"
#include "schemas/tracefile_job.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FEW_EVENTS = 1 << 16 };

static void row_event(struct job *j, sqlite3_value **v)
{
    struct tracedata *d = j->d;
    int64_t x[EVENT_COLUMNS];
    for (int i = 0; i < EVENT_COLUMNS; i++)
        x[i] = sql_int(v[i], event_absent[i]);
    if (x[0] != j->from || j->from > j->to || !event_make(d, x, &d->ev[j->from - 1]))
        j->broken = true;
    else
        j->from++;
}

static struct event *event_at(struct job *j, int64_t id)
{
    const struct event_rows *r = j->rows;
    if (!r->id)
        return id > 0 && id <= (int64_t)j->d->n ? &j->d->ev[id - 1] : NULL;
    while (j->at < r->nid && r->id[j->at] < id)
        j->at++;
    return j->at < r->nid && r->id[j->at] == id ? &j->d->ev[j->at] : NULL;
}

/* The event that a side row belongs to; NULL (and broken) when there is none of a fitting kind. */
static struct event *owner(struct job *j, sqlite3_value **v, enum ev_kind a, enum ev_kind b)
{
    struct event *ev = event_at(j, sqlite3_value_int64(v[0]));
    if (!ev || (ev->kind != (int)a && ev->kind != (int)b) || ev->detail) {
        j->broken = true;
        return NULL;
    }
    return ev;
}

static void row_sync(struct job *j, sqlite3_value **v)
{
    struct event *ev = owner(j, v, EV_RUNTIME, EV_SYNC);
    if (ev)
        ev->detail = tracedata_sync_row(
            j->d, (struct ev_sync){(int32_t)sql_int(v[1], 0), (int32_t)sql_int(v[2], -1), sql_int(v[3], -1), sql_int(v[4], -1), sql_int(v[5], 0)});
    j->broken |= sql_int(v[5], 0) < 0 || sql_int(v[5], 0) >= (int64_t)j->d->nstacks;
}

static void row_kernel(struct job *j, sqlite3_value **v)
{
    struct event *ev = owner(j, v, EV_KERNEL, EV_KERNEL);
    struct ev_kernel k = {.registers = sqlite3_value_int(v[7]),
                          .static_shared = sqlite3_value_int(v[8]),
                          .dynamic_shared = sqlite3_value_int(v[9]),
                          .graph = sqlite3_value_int64(v[10]),
                          .graph_node = sqlite3_value_int64(v[11])};
    for (int i = 0; i < 3; i++)
        k.grid[i] = sqlite3_value_int(v[1 + i]), k.block[i] = sqlite3_value_int(v[4 + i]);
    if (ev)
        ev->detail = tracedata_kernel_row(j->d, k);
}

static void row_comm(struct job *j, sqlite3_value **v)
{
    struct event *ev = owner(j, v, EV_COMM, EV_COMM);
    struct ev_comm c = {(uint32_t)sql_int(v[1], 0), (uint32_t)sql_int(v[2], 0), (uint32_t)sql_int(v[3], 0), (int32_t)sql_int(v[4], -1),
                        (int32_t)sql_int(v[5], -1), sql_int(v[6], -1),          sql_int(v[7], -1)};
    size_t n = j->d->strings.n;
    j->broken |= c.communicator >= n || c.function >= n || c.dtype >= n;
    if (ev)
        ev->detail = tracedata_comm_row(j->d, c);
}

static void row_copy(struct job *j, sqlite3_value **v)
{
    struct event *ev = owner(j, v, EV_MEMCPY, EV_MEMSET);
    if (ev)
        ev->detail = tracedata_copy_row(j->d, (struct ev_copy){sqlite3_value_int(v[1]), sqlite3_value_int(v[2]), sqlite3_value_int(v[3])});
}

static void row_range(struct job *j, sqlite3_value **v)
{
    struct event *ev = owner(j, v, EV_RANGE, EV_RANGE);
    struct ev_range r = {(uint32_t)sql_int(v[1], 0), sqlite3_value_int(v[2]), sql_int(v[3], -1)};
    j->broken |= r.domain >= j->d->strings.n;
    if (ev)
        ev->detail = tracedata_range_row(j->d, r);
}

static const struct job event = {TAKE_PART("id, start, \"end\", kind, name, rank, device, stream, thread, correlation, bytes, site", "event", "id"),
                                 row_event};

static const struct job side[] = {
    /* in order of the bits */
    {TAKE_PART("event, class, did_block, wait_stream, wait_event, stack", "sync", "event"), row_sync, 2,
     TAKE_PART("event, class, did_block, wait_stream, wait_event, NULL", "sync", "event")},
    {TAKE_PART("event, grid_x, grid_y, grid_z, block_x, block_y, block_z, registers, static_shared, dynamic_shared, graph, graph_node", "kernel",
               "event"),
     row_kernel},
    {TAKE_PART("event, communicator, function, dtype, peer, group_size, sequence, message_bytes", "comm", "event"), row_comm},
    {TAKE_PART("event, kind, src, dst", "copy", "event"), row_copy},
    {TAKE_PART("event, domain, flavour, idx", "range", "event"), row_range},
};

static void take(sqlite3_context *c, int n, sqlite3_value **v)
{
    struct job *j = *(struct job **)sqlite3_user_data(c);
    (void)n;
    j->row(j, v);
    if (j->broken)
        sqlite3_result_error(c, "a row holds a key that is not there or an impossible time", -1);
}

static void taken(sqlite3_context *c)
{
    sqlite3_result_null(c);
}

/* A connection whose take() goes to the job *at. NULL: j->err says why. */
sqlite3 *job_connect(const char *path, struct job **at, struct err *e)
{
    sqlite3 *db = NULL;
    bool ok = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
              sqlite3_busy_timeout(db, BUSY_MS) == SQLITE_OK && sqlbound_set(db, path) &&
              sqlite3_create_function_v2(db, "take", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, at, NULL, take, taken, NULL) == SQLITE_OK;
    if (ok)
        return db;
    fail(e, ERR_FAIL, "%s: cannot open: %s", path, sqlite3_errmsg(db));
    sqlite3_close(db);
    return NULL;
}

static int version_of(sqlite3 *db)
{
    sqlite3_stmt *s = NULL;
    int version = 1;
    if (sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
        version = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    return version;
}

bool job_run(sqlite3 *db, const char *path, struct job *j)
{
    sqlite3_stmt *s;
    const char *sql = j->version && version_of(db) < j->version ? j->old : j->sql;
    if (!sql)
        return true;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        return fail(&j->err, ERR_FAIL, "%s: %s", path, sqlite3_errmsg(db));
    if (sqlite3_bind_parameter_count(s)) {
        sqlite3_bind_int64(s, 1, j->from);
        sqlite3_bind_int64(s, 2, j->to);
    }
    int rc;
    while ((rc = sqlite3_step(s)) == SQLITE_ROW)
        ;
    if (rc != SQLITE_DONE)
        fail(&j->err, ERR_FAIL, "%s: damaged: %s", path, sqlbound_why(db));
    sqlite3_finalize(s);
    return rc == SQLITE_DONE;
}

/* Jobs that touch nothing of one another, for several threads with a connection each. */
struct crew {
    const char *path;
    struct job *jobs;
    size_t n;
    atomic_size_t next;
};

static void *work(void *arg)
{
    struct crew *crew = arg;
    struct job *j = NULL;
    sqlite3 *db = NULL;
    for (size_t i; (i = atomic_fetch_add(&crew->next, 1)) < crew->n;) {
        j = &crew->jobs[i];
        if (db || (db = job_connect(crew->path, &j, &j->err)))
            job_run(db, crew->path, j);
    }
    sqlite3_close(db);
    return NULL;
}

static bool run_all(const char *path, struct job *jobs, size_t n, int threads, struct err *e)
{
    enum { MOST = 64 };
    struct crew crew = {.path = path, .jobs = jobs, .n = n};
    pthread_t others[MOST];
    int started = 0;
    while (started < MOST && started + 1 < threads && (size_t)started + 1 < n && pthread_create(&others[started], NULL, work, &crew) == 0)
        started++;
    work(&crew);
    for (int i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    for (size_t i = 0; i < n; i++)
        if (jobs[i].err.kind)
            return fail(e, jobs[i].err.kind, "%s", jobs[i].err.msg);
    return true;
}

/* One by one, where the pages are not plain. */
static bool ask_events(const char *path, struct tracedata *d, int64_t n, int threads, struct err *e)
{
    enum { PARTS = 256 };
    struct job parts[PARTS];
    int64_t most = n / FEW_EVENTS + 1, count = threads > 1 ? 4 * threads : 1;
    count = count < most ? count : most;
    count = count < PARTS ? count : PARTS;
    for (int64_t i = 0; i < count; i++) {
        parts[i] = event;
        parts[i].d = d;
        parts[i].from = n / count * i + 1;
        parts[i].to = i + 1 < count ? n / count * (i + 1) : n;
    }
    d->ev = n ? array_grow(NULL, &d->cap, (size_t)n, sizeof *d->ev) : NULL;
    d->n = (size_t)n;
    if (!run_all(path, parts, (size_t)count, threads, e))
        return false;
    for (int64_t i = 0; i < count; i++)
        if (parts[i].from != parts[i].to + 1)
            return fail(e, ERR_FAIL, "%s: damaged: the numbers of its events have a gap", path);
    return true;
}

static bool load_events(const char *path, struct tracedata *d, int64_t n, struct event_rows *rows, struct err *e)
{
    if (tracefile_pages(path, d, n, rows)) {
        d->ev = rows->ev;
        d->n = rows->n;
        d->cap = rows->cap;
        return true;
    }
    free(rows->ev);
    free(rows->id);
    *rows = (struct event_rows){.threads = rows->threads};
    return ask_events(path, d, n, rows->threads, e);
}

static bool load_sides(const char *path, struct tracedata *d, unsigned sides, int64_t n, const struct event_rows *rows, struct err *e)
{
    struct job jobs[sizeof side / sizeof *side];
    size_t k = 0;
    for (size_t i = 0; i < sizeof side / sizeof *side; i++)
        if (sides >> i & 1) {
            jobs[k] = side[i];
            jobs[k].d = d;
            jobs[k].rows = rows;
            jobs[k].from = 1;
            jobs[k++].to = n;
        }
    return run_all(path, jobs, k, d->n < FEW_EVENTS ? 1 : rows->threads, e);
}

/* Kinds whose rows need not be there, as bits. */
static unsigned spared_kinds(unsigned sides)
{
    unsigned runtime = sides & (ROWS_RUNTIME | SIDE_SYNC) ? 0 : 1u << EV_RUNTIME;
    return runtime | (sides & ROWS_OP ? 0 : 1u << EV_OP) | (sides & ROWS_FRAME ? 0 : 1u << EV_FRAME);
}

bool tracefile_read(const char *path, unsigned sides, int threads, struct tracedata *d, struct err *e)
{
    int64_t n = 0;
    struct event_rows rows = {.spared = spared_kinds(sides), .threads = threads ? threads : (int)sysconf(_SC_NPROCESSORS_ONLN)};
    bool ok = tracefile_read_keys(path, d, &n, e) && load_events(path, d, n, &rows, e);
    if (!ok)
        d->n = 0; /* what is not filled in must not be looked at */
    ok = ok && load_sides(path, d, sides, n, &rows, e);
    free(rows.id);
    if (ok && !tracedata_meta_get(d, "clean_end"))
        tracedata_meta(d, "clean_end", "0");
    return ok;
}
