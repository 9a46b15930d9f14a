/* tracefile_load.c - reading trace files.
 *
 * An aggregate function of ours, take(), gets the columns of every row: one call of SQLite scans a table, at half the
 * cost of stepping from row to row. Events are numbered from 1 without a gap, so threads fill disjoint parts of the array:
 *
 *   keys, strings, facts      |--- main ---|
 *   event 1 .. n/4                         |--- thread 1 ---|
 *   event n/4+1 ..                         |--- thread 2 ---| ...
 *   sync, kernel, ... (side rows find their event)          |--- thread 1 ---|--- thread 2 ...
 */
#include "schemas/sqlbound.h"
#include "schemas/tracefile_sql.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FEW_EVENTS = 1 << 16, LEAST_BYTES = 16 }; /* of an event in a file */

/* One table, or a part of one. */
struct job {
    const char *sql; /* ?1 and ?2 are `from` and `to` */
    void (*row)(struct job *, sqlite3_value **);
    int version;      /* of the file, in which this came */
    const char *old;  /* instead of `sql` for files from before that; NULL: nothing */
    int64_t from, to; /* numbers of events */
    struct tracedata *d;
    bool broken; /* a key is out of its table */
    struct err err;
};

static int64_t get(sqlite3_value *v, int64_t none)
{
    return sqlite3_value_type(v) == SQLITE_NULL ? none : sqlite3_value_int64(v);
}

static const char *text(sqlite3_value *v)
{
    const unsigned char *p = sqlite3_value_text(v);
    return p ? (const char *)p : "";
}

static void row_count(struct job *j, sqlite3_value **v)
{
    int64_t first = get(v[0], 1), room = sqlite3_value_int64(v[2]) / LEAST_BYTES;
    j->to = get(v[1], 0);
    j->broken |= first != 1 || j->to > room; /* more than the file has bytes for */
}

static void row_string(struct job *j, sqlite3_value **v)
{
    const char *s = text(v[1]);
    j->broken |= sqlite3_value_int64(v[0]) != intern_id_n(&j->d->strings, s, (size_t)sqlite3_value_bytes(v[1]));
}

/* By number, not by value: processes of two hosts or of merged files may look alike. */
static void row_process(struct job *j, sqlite3_value **v)
{
    struct tracedata *d = j->d;
    struct processkey p = {get(v[1], -1), (uint32_t)get(v[2], 0), (uint32_t)get(v[3], 0), (int32_t)get(v[4], -1)};
    j->broken |= sqlite3_value_int64(v[0]) != (int64_t)d->nprocesses || p.host >= d->strings.n || p.name >= d->strings.n;
    ARRAY_PUSH(d->processes, d->nprocesses, d->processes_cap, p);
}

static void row_thread(struct job *j, sqlite3_value **v)
{
    struct tracedata *d = j->d;
    uint32_t process = (uint32_t)get(v[1], 0);
    uint32_t id = tracedata_thread(d, process, get(v[2], -1), intern_str(&d->strings, (uint32_t)get(v[3], 0)));
    j->broken |= id != sqlite3_value_int64(v[0]) || process >= d->nprocesses;
}

static void row_stream(struct job *j, sqlite3_value **v)
{
    uint32_t process = (uint32_t)get(v[1], 0);
    uint32_t id = tracedata_stream(j->d, process, (int32_t)get(v[2], -1), get(v[3], -1));
    j->broken |= id != sqlite3_value_int64(v[0]) || process >= j->d->nprocesses;
}

static void row_site(struct job *j, sqlite3_value **v)
{
    const struct intern *n = &j->d->strings;
    uint32_t id = tracedata_site(j->d, intern_str(n, (uint32_t)get(v[1], 0)), intern_str(n, (uint32_t)get(v[2], 0)), (int32_t)get(v[3], 0));
    j->broken |= id != sqlite3_value_int64(v[0]);
}

static void row_meta(struct job *j, sqlite3_value **v)
{
    uint32_t key = intern_id(&j->d->strings, text(v[0]));
    tracedata_meta(j->d, intern_str(&j->d->strings, key), text(v[1]));
}

static void row_clock(struct job *j, sqlite3_value **v)
{
    struct clock_row c = {intern_id(&j->d->strings, text(v[0])), get(v[1], -1), get(v[2], -1), get(v[3], -1)};
    ARRAY_PUSH(j->d->clocks, j->d->nclocks, j->d->clocks_cap, c);
}

static void row_loss(struct job *j, sqlite3_value **v)
{
    tracedata_loss(j->d, text(v[0]), get(v[1], -1), get(v[2], INT64_MIN), get(v[3], INT64_MIN));
}

static void row_memory(struct job *j, sqlite3_value **v)
{
    struct memory_row m = {get(v[0], 0), get(v[4], -1), (int32_t)get(v[1], -1), (int32_t)get(v[2], -1), intern_id(&j->d->strings, text(v[3]))};
    ARRAY_PUSH(j->d->memory, j->d->nmemory, j->d->memory_cap, m);
}

/* Differences of any two times must fit: 146 years either way. */
static bool is_time(int64_t t)
{
    return t < INT64_C(1) << 62 && t > -(INT64_C(1) << 62);
}

static void row_event(struct job *j, sqlite3_value **v)
{
    struct tracedata *d = j->d;
    if (sqlite3_value_int64(v[0]) != j->from || j->from > j->to) {
        j->broken = true;
        return;
    }
    struct event *ev = &d->ev[j->from++ - 1];
    *ev = (struct event){
        .start = sqlite3_value_int64(v[1]),
        .end = sqlite3_value_int64(v[2]),
        .kind = sqlite3_value_int(v[3]),
        .name = (uint32_t)sqlite3_value_int64(v[4]),
        .rank = (int32_t)get(v[5], -1),
        .device = (int32_t)get(v[6], -1),
        .stream = (uint32_t)sqlite3_value_int64(v[7]),
        .thread = (uint32_t)sqlite3_value_int64(v[8]),
        .correlation = get(v[9], -1),
        .bytes = get(v[10], -1),
        .site = (uint32_t)sqlite3_value_int64(v[11]),
    };
    j->broken |= ev->name >= d->strings.n || ev->stream >= d->nstreams || ev->thread >= d->nthreads || ev->site >= d->nsites || ev->kind < 0;
    j->broken |= !is_time(ev->start) || !is_time(ev->end);
}

/* The event that a side row belongs to; NULL (and broken) when there is none of a fitting kind. */
static struct event *owner(struct job *j, sqlite3_value **v, enum ev_kind a, enum ev_kind b)
{
    int64_t id = sqlite3_value_int64(v[0]);
    struct event *ev = id > 0 && id <= (int64_t)j->d->n ? &j->d->ev[id - 1] : NULL;
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
        ev->detail =
            tracedata_sync_row(j->d, (struct ev_sync){(int32_t)get(v[1], 0), (int32_t)get(v[2], -1), get(v[3], -1), get(v[4], -1), get(v[5], 0)});
    j->broken |= get(v[5], 0) < 0 || get(v[5], 0) >= (int64_t)j->d->nstacks;
}

/* Frames come in order of stack and depth; stacks are numbered without a gap. */
static void row_frame(struct job *j, sqlite3_value **v)
{
    struct tracedata *d = j->d;
    int64_t stack = get(v[0], 0), depth = get(v[1], -1), site = get(v[2], 0);
    bool fresh = stack == (int64_t)d->nstacks && depth == 0;
    struct stackkey *last = &d->stacks[d->nstacks - 1];
    if ((!fresh && (stack + 1 != (int64_t)d->nstacks || stack == 0 || depth != last->depth)) || site <= 0 || site >= (int64_t)d->nsites) {
        j->broken = true;
        return;
    }
    uint32_t at = (uint32_t)site;
    if (fresh)
        tracedata_stack(d, &at, 1);
    else {
        ARRAY_PUSH(d->frames, d->nframes, d->frames_cap, at);
        last->depth++;
    }
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
    struct ev_comm c = {(uint32_t)get(v[1], 0), (uint32_t)get(v[2], 0), (uint32_t)get(v[3], 0), (int32_t)get(v[4], -1),
                        (int32_t)get(v[5], -1), get(v[6], -1),          get(v[7], -1)};
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
    struct ev_range r = {(uint32_t)get(v[1], 0), sqlite3_value_int(v[2]), get(v[3], -1)};
    j->broken |= r.domain >= j->d->strings.n;
    if (ev)
        ev->detail = tracedata_range_row(j->d, r);
}

/* NOT INDEXED: by rowid, whatever indexes people have added. */
#define TAKE(columns, table) "SELECT take(" columns ") FROM " table " NOT INDEXED"
#define TAKE_PART(columns, table, key) TAKE(columns, table) " WHERE " key " BETWEEN ?1 AND ?2"

/* The count comes first: a recording may still grow, and what is read later has every key that these events need. */
static const struct job small[] = {
    {"SELECT take(first, last, page_count * page_size) FROM pragma_page_count, pragma_page_size, (SELECT min(id) AS first FROM event), "
     "(SELECT max(id) AS last FROM event)",
     row_count},
    {TAKE("id, value", "string"), row_string},
    {TAKE("id, pid, host, name, rank", "process"), row_process},
    {TAKE("id, process, tid, name", "thread"), row_thread},
    {TAKE("id, process, device, native", "stream"), row_stream},
    {TAKE("id, function, file, line", "site"), row_site},
    {"SELECT take(key, value) FROM (SELECT key, value FROM meta ORDER BY key)", row_meta},
    {TAKE("clock, before, other, after", "clock"), row_clock},
    {TAKE("reason, count, start, \"end\"", "loss"), row_loss},
    {TAKE("time, rank, device, what, bytes", "memory"), row_memory},
    {"SELECT take(stack, depth, site) FROM (SELECT stack, depth, site FROM frame ORDER BY stack, depth)", row_frame, 2, NULL},
};

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
static sqlite3 *connect(const char *path, struct job **at, struct err *e)
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

static bool run(sqlite3 *db, const char *path, struct job *j)
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
        if (db || (db = connect(crew->path, &j, &j->err)))
            run(db, crew->path, j);
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

/* Keys, strings and facts in their order. */
bool tracefile_read_keys(const char *path, struct tracedata *d, int64_t *n, struct err *e)
{
    struct job j, *at = &j;
    sqlite3 *db = connect(path, &at, e);
    bool ok = db != NULL;
    for (size_t i = 0; i < sizeof small / sizeof *small && ok; i++) {
        j = small[i];
        j.d = d;
        ok = run(db, path, &j) || fail(e, j.err.kind, "%s", j.err.msg);
        *n = i ? *n : j.to;
    }
    sqlite3_close(db);
    const char *t0 = ok ? tracedata_meta_get(d, "t0_ns") : NULL;
    d->t0 = t0 ? strtoll(t0, NULL, 10) : 0;
    return ok;
}

static bool load_events(const char *path, struct tracedata *d, int64_t n, int threads, struct err *e)
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

static bool load_sides(const char *path, struct tracedata *d, unsigned sides, int threads, struct err *e)
{
    struct job jobs[sizeof side / sizeof *side];
    size_t n = 0;
    for (size_t i = 0; i < sizeof side / sizeof *side; i++)
        if (sides >> i & 1) {
            jobs[n] = side[i];
            jobs[n].d = d;
            jobs[n].from = 1;
            jobs[n++].to = (int64_t)d->n;
        }
    return run_all(path, jobs, n, d->n < FEW_EVENTS ? 1 : threads, e);
}

bool tracefile_read(const char *path, unsigned sides, int threads, struct tracedata *d, struct err *e)
{
    int64_t n = 0;
    threads = threads ? threads : (int)sysconf(_SC_NPROCESSORS_ONLN);
    bool ok = tracefile_read_keys(path, d, &n, e) && load_events(path, d, n, threads, e);
    if (!ok)
        d->n = 0; /* what is not filled in must not be looked at */
    ok = ok && load_sides(path, d, sides, threads, e);
    if (ok && !tracedata_meta_get(d, "clean_end"))
        tracedata_meta(d, "clean_end", "0");
    return ok;
}
