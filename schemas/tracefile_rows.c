/* tracefile_rows.c - the rows of a trace file: keys, facts, and how far rings were read. Events: tracefile_batch.c. */
#include "schemas/tracefile_parts.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *table;
    int columns;
} inserts[] = {{"string", 2}, {"process", 5}, {"thread", 5}, {"stream", 4}, {"site", 4}, {"meta", 2},
               {"clock", 4},  {"loss", 4},    {"memory", 5}, {"frame", 3},  {"ring", 2}};

bool tracefile_sql_fail(struct tracefile *f, struct err *e)
{
    return fail(e, ERR_FAIL, "%s: cannot write: %s", f->path, sqlite3_errmsg(f->db));
}

bool tracefile_exec(struct tracefile *f, const char *sql, struct err *e)
{
    return sqlite3_exec(f->db, sql, NULL, NULL, NULL) == SQLITE_OK || tracefile_sql_fail(f, e);
}

bool tracefile_prepare(struct tracefile *f, struct err *e)
{
    for (int i = 0; i < IN_COUNT; i++) {
        char sql[100];
        int n = snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO %s VALUES (?", inserts[i].table);
        for (int k = 1; k < inserts[i].columns; k++)
            n += snprintf(sql + n, sizeof sql - (size_t)n, ",?");
        snprintf(sql + n, sizeof sql - (size_t)n, ")");
        if (sqlite3_prepare_v2(f->db, sql, -1, &f->in[i], NULL) != SQLITE_OK)
            return tracefile_sql_fail(f, e);
    }
    return tracefile_batch_open(f, e);
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
    return rc == SQLITE_DONE || tracefile_sql_fail(f, e);
}

/* All columns integers; column k is v[k], NULL where it equals none[k]. */
static bool put(struct tracefile *f, enum insert i, const int64_t *v, const int64_t *none, struct err *e)
{
    for (int k = 0; k < inserts[i].columns; k++)
        bind(f->in[i], k + 1, v[k], none[k]);
    return step(f, i, e);
}

static bool put_stack(struct tracefile *f, const struct tracedata *d, int64_t id, struct err *e)
{
    const struct stackkey *s = &d->stacks[id];
    bool ok = true;
    for (uint32_t k = 0; k < s->depth && ok; k++)
        ok = put(f, IN_FRAME, (int64_t[]){id, k, d->frames[s->first + k]}, (int64_t[]){NEVER, NEVER, NEVER}, e);
    return ok;
}

static bool put_text(struct tracefile *f, enum insert i, int at, const char *s, struct err *e)
{
    return sqlite3_bind_text(f->in[i], at, s, -1, SQLITE_STATIC) == SQLITE_OK || tracefile_sql_fail(f, e);
}

static bool put_memory(struct tracefile *f, const struct tracedata *d, struct err *e)
{
    sqlite3_stmt *q = f->in[IN_MEMORY];
    bool ok = true;
    for (; f->memory < d->nmemory && ok; f->memory++) {
        const struct memory_row *m = &d->memory[f->memory];
        bind(q, 1, m->time, INT64_MIN);
        bind(q, 2, m->rank, -1);
        bind(q, 3, m->device, -1);
        bind(q, 5, m->bytes, -1);
        ok = put_text(f, IN_MEMORY, 4, intern_str(&d->strings, m->what), e) && step(f, IN_MEMORY, e);
    }
    return ok;
}

static bool put_strings(struct tracefile *f, const struct intern *t, struct err *e)
{
    bool ok = true;
    for (; ok && f->strings < t->n; f->strings++) {
        sqlite3_bind_int64(f->in[IN_STRING], 1, (int64_t)f->strings);
        sqlite3_bind_text(f->in[IN_STRING], 2, t->strings[f->strings], (int)t->lengths[f->strings], SQLITE_STATIC);
        ok = step(f, IN_STRING, e);
    }
    return ok;
}

static bool put_keys(struct tracefile *f, const struct tracedata *d, struct err *e)
{
    bool ok = put_strings(f, &d->strings, e);
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
    for (; ok && f->stacks < d->nstacks; f->stacks++)
        ok = put_stack(f, d, (int64_t)f->stacks, e);
    return ok && put_memory(f, d, e);
}

static void drop_events(struct tracedata *d)
{
    d->first += (int64_t)d->n;
    d->n = d->nsyncs = d->nkernels = d->ncomms = d->ncopies = d->nranges = 0;
}

bool tracefile_put_keys(struct tracefile *f, const struct tracedata *d, struct err *e)
{
    if (tracefile_exec(f, "BEGIN", e) && put_keys(f, d, e))
        return true;
    sqlite3_exec(f->db, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

void tracefile_marks(struct tracefile *f, const struct ring_mark *v, size_t n)
{
    f->marks = v;
    f->nmarks = n;
}

static bool put_marks(struct tracefile *f, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; i < f->nmarks && ok; i++)
        ok = put(f, IN_RING, (int64_t[]){f->marks[i].ring, f->marks[i].read}, (int64_t[]){NEVER, NEVER}, e);
    f->nmarks = 0;
    return ok;
}

bool tracefile_put_events(struct tracefile *f, const struct tracedata *d, struct err *e)
{
    if (tracefile_batch_put(f, d, e) && put_marks(f, e) && tracefile_exec(f, "COMMIT", e))
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

bool tracefile_facts(struct tracefile *f, struct tracedata *d, struct err *e)
{
    tracedata_metaf(d, "t0_ns", "%lld", (long long)d->t0);
    bool ok = tracefile_exec(f, "BEGIN", e) && tracefile_exec(f, "DELETE FROM clock; DELETE FROM loss", e) && put_meta(f, d, e) &&
              put_clocks(f, d, e) && put_loss(f, d, e) && tracefile_exec(f, "COMMIT", e);
    if (!ok)
        sqlite3_exec(f->db, "ROLLBACK", NULL, NULL, NULL);
    return ok;
}
