/* nsight_queries.h - a small trace, and queries as people write them for Nsight Systems exports, with their answers. */
#pragma once
#include "schemas/tracefile.h"
#include "unit.h"

#include <sqlite3.h>
#include <unistd.h>

static struct tracedata made;
static uint32_t process, thread_id, stream;
static struct err made_err;

static inline struct event *add(enum ev_kind kind, const char *name, int64_t start, int64_t end)
{
    struct event v = event_none(kind, start, end);
    v.name = intern_id(&made.strings, name);
    if (ev_kind_class(kind) == EV_HOST)
        v.thread = thread_id;
    else {
        v.stream = stream;
        v.device = 0;
    }
    assert_ok(tracedata_event(&made, &v, &made_err), &made_err);
    return &made.ev[made.n - 1];
}

static inline void add_range(const char *domain, const char *name, int flavour, int64_t start, int64_t end)
{
    struct ev_range r = {intern_id(&made.strings, domain), flavour, -1};
    uint32_t row = tracedata_range_row(&made, r);
    add(EV_RANGE, name, start, end)->detail = row;
}

static inline void add_copy(int kind, int64_t start, int64_t bytes)
{
    struct event *v = add(EV_MEMCPY, "copy", start, start + 2);
    v->bytes = bytes;
    v->detail = tracedata_copy_row(&made, (struct ev_copy){kind, MEM_PAGEABLE, MEM_DEVICE});
}

static inline void fill(void)
{
    tracedata_init(&made);
    process = tracedata_process(&made, 77, "host", 0);
    thread_id = tracedata_thread(&made, process, 78, "main");
    stream = tracedata_stream(&made, process, 0, 7);
    tracedata_meta(&made, "utc_epoch_ns", "1700000000000000000");
    struct event *v = add(EV_KERNEL, "gemm", 10, 30);
    v->correlation = 1;
    v->detail = tracedata_kernel_row(&made, (struct ev_kernel){.grid = {4, 2, 1}, .block = {128, 1, 1}, .registers = 32});
    add(EV_KERNEL, "gemm", 40, 50)->correlation = 2;
    add(EV_COMM, "all_gather", 60, 100);
    add(EV_RUNTIME, "cudaLaunchKernel", 0, 5)->correlation = 1;
    add(EV_RUNTIME, "cudaLaunchKernel", 5, 8)->correlation = 2;
    add(EV_RUNTIME, "cudaStreamSynchronize", 8, 55)->detail = tracedata_sync_row(&made, (struct ev_sync){SYNC_STREAM, 1, 7, -1});
    add(EV_RUNTIME, "cudaMemcpy", 55, 58)->detail = tracedata_sync_row(&made, (struct ev_sync){SYNC_COPY, 1, -1, -1});
    add(EV_SYNC, "stream wait event", 60, 60);
    add_copy(COPY_HTOD, 0, 100);
    add_copy(COPY_HTOD, 2, 50);
    add_copy(COPY_DTOH, 55, 8);
    v = add(EV_MEMSET, "fill", 3, 4);
    v->bytes = 64;
    add_range("", "step", RANGE_PUSH_POP, 0, 120);
    add_range("", "layer", RANGE_PUSH_POP, 0, 58);
    add_range("", "layer", RANGE_PUSH_POP, 60, 110);
    add_range("", "mark", RANGE_MARK, 70, 70);
    add_range("io", "load", RANGE_START_END, 20, 90);
}

static const struct {
    const char *sql, *want; /* rows joined by ';', columns by ',' */
} queries[] = {
    {"SELECT s.value, count(*), sum(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName GROUP BY 1 ORDER BY 3 "
     "DESC",
     "all_gather,1,40;gemm,2,30"},
    {"SELECT deviceId, streamId, gridX, gridY, blockX, registersPerThread FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = 1", "0,7,4,2,128,32"},
    {"SELECT copyKind, count(*), sum(bytes), sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY GROUP BY copyKind ORDER BY 1", "1,2,150,4;2,1,8,2"},
    {"SELECT o.label, sum(m.bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY m JOIN ENUM_CUDA_MEMCPY_OPER o ON o.id = m.copyKind GROUP BY 1 ORDER BY 1",
     "Device-to-Host,8;Host-to-Device,150"},
    {"SELECT DISTINCT srcKind, dstKind FROM CUPTI_ACTIVITY_KIND_MEMCPY", "0,2"},
    {"SELECT count(*), sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMSET", "1,64"},
    {"SELECT s.value, count(*), sum(r.end - r.start) FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId GROUP BY 1 ORDER BY 1",
     "cudaLaunchKernel,2,8;cudaMemcpy,1,3;cudaStreamSynchronize,1,47"},
    {"SELECT k.start - r.end FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId ORDER BY 1",
     "5;32"},
    {"SELECT globalTid / 0x1000000 % 0x1000000 AS pid, globalTid % 0x1000000 AS tid FROM CUPTI_ACTIVITY_KIND_RUNTIME GROUP BY 1, 2", "77,78"},
    {"SELECT globalPid / 0x1000000 % 0x1000000 FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY 1", "77"},
    {"SELECT syncType, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION GROUP BY 1 ORDER BY 1", "2,1,0;3,1,47"},
    {"SELECT streamId FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION WHERE syncType = 3", "7"},
    {"SELECT text, count(*), sum(end - start) FROM NVTX_EVENTS WHERE eventType IN (59, 60) GROUP BY 1 ORDER BY 1",
     "layer,2,108;load,1,70;step,1,120"},
    {"SELECT coalesce(n.text, s.value) FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId WHERE n.eventType = 34", "mark"},
    {"SELECT d.text, n.text FROM NVTX_EVENTS n JOIN NVTX_EVENTS d ON d.eventType = 75 AND d.domainId = n.domainId WHERE n.eventType = 60", "io,load"},
    {"SELECT n.text, sum(k.end - k.start) FROM NVTX_EVENTS n JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.globalTid = n.globalTid AND r.start >= n.start "
     "AND r.end <= n.end JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON k.correlationId = r.correlationId WHERE n.eventType = 59 GROUP BY 1 ORDER BY 1",
     "layer,30;step,30"},
    {"SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", "1700000000000000000"},
};

static inline void answer(sqlite3 *db, const char *sql, char *out, size_t size)
{
    sqlite3_stmt *s;
    size_t n = 0;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    *out = '\0';
    while (sqlite3_step(s) == SQLITE_ROW)
        for (int c = 0; c < sqlite3_column_count(s) && n < size; c++) {
            const unsigned char *t = sqlite3_column_text(s, c);
            n += (size_t)snprintf(out + n, size - n, "%s%s", c ? "," : n ? ";" : "", t ? (const char *)t : "NULL");
        }
    sqlite3_finalize(s);
}

/* Every query on the file at `path`. */
static inline void ask_all(const char *path)
{
    char got[512];
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        answer(db, queries[i].sql, got, sizeof got);
        if (strcmp(got, queries[i].want) != 0)
            fail_msg("%s\n  gives %s\n  not   %s", queries[i].sql, got, queries[i].want);
    }
    sqlite3_close(db);
}
