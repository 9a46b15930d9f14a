/* import_ascend_db.c - databases of the Ascend profilers: ascend_pytorch_profiler_N.db, msprof_N.db.
 *
 *   TASK joined to COMPUTE_TASK_INFO   kernels; other tasks: copies and waits, parts of collectives left out
 *   COMMUNICATION_OP                   collectives (COMMUNICATION_TASK_INFO has their parts: not added)
 *   CANN_API, PYTORCH_API, MSTX_EVENTS calls, operators with Python frames, ranges of the host
 *
 * Times are ns since 1970, in PYTORCH_API as text. META_DATA holds environment variables: only the version is read.
 * Tables and columns vary with the level of profiling.
 */
#include "analyzer/ascend.h"
#include "analyzer/sqlin.h"

#include <stdlib.h>
#include <string.h>

static enum sniffed sniff(const struct input *in)
{
    static const char *const tables[][4] = {
        {"STRING_IDS", "TASK"}, {"STRING_IDS", "CANN_API"}, {"STRING_IDS", "COMMUNICATION_OP"}, {"STRING_IDS", "PYTORCH_API"}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (sqlin_sniff(in, tables[i]) == SNIFF_YES)
            return SNIFF_YES;
    return SNIFF_NO;
}

/* "a.\"x\"" of the table's column, and its text where the column holds the id of a string. */
static const char *col(struct sqlin *q, const char *table, const char *alias, const char *column)
{
    return sqlin_column(q, table, alias, column);
}

static const char *str(struct sqlin *q, const char *table, const char *alias, const char *column)
{
    return arena_printf(&q->r.scratch, "(SELECT value FROM STRING_IDS WHERE id = %s)", col(q, table, alias, column));
}

/* globalTid and globalPid: the process in the upper half, but small numbers are the pid itself. */
static int64_t pid_of(int64_t global)
{
    return global >> 32 > 0 ? global >> 32 : global;
}

enum { DEVICE = 2, STREAM, CONNECTION, PID, TYPE, NAME, COMPUTES, PART, BLOCKS };

static bool task(void *ctx, sqlite3_stmt *s)
{
    struct sqlin *q = ctx;
    struct event ev;
    int64_t told = sqlin_int(s, COMPUTES, 0); /* 1 compute, 0 not, -1 the file does not tell */
    bool computes = told == 1;
    uint32_t type = sqlin_string(q, s, TYPE), name = computes ? sqlin_string(q, s, NAME) : 0;
    const char *text = rows_str(&q->r, type);
    enum ev_kind kind = sqlin_int(s, PART, 0) ? EV_NKINDS : computes ? EV_KERNEL : ascend_task(text, told < 0 ? text : "", false);
    if (kind == EV_NKINDS || !sqlin_event(q, s, kind, &ev))
        return true;
    rows_on_device(&q->r, &ev, sqlin_int(s, PID, -1), sqlin_int(s, DEVICE, -1), sqlin_int(s, STREAM, -1));
    int64_t connection = sqlin_int(s, CONNECTION, -1), blocks = sqlin_int(s, BLOCKS, 0);
    ev.correlation = connection == UINT32_MAX ? -1 : connection;
    ev.name = name ? name : type;
    ev.detail = ascend_detail(&q->r, kind, text);
    if (kind == EV_KERNEL && blocks > 0 && blocks <= INT32_MAX)
        ev.detail = tracedata_kernel_row(q->r.d, (struct ev_kernel){.grid = {(int32_t)blocks, 1, 1}});
    return rows_add(&q->r, &ev);
}

static bool read_tasks(struct sqlin *q)
{
    bool compute = sqlin_has(q, "COMPUTE_TASK_INFO"), parts = sqlin_has(q, "COMMUNICATION_TASK_INFO");
    if (!sqlin_has(q, "TASK"))
        return true;
    const char *pid = col(q, "TASK", "t", "globalPid");
    return sqlin_rows(q,
                      arena_printf(&q->r.scratch, "SELECT t.startNs, t.endNs, %s, %s, %s, %s, %s, %s, %s, %s, %s FROM TASK t %s ORDER BY t.rowid",
                                   col(q, "TASK", "t", "deviceId"), col(q, "TASK", "t", "streamId"), col(q, "TASK", "t", "connectionId"), pid,
                                   str(q, "TASK", "t", "taskType"), compute ? str(q, "COMPUTE_TASK_INFO", "c", "name") : "NULL",
                                   compute ? "c.globalTaskId IS NOT NULL" : "-1",
                                   parts ? "t.globalTaskId IN (SELECT globalTaskId FROM COMMUNICATION_TASK_INFO)" : "0",
                                   compute ? col(q, "COMPUTE_TASK_INFO", "c", "blockDim") : "NULL",
                                   compute ? "LEFT JOIN COMPUTE_TASK_INFO c ON c.globalTaskId = t.globalTaskId" : ""),
                      task, q);
}

enum { OP_NAME = 2, OP_CONNECTION, OP_GROUP, OP_COUNT, OP_DTYPE, OP_DEVICE, OP_STREAM, OP_PID };

static bool collective(void *ctx, sqlite3_stmt *s)
{
    struct sqlin *q = ctx;
    struct event ev;
    if (!sqlin_event(q, s, EV_COMM, &ev))
        return true;
    rows_on_device(&q->r, &ev, sqlin_int(s, OP_PID, -1), sqlin_int(s, OP_DEVICE, -1), sqlin_int(s, OP_STREAM, -1));
    ev.name = sqlin_string(q, s, OP_NAME);
    ev.correlation = sqlin_int(s, OP_CONNECTION, -1);
    uint32_t dtype = sqlin_string(q, s, OP_DTYPE);
    ev.detail = ascend_comm(&q->r, rows_str(&q->r, ev.name), sqlin_string(q, s, OP_GROUP), rows_str(&q->r, dtype), sqlin_int(s, OP_COUNT, -1));
    return rows_add(&q->r, &ev);
}

/* An operation's row names no device: its parts do; without them, the file's device where there is one only. */
static bool read_collectives(struct sqlin *q)
{
    static const char of_parts[] = "WITH part(op, device, stream, pid) AS (SELECT p.opId, min(t.deviceId), min(t.streamId), min(t.globalPid) FROM "
                                   "COMMUNICATION_TASK_INFO p JOIN TASK t ON t.globalTaskId = p.globalTaskId GROUP BY p.opId)";
    bool tasks = sqlin_has(q, "TASK"), parts = tasks && sqlin_has(q, "COMMUNICATION_TASK_INFO");
    const char *own = col(q, "COMMUNICATION_OP", "o", "deviceId"), *only = "NULL";
    if (!sqlin_has(q, "COMMUNICATION_OP"))
        return true;
    if (tasks)
        only = "(SELECT min(deviceId) FROM TASK HAVING count(DISTINCT deviceId) = 1)";
    return sqlin_rows(
        q,
        arena_printf(&q->r.scratch,
                     "%s SELECT o.startNs, o.endNs, %s, %s, %s, %s, %s, coalesce(%s, %s, %s), %s FROM COMMUNICATION_OP o %s ORDER BY o.rowid",
                     parts ? of_parts : "", str(q, "COMMUNICATION_OP", "o", "opName"), col(q, "COMMUNICATION_OP", "o", "connectionId"),
                     str(q, "COMMUNICATION_OP", "o", "groupName"), col(q, "COMMUNICATION_OP", "o", "count"),
                     sqlin_has(q, "ENUM_HCCL_DATA_TYPE") ? arena_printf(&q->r.scratch, "(SELECT name FROM ENUM_HCCL_DATA_TYPE WHERE id = %s)",
                                                                        col(q, "COMMUNICATION_OP", "o", "dataType"))
                                                         : "NULL",
                     own, parts ? "part.device" : "NULL", only, parts ? "part.stream, part.pid" : "NULL, NULL",
                     parts ? "LEFT JOIN part ON part.op = o.opId" : ""),
        collective, q);
}

enum { API_TID = 2, API_CONNECTION, API_NAME, API_TYPE, API_STACK };

static void host_row(struct sqlin *q, sqlite3_stmt *s, struct event *ev)
{
    int64_t global = sqlin_int(s, API_TID, -1);
    rows_on_thread(&q->r, ev, global < 0 ? -1 : pid_of(global), global < 0 ? -1 : global & UINT32_MAX);
    const char *name = (const char *)sqlite3_column_text(s, API_NAME);
    ev->name = name ? ascend_api(&q->r, name, strlen(name)) : 0;
}

static bool call(void *ctx, sqlite3_stmt *s)
{
    struct sqlin *q = ctx;
    struct event ev;
    if (!sqlin_event(q, s, EV_RUNTIME, &ev))
        return true;
    host_row(q, s, &ev);
    ev.correlation = sqlin_int(s, API_CONNECTION, -1);
    return rows_add(&q->r, &ev);
}

static bool read_calls(struct sqlin *q)
{
    if (!sqlin_has(q, "CANN_API"))
        return true;
    return sqlin_rows(q,
                      arena_printf(&q->r.scratch, "SELECT a.startNs, a.endNs, %s, %s, %s FROM CANN_API a ORDER BY a.rowid",
                                   col(q, "CANN_API", "a", "globalTid"), col(q, "CANN_API", "a", "connectionId"), str(q, "CANN_API", "a", "name")),
                      call, q);
}

/* Types of PYTORCH_API rows, as ENUM_API_TYPE spells them. */
static enum ev_kind torch_kind(const char *type, const char *name)
{
    if (strncmp(name, "ProfilerStep#", 13) == 0 || strcmp(type, "mstx") == 0)
        return EV_RANGE;
    return strcmp(type, "trace") == 0 ? EV_FRAME : EV_OP;
}

static bool torch(void *ctx, sqlite3_stmt *s)
{
    struct sqlin *q = ctx;
    struct event ev;
    uint32_t type = sqlin_string(q, s, API_TYPE), name = sqlin_string(q, s, API_NAME), stack = sqlin_string(q, s, API_STACK);
    enum ev_kind kind = torch_kind(rows_str(&q->r, type), rows_str(&q->r, name));
    if (!sqlin_event(q, s, kind, &ev))
        return true;
    host_row(q, s, &ev);
    if (kind == EV_OP && stack)
        ev.site = ascend_site(&q->r, rows_str(&q->r, stack), strlen(rows_str(&q->r, stack)));
    return rows_add(&q->r, &ev);
}

/* Where frames are rows of their own they say more than the stacks of operators. */
static const char *stacks(struct sqlin *q)
{
    bool frames = *sqlin_text(q, "SELECT 1 FROM PYTORCH_API WHERE type = 50003 LIMIT 1") != '\0';
    if (frames || !sqlin_has(q, "PYTORCH_CALLCHAINS") || strcmp(col(q, "PYTORCH_API", "a", "callchainId"), "NULL") == 0)
        return "NULL";
    return "(SELECT group_concat(v, ';') FROM (SELECT s.value AS v FROM PYTORCH_CALLCHAINS c JOIN STRING_IDS s ON s.id = c.stack "
           "WHERE c.id = a.callchainId ORDER BY c.stackDepth))";
}

static bool read_torch(struct sqlin *q)
{
    static const char chains[] = "CREATE TEMP TABLE PYTORCH_CALLCHAINS AS SELECT id, stack, stackDepth FROM main.PYTORCH_CALLCHAINS; "
                                 "CREATE INDEX temp.chain ON PYTORCH_CALLCHAINS (id, stackDepth)";
    if (!sqlin_has(q, "PYTORCH_API"))
        return true;
    const char *stack = stacks(q), *type = col(q, "PYTORCH_API", "a", "type");
    if (strcmp(stack, "NULL") != 0 && sqlite3_exec(q->db, chains, NULL, NULL, NULL) != SQLITE_OK)
        return fail(q->r.e, ERR_FAIL, "%s: damaged %s: %s", q->r.path, q->what, sqlite3_errmsg(q->db));
    if (sqlin_has(q, "ENUM_API_TYPE"))
        type = arena_printf(&q->r.scratch, "(SELECT name FROM ENUM_API_TYPE WHERE id = %s)", type);
    return sqlin_rows(q,
                      arena_printf(&q->r.scratch, "SELECT a.startNs, a.endNs, %s, NULL, %s, %s, %s FROM PYTORCH_API a ORDER BY a.rowid",
                                   col(q, "PYTORCH_API", "a", "globalTid"), str(q, "PYTORCH_API", "a", "name"), type, stack),
                      torch, q);
}

/* Steps, where no operator row names them. */
static bool read_steps(struct sqlin *q)
{
    const char *none = sqlin_has(q, "PYTORCH_API")
                           ? "NOT EXISTS (SELECT 1 FROM PYTORCH_API p JOIN STRING_IDS s ON s.id = p.name WHERE s.value LIKE 'ProfilerStep#%')"
                           : "1";
    const char *thread = sqlin_has(q, "CANN_API") ? "(SELECT min(globalTid) FROM CANN_API)" : "NULL";
    if (!sqlin_has(q, "STEP_TIME"))
        return true;
    return sqlin_rows(
        q,
        arena_printf(&q->r.scratch, "SELECT t.startNs, t.endNs, %s, NULL, 'ProfilerStep#' || t.id, '', NULL FROM STEP_TIME t WHERE %s", thread, none),
        torch, q);
}

static bool mark(void *ctx, sqlite3_stmt *s)
{
    struct sqlin *q = ctx;
    struct event ev;
    int64_t start = sqlin_int(s, 0, INT64_MIN), type = sqlin_int(s, API_TYPE, -1); /* 0 mark, 1 push/pop, 2 start/end */
    if (type == 0 ? !rows_between(&q->r, EV_RANGE, start, start, &ev) : !sqlin_event(q, s, EV_RANGE, &ev))
        return true;
    host_row(q, s, &ev);
    ev.detail = tracedata_range_row(q->r.d, (struct ev_range){.domain = sqlin_string(q, s, API_STACK),
                                                              .flavour = type == 0   ? RANGE_MARK
                                                                         : type == 1 ? RANGE_PUSH_POP
                                                                                     : RANGE_START_END,
                                                              .index = -1});
    return rows_add(&q->r, &ev);
}

static bool read_marks(struct sqlin *q)
{
    if (!sqlin_has(q, "MSTX_EVENTS"))
        return true;
    return sqlin_rows(q,
                      arena_printf(&q->r.scratch, "SELECT a.startNs, a.endNs, %s, NULL, %s, %s, %s FROM MSTX_EVENTS a ORDER BY a.rowid",
                                   col(q, "MSTX_EVENTS", "a", "globalTid"), str(q, "MSTX_EVENTS", "a", "message"),
                                   col(q, "MSTX_EVENTS", "a", "eventType"), str(q, "MSTX_EVENTS", "a", "domainId")),
                      mark, q);
}

/* Rank and host come before the first process is made. */
static void who(struct sqlin *q)
{
    const char *rank =
        sqlin_text(q, "SELECT min(rankId) FROM RANK_DEVICE_MAP WHERE rankId BETWEEN 0 AND 2147483647 HAVING count(DISTINCT rankId) = 1");
    q->r.rank = *rank ? (int32_t)strtol(rank, NULL, 10) : ascend_rank(q->r.path);
    const char *host = sqlin_text(q, "SELECT hostName FROM HOST_INFO WHERE hostName <> ''");
    q->r.host = *host ? rows_str(&q->r, rows_text(&q->r, host, strlen(host))) : NULL;
}

static void fact(struct sqlin *q, const char *key, const char *sql)
{
    const char *text = sqlin_text(q, sql);
    if (*text)
        tracedata_meta(q->r.d, key, text);
}

/* What some levels of profiling leave out. */
static const struct sqlin_table optional[] = {{"TASK", {"deviceId", "globalPid", "streamId", "globalTaskId"}},
                                              {"COMMUNICATION_TASK_INFO", {"opId", "globalTaskId"}},
                                              {"COMPUTE_TASK_INFO", {"globalTaskId"}},
                                              {"COMMUNICATION_OP", {"opId"}},
                                              {"CANN_API", {"globalTid"}},
                                              {"PYTORCH_API", {"name", "type"}},
                                              {"ENUM_HCCL_DATA_TYPE", {"name"}},
                                              {"ENUM_API_TYPE", {"name"}},
                                              {"STEP_TIME", {"id"}},
                                              {0}};

static bool read(struct input *in, struct tracedata *d, struct err *e)
{
    struct sqlin q;
    bool ok = sqlin_open(&q, in, "Ascend profiler database", d, e);
    if (ok)
        who(&q);
    ok = ok && sqlin_complete(&q, optional) && read_calls(&q) && read_torch(&q) && read_steps(&q) && read_marks(&q) && read_tasks(&q) &&
         read_collectives(&q) && sqlin_finish(&q, "ascend-db", "ascend");
    if (ok) {
        fact(&q, "version", "SELECT value FROM META_DATA WHERE name = 'SCHEMA_VERSION'");
        fact(&q, "device_name", "SELECT name FROM NPU_INFO ORDER BY id");
    }
    sqlin_close(&q);
    return ok;
}

const struct importer import_ascend_db = {
    .name = "ascend-db", .what = "databases of the Ascend profilers (ascend_pytorch_profiler_N.db, msprof_N.db)", .sniff = sniff, .read = read};
