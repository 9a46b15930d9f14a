/* import_rpd.c - rocmProfileData (.rpd), schema 2.
 *
 *   rocpd_api -- rocpd_api_ops -- rocpd_op        a call of the host, and what the device did for it
 *
 * The id of the API row is the correlation. One call of hipGraphLaunch has hundreds of ops of type Task: each is a kernel.
 * A device's queue is its stream: the file has no other number for ops.
 */
#include "analyzer/sqlin.h"

#include <string.h>

static enum sniffed sniff(const struct input *in)
{
    static const char *const tables[] = {"rocpd_op", "rocpd_api", "rocpd_string", NULL};
    enum sniffed s = sqlin_sniff(in, tables);
    static const char *const rocpd3[] = {"rocpd_kernel_dispatch", NULL};
    return s == SNIFF_YES && sqlin_sniff(in, rocpd3) == SNIFF_YES ? SNIFF_NO : s;
}

/* Types of ops; the first word that the type holds decides. */
static const struct op_type {
    const char *word;
    enum ev_kind kind;
} op_types[] = {
    {"KernelExecution", EV_KERNEL}, {"Task", EV_KERNEL}, {"Copy", EV_MEMCPY}, {"Fill", EV_MEMSET}, {"Barrier", EV_SYNC}, {"Marker", EV_SYNC}, {0},
};

static const struct op_type *type_of(const char *name)
{
    const struct op_type *t = op_types;
    while (t->word && !strstr(name, t->word))
        t++;
    return t->word ? t : NULL;
}

enum { GPU = 2, QUEUE, DESCRIPTION, TYPE, API, PID, KERNEL_NAME, GRID, WORKGROUP = GRID + 3, LDS = WORKGROUP + 3, SIZE };

static uint32_t kernel_row(struct sqlin *q, sqlite3_stmt *s)
{
    struct ev_kernel row = {0};
    int32_t *const to[] = {&row.grid[0], &row.grid[1], &row.grid[2], &row.block[0], &row.block[1], &row.block[2], &row.dynamic_shared};
    for (int i = 0; i < 7; i++) {
        int64_t v = sqlin_int(s, GRID + i, 0);
        *to[i] = v > 0 && v <= INT32_MAX ? (int32_t)v : 0;
    }
    return row.grid[0] ? tracedata_kernel_row(q->r.d, row) : 0;
}

static void describe(struct sqlin *q, sqlite3_stmt *s, uint32_t type, struct event *ev)
{
    ev->name = sqlin_string(q, s, DESCRIPTION);
    if (ev->kind == EV_KERNEL) {
        ev->name = ev->name ? ev->name : sqlin_string(q, s, KERNEL_NAME);
        ev->detail = kernel_row(q, s);
    } else if (ev->kind == EV_SYNC) {
        ev->detail = tracedata_sync_row(q->r.d, (struct ev_sync){.class = SYNC_NONE, .did_block = -1, .wait_stream = -1, .wait_event = -1});
    } else {
        enum copy_kind way = rows_copy_kind(rows_str(&q->r, type));
        ev->bytes = sqlin_int(s, SIZE, -1);
        ev->detail = way ? tracedata_copy_row(q->r.d, (struct ev_copy){.kind = way}) : 0;
    }
    ev->name = ev->name ? ev->name : type;
}

static bool op(void *ctx, sqlite3_stmt *s)
{
    struct sqlin *q = ctx;
    struct event ev;
    uint32_t type = sqlin_string(q, s, TYPE);
    const struct op_type *t = type_of(rows_str(&q->r, type));
    q->r.unknown += !t;
    if (!t || !sqlin_event(q, s, t->kind, &ev))
        return true;
    rows_on_device(&q->r, &ev, sqlin_int(s, PID, -1), sqlin_int(s, GPU, -1), sqlin_int(s, QUEUE, -1));
    ev.correlation = sqlin_int(s, API, -1);
    describe(q, s, type, &ev);
    return rows_add(&q->r, &ev);
}

enum { API_PID = 2, API_TID, API_NAME, API_ID, API_ARGS };

/* Rows of the profiler itself, and of people's markers, beside those of HIP. */
static enum ev_kind api_kind(const char *name)
{
    if (strcmp(name, "UserMarker") == 0)
        return EV_RANGE;
    return strstr(name, "Table::writeRows") || strstr(name, "_activity_callback") ? EV_OVERHEAD : EV_RUNTIME;
}

static bool api(void *ctx, sqlite3_stmt *s)
{
    struct sqlin *q = ctx;
    struct event ev;
    uint32_t name = sqlin_string(q, s, API_NAME);
    enum ev_kind kind = api_kind(rows_str(&q->r, name));
    if (!sqlin_event(q, s, kind, &ev))
        return true;
    ev.name = kind == EV_RANGE ? sqlin_string(q, s, API_ARGS) : name;
    ev.name = ev.name ? ev.name : name;
    ev.correlation = kind == EV_RUNTIME ? sqlin_int(s, API_ID, -1) : -1;
    rows_on_thread(&q->r, &ev, sqlin_int(s, API_PID, -1), sqlin_int(s, API_TID, -1));
    return rows_add(&q->r, &ev);
}

static const char api_sql[] = "SELECT a.start, a.\"end\", a.pid, a.tid, n.string, a.id, g.string FROM rocpd_api a "
                              "LEFT JOIN rocpd_string n ON n.id = a.apiName_id "
                              "LEFT JOIN rocpd_string g ON g.id = a.args_id AND n.string = 'UserMarker' ORDER BY a.id";

/* An op that several calls claim belongs to the first. */
static const char *op_sql(struct sqlin *q)
{
    bool links = sqlin_has(q, "rocpd_api_ops"), kernels = links && sqlin_has(q, "rocpd_kernelapi"), copies = links && sqlin_has(q, "rocpd_copyapi");
    return arena_printf(&q->r.scratch,
                        "SELECT o.start, o.\"end\", o.gpuId, o.queueId, d.string, t.string, %s, %s, %s FROM rocpd_op o "
                        "LEFT JOIN rocpd_string d ON d.id = o.description_id LEFT JOIN rocpd_string t ON t.id = o.opType_id %s %s %s ORDER BY o.id",
                        links ? "l.api, a.pid" : "NULL, NULL",
                        kernels ? "n.string, k.gridX, k.gridY, k.gridZ, k.workgroupX, k.workgroupY, k.workgroupZ, k.groupSegmentSize"
                                : "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL",
                        copies ? "c.size" : "NULL",
                        links ? "LEFT JOIN (SELECT op_id AS op, min(api_id) AS api FROM rocpd_api_ops GROUP BY op_id) l ON l.op = o.id "
                                "LEFT JOIN rocpd_api a ON a.id = l.api"
                              : "",
                        kernels ? "LEFT JOIN rocpd_kernelapi k ON k.api_ptr_id = l.api LEFT JOIN rocpd_string n ON n.id = k.kernelName_id" : "",
                        copies ? "LEFT JOIN rocpd_copyapi c ON c.api_ptr_id = l.api" : "");
}

/* Not of every version, or dropped by people who make a file smaller. */
static const struct sqlin_table optional[] = {
    {"rocpd_api", {"pid", "tid", "apiName_id", "args_id"}},
    {"rocpd_op", {"gpuId", "queueId", "description_id", "opType_id"}},
    {"rocpd_api_ops", {"api_id", "op_id"}},
    {"rocpd_kernelapi", {"gridX", "gridY", "gridZ", "workgroupX", "workgroupY", "workgroupZ", "groupSegmentSize", "kernelName_id"}},
    {"rocpd_copyapi", {"size"}},
    {0}};

static bool read(struct input *in, struct tracedata *d, struct err *e)
{
    struct sqlin q;
    bool ok = sqlin_open(&q, in, "rocmProfileData trace", d, e) && sqlin_complete(&q, optional) && sqlin_rows(&q, api_sql, api, &q) &&
              sqlin_rows(&q, op_sql(&q), op, &q) && sqlin_finish(&q, "rpd", "rocm");
    if (ok && sqlin_has(&q, "rocpd_metadata")) {
        const char *version = sqlin_text(&q, "SELECT value FROM rocpd_metadata WHERE tag = 'schema_version'");
        if (*version)
            tracedata_meta(d, "version", version);
    }
    sqlin_close(&q);
    return ok;
}

const struct importer import_rpd = {.name = "rpd", .what = "rocmProfileData databases (.rpd), schema 2", .sniff = sniff, .read = read};
