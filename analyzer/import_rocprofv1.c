/* import_rocprofv1.c - SQLite databases of rocprof, the first.
 *
 * A run for counters has KERN only: one row a dispatch, names in double quotes. A traced run has HIP (calls), OPS (what
 * the device did), COPY, and a KERN that is an empty shell.
 */
#include "analyzer/sqlin.h"

#include <string.h>

static bool is_trace(struct sqlin *q)
{
    return sqlin_has(q, "OPS") && strcmp(sqlin_column(q, "OPS", "o", "BeginNs"), "NULL") != 0;
}

static enum sniffed sniff(const struct input *in)
{
    static const char *const counters[] = {"KERN", NULL}, *const traced[] = {"OPS", NULL}, *const calls[] = {"HIP", NULL};
    bool found = sqlin_sniff(in, counters) == SNIFF_YES || (sqlin_sniff(in, traced) == SNIFF_YES && sqlin_sniff(in, calls) == SNIFF_YES);
    return found ? SNIFF_YES : SNIFF_NO;
}

/* SELECT start, end, then the columns wanted, NULL for those that are not there. */
static const char *query(struct sqlin *q, const char *table, const char *const *columns)
{
    const char *sql = "SELECT";
    for (int i = 0; columns[i]; i++)
        sql = arena_printf(&q->r.scratch, "%s%s %s", sql, i ? "," : "", sqlin_column(q, table, "t", columns[i]));
    return arena_printf(&q->r.scratch, "%s FROM \"%s\" t", sql, table);
}

static uint32_t unquoted(struct sqlin *q, sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    size_t n = text ? strlen(text) : 0;
    bool quoted = n >= 2 && text[0] == '"' && text[n - 1] == '"';
    return rows_text(&q->r, text ? text + quoted : NULL, quoted ? n - 2 : n);
}

static int32_t size(sqlite3_stmt *s, int column)
{
    int64_t v = sqlin_int(s, column, 0);
    return v > 0 && v <= INT32_MAX ? (int32_t)v : 0;
}

static const char *const kern_columns[] = {"BeginNs", "EndNs", "gpu-id", "queue-id", "pid", "KernelName", "grd", "wgr", "lds", "arch_vgpr", NULL};

static bool dispatch(void *ctx, sqlite3_stmt *s)
{
    struct sqlin *q = ctx;
    struct event ev;
    if (!sqlin_event(q, s, EV_KERNEL, &ev))
        return true;
    rows_on_device(&q->r, &ev, sqlin_int(s, 4, -1), sqlin_int(s, 2, -1), sqlin_int(s, 3, -1));
    ev.name = unquoted(q, s, 5);
    if (size(s, 6)) /* work items and the size of a group, over all dimensions */
        ev.detail = tracedata_kernel_row(q->r.d, (struct ev_kernel){.grid = {size(s, 7) ? size(s, 6) / size(s, 7) : size(s, 6), 1, 1},
                                                                    .block = {size(s, 7), 1, 1},
                                                                    .dynamic_shared = size(s, 8),
                                                                    .registers = size(s, 9)});
    return rows_add(&q->r, &ev);
}

static const char *const op_columns[] = {"BeginNs", "EndNs", "dev-id", "queue-id", "pid", "Name", "Index", NULL};

/* What an op is, by its name: copies and fills have fixed ones, barriers are no work, everything else is a kernel. */
static enum ev_kind op_kind(const char *name)
{
    static const struct {
        const char *word;
        enum ev_kind kind;
    } words[] = {{"Copy", EV_MEMCPY}, {"FillBuffer", EV_MEMSET}, {"Marker", EV_SYNC}, {"Barrier", EV_SYNC}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(name, words[i].word, strlen(words[i].word)) == 0)
            return words[i].kind;
    return EV_KERNEL;
}

static bool device_row(struct sqlin *q, sqlite3_stmt *s, enum ev_kind kind, uint32_t name)
{
    struct event ev;
    if (!sqlin_event(q, s, kind, &ev))
        return true;
    rows_on_device(&q->r, &ev, sqlin_int(s, 4, -1), sqlin_int(s, 2, -1), sqlin_int(s, 3, -1));
    ev.name = name;
    ev.correlation = sqlin_int(s, 6, -1);
    if (kind == EV_MEMCPY)
        ev.detail = tracedata_copy_row(q->r.d, (struct ev_copy){.kind = rows_copy_kind(rows_str(&q->r, name))});
    if (kind == EV_SYNC)
        ev.detail = tracedata_sync_row(q->r.d, (struct ev_sync){.class = SYNC_NONE, .did_block = -1, .wait_stream = -1, .wait_event = -1});
    return rows_add(&q->r, &ev);
}

static bool op(void *ctx, sqlite3_stmt *s)
{
    struct sqlin *q = ctx;
    uint32_t name = unquoted(q, s, 5);
    return device_row(q, s, op_kind(rows_str(&q->r, name)), name);
}

static bool copy(void *ctx, sqlite3_stmt *s)
{
    struct sqlin *q = ctx;
    return device_row(q, s, EV_MEMCPY, unquoted(q, s, 5));
}

static const char *const call_columns[] = {"BeginNs", "EndNs", "pid", "tid", "Name", "Index", NULL};

static bool call(void *ctx, sqlite3_stmt *s)
{
    struct sqlin *q = ctx;
    struct event ev;
    if (!sqlin_event(q, s, EV_RUNTIME, &ev))
        return true;
    rows_on_thread(&q->r, &ev, sqlin_int(s, 2, -1), sqlin_int(s, 3, -1));
    ev.name = unquoted(q, s, 4);
    ev.correlation = sqlin_int(s, 5, -1);
    return rows_add(&q->r, &ev);
}

/* The runtime's own copies are in OPS already; COPY then repeats them as the layer below saw them. */
static bool copies_are_ops(struct sqlin *q)
{
    return *sqlin_text(q, "SELECT 1 FROM OPS WHERE Name LIKE 'Copy%' LIMIT 1") != '\0';
}

static bool read_trace(struct sqlin *q)
{
    bool calls = sqlin_has(q, "HIP") && strcmp(sqlin_column(q, "HIP", "t", "BeginNs"), "NULL") != 0;
    bool copies = sqlin_has(q, "COPY") && strcmp(sqlin_column(q, "COPY", "t", "BeginNs"), "NULL") != 0 && !copies_are_ops(q);
    return (!calls || sqlin_rows(q, query(q, "HIP", call_columns), call, q)) && sqlin_rows(q, query(q, "OPS", op_columns), op, q) &&
           (!copies || sqlin_rows(q, query(q, "COPY", op_columns), copy, q));
}

static bool read_counters(struct sqlin *q)
{
    if (strcmp(sqlin_column(q, "KERN", "t", "BeginNs"), "NULL") == 0)
        return fail(q->r.e, ERR_FAIL, "%s: table KERN has no column BeginNs; rocprof writes times with --timestamp on", q->r.path);
    return sqlin_rows(q, query(q, "KERN", kern_columns), dispatch, q);
}

static bool read(struct input *in, struct tracedata *d, struct err *e)
{
    struct sqlin q;
    bool ok =
        sqlin_open(&q, in, "rocprof trace", d, e) && (is_trace(&q) ? read_trace(&q) : read_counters(&q)) && sqlin_finish(&q, "rocprofv1", "rocm");
    if (ok)
        tracedata_meta(d, "version", "1");
    sqlin_close(&q);
    return ok;
}

const struct importer import_rocprofv1 = {
    .name = "rocprofv1", .what = "SQLite databases of rocprof (the first), counters or traces", .sniff = sniff, .read = read};
