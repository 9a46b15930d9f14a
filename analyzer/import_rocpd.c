/* import_rocpd.c - rocpd databases of rocprofv3 and rocprof-sys, schema 3.
 *
 * Read through the public views kernels, regions and memory_copies. Physical tables end in a guid, one set a process;
 * a file without the views gets them for the time of reading. The stack id is the correlation of a call and its work.
 * rocpd_info_process holds command lines and environments: only its pid is looked at.
 */
#include "analyzer/sqlin.h"

#include <string.h>

static enum sniffed sniff(const struct input *in)
{
    static const char *const tables[][2] = {{"rocpd_kernel_dispatch"}, {"rocpd_region"}, {"rocpd_memory_copy"}, {"rocpd_info_process"}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (sqlin_sniff(in, tables[i]) == SNIFF_YES)
            return SNIFF_YES;
    return sqlin_sniff_like(in, "rocpd_kernel_dispatch*") || sqlin_sniff_like(in, "rocpd_info_process*") ? SNIFF_YES : SNIFF_NO;
}

/* Views that a file may lack, made of what it has. */
static const struct view {
    const char *name, *needs, *sql;
} views[] = {
    {"kernels", "rocpd_kernel_dispatch",
     "SELECT K.start, K.\"end\", S.display_name AS name, P.pid, A.absolute_index AS agent_abs_index, K.queue_id, E.stack_id, K.grid_size_x AS "
     "grid_x, "
     "K.grid_size_y AS grid_y, K.grid_size_z AS grid_z, K.workgroup_size_x AS workgroup_x, K.workgroup_size_y AS workgroup_y, "
     "K.workgroup_size_z AS workgroup_z, K.group_segment_size AS lds_size FROM rocpd_kernel_dispatch K "
     "LEFT JOIN rocpd_event E ON E.id = K.event_id AND E.guid = K.guid LEFT JOIN rocpd_info_kernel_symbol S ON S.id = K.kernel_id AND S.guid = "
     "K.guid "
     "LEFT JOIN rocpd_info_process P ON P.id = K.pid AND P.guid = K.guid LEFT JOIN rocpd_info_agent A ON A.id = K.agent_id AND A.guid = K.guid"},
    {"regions", "rocpd_region",
     "SELECT R.start, R.\"end\", N.string AS name, C.string AS category, P.pid, T.tid, E.stack_id, E.extdata FROM rocpd_region R "
     "LEFT JOIN rocpd_event E ON E.id = R.event_id AND E.guid = R.guid LEFT JOIN rocpd_string N ON N.id = R.name_id AND N.guid = R.guid "
     "LEFT JOIN rocpd_string C ON C.id = E.category_id AND C.guid = E.guid LEFT JOIN rocpd_info_process P ON P.id = R.pid AND P.guid = R.guid "
     "LEFT JOIN rocpd_info_thread T ON T.id = R.tid AND T.guid = R.guid"},
    {"memory_copies", "rocpd_memory_copy",
     "SELECT M.start, M.\"end\", N.string AS name, P.pid, D.absolute_index AS dst_agent_abs_index, D.type AS dst_agent_type, "
     "S.absolute_index AS src_agent_abs_index, S.type AS src_agent_type, M.queue_id, E.stack_id, M.size FROM rocpd_memory_copy M "
     "LEFT JOIN rocpd_event E ON E.id = M.event_id AND E.guid = M.guid LEFT JOIN rocpd_string N ON N.id = M.name_id AND N.guid = M.guid "
     "LEFT JOIN rocpd_info_process P ON P.id = M.pid AND P.guid = M.guid LEFT JOIN rocpd_info_agent D ON D.id = M.dst_agent_id AND D.guid = M.guid "
     "LEFT JOIN rocpd_info_agent S ON S.id = M.src_agent_id AND S.guid = M.guid"},
    {0}};

/* One name for the tables of all processes; false when there is none of them. */
static bool unite(struct sqlin *q, const char *base)
{
    if (sqlin_has(q, base))
        return true;
    char *find = sqlite3_mprintf("SELECT group_concat('SELECT * FROM \"' || replace(name, '\"', '\"\"') || '\"', ' UNION ALL ') FROM sqlite_master "
                                 "WHERE type = 'table' AND (name GLOB '%s_[0-9a-f]*' OR name GLOB '%s[0-9a-f]*')",
                                 base, base);
    const char *parts = sqlin_text(q, find);
    char *make = sqlite3_mprintf("CREATE TEMP VIEW %s AS %s", base, parts);
    bool ok = *parts && sqlite3_exec(q->db, make, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_free(find);
    sqlite3_free(make);
    return ok;
}

/* False: there are no such rows in the file. */
static bool has_view(struct sqlin *q, const char *name)
{
    static const char *const keys[] = {"rocpd_event",       "rocpd_string",     "rocpd_info_process",
                                       "rocpd_info_thread", "rocpd_info_agent", "rocpd_info_kernel_symbol"};
    const struct view *v = views;
    if (sqlin_has(q, name))
        return true;
    while (strcmp(v->name, name) != 0)
        v++;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        unite(q, keys[i]);
    char *make = sqlite3_mprintf("CREATE TEMP VIEW %s AS %s", name, v->sql);
    bool ok = unite(q, v->needs) && sqlite3_exec(q->db, make, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_free(make);
    return ok;
}

static const char *query(struct sqlin *q, const char *view, const char *const *columns)
{
    const char *sql = "SELECT";
    for (int i = 0; columns[i]; i++)
        sql = arena_printf(&q->r.scratch, "%s%s %s", sql, i ? "," : "", sqlin_column(q, view, "v", columns[i]));
    return arena_printf(&q->r.scratch, "%s FROM %s v", sql, view);
}

static const char *const kernel_columns[] = {"start",  "end",    "name",        "pid",         "agent_abs_index", "queue_id", "stack_id", "grid_x",
                                             "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z",     "lds_size", NULL};
enum { NAME = 2, PID, AGENT, QUEUE, STACK, GRID, WORKGROUP = GRID + 3, LDS = WORKGROUP + 3 };

static int32_t size(sqlite3_stmt *s, int column)
{
    int64_t v = sqlin_int(s, column, 0);
    return v > 0 && v <= INT32_MAX ? (int32_t)v : 0;
}

static bool kernel(void *ctx, sqlite3_stmt *s)
{
    struct sqlin *q = ctx;
    struct event ev;
    if (!sqlin_event(q, s, EV_KERNEL, &ev))
        return true;
    rows_on_device(&q->r, &ev, sqlin_int(s, PID, -1), sqlin_int(s, AGENT, -1), sqlin_int(s, QUEUE, -1));
    ev.name = sqlin_string(q, s, NAME);
    ev.correlation = sqlin_int(s, STACK, -1);
    ev.detail = tracedata_kernel_row(q->r.d, (struct ev_kernel){.grid = {size(s, GRID), size(s, GRID + 1), size(s, GRID + 2)},
                                                                .block = {size(s, WORKGROUP), size(s, WORKGROUP + 1), size(s, WORKGROUP + 2)},
                                                                .dynamic_shared = size(s, LDS)});
    return rows_add(&q->r, &ev);
}

static const char *const copy_columns[] = {
    "start", "end", "name", "pid", "dst_agent_abs_index", "queue_id", "stack_id", "src_agent_abs_index", "src_agent_type", "size", NULL};
enum { SOURCE = STACK + 1, SOURCE_TYPE, BYTES };

/* A copy is on the GPU that it comes from or goes to. */
static bool copy(void *ctx, sqlite3_stmt *s)
{
    struct sqlin *q = ctx;
    struct event ev;
    if (!sqlin_event(q, s, EV_MEMCPY, &ev))
        return true;
    const char *type = (const char *)sqlite3_column_text(s, SOURCE_TYPE);
    int from = type && strcmp(type, "GPU") == 0 ? SOURCE : AGENT;
    rows_on_device(&q->r, &ev, sqlin_int(s, PID, -1), sqlin_int(s, from, -1), sqlin_int(s, QUEUE, -1));
    ev.name = sqlin_string(q, s, NAME);
    ev.correlation = sqlin_int(s, STACK, -1);
    ev.bytes = sqlin_int(s, BYTES, -1);
    enum copy_kind way = rows_copy_kind(rows_str(&q->r, ev.name));
    ev.detail = way ? tracedata_copy_row(q->r.d, (struct ev_copy){.kind = way}) : 0;
    return rows_add(&q->r, &ev);
}

static const char *const region_columns[] = {"start", "end", "name", "pid", "tid", "category", "stack_id", NULL};
enum { TID = PID + 1, CATEGORY, MESSAGE = STACK + 1 };

static bool region(void *ctx, sqlite3_stmt *s)
{
    struct sqlin *q = ctx;
    struct event ev;
    const char *category = (const char *)sqlite3_column_text(s, CATEGORY);
    bool marker = category && strstr(category, "MARKER");
    enum ev_kind kind = marker || !category || !strstr(category, "API") ? EV_RANGE : EV_RUNTIME;
    if (!sqlin_event(q, s, kind, &ev))
        return true;
    rows_on_thread(&q->r, &ev, sqlin_int(s, PID, -1), sqlin_int(s, TID, -1));
    ev.name = marker ? sqlin_string(q, s, MESSAGE) : 0;
    ev.name = ev.name ? ev.name : sqlin_string(q, s, NAME);
    ev.correlation = kind == EV_RUNTIME ? sqlin_int(s, STACK, -1) : -1;
    return rows_add(&q->r, &ev);
}

/* A marker's text is the region's name, in early files a member of its extdata. */
static const char *region_sql(struct sqlin *q)
{
    const char *extra = sqlin_column(q, "regions", "v", "extdata"), *sql = query(q, "regions", region_columns);
    const char *message = strcmp(extra, "NULL") == 0
                              ? "NULL"
                              : arena_printf(&q->r.scratch, "CASE WHEN json_valid(%s) THEN json_extract(%s, '$.message') END", extra, extra);
    return arena_printf(&q->r.scratch, "%.*s, %s FROM regions v", (int)(strlen(sql) - strlen(" FROM regions v")), sql, message);
}

static bool read_views(struct sqlin *q)
{
    return (!has_view(q, "regions") || sqlin_rows(q, region_sql(q), region, q)) &&
           (!has_view(q, "kernels") || sqlin_rows(q, query(q, "kernels", kernel_columns), kernel, q)) &&
           (!has_view(q, "memory_copies") || sqlin_rows(q, query(q, "memory_copies", copy_columns), copy, q));
}

static void fact(struct sqlin *q, const char *table, const char *key, const char *sql)
{
    const char *text = unite(q, table) ? sqlin_text(q, sql) : "";
    if (*text)
        tracedata_meta(q->r.d, key, text);
}

static bool read(struct input *in, struct tracedata *d, struct err *e)
{
    struct sqlin q;
    bool ok = sqlin_open(&q, in, "rocpd trace", d, e) && read_views(&q) && sqlin_finish(&q, "rocpd", "rocm");
    if (ok) {
        fact(&q, "rocpd_metadata", "version", "SELECT value FROM rocpd_metadata WHERE tag = 'schema_version'");
        fact(&q, "rocpd_info_agent", "device_name",
             "SELECT coalesce(product_name, name) FROM rocpd_info_agent WHERE type = 'GPU' ORDER BY absolute_index");
    }
    sqlin_close(&q);
    return ok;
}

const struct importer import_rocpd = {
    .name = "rocpd", .what = "rocpd databases of rocprofv3 and rocprof-sys, schema 3", .sniff = sniff, .read = read};
