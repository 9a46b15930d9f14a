/* ascend_random.h - a random job of Ascend's: what the host called, what its devices did; written as the profiler's database
 * and as its text trace. */
#pragma once
#include "unit.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <unistd.h>

enum { SPAN = 4000, MOST = 48, DEVICES = 2, PID = 500, THREADS = 2 };

static const int64_t epoch = INT64_C(1736410576398779000);

enum what { CALL, OP, STEP, KERNEL, COPY, WAIT, LEFT, PART, COMM };

struct row {
    enum what what;
    int64_t start, length, connection; /* -1 none */
    int device, stream, tid, part_of;
    const char *name, *type;
    bool sync, inner; /* inside a call that waits as well */
    char own[48];     /* a name of its own */
};

struct made {
    struct row v[MOST];
    size_t n;
    int64_t busy_until[THREADS]; /* calls of a thread nest or follow each other */
    int devices, collectives;
};

static inline struct row *add(struct made *m, enum what what, int64_t start, int64_t length)
{
    struct row *r = &m->v[m->n++];
    *r = (struct row){.what = what, .start = start, .length = length, .connection = -1, .type = "", .tid = 700 + (int)rnd(THREADS)};
    r->device = (int)rnd((size_t)m->devices);
    r->stream = (int)rnd(3);
    if (what == KERNEL || what == COPY || what == COMM || what == CALL)
        r->connection = rnd(4) ? (int64_t)rnd(500) : -1;
    return r;
}

/* A call, and inside one that waits sometimes the runtime's own, which is no wait of its own. */
static inline void add_call(struct made *m)
{
    static const char *const names[] = {"aclrtSynchronizeStreamWithTimeout", "aclrtSynchronizeDevice", "aclrtSynchronizeStream", "launch",
                                        "aclrtMemcpyAsync"};
    size_t thread = rnd(THREADS), name = rnd(5);
    int64_t start = m->busy_until[thread] + (int64_t)rnd(60), length = 3 + (int64_t)rnd(200);
    if (start + length > SPAN)
        return;
    struct row *r = add(m, CALL, start, length);
    r->tid = 700 + (int)thread;
    r->name = names[name];
    r->sync = name < 3;
    m->busy_until[thread] = start + length;
    if (!r->sync || rnd(2))
        return;
    struct row *in = add(m, CALL, start + 1, length - 2);
    in->tid = r->tid;
    in->name = "StreamSynchronize";
    in->sync = in->inner = true;
}

static inline void add_collective(struct made *m, int64_t start, int64_t length)
{
    struct row *r = add(m, COMM, start, length);
    int op = ++m->collectives;
    snprintf(r->own, sizeof r->own, "hcom_allReduce__%d_%d_1", 100 + (int)rnd(3), op);
    r->part_of = op;
    int device = r->device;
    for (size_t i = 1 + rnd(2); i-- > 0;) {
        struct row *p = add(m, PART, start + (int64_t)i, length / 2);
        p->name = p->type = "SDMA";
        p->device = device;
        p->part_of = op;
    }
}

static inline void add_task(struct made *m, int64_t start, int64_t length)
{
    static const char *const kernels[] = {"AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV", "AI_CPU", "DSA_SQE"}, *const left[] = {
                                                                                                                       "EVENT_RECORD",
                                                                                                                       "Notify Record", "Write Value",
                                                                                                                       "PLACE_HOLDER_SQE"};
    static const enum what whats[] = {KERNEL, KERNEL, KERNEL, COPY, WAIT, LEFT};
    struct row *r = add(m, whats[rnd(6)], start, length);
    r->type = r->what == KERNEL ? kernels[rnd(6)] : r->what == COPY ? "PCIE_DMA_SQE" : r->what == WAIT ? "EVENT_WAIT_SQE" : left[rnd(4)];
    r->name = r->what == KERNEL ? "aclnnAdd_Add" : r->what == COPY ? "MEMCPY_ASYNC" : r->what == WAIT ? "EVENT_WAIT" : r->type;
}

static inline struct made random_case(void)
{
    struct made m = {.devices = 1 + (int)rnd(DEVICES)};
    struct row *first = add(&m, KERNEL, 0, SPAN); /* a device that works */
    first->name = "aclnnMul_Mul";
    first->type = "AI_CORE";
    for (size_t i = 4 + rnd(26); i-- > 0 && m.n + 4 < MOST;) {
        int64_t start = (int64_t)rnd(SPAN - 300), length = (int64_t)rnd(300);
        switch (rnd(4)) {
        case 0:
            add_call(&m);
            break;
        case 1:
            add(&m, OP, start, length)->name = rnd(2) ? "aten::item" : "aten::add";
            break;
        case 2:
            add_collective(&m, start, length);
            break;
        default:
            add_task(&m, start, length);
        }
    }
    if (rnd(2)) {
        struct row *r = add(&m, STEP, 0, SPAN);
        snprintf(r->own, sizeof r->own, "ProfilerStep#%d", (int)rnd(9));
    }
    return m;
}

static const char *name_of(const struct row *r)
{
    return *r->own ? r->own : r->name;
}

static inline bool is_kept(const struct row *r)
{
    return r->what != LEFT && r->what != PART;
}

static inline bool on_device(const struct row *r)
{
    return r->what >= KERNEL;
}

/* ---- as a database ---- */

static const char tables[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT UNIQUE);"
    "CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER, globalPid INTEGER, taskType "
    "INTEGER, "
    "streamId INTEGER); CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY);"
    "CREATE TABLE COMMUNICATION_TASK_INFO (name INTEGER, globalTaskId INTEGER, opId INTEGER);"
    "CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER, opId INTEGER PRIMARY "
    "KEY);"
    "CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, globalTid INTEGER, connectionId INTEGER, name INTEGER);"
    "CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid INTEGER, name INTEGER, type INTEGER);";

static inline void say(sqlite3 *db, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *sql = sqlite3_vmprintf(fmt, ap);
    va_end(ap);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_free(sql);
}

static inline int64_t string(sqlite3 *db, const char *s)
{
    sqlite3_stmt *q = NULL;
    say(db, "INSERT OR IGNORE INTO STRING_IDS (value) VALUES (%Q)", s);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT id FROM STRING_IDS WHERE value = ?", -1, &q, NULL), SQLITE_OK);
    sqlite3_bind_text(q, 1, s, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    int64_t id = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return id;
}

/* What a row is called in TASK is its type there: the name, but of kernels. */
static inline void write_task(sqlite3 *db, const struct row *r, int id, const char *from_to)
{
    long long connection = r->connection < 0 ? (long long)UINT32_MAX : r->connection;
    say(db, "INSERT INTO TASK VALUES (%s, %d, %lld, %d, %d, %lld, %d)", from_to, r->device, connection, id, PID,
        (long long)string(db, r->what == KERNEL ? r->type : r->name), r->stream);
    if (r->what == KERNEL)
        say(db, "INSERT INTO COMPUTE_TASK_INFO VALUES (%lld, %d)", (long long)string(db, r->name), id);
    if (r->what == PART)
        say(db, "INSERT INTO COMMUNICATION_TASK_INFO VALUES (%lld, %d, %d)", (long long)string(db, r->name), id, r->part_of);
}

static inline void write_row(sqlite3 *db, const struct row *r, int id)
{
    char from_to[96];
    long long name = string(db, name_of(r)), start = epoch + r->start, end = start + r->length, tid = (int64_t)PID << 32 | r->tid;
    snprintf(from_to, sizeof from_to, "%lld, %lld", start, end);
    switch (r->what) {
    case CALL:
        say(db, "INSERT INTO CANN_API VALUES (%s, %lld, %lld, %lld)", from_to, tid, (long long)r->connection, name);
        break;
    case OP:
    case STEP:
        say(db, "INSERT INTO PYTORCH_API VALUES ('%lld', '%lld', %lld, %lld, 50001)", start, end, tid, name);
        break;
    case COMM:
        say(db, "INSERT INTO COMMUNICATION_OP VALUES (%lld, %s, %lld, %lld, %d)", name, from_to, (long long)r->connection,
            (long long)string(db, "group"), r->part_of);
        break;
    default:
        write_task(db, r, id, from_to);
    }
}

static inline void write_database(const struct made *m, const char *path)
{
    sqlite3 *db = NULL;
    unlink(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    say(db, "%s", tables);
    for (size_t i = 0; i < m->n; i++)
        write_row(db, &m->v[i], (int)i + 1);
    say(db, "COMMIT");
    sqlite3_close(db);
}

/* ---- as text ---- */

enum text_lane { PYTHON, CANN, HARDWARE, HCCL, OVERLAP };

/* pid << 10 | lane << 5 | device, as the profiler numbers them. */
static inline int pid_of(enum text_lane lane, int device)
{
    return lane == PYTHON ? PID : PID << 10 | (int)lane << 5 | device;
}

static inline void write_label(FILE *f, const char *what, int pid, int tid, const char *name)
{
    fprintf(f, "{\"ph\": \"M\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d, \"args\": {\"name\": \"%s\"}}, ", what, pid, tid, name);
}

static inline void write_lanes(FILE *f)
{
    write_label(f, "process_name", pid_of(PYTHON, 0), 0, "Python");
    write_label(f, "process_name", pid_of(CANN, 0), 0, "CANN");
    for (int d = 0; d < DEVICES; d++) {
        write_label(f, "process_name", pid_of(HARDWARE, d), 0, "Ascend Hardware");
        write_label(f, "process_name", pid_of(HCCL, d), 0, rnd(2) ? "HCCL" : "Communication");
        write_label(f, "process_name", pid_of(OVERLAP, d), 0, "Overlap Analysis");
        write_label(f, "thread_name", pid_of(HCCL, d), 0, "Group 0 Communication");
        write_label(f, "thread_name", pid_of(HCCL, d), 1, "Plane 0");
    }
}

/* us: three decimals, or more that round to the same ns. */
static inline void write_times(FILE *f, int64_t start, int64_t length)
{
    int64_t at = epoch + start;
    static const char *const more[] = {"", "", "0000", "4", "499999999999", "0009"};
    fprintf(f, "\"ts\": \"%lld.%03lld\", \"dur\": %lld.%03lld%s", (long long)at / 1000, (long long)at % 1000, (long long)length / 1000,
            (long long)length % 1000, more[rnd(6)]);
}

static inline void write_event(FILE *f, const struct row *r)
{
    static const enum text_lane lanes[] = {[CALL] = CANN, [OP] = PYTHON, [STEP] = PYTHON, [COMM] = HCCL};
    bool host = !on_device(r), planes = r->what == PART && rnd(2);
    enum text_lane lane = planes ? HCCL : r->what < KERNEL || r->what == COMM ? lanes[r->what] : HARDWARE;
    int tid = host ? r->tid : planes ? 1 : r->what == COMM ? 0 : r->stream;
    fprintf(f, "{\"ph\": \"X\", \"name\": \"%s%s\", \"pid\": %d, \"tid\": %d, ", r->what == CALL && rnd(2) ? "AscendCL@" : "", name_of(r),
            pid_of(lane, host ? 0 : r->device), tid);
    write_times(f, r->start, r->length);
    fprintf(f, ", \"args\": {\"Task Type\": \"%s\", \"connection_id\": %lld}}", r->type, (long long)r->connection);
}

static inline void write_text(const struct made *m, const char *path)
{
    FILE *f = fopen(path, "w");
    size_t lanes = rnd(m->n);
    fprintf(f, "[");
    for (size_t i = 0; i < m->n; i++) {
        if (i == lanes)
            write_lanes(f);
        write_event(f, &m->v[i]);
        fprintf(f, i + 1 < m->n ? ", " : "]");
    }
    fclose(f);
}
