/* tracefile_batch.c - the arrays of a tracedata as virtual tables, so that one statement copies a whole batch of a table:
 *
 *   events[], ranges[] ...  <-- virtual table new_range <--  INSERT INTO range SELECT * FROM new_range
 *
 * A statement for each row would open the table, look for its end and read bound values every time, which costs twice as much.
 * An event has no number there, so SQLite takes one more than the last: it need not look for the place. Source: sqlite.org/vtab.html.
 */
#include "schemas/tracefile_batch.h"
#include "schemas/tracefile_parts.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct field { /* a column: where it stands in its struct, and which value is NULL */
    size_t at;
    enum { FIELD_I64, FIELD_U32, FIELD_I32 } type;
    int64_t none;
};

#define AT(type, name) offsetof(struct type, name), _Generic(((struct type *)0)->name, int64_t : FIELD_I64, uint32_t : FIELD_U32, int32_t : FIELD_I32)

/* A table: the columns behind its key, in order, and the row of an event; NULL: it has none there. */
struct batch_rows {
    const char *table;
    bool numbered; /* by SQLite; else the key is the number of the event */
    size_t count;  /* where struct tracedata has the number of rows */
    const void *(*of)(const struct tracedata *d, const struct event *ev);
    int nfields;
    struct field fields[11];
};

static const void *event_of(const struct tracedata *d, const struct event *ev)
{
    (void)d;
    return ev;
}

static const void *sync_of(const struct tracedata *d, const struct event *ev)
{
    return ev_sync_of(d, ev);
}

static const void *kernel_of(const struct tracedata *d, const struct event *ev)
{
    return ev_kernel_of(d, ev);
}

static const void *comm_of(const struct tracedata *d, const struct event *ev)
{
    return ev_comm_of(d, ev);
}

static const void *copy_of(const struct tracedata *d, const struct event *ev)
{
    return ev_copy_of(d, ev);
}

static const void *range_of(const struct tracedata *d, const struct event *ev)
{
    return ev_range_of(d, ev);
}

static const struct batch_rows tables[BATCH_TABLES] = {
    {"event",
     true,
     offsetof(struct tracedata, n),
     event_of,
     11,
     {{AT(event, start), INT64_MIN},
      {AT(event, end), INT64_MIN},
      {AT(event, kind), NEVER},
      {AT(event, name), 0},
      {AT(event, rank), -1},
      {AT(event, device), -1},
      {AT(event, stream), 0},
      {AT(event, thread), 0},
      {AT(event, correlation), -1},
      {AT(event, bytes), -1},
      {AT(event, site), 0}}},
    {"sync",
     false,
     offsetof(struct tracedata, nsyncs),
     sync_of,
     5,
     {{AT(ev_sync, class), NEVER},
      {AT(ev_sync, did_block), -1},
      {AT(ev_sync, wait_stream), -1},
      {AT(ev_sync, wait_event), -1},
      {AT(ev_sync, stack), 0}}},
    {"kernel",
     false,
     offsetof(struct tracedata, nkernels),
     kernel_of,
     11,
     {{AT(ev_kernel, grid[0]), 0},
      {AT(ev_kernel, grid[1]), 0},
      {AT(ev_kernel, grid[2]), 0},
      {AT(ev_kernel, block[0]), 0},
      {AT(ev_kernel, block[1]), 0},
      {AT(ev_kernel, block[2]), 0},
      {AT(ev_kernel, registers), 0},
      {AT(ev_kernel, static_shared), NEVER},
      {AT(ev_kernel, dynamic_shared), NEVER},
      {AT(ev_kernel, graph), 0},
      {AT(ev_kernel, graph_node), 0}}},
    {"comm",
     false,
     offsetof(struct tracedata, ncomms),
     comm_of,
     7,
     {{AT(ev_comm, communicator), 0},
      {AT(ev_comm, function), 0},
      {AT(ev_comm, dtype), 0},
      {AT(ev_comm, peer), -1},
      {AT(ev_comm, group_size), -1},
      {AT(ev_comm, sequence), -1},
      {AT(ev_comm, message_bytes), -1}}},
    {"copy", false, offsetof(struct tracedata, ncopies), copy_of, 3, {{AT(ev_copy, kind), 0}, {AT(ev_copy, src), 0}, {AT(ev_copy, dst), 0}}},
    {"range",
     false,
     offsetof(struct tracedata, nranges),
     range_of,
     3,
     {{AT(ev_range, domain), 0}, {AT(ev_range, flavour), NEVER}, {AT(ev_range, index), -1}}},
};

/* ---- the virtual tables ---- */

struct source {
    sqlite3_vtab base;
    const struct batch_table *table;
};

struct cursor {
    sqlite3_vtab_cursor base;
    const struct batch_rows *rows;
    const struct tracedata *d;
    size_t i;        /* of the event */
    const void *row; /* NULL: at the end */
};

static int connect(sqlite3 *db, void *table, int argc, const char *const *argv, sqlite3_vtab **out, char **err)
{
    const struct batch_table *t = table;
    struct source *s = calloc(1, sizeof *s);
    char sql[200];
    (void)argc, (void)argv, (void)err;
    if (!s)
        return SQLITE_NOMEM;
    s->table = t;
    *out = &s->base;
    int n = snprintf(sql, sizeof sql, "CREATE TABLE x(");
    for (int k = 0, last = t->rows->nfields; k <= last; k++)
        n += snprintf(sql + n, sizeof sql - (size_t)n, "c%d%s", k, k < last ? "," : ")");
    return sqlite3_declare_vtab(db, sql);
}

static int disconnect(sqlite3_vtab *v)
{
    free(v);
    return SQLITE_OK;
}

static int best_index(sqlite3_vtab *v, sqlite3_index_info *info)
{
    (void)v, (void)info; /* it is always read from one end to the other */
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *v, sqlite3_vtab_cursor **out)
{
    struct cursor *c = calloc(1, sizeof *c);
    if (!c)
        return SQLITE_NOMEM;
    c->rows = ((struct source *)v)->table->rows;
    *out = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *c)
{
    free(c);
    return SQLITE_OK;
}

/* To the first event from `i` on that has a row. */
static void seek(struct cursor *c, size_t i)
{
    const struct tracedata *d = c->d;
    c->row = NULL;
    while (i < d->n && !(c->row = c->rows->of(d, &d->ev[i])))
        i++;
    c->i = i;
}

static int first(sqlite3_vtab_cursor *v, int number, const char *name, int argc, sqlite3_value **argv)
{
    struct cursor *c = (struct cursor *)v;
    (void)number, (void)name, (void)argc, (void)argv;
    c->d = ((struct source *)v->pVtab)->table->batch->d;
    seek(c, 0);
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *v)
{
    struct cursor *c = (struct cursor *)v;
    seek(c, c->i + 1);
    return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *v)
{
    return !((struct cursor *)v)->row;
}

static int64_t number_of(const struct cursor *c)
{
    return c->d->first + (int64_t)c->i + 1;
}

static int64_t value(const void *row, const struct field *f)
{
    const void *at = (const char *)row + f->at;
    if (f->type == FIELD_I64)
        return *(const int64_t *)at;
    return f->type == FIELD_U32 ? (int64_t) * (const uint32_t *)at : *(const int32_t *)at;
}

/* A column without a result is NULL. */
static int column(sqlite3_vtab_cursor *v, sqlite3_context *out, int k)
{
    const struct cursor *c = (const struct cursor *)v;
    const struct field *f = k ? &c->rows->fields[k - 1] : NULL;
    int64_t x = f ? value(c->row, f) : number_of(c);
    if (f ? x != f->none : !c->rows->numbered)
        sqlite3_result_int64(out, x);
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *v, sqlite3_int64 *out)
{
    *out = number_of((const struct cursor *)v);
    return SQLITE_OK;
}

static const sqlite3_module module = {
    /* without xCreate: the tables are there, and only by their names */
    .iVersion = 1,    .xConnect = connect, .xBestIndex = best_index, .xDisconnect = disconnect, .xOpen = open_cursor, .xClose = close_cursor,
    .xFilter = first, .xNext = next,       .xEof = at_end,           .xColumn = column,         .xRowid = row_id,
};

/* ---- writing ---- */

/* OR FAIL: the caller undoes all of the batch, so SQLite need not note how to undo a statement. */
static bool prepare(struct batch_table *t, sqlite3 *db)
{
    char name[32], sql[100];
    snprintf(name, sizeof name, "new_%s", t->rows->table);
    snprintf(sql, sizeof sql, "INSERT OR FAIL INTO %s SELECT * FROM %s", t->rows->table, name);
    return sqlite3_create_module(db, name, &module, t) == SQLITE_OK && sqlite3_prepare_v2(db, sql, -1, &t->copy, NULL) == SQLITE_OK;
}

bool tracefile_batch_open(struct tracefile *f, struct err *e)
{
    bool ok = true;
    for (int i = 0; i < BATCH_TABLES && ok; i++) {
        f->batch.tables[i] = (struct batch_table){&f->batch, &tables[i], NULL};
        ok = prepare(&f->batch.tables[i], f->db) || tracefile_sql_fail(f, e);
    }
    return ok;
}

void tracefile_batch_close(struct tracefile *f)
{
    for (int i = 0; i < BATCH_TABLES; i++)
        sqlite3_finalize(f->batch.tables[i].copy);
    f->batch = (struct tracefile_batch){0};
}

static bool copy_rows(struct tracefile *f, const struct batch_table *t, struct err *e)
{
    const struct tracedata *d = f->batch.d;
    size_t rows = *(const size_t *)(const void *)((const char *)d + t->rows->count);
    if (!rows)
        return true;
    int rc = sqlite3_step(t->copy);
    sqlite3_reset(t->copy);
    if (rc != SQLITE_DONE)
        return tracefile_sql_fail(f, e);
    return !t->rows->numbered || sqlite3_last_insert_rowid(f->db) == d->first + (int64_t)d->n ||
           fail(e, ERR_FAIL, "%s: damaged: the numbers of its events have a gap", f->path);
}

bool tracefile_batch_put(struct tracefile *f, const struct tracedata *d, struct err *e)
{
    bool ok = true;
    f->batch.d = d;
    for (int i = 0; i < BATCH_TABLES && ok; i++)
        ok = copy_rows(f, &f->batch.tables[i], e);
    return ok;
}
