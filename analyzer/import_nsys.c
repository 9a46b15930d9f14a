/* import_nsys.c - SQLite exports of Nsight Systems, schema 2.9 to 3.25.
 *
 * The file is read where it lies: read-only and immutable, so that SQLite makes no -wal or -shm beside it. Tables with
 * the process environment and command lines (TARGET_INFO_SYSTEM_ENV, META_DATA_CAPTURE, ProcessStreams) are not opened.
 */
#include "analyzer/import.h"
#include "analyzer/nsys.h"
#include "analyzer/sqlin.h"
#include "schemas/sqlbound.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Unreadable as a database is "maybe": read() then says why. */
static enum sniffed sniff(const struct input *in)
{
    static const char sql[] = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND (name IN ('META_DATA_EXPORT', 'EXPORT_META_DATA', "
                              "'NVTX_EVENTS') OR name LIKE 'CUPTI_ACTIVITY_KIND_%')";
    if (!sqlin_is_database(in))
        return SNIFF_NO;
    sqlite3 *db = sqlin_open_immutable(in->path);
    sqlite3_stmt *s = NULL;
    enum sniffed found = SNIFF_MAYBE;
    if (db && sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
        found = sqlite3_column_int(s, 0) ? SNIFF_YES : SNIFF_NO;
    sqlite3_finalize(s);
    sqlite3_close(db);
    return found;
}

/* Beside traces, what is no database at all is left out. */
static bool holds(struct input *in)
{
    return sniff(in) == SNIFF_YES;
}

/* Names of memory kinds and copy directions as the ENUM tables spell them, and their numbers where there is no such table. */
static const struct kind {
    const char *suffix;
    int number, kind;
} mem_kinds[] = {{"_PAGEABLE", 0, MEM_PAGEABLE},
                 {"_PINNED", 1, MEM_PINNED},
                 {"_DEVICE", 2, MEM_DEVICE},
                 {"_ARRAY", 3, MEM_ARRAY},
                 {"_MANAGED", 4, MEM_MANAGED},
                 {"_DEVICE_STATIC", 5, MEM_DEVICE},
                 {"_MANAGED_STATIC", 6, MEM_MANAGED},
                 {"_UNKNOWN", 7, MEM_UNKNOWN},
                 {0}},
  copy_kinds[] = {
      {"_UNKNOWN", 0, COPY_UNKNOWN}, {"_HTOD", 1, COPY_HTOD},  {"_DTOH", 2, COPY_DTOH},  {"_HTOA", 3, COPY_OTHER}, {"_ATOH", 4, COPY_OTHER},
      {"_ATOA", 5, COPY_OTHER},      {"_ATOD", 6, COPY_OTHER}, {"_DTOA", 7, COPY_OTHER}, {"_DTOD", 8, COPY_DTOD},  {"_HTOH", 9, COPY_HTOH},
      {"_PTOP", 10, COPY_PTOP},      {"_HTOD", 11, COPY_HTOD}, {"_DTOH", 12, COPY_DTOH}, {"_DTOD", 13, COPY_DTOD}, {0}};

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

static void set_kind(int32_t to[16], const struct kind *kinds, int64_t id, const char *name)
{
    for (; kinds->suffix && id >= 0 && id < 16; kinds++)
        if (ends_with(name, kinds->suffix))
            to[id] = kinds->kind;
}

static void read_kinds(struct nsys *n, int32_t to[16], const struct kind *kinds, const char *sql)
{
    sqlite3_stmt *s = NULL;
    for (const struct kind *k = kinds; k->suffix; k++)
        to[k->number] = k->kind;
    if (sqlite3_prepare_v2(n->db, sql, -1, &s, NULL) != SQLITE_OK)
        return;
    while (sqlite3_step(s) == SQLITE_ROW)
        if (sqlite3_column_text(s, 1))
            set_kind(to, kinds, sqlite3_column_int64(s, 0), (const char *)sqlite3_column_text(s, 1));
    sqlite3_finalize(s);
}

/* Ordinals of CUDA are per process: under CUDA_VISIBLE_DEVICES each may call its own GPU device 0. Where that is so,
 * devices are told apart by the number of the GPU. */
static void read_devices(struct nsys *n)
{
    sqlite3_stmt *s = NULL;
    const char *clash = nsys_text(n, "SELECT 1 FROM TARGET_INFO_CUDA_DEVICE GROUP BY cudaId HAVING count(DISTINCT gpuId) > 1");
    if (!*clash || sqlite3_prepare_v2(n->db, "SELECT pid, cudaId, gpuId FROM TARGET_INFO_CUDA_DEVICE", -1, &s, NULL) != SQLITE_OK)
        return;
    while (sqlite3_step(s) == SQLITE_ROW) {
        int64_t pid = nsys_int(s, 0, -1), ordinal = nsys_int(s, 1, -1), gpu = nsys_int(s, 2, -1);
        if (pid >= 0 && pid < INT64_C(1) << 40 && ordinal >= 0 && ordinal < 1 << 16 && gpu >= 0 && gpu < INT32_MAX)
            idmap_set(&n->devices, pid << 16 | ordinal, (uint32_t)gpu + 1);
    }
    sqlite3_finalize(s);
}

static bool open_export(struct nsys *n, const struct input *in)
{
    n->db = sqlin_open_immutable(in->path);
    if (!n->db || sqlite3_exec(n->db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL) != SQLITE_OK)
        return fail(n->e, ERR_FAIL, "%s: an SQLite database that cannot be read: %s; if it is packed, unpack it first", in->path,
                    n->db ? sqlite3_errmsg(n->db) : "cannot open");
    sqlite3_prepare_v2(n->db, "SELECT value FROM StringIds WHERE id = ?", -1, &n->string_of, NULL);
    if (sqlite3_prepare_v2(n->db, "SELECT symbol, module, cpscope_line FROM CUDA_CALLCHAINS WHERE id = ? ORDER BY stackDepth", -1, &n->frames_of,
                           NULL) != SQLITE_OK)
        sqlite3_prepare_v2(n->db, "SELECT symbol, module FROM CUDA_CALLCHAINS WHERE id = ? ORDER BY stackDepth", -1, &n->frames_of, NULL);
    read_kinds(n, n->mem_kinds, mem_kinds, "SELECT id, name FROM ENUM_CUDA_MEM_KIND");
    read_kinds(n, n->copy_kinds, copy_kinds, "SELECT id, name FROM ENUM_CUDA_MEMCPY_OPER");
    read_devices(n);
    return true;
}

static void meta(struct nsys *n, const char *key, const char *sql)
{
    const char *text = nsys_text(n, sql);
    if (*text)
        tracedata_meta(n->d, key, text);
}

static void loss(struct nsys *n, const char *reason, int64_t count)
{
    if (count)
        tracedata_loss(n->d, reason, count, INT64_MIN, INT64_MIN);
}

static void say_facts(struct nsys *n)
{
    char wal[4200];
    struct stat st;
    tracedata_meta(n->d, "backend", "cuda");
    tracedata_meta(n->d, "source_format", "nsys");
    tracedata_meta(n->d, "clean_end", "1");
    meta(n, "version", "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION'");
    meta(n, "version", "SELECT value FROM EXPORT_META_DATA WHERE name = 'EXPORT_SCHEMA_VERSION'");
    meta(n, "profiler_version", "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_PRODUCT_VERSION'");
    meta(n, "utc_epoch_ns", "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME WHERE utcEpochNs > 0");
    meta(n, "device_name", "SELECT name FROM TARGET_INFO_GPU ORDER BY id");
    if (*nsys_text(n, "SELECT 1 FROM NVTX_EVENTS WHERE eventType = 75 AND text = 'NCCL'") &&
        !*nsys_text(n, "SELECT 1 FROM NVTX_EVENTS WHERE binaryData IS NOT NULL"))
        tracedata_meta(n->d, "comm_data", "not exported: sizes and communicators of NCCL need nsys export --include-blobs=true");
    nsys_own_facts(n);
    loss(n, "rows whose time is absent or out of range, left out", n->untimed);
    loss(n, "NVTX ranges without an end, left out", n->open_ranges);
    loss(n, "bytes that are not UTF-8 replaced", n->bad_bytes);
    snprintf(wal, sizeof wal, "%s-wal", n->path);
    if (stat(wal, &st) == 0 && st.st_size > 0)
        tracedata_loss(n->d, "a write-ahead log lies beside the file and is not read: let SQLite fold it in first", -1, INT64_MIN, INT64_MIN);
}

static bool read_tables(struct nsys *n)
{
    bool ok = true;
    for (const struct nsys_table *t = nsys_tables; ok && t->name; t++)
        ok = nsys_read_table(n, t);
    if (ok && n->d->n == 0 && n->d->first == 0)
        return fail(n->e, ERR_FAIL, "%s: an Nsight Systems export without one event of CUDA or NVTX", n->path);
    return ok;
}

static void close_export(struct nsys *n)
{
    sqlite3_finalize(n->string_of);
    sqlite3_finalize(n->frames_of);
    sqlite3_close(n->db);
    struct idmap *maps[] = {&n->strings, &n->processes, &n->waits, &n->sites, &n->devices, &n->domains};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        idmap_free(maps[i]);
    arena_free(&n->scratch);
}

static bool read(struct input *in, struct tracedata *d, struct err *e)
{
    struct nsys n = {.path = in->path, .d = d, .e = e};
    bool ok = sqlbound_whole(in->path, e) && open_export(&n, in) && read_tables(&n);
    if (ok)
        say_facts(&n);
    close_export(&n);
    return ok;
}

const struct importer import_nsys = {
    .name = "nsys", .what = "SQLite exports of Nsight Systems (nsys export --type sqlite)", .sniff = sniff, .read = read, .holds = holds};
