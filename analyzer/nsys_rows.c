/* nsys_rows.c - the tables of an Nsight Systems export, one row function each.
 *
 * Calls come first: what a SYNCHRONIZATION row is, is decided by the call that it belongs to, for its syncType has been
 * wrong in many versions.
 */
#include "analyzer/nsys.h"

#include <stdio.h>
#include <string.h>

static const int64_t FAR = INT64_C(1) << 61; /* import.h: no event lies further from t0 */

enum { NO_ID = -1 };
static const int64_t NONE32 = UINT32_MAX; /* stream and event ids: none */

/* start is column 0, end column `end_at`. */
bool nsys_timed(struct nsys *n, sqlite3_stmt *s, enum ev_kind kind, int end_at, struct event *ev)
{
    int64_t start = nsys_int(s, 0, INT64_MIN), end = nsys_int(s, end_at, INT64_MIN);
    if (start > FAR || start < -FAR || end > FAR || end < -FAR) {
        n->untimed++;
        return false;
    }
    *ev = event_none(kind, start, end);
    return true;
}

/* Device and stream; columns: deviceId, streamId, globalPid, correlationId from `at` on. */
void nsys_place(struct nsys *n, sqlite3_stmt *s, int at, struct event *ev)
{
    int64_t device = nsys_int(s, at, -1), stream = nsys_int(s, at + 1, NONE32);
    uint32_t process = nsys_process(n, s, at + 2), gpu = 0;
    if (n->devices.used)
        gpu = idmap_get(&n->devices, n->d->processes[process].pid << 16 | device);
    ev->device = gpu ? (int32_t)gpu - 1 : device >= 0 && device <= INT32_MAX ? (int32_t)device : -1;
    if (stream != NONE32)
        ev->stream = tracedata_stream(n->d, process, ev->device, stream);
    ev->correlation = nsys_int(s, at + 3, -1);
}

#define PLACE "deviceId", "streamId", "globalPid", "correlationId"

static const char *const kernel_columns[] = {"start",
                                             "end",
                                             PLACE,
                                             "demangledName",
                                             "shortName",
                                             "gridX",
                                             "gridY",
                                             "gridZ",
                                             "blockX",
                                             "blockY",
                                             "blockZ",
                                             "registersPerThread",
                                             "staticSharedMemory",
                                             "dynamicSharedMemory",
                                             "graphId",
                                             "graphNodeId",
                                             "cpscope_rank",
                                             NSYS_OWN_COMM,
                                             NULL};

static int32_t small(sqlite3_stmt *s, int column)
{
    int64_t v = nsys_int(s, column, 0);
    return v > 0 && v <= INT32_MAX ? (int32_t)v : 0;
}

static bool kernel(struct nsys *n, sqlite3_stmt *s)
{
    struct event ev;
    if (!nsys_timed(n, s, EV_KERNEL, 1, &ev))
        return true;
    nsys_place(n, s, 2, &ev);
    ev.name = nsys_string(n, s, 6, false);
    ev.name = ev.name ? ev.name : nsys_string(n, s, 7, false);
    struct ev_kernel row = {.registers = small(s, 14), .static_shared = small(s, 15), .dynamic_shared = small(s, 16)};
    for (int i = 0; i < 3; i++) {
        row.grid[i] = small(s, 8 + i);
        row.block[i] = small(s, 11 + i);
    }
    row.graph = nsys_int(s, 17, 0);
    row.graph_node = nsys_int(s, 18, 0);
    ev.detail = tracedata_kernel_row(n->d, row);
    nsys_own_rank(s, 19, &ev);
    nsys_own_comm(n, s, 20, &ev);
    return tracedata_event(n->d, &ev, n->e);
}

static const char *const graph_columns[] = {"start", "end", PLACE, "graphId", NULL};

/* A graph traced as a whole: its kernels are not in the file, it is the work. */
static bool graph(struct nsys *n, sqlite3_stmt *s)
{
    struct event ev;
    char name[64];
    if (!nsys_timed(n, s, EV_KERNEL, 1, &ev))
        return true;
    nsys_place(n, s, 2, &ev);
    int64_t id = nsys_int(s, 6, 0);
    snprintf(name, sizeof name, "[CUDA graph %lld]", (long long)id);
    ev.name = intern_id(&n->d->strings, name);
    ev.detail = tracedata_kernel_row(n->d, (struct ev_kernel){.graph = id});
    return tracedata_event(n->d, &ev, n->e);
}

static int32_t kind_of(const int32_t kinds[16], sqlite3_stmt *s, int column)
{
    int64_t v = nsys_int(s, column, -1);
    return v >= 0 && v < 16 ? kinds[v] : 0;
}

static const char *const memcpy_columns[] = {"start", "end", PLACE, "bytes", "copyKind", "srcKind", "dstKind", "cpscope_rank", NULL};

static bool copy(struct nsys *n, sqlite3_stmt *s)
{
    static const char *const names[] = {[COPY_UNKNOWN] = "[CUDA memcpy]",
                                        [COPY_HTOD] = "[CUDA memcpy Host-to-Device]",
                                        [COPY_DTOH] = "[CUDA memcpy Device-to-Host]",
                                        [COPY_DTOD] = "[CUDA memcpy Device-to-Device]",
                                        [COPY_HTOH] = "[CUDA memcpy Host-to-Host]",
                                        [COPY_PTOP] = "[CUDA memcpy Peer-to-Peer]",
                                        [COPY_OTHER] = "[CUDA memcpy]"};
    struct event ev;
    if (!nsys_timed(n, s, EV_MEMCPY, 1, &ev))
        return true;
    nsys_place(n, s, 2, &ev);
    ev.bytes = nsys_int(s, 6, -1);
    struct ev_copy row = {kind_of(n->copy_kinds, s, 7), kind_of(n->mem_kinds, s, 8), kind_of(n->mem_kinds, s, 9)};
    ev.name = intern_id(&n->d->strings, names[row.kind]);
    ev.detail = tracedata_copy_row(n->d, row);
    nsys_own_rank(s, 10, &ev);
    return tracedata_event(n->d, &ev, n->e);
}

static const char *const memset_columns[] = {"start", "end", PLACE, "bytes", "memKind", "cpscope_rank", NULL};

static bool fill(struct nsys *n, sqlite3_stmt *s)
{
    struct event ev;
    if (!nsys_timed(n, s, EV_MEMSET, 1, &ev))
        return true;
    nsys_place(n, s, 2, &ev);
    ev.bytes = nsys_int(s, 6, -1);
    ev.name = intern_id(&n->d->strings, "[CUDA memset]");
    ev.detail = tracedata_copy_row(n->d, (struct ev_copy){.dst = kind_of(n->mem_kinds, s, 7)});
    nsys_own_rank(s, 8, &ev);
    return tracedata_event(n->d, &ev, n->e);
}

/* Calls that leave a SYNCHRONIZATION row, and what that row is. */
static const struct wait {
    const char *word; /* in the call's name */
    const char *name; /* of the row */
    enum sync_class class;
} waits[] = {
    {"StreamSynchronize", "Stream Sync", SYNC_STREAM},   {"EventSynchronize", "Event Sync", SYNC_EVENT},
    {"DeviceSynchronize", "Context Sync", SYNC_DEVICE},  {"CtxSynchronize", "Context Sync", SYNC_DEVICE},
    {"StreamWaitEvent", "Stream Wait Event", SYNC_NONE}, {"EventQuery", "Event Query", SYNC_NONE},
};

static void remember_wait(struct nsys *n, const struct event *ev)
{
    const char *name = intern_str(&n->d->strings, ev->name);
    if (!ev->thread || ev->correlation < 0)
        return;
    for (uint32_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (strstr(name, waits[i].word))
            idmap_set(&n->waits, (int64_t)n->d->threads[ev->thread].process << 32 | (ev->correlation & UINT32_MAX), i + 1);
}

/* Frames of the runtime itself, above which the user's code is. */
static bool is_runtime_module(const char *module)
{
    static const char *const words[] = {"libcuda", "libcupti", "libnvidia", "libToolsInjection", "libc.so", "libpthread", "ld-linux"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(module, words[i]))
            return true;
    return false;
}

/* Modules are known by their file's name. A path that is not absolute is a source file of our own export, with a line. */
static uint32_t frame_site(struct nsys *n, uint32_t symbol, const char *module)
{
    const char *file = *module == '/' ? basename(module) : module;
    int64_t line = sqlite3_column_count(n->frames_of) > 2 ? nsys_int(n->frames_of, 2, 0) : 0;
    return tracedata_site(n->d, intern_str(&n->d->strings, symbol), file, line > 0 && line <= INT32_MAX ? (int32_t)line : 0);
}

/* The innermost frame that is not the runtime's: the call site. */
uint32_t nsys_site(struct nsys *n, int64_t chain)
{
    uint32_t known = idmap_get(&n->sites, chain), site = 0;
    if (known || !n->frames_of)
        return known ? known - 1 : 0;
    sqlite3_reset(n->frames_of);
    sqlite3_bind_int64(n->frames_of, 1, chain);
    while (!site && nsys_next(n, n->frames_of)) {
        uint32_t symbol = nsys_string(n, n->frames_of, 0, false), module = nsys_string(n, n->frames_of, 1, false);
        const char *file = intern_str(&n->d->strings, module);
        if (symbol && !is_runtime_module(file))
            site = frame_site(n, symbol, file);
    }
    idmap_set(&n->sites, chain, site + 1);
    return site;
}

static const char *const runtime_columns[] = {"start",       "end",  "globalTid",    "correlationId", "nameId",
                                              "callchainId", "name", "cpscope_rank", NSYS_OWN_CALL,   NULL};

static bool runtime(struct nsys *n, sqlite3_stmt *s)
{
    struct event ev;
    if (!nsys_timed(n, s, EV_RUNTIME, 1, &ev))
        return true;
    ev.thread = nsys_thread(n, s, 2);
    ev.correlation = nsys_int(s, 3, -1);
    ev.name = nsys_string(n, s, 4, true);
    ev.name = ev.name ? ev.name : nsys_string(n, s, 6, true);
    int64_t chain = nsys_int(s, 5, -1);
    ev.site = chain > 0 ? nsys_site(n, chain) : 0;
    remember_wait(n, &ev);
    nsys_own_rank(s, 7, &ev);
    nsys_own_call(n, s, 8, &ev);
    return tracedata_event(n->d, &ev, n->e);
}

/* By the ids alone: a stream and an event is a stream that waits, one of them is a wait for it, neither is for all. */
static const struct wait *by_ids(int64_t stream, int64_t event)
{
    bool has_stream = stream != NONE32, has_event = event != NONE32;
    return &waits[has_stream && has_event ? 4 : has_stream ? 0 : has_event ? 1 : 2];
}

static const char *const sync_columns[] = {"start", "end", PLACE, "eventId", "cpscope_rank", NSYS_OWN_WAIT, NULL};

static bool sync(struct nsys *n, sqlite3_stmt *s)
{
    struct event ev;
    if (!nsys_timed(n, s, EV_SYNC, 1, &ev))
        return true;
    nsys_place(n, s, 2, &ev);
    int64_t stream = nsys_int(s, 3, NONE32), event = nsys_int(s, 6, NONE32);
    uint32_t known = idmap_get(&n->waits, (int64_t)nsys_process(n, s, 4) << 32 | (ev.correlation & UINT32_MAX));
    const struct wait *w = known && ev.correlation >= 0 ? &waits[known - 1] : by_ids(stream, event);
    ev.name = intern_id(&n->d->strings, w->name);
    ev.detail = tracedata_sync_row(n->d, (struct ev_sync){.class = w->class,
                                                          .did_block = -1,
                                                          .wait_stream = w->class == SYNC_STREAM && stream != NONE32 ? stream : NO_ID,
                                                          .wait_event = event != NONE32 ? event : NO_ID});
    nsys_own_rank(s, 7, &ev);
    nsys_own_wait(n, s, 8, &ev);
    return tracedata_event(n->d, &ev, n->e);
}

static const char *const overhead_columns[] = {"start", "end", "globalTid", "nameId", "cpscope_rank", NULL};

static bool overhead(struct nsys *n, sqlite3_stmt *s)
{
    struct event ev;
    if (!nsys_timed(n, s, EV_OVERHEAD, 1, &ev))
        return true;
    ev.thread = nsys_thread(n, s, 2);
    ev.name = nsys_string(n, s, 3, false);
    nsys_own_rank(s, 4, &ev);
    return tracedata_event(n->d, &ev, n->e);
}

enum { NVTX_MARK = 34, NVTX_PUSH_POP = 59, NVTX_START_END = 60, NVTX_DOMAIN = 75 };

static const char *const domain_columns[] = {"start", "eventType", "text", "textId", "domainId", NULL};

static bool domain(struct nsys *n, sqlite3_stmt *s)
{
    if (nsys_int(s, 1, 0) != NVTX_DOMAIN)
        return true;
    uint32_t name = nsys_own_text(n, s, 2);
    name = name ? name : nsys_string(n, s, 3, false);
    if (name)
        idmap_set(&n->domains, nsys_int(s, 4, 0), name);
    return true;
}

static const char *const nvtx_columns[] = {"start", "end", "eventType", "text", "textId", "domainId", "globalTid", "cpscope_rank", NULL};

static int32_t flavour(int64_t type)
{
    return type == NVTX_MARK ? RANGE_MARK : type == NVTX_START_END ? RANGE_START_END : RANGE_PUSH_POP;
}

static bool range(struct nsys *n, sqlite3_stmt *s)
{
    struct event ev;
    int64_t type = nsys_int(s, 2, 0);
    bool open = sqlite3_column_type(s, 1) == SQLITE_NULL;
    if (type != NVTX_MARK && type != NVTX_PUSH_POP && type != NVTX_START_END)
        return true;
    n->open_ranges += open && type != NVTX_MARK;
    if ((open && type != NVTX_MARK) || !nsys_timed(n, s, EV_RANGE, open ? 0 : 1, &ev))
        return true;
    ev.name = nsys_own_text(n, s, 3);
    ev.name = ev.name ? ev.name : nsys_string(n, s, 4, false);
    ev.thread = nsys_thread(n, s, 6);
    struct ev_range row = {.domain = idmap_get(&n->domains, nsys_int(s, 5, 0)), .flavour = flavour(type), .index = -1};
    ev.detail = tracedata_range_row(n->d, row);
    nsys_own_rank(s, 7, &ev);
    return tracedata_event(n->d, &ev, n->e);
}

static const char *const process_columns[] = {"globalPid", "name", NULL};

static bool process(struct nsys *n, sqlite3_stmt *s)
{
    int64_t global = nsys_int(s, 0, -1);
    uint32_t id = global < 0 ? 0 : idmap_get(&n->processes, global >> 24);
    if (id)
        n->d->processes[id].name = nsys_string(n, s, 1, false);
    return true;
}

static const char *const thread_columns[] = {"globalTid", "nameId", NULL};

/* Names only threads that did something. */
static bool thread(struct nsys *n, sqlite3_stmt *s)
{
    int64_t global = nsys_int(s, 0, -1);
    uint32_t process_id = global < 0 ? 0 : idmap_get(&n->processes, global >> 24), name = nsys_string(n, s, 1, false);
    for (size_t i = 1; process_id && i < n->d->nthreads; i++)
        if (n->d->threads[i].process == process_id && n->d->threads[i].tid == (global & 0xffffff))
            n->d->threads[i].name = name;
    return true;
}

const struct nsys_table nsys_tables[] = {
    {"CUPTI_ACTIVITY_KIND_RUNTIME", runtime_columns, runtime},
    {"CUPTI_ACTIVITY_KIND_KERNEL", kernel_columns, kernel},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", graph_columns, graph},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", memcpy_columns, copy},
    {"CUPTI_ACTIVITY_KIND_MEMSET", memset_columns, fill},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", sync_columns, sync},
    {"CUPTI_ACTIVITY_KIND_OVERHEAD", overhead_columns, overhead, true},
    {"PROFILER_OVERHEAD", overhead_columns, overhead, true},
    {"NVTX_EVENTS", domain_columns, domain},
    {"NVTX_EVENTS", nvtx_columns, range},
    {"CPSCOPE_EVENT", nsys_own_columns, nsys_own_row},
    {"PROCESSES", process_columns, process, true},
    {"ThreadNames", thread_columns, thread, true},
    {0},
};
