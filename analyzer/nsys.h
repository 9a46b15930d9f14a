/* nsys.h - what the files of the Nsight Systems importer share.
 *
 *   import_nsys.c   the file: is it one, its facts, the order of its tables
 *   nsys_db.c       the database: columns that may be missing, strings and processes by id
 *   nsys_rows.c     one function per table of rows
 *   nsys_own.c      what our own export adds, for which Nsight has no place
 */
#pragma once
#include "analyzer/idmap.h"
#include "schemas/tracedata.h"

#include <sqlite3.h>

struct nsys {
    sqlite3 *db;
    const char *path;
    struct tracedata *d;
    struct err *e;
    struct arena scratch;
    sqlite3_stmt *string_of, *frames_of; /* StringIds by id; CUDA_CALLCHAINS by id */

    struct idmap strings;                  /* 2 * StringIds.id (+ 1: API name) -> string id + 1 */
    struct idmap processes;                /* globalId >> 24 -> process id */
    struct idmap waits;                    /* process << 32 | correlation of a call that synchronises -> its row of waits[] + 1 */
    struct idmap sites;                    /* callchain -> site id + 1 */
    struct idmap devices;                  /* pid << 16 | CUDA ordinal -> GPU + 1, filled only where ordinals of processes clash */
    struct idmap domains;                  /* NVTX domain -> string id */
    int32_t mem_kinds[16], copy_kinds[16]; /* the file's numbers -> enum mem_kind, enum copy_kind */

    int64_t bad_bytes, untimed, open_ranges;
};

/* A table of the file and the columns wanted of it, by position; a missing column reads as NULL. */
struct nsys_table {
    const char *name;
    const char *const *columns; /* ends with NULL; the first two, where they are start and end, must be there */
    bool (*row)(struct nsys *n, sqlite3_stmt *s);
    bool spare; /* nothing is wrong with an export whose table lacks the first column */
};

extern const struct nsys_table nsys_tables[]; /* in the order they must be read; ends with no name */

/* Every row of the table; true also when there is no such table. False: damaged, or the row function says so. */
bool nsys_read_table(struct nsys *n, const struct nsys_table *t);

/* The first column of the first row of a query, "" when there is none; valid until the scratch arena is emptied. */
const char *nsys_text(struct nsys *n, const char *sql);

/* Steps to the next row; false at the end, and for a damaged file (then *n->e is set). */
bool nsys_next(struct nsys *n, sqlite3_stmt *s);

int64_t nsys_int(sqlite3_stmt *s, int column, int64_t none);
uint32_t nsys_string(struct nsys *n, sqlite3_stmt *s, int column, bool api); /* a column that holds an id of StringIds */
uint32_t nsys_own_text(struct nsys *n, sqlite3_stmt *s, int column);         /* a column that holds text */
uint32_t nsys_process(struct nsys *n, sqlite3_stmt *s, int column);          /* a globalPid or globalTid */
uint32_t nsys_thread(struct nsys *n, sqlite3_stmt *s, int column);           /* a globalTid */
uint32_t nsys_site(struct nsys *n, int64_t chain);                           /* a callchain's call site, 0 none */

/* nsys_rows.c, for nsys_own.c: start is column 0, end column `end_at`; deviceId, streamId, globalPid, correlationId from `at` on. */
bool nsys_timed(struct nsys *n, sqlite3_stmt *s, enum ev_kind kind, int end_at, struct event *ev);
void nsys_place(struct nsys *n, sqlite3_stmt *s, int at, struct event *ev);

/* nsys_own.c. The columns that each macro names stand from `at` on; all NULL in files that are not ours. */
#define NSYS_OWN_COMM                                                                                                                                \
    "cpscope_collective", "cpscope_group", "cpscope_dtype", "cpscope_peer", "cpscope_group_size", "cpscope_sequence", "cpscope_message_bytes",       \
        "cpscope_bytes"
#define NSYS_OWN_WAIT "cpscope_name", "cpscope_class"
#define NSYS_OWN_CALL "cpscope_sync", "cpscope_blocked", "cpscope_stream", "cpscope_event"
void nsys_own_rank(sqlite3_stmt *s, int at, struct event *ev); /* "cpscope_rank" */
void nsys_own_comm(struct nsys *n, sqlite3_stmt *s, int at, struct event *ev);
void nsys_own_call(struct nsys *n, sqlite3_stmt *s, int at, struct event *ev);
void nsys_own_wait(struct nsys *n, sqlite3_stmt *s, int at, struct event *ev);
extern const char *const nsys_own_columns[]; /* of table CPSCOPE_EVENT */
bool nsys_own_row(struct nsys *n, sqlite3_stmt *s);
void nsys_own_facts(struct nsys *n); /* meta, over what was assumed */
