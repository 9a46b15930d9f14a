/* tracefile.c - writing trace files. Reading: tracefile_load.c. */
#include "schemas/tracefile.h"
#include "schemas/tracefile_sql.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The inserts, one prepared statement each; the order is that of `enum insert`. */
enum insert {
    IN_STRING,
    IN_PROCESS,
    IN_THREAD,
    IN_STREAM,
    IN_SITE,
    IN_EVENT,
    IN_EVENTS, /* GROUP rows at once: less than half the cost per row */
    IN_SYNC,
    IN_KERNEL,
    IN_COMM,
    IN_COPY,
    IN_RANGE,
    IN_META,
    IN_CLOCK,
    IN_LOSS,
    IN_MEMORY,
    IN_COUNT
};

enum { GROUP = 16, EVENT_COLUMNS = 12 };

static const struct {
    const char *table;
    int columns, rows;
} inserts[] = {{"string", 2, 1},
               {"process", 5, 1},
               {"thread", 5, 1},
               {"stream", 4, 1},
               {"site", 4, 1},
               {"event", EVENT_COLUMNS, 1},
               {"event", EVENT_COLUMNS, GROUP},
               {"sync", 5, 1},
               {"kernel", 12, 1},
               {"comm", 8, 1},
               {"copy", 4, 1},
               {"range", 4, 1},
               {"meta", 2, 1},
               {"clock", 4, 1},
               {"loss", 4, 1},
               {"memory", 5, 1}};

struct tracefile {
    sqlite3 *db;
    char *path, *tmp; /* tmp: NULL for a recording */
    sqlite3_stmt *in[IN_COUNT];
    size_t strings, processes, threads, streams, sites; /* how many are written already */
};

static bool sql_fail(struct tracefile *f, struct err *e)
{
    return fail(e, ERR_FAIL, "%s: cannot write: %s", f->path, sqlite3_errmsg(f->db));
}

static bool exec(struct tracefile *f, const char *sql, struct err *e)
{
    return sqlite3_exec(f->db, sql, NULL, NULL, NULL) == SQLITE_OK || sql_fail(f, e);
}

static bool prepare(struct tracefile *f, struct err *e)
{
    for (int i = 0; i < IN_COUNT; i++) {
        char sql[1024];
        int n = snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO %s VALUES ", inserts[i].table);
        for (int k = 0; k < inserts[i].rows * inserts[i].columns; k++) {
            bool first = k % inserts[i].columns == 0, last = (k + 1) % inserts[i].columns == 0;
            n += snprintf(sql + n, sizeof sql - (size_t)n, "%s?%s", first ? k ? ",(" : "(" : ",", last ? ")" : "");
        }
        if (sqlite3_prepare_v2(f->db, sql, -1, &f->in[i], NULL) != SQLITE_OK)
            return sql_fail(f, e);
    }
    return true;
}

static bool write_kinds(struct tracefile *f, struct err *e)
{
    char sql[160];
    bool ok = true;
    for (int k = 0; k < EV_NKINDS && ok; k++) {
        snprintf(sql, sizeof sql, "INSERT INTO event_kind VALUES (%d, '%s', %d)", k, ev_kind_name((enum ev_kind)k),
                 (int)ev_kind_class((enum ev_kind)k));
        ok = exec(f, sql, e);
    }
    return ok;
}

static bool write_schema(struct tracefile *f, struct err *e)
{
    return exec(f, "PRAGMA page_size=8192; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN", e) && exec(f, tracefile_schema, e) &&
           write_kinds(f, e) && exec(f, "COMMIT", e);
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
    *f = (struct tracefile){.path = strdup(path), .strings = 0, .processes = 1, .threads = 1, .streams = 1, .sites = 1};
    if (sqlite3_open_v2(file, &f->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK) {
        sqlite3_busy_timeout(f->db, BUSY_MS); /* somebody may look at a recording that runs */
        return f;
    }
    sql_fail(f, e);
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
        if (!write_schema(f, e) || !prepare(f, e)) {
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

struct tracefile *tracefile_record(const char *path, bool force, struct err *e)
{
    static const char *const side[] = {"-wal", "-shm"};
    struct tracefile *f = NULL;
    char *tmp = sqlite3_mprintf("%s.new-%d", path, (int)getpid());
    if (make_empty(path, tmp, e) && put_in_place(tmp, path, force, e)) {
        for (int i = 0; i < 2; i++) { /* of an earlier file of that name: they would be replayed into ours */
            char *s = sqlite3_mprintf("%s%s", path, side[i]);
            unlink(s);
            sqlite3_free(s);
        }
        f = open_handle(path, path, e);
        if (f && !(exec(f, "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=512", e) && prepare(f, e))) {
            tracefile_close(f);
            f = NULL;
        }
        if (!f)
            unlink(path);
    } else
        unlink(tmp);
    sqlite3_free(tmp);
    return f;
}

/* Binders of one row: text and integers, where `none` stands for NULL. */
static void bind(sqlite3_stmt *s, int at, int64_t v, int64_t none)
{
    if (v == none)
        sqlite3_bind_null(s, at);
    else
        sqlite3_bind_int64(s, at, v);
}

static bool step(struct tracefile *f, enum insert i, struct err *e)
{
    int rc = sqlite3_step(f->in[i]);
    sqlite3_reset(f->in[i]);
    return rc == SQLITE_DONE || sql_fail(f, e);
}

/* All columns integers; column k is v[k], NULL where it equals none[k]. */
static bool put(struct tracefile *f, enum insert i, const int64_t *v, const int64_t *none, struct err *e)
{
    for (int k = 0; k < inserts[i].columns; k++)
        bind(f->in[i], k + 1, v[k], none[k]);
    return step(f, i, e);
}

enum { NEVER = -0x7fffffff }; /* "cannot be absent": no value of a key or a count is this */

static bool put_keys(struct tracefile *f, const struct tracedata *d, struct err *e)
{
    bool ok = true;
    for (; ok && f->strings < d->strings.n; f->strings++) {
        sqlite3_bind_int64(f->in[IN_STRING], 1, (int64_t)f->strings);
        sqlite3_bind_text(f->in[IN_STRING], 2, d->strings.strings[f->strings], (int)d->strings.lengths[f->strings], SQLITE_STATIC);
        ok = step(f, IN_STRING, e);
    }
    for (; ok && f->processes < d->nprocesses; f->processes++) {
        const struct processkey *p = &d->processes[f->processes];
        ok = put(f, IN_PROCESS, (int64_t[]){(int64_t)f->processes, p->pid, p->host, p->name, p->rank}, (int64_t[]){NEVER, -1, 0, 0, -1}, e);
    }
    for (; ok && f->threads < d->nthreads; f->threads++) {
        const struct threadkey *t = &d->threads[f->threads];
        ok = put(f, IN_THREAD, (int64_t[]){(int64_t)f->threads, t->process, d->processes[t->process].pid, t->tid, t->name},
                 (int64_t[]){NEVER, 0, -1, NEVER, 0}, e);
    }
    for (; ok && f->streams < d->nstreams; f->streams++) {
        const struct streamkey *s = &d->streams[f->streams];
        ok = put(f, IN_STREAM, (int64_t[]){(int64_t)f->streams, s->process, s->device, s->native}, (int64_t[]){NEVER, 0, -1, NEVER}, e);
    }
    for (; ok && f->sites < d->nsites; f->sites++) {
        const struct sitekey *s = &d->sites[f->sites];
        ok = put(f, IN_SITE, (int64_t[]){(int64_t)f->sites, s->function, s->file, s->line}, (int64_t[]){NEVER, 0, 0, 0}, e);
    }
    return ok;
}

static bool put_kernel(struct tracefile *f, int64_t id, const struct ev_kernel *k, struct err *e)
{
    return put(f, IN_KERNEL,
               (int64_t[]){id, k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2], k->registers, k->static_shared,
                           k->dynamic_shared, k->graph, k->graph_node},
               (int64_t[]){NEVER, 0, 0, 0, 0, 0, 0, 0, NEVER, NEVER, 0, 0}, e);
}

/* The side row of an event, in the table of its kind. */
static bool put_detail(struct tracefile *f, const struct tracedata *d, const struct event *ev, int64_t id, struct err *e)
{
    const struct ev_sync *s = ev_sync_of(d, ev);
    const struct ev_kernel *k = ev_kernel_of(d, ev);
    const struct ev_comm *c = ev_comm_of(d, ev);
    const struct ev_copy *m = ev_copy_of(d, ev);
    const struct ev_range *r = ev_range_of(d, ev);
    bool ok = true;
    if (s)
        ok = put(f, IN_SYNC, (int64_t[]){id, s->class, s->did_block, s->wait_stream, s->wait_event}, (int64_t[]){NEVER, NEVER, -1, -1, -1}, e);
    if (k)
        ok = put_kernel(f, id, k, e);
    if (c)
        ok = put(f, IN_COMM, (int64_t[]){id, c->communicator, c->function, c->dtype, c->peer, c->group_size, c->sequence, c->message_bytes},
                 (int64_t[]){NEVER, 0, 0, 0, -1, -1, -1, -1}, e);
    if (m)
        ok = put(f, IN_COPY, (int64_t[]){id, m->kind, m->src, m->dst}, (int64_t[]){NEVER, 0, 0, 0}, e);
    if (r)
        ok = put(f, IN_RANGE, (int64_t[]){id, r->domain, r->flavour, r->index}, (int64_t[]){NEVER, 0, NEVER, -1}, e);
    return ok;
}

static void bind_event(sqlite3_stmt *s, int at, const struct event *v, int64_t id)
{
    static const int64_t none[EVENT_COLUMNS] = {NEVER, INT64_MIN, INT64_MIN, NEVER, 0, -1, -1, 0, 0, -1, -1, 0};
    const int64_t row[EVENT_COLUMNS] = {id,        v->start,  v->end,    v->kind,        v->name,  v->rank,
                                        v->device, v->stream, v->thread, v->correlation, v->bytes, v->site};
    for (int k = 0; k < EVENT_COLUMNS; k++)
        bind(s, at + k, row[k], none[k]);
}

static bool put_events(struct tracefile *f, const struct tracedata *d, struct err *e)
{
    bool ok = true;
    for (size_t i = 0, group; i < d->n && ok; i += group) {
        enum insert in = d->n - i >= GROUP ? IN_EVENTS : IN_EVENT;
        group = (size_t)inserts[in].rows;
        for (size_t k = 0; k < group; k++)
            bind_event(f->in[in], (int)k * EVENT_COLUMNS + 1, &d->ev[i + k], d->first + (int64_t)(i + k) + 1);
        ok = step(f, in, e);
    }
    for (size_t i = 0; i < d->n && ok; i++)
        ok = !d->ev[i].detail || put_detail(f, d, &d->ev[i], d->first + (int64_t)i + 1, e);
    return ok;
}

static void drop_events(struct tracedata *d)
{
    d->first += (int64_t)d->n;
    d->n = d->nsyncs = d->nkernels = d->ncomms = d->ncopies = d->nranges = 0;
}

bool tracefile_put_keys(struct tracefile *f, const struct tracedata *d, struct err *e)
{
    if (exec(f, "BEGIN", e) && put_keys(f, d, e))
        return true;
    sqlite3_exec(f->db, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

bool tracefile_put_events(struct tracefile *f, const struct tracedata *d, struct err *e)
{
    if (put_events(f, d, e) && exec(f, "COMMIT", e))
        return true;
    sqlite3_exec(f->db, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

bool tracefile_append(struct tracedata *d, void *file, struct err *e)
{
    bool ok = tracefile_put_keys(file, d, e) && tracefile_put_events(file, d, e);
    drop_events(d);
    return ok;
}

static bool put_text(struct tracefile *f, enum insert i, int at, const char *s, struct err *e)
{
    return sqlite3_bind_text(f->in[i], at, s, -1, SQLITE_STATIC) == SQLITE_OK || sql_fail(f, e);
}

static bool put_meta(struct tracefile *f, const struct tracedata *d, struct err *e)
{
    const struct intern *s = &d->strings;
    bool ok = true;
    for (size_t i = 0; i < d->nmeta && ok; i++)
        ok = put_text(f, IN_META, 1, intern_str(s, d->meta[i].key), e) && put_text(f, IN_META, 2, intern_str(s, d->meta[i].value), e) &&
             step(f, IN_META, e);
    return ok;
}

static bool put_clocks(struct tracefile *f, const struct tracedata *d, struct err *e)
{
    sqlite3_stmt *q = f->in[IN_CLOCK];
    bool ok = true;
    for (size_t i = 0; i < d->nclocks && ok; i++) {
        bind(q, 2, d->clocks[i].before, -1);
        bind(q, 3, d->clocks[i].other, -1);
        bind(q, 4, d->clocks[i].after, -1);
        ok = put_text(f, IN_CLOCK, 1, intern_str(&d->strings, d->clocks[i].clock), e) && step(f, IN_CLOCK, e);
    }
    return ok;
}

static bool put_loss(struct tracefile *f, const struct tracedata *d, struct err *e)
{
    sqlite3_stmt *q = f->in[IN_LOSS];
    bool ok = true;
    for (size_t i = 0; i < d->nloss && ok; i++) {
        bind(q, 2, d->loss[i].count, -1);
        bind(q, 3, d->loss[i].start, INT64_MIN);
        bind(q, 4, d->loss[i].end, INT64_MIN);
        ok = put_text(f, IN_LOSS, 1, intern_str(&d->strings, d->loss[i].reason), e) && step(f, IN_LOSS, e);
    }
    return ok;
}

static bool put_memory(struct tracefile *f, const struct tracedata *d, struct err *e)
{
    sqlite3_stmt *q = f->in[IN_MEMORY];
    bool ok = true;
    for (size_t i = 0; i < d->nmemory && ok; i++) {
        const struct memory_row *m = &d->memory[i];
        bind(q, 1, m->time, INT64_MIN);
        bind(q, 2, m->rank, -1);
        bind(q, 3, m->device, -1);
        bind(q, 5, m->bytes, -1);
        ok = put_text(f, IN_MEMORY, 4, intern_str(&d->strings, m->what), e) && step(f, IN_MEMORY, e);
    }
    return ok;
}

bool tracefile_facts(struct tracefile *f, struct tracedata *d, struct err *e)
{
    tracedata_metaf(d, "t0_ns", "%lld", (long long)d->t0);
    bool ok = exec(f, "BEGIN", e) && exec(f, "DELETE FROM clock; DELETE FROM loss; DELETE FROM memory", e) && put_meta(f, d, e) &&
              put_clocks(f, d, e) && put_loss(f, d, e) && put_memory(f, d, e) && exec(f, "COMMIT", e);
    if (!ok)
        sqlite3_exec(f->db, "ROLLBACK", NULL, NULL, NULL);
    return ok;
}

/* Prepared statements hold the database open; they go before it does. */
static bool close_db(struct tracefile *f, struct err *e)
{
    for (int i = 0; i < IN_COUNT; i++)
        sqlite3_finalize(f->in[i]);
    memset(f->in, 0, sizeof f->in);
    bool ok = sqlite3_close(f->db) == SQLITE_OK || !e || sql_fail(f, e);
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
        ok = tracefile_fold(f->db) || sql_fail(f, e);
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
