/* nsysout.c - the database of an export: its schema, its strings, putting rows. */
#include "analyzer/nsysout.h"
#include "schemas/utf8.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Columns are integers where no type stands beside them. Those behind ';' are there for whoever asks, and NULL. */
static const struct {
    const char *name, *columns;
} tables[OUT_TABLES] = {
    [OUT_STRINGS] = {"StringIds", "id INTEGER NOT NULL PRIMARY KEY,value TEXT NOT NULL"},
    [OUT_KERNEL] = {"CUPTI_ACTIVITY_KIND_KERNEL",
                    "start INTEGER NOT NULL,end INTEGER NOT NULL,deviceId,contextId,streamId,correlationId,globalPid,demangledName,shortName,"
                    "mangledName,registersPerThread,gridX,gridY,gridZ,blockX,blockY,blockZ,staticSharedMemory,dynamicSharedMemory,graphId,"
                    "graphNodeId,cpscope_rank,cpscope_collective,cpscope_group,cpscope_dtype,cpscope_peer,cpscope_group_size,cpscope_sequence,"
                    "cpscope_message_bytes,cpscope_bytes;greenContextId,launchType,localMemoryPerThread,localMemoryTotal,gridId"},
    [OUT_MEMCPY] = {"CUPTI_ACTIVITY_KIND_MEMCPY",
                    "start INTEGER NOT NULL,end INTEGER NOT NULL,deviceId,contextId,streamId,correlationId,globalPid,bytes,copyKind,srcKind,dstKind,"
                    "cpscope_rank;greenContextId,srcDeviceId,srcContextId,dstDeviceId,dstContextId,migrationCause,graphNodeId,virtualAddress,"
                    "copyCount"},
    [OUT_MEMSET] = {"CUPTI_ACTIVITY_KIND_MEMSET", "start INTEGER NOT NULL,end INTEGER NOT NULL,deviceId,contextId,streamId,correlationId,globalPid,"
                                                  "value,bytes,memKind,cpscope_rank;greenContextId,graphNodeId"},
    [OUT_RUNTIME] = {"CUPTI_ACTIVITY_KIND_RUNTIME",
                     "start INTEGER NOT NULL,end INTEGER NOT NULL,eventClass,globalTid,correlationId,nameId,returnValue,callchainId,cpscope_rank,"
                     "cpscope_sync,cpscope_blocked,cpscope_stream,cpscope_event"},
    [OUT_SYNC] = {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                  "start INTEGER NOT NULL,end INTEGER NOT "
                  "NULL,deviceId,contextId,streamId,correlationId,globalPid,syncType,eventId,cpscope_rank,cpscope_name,cpscope_class;"
                  "greenContextId,deprecatedSyncType,eventSyncId"},
    [OUT_OVERHEAD] = {"CUPTI_ACTIVITY_KIND_OVERHEAD",
                      "start INTEGER NOT NULL,end INTEGER NOT NULL,eventClass,globalTid,correlationId,nameId,overheadType,cpscope_rank"},
    [OUT_NVTX] = {"NVTX_EVENTS", "start INTEGER NOT NULL,end INTEGER,eventType INTEGER NOT NULL,text TEXT,globalTid,textId,domainId,cpscope_rank;"
                                 "rangeId,category,color,endGlobalTid,uint64Value,int64Value,doubleValue REAL,uint32Value,int32Value,"
                                 "floatValue REAL,jsonTextId,jsonText TEXT,binaryData TEXT"},
    [OUT_OWN] = {"CPSCOPE_EVENT", "start INTEGER NOT NULL,end INTEGER NOT NULL,kind TEXT NOT NULL,nameId,globalTid,globalPid,deviceId,streamId,"
                                  "correlationId,callchainId,cpscope_rank"},
    [OUT_CALLCHAINS] = {"CUDA_CALLCHAINS", "id INTEGER NOT NULL,symbol,module,unresolved,stackDepth,cpscope_line;originalIP,kernelMode"},
    [OUT_PROCESSES] = {"PROCESSES", "globalPid,pid,name TEXT"},
    [OUT_THREADS] = {"ThreadNames", "nameId,priority,globalTid"},
    [OUT_GPU] = {"TARGET_INFO_GPU", "vmId,id,name TEXT;busLocation TEXT,isDiscrete,l2CacheSize,totalMemory,memoryBandwidth,clockRate,smCount,"
                                    "threadsPerWarp,maxWarpsPerSm,uuid TEXT,smMajor,smMinor,computeMajor,computeMinor,cuDevice,chipName TEXT"},
    [OUT_CUDA_DEVICE] = {"TARGET_INFO_CUDA_DEVICE", "gpuId,cudaId,pid;uuid TEXT,numMultiprocessors"},
    [OUT_SESSION] = {"TARGET_INFO_SESSION_START_TIME", "utcEpochNs;utcTime TEXT,localTime TEXT,systemClockNs"},
    [OUT_DETAILS] = {"ANALYSIS_DETAILS", "globalVid,duration,startTime,stopTime"},
    [OUT_EXPORT] = {"META_DATA_EXPORT", "name TEXT,value TEXT"},
};

/* Enumerations: the names that SQL joins on. The rows are those of Nsight Systems 2026.2. */
static const char enums[] =
    "CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
    "INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (0,'CUDA_MEMCPY_KIND_UNKNOWN','Unknown'),(1,'CUDA_MEMCPY_KIND_HTOD','Host-to-Device'),"
    "(2,'CUDA_MEMCPY_KIND_DTOH','Device-to-Host'),(8,'CUDA_MEMCPY_KIND_DTOD','Device-to-Device'),(9,'CUDA_MEMCPY_KIND_HTOH','Host-to-Host'),"
    "(10,'CUDA_MEMCPY_KIND_PTOP','Peer-to-Peer');"
    "CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
    "INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0,'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE','Pageable'),(1,'CUDA_MEMOPR_MEMORY_KIND_PINNED','Pinned'),"
    "(2,'CUDA_MEMOPR_MEMORY_KIND_DEVICE','Device'),(3,'CUDA_MEMOPR_MEMORY_KIND_ARRAY','Array'),(4,'CUDA_MEMOPR_MEMORY_KIND_MANAGED','Managed'),"
    "(7,'CUDA_MEMOPR_MEMORY_KIND_UNKNOWN','Unknown');"
    "CREATE TABLE ENUM_CUPTI_SYNC_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
    "INSERT INTO ENUM_CUPTI_SYNC_TYPE VALUES (0,'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN','Unknown'),"
    "(1,'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE','Event sync'),"
    "(2,'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT','Stream wait sync'),"
    "(3,'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE','Stream sync'),"
    "(4,'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE','Context sync');"
    "CREATE TABLE ENUM_NSYS_EVENT_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
    "INSERT INTO ENUM_NSYS_EVENT_TYPE VALUES (34,'NvtxMark','NvtxMark'),(59,'NvtxPushPopRange','NvtxPushPopRange'),"
    "(60,'NvtxStartEndRange','NvtxStartEndRange'),(75,'NvtxDomainCreate','NvtxDomainCreate');"
    "CREATE TABLE ENUM_NSYS_EVENT_CLASS (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
    "INSERT INTO ENUM_NSYS_EVENT_CLASS VALUES (0,'TRACE_PROCESS_EVENT_CUDA_RUNTIME','CUDA runtime'),"
    "(1,'TRACE_PROCESS_EVENT_CUDA_DRIVER','CUDA driver'),(103,'TRACE_PROCESS_EVENT_CUDA_OVERHEAD','CUDA overhead');"
    "CREATE TABLE ENUM_CUPTI_OVERHEAD_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
    "INSERT INTO ENUM_CUPTI_OVERHEAD_TYPE VALUES (0,'OVERHEAD_UNDEFINED','Undefined'),(1,'OVERHEAD_UNKNOWN','Unknown');";

static bool sql_fail(struct nsys_out *n)
{
    return fail(n->e, ERR_FAIL, "%s: cannot write: %s", n->path, sqlite3_errmsg(n->db));
}

static bool exec(struct nsys_out *n, const char *sql)
{
    return sqlite3_exec(n->db, sql, NULL, NULL, NULL) == SQLITE_OK || sql_fail(n);
}

/* The columns as SQL writes them: "end" is a word of it. */
static const char *declared(struct nsys_out *n, const char *columns)
{
    char *list = arena_strdup(&n->scratch, columns), *cut = strchr(list, ';');
    const char *sql = "", *from = list;
    if (cut)
        *cut = ',';
    for (char *p; (p = strstr(from, ",end ")); from = p + 5)
        sql = arena_printf(&n->scratch, "%s%.*s,\"end\" ", sql, (int)(p - from), from);
    return arena_printf(&n->scratch, "%s%s", sql, from);
}

/* A question mark for each column that rows fill, NULL for the others. */
static const char *places(struct nsys_out *n, const char *columns)
{
    const char *sql = "?", *mark = "?";
    for (const char *p = columns; *p; p++) {
        mark = *p == ';' ? "NULL" : mark;
        if (*p == ',' || *p == ';')
            sql = arena_printf(&n->scratch, "%s,%s", sql, mark);
    }
    return sql;
}

static bool create(struct nsys_out *n, int i)
{
    const char *name = tables[i].name, *columns = tables[i].columns;
    const char *insert = arena_printf(&n->scratch, "INSERT INTO %s VALUES (%s)", name, places(n, columns));
    return exec(n, arena_printf(&n->scratch, "CREATE TABLE %s (%s)", name, declared(n, columns))) &&
           (sqlite3_prepare_v3(n->db, insert, -1, SQLITE_PREPARE_PERSISTENT, &n->in[i], NULL) == SQLITE_OK || sql_fail(n));
}

bool nsys_out_open(struct nsys_out *n, const char *path)
{
    n->path = path;
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0666); /* what an earlier attempt left is no database */
    if (fd >= 0)
        close(fd);
    if (sqlite3_open_v2(path, &n->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return sql_fail(n);
    bool ok = exec(n, "PRAGMA page_size=8192; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN") && exec(n, enums);
    for (int i = 0; ok && i < OUT_TABLES; i++)
        ok = create(n, i);
    arena_free(&n->scratch);
    intern_init(&n->strings);
    return ok;
}

bool nsys_out_close(struct nsys_out *n, bool keep)
{
    bool ok = !keep || exec(n, "COMMIT");
    for (int i = 0; i < OUT_TABLES; i++)
        sqlite3_finalize(n->in[i]);
    ok = sqlite3_close(n->db) == SQLITE_OK && ok;
    intern_free(&n->strings);
    idmap_free(&n->domains);
    idmap_free(&n->devices);
    arena_free(&n->scratch);
    return ok && n->e->kind == ERR_NONE;
}

void nsys_out_ints(struct nsys_out *n, enum nsys_out_table t, int at, const int64_t *v, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (v[i] == NSYS_NULL)
            sqlite3_bind_null(n->in[t], at + (int)i);
        else
            sqlite3_bind_int64(n->in[t], at + (int)i, v[i]);
}

void nsys_out_text(struct nsys_out *n, enum nsys_out_table t, int at, const char *s)
{
    sqlite3_bind_text(n->in[t], at, s, -1, SQLITE_STATIC);
}

bool nsys_out_put(struct nsys_out *n, enum nsys_out_table t)
{
    int rc = sqlite3_step(n->in[t]);
    sqlite3_reset(n->in[t]);
    return rc == SQLITE_DONE || sql_fail(n);
}

int64_t nsys_out_new_string(struct nsys_out *n, const char *s)
{
    int64_t bad = 0;
    uint32_t id = utf8_intern(&n->strings, s, strlen(s), &n->scratch, &bad);
    for (; n->written < n->strings.n; n->written++) {
        nsys_out_ints(n, OUT_STRINGS, 1, (int64_t[]){(int64_t)n->written}, 1);
        nsys_out_text(n, OUT_STRINGS, 2, n->strings.strings[n->written]);
        nsys_out_put(n, OUT_STRINGS);
    }
    return id ? (int64_t)id : NSYS_NULL;
}

int64_t nsys_out_string(struct nsys_out *n, uint32_t string)
{
    if (!n->string[string]) {
        int64_t id = nsys_out_new_string(n, intern_str(&n->d->strings, string));
        n->string[string] = id == NSYS_NULL ? 1 : (uint32_t)id + 1;
    }
    return n->string[string] == 1 ? NSYS_NULL : (int64_t)n->string[string] - 1;
}
