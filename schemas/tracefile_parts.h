/* tracefile_parts.h - the handle of a trace file that is written: tracefile.c opens and finishes it, tracefile_rows.c and tracefile_batch.c fill it. */
#pragma once
#include "schemas/tracefile.h"
#include "schemas/tracefile_batch.h"
#include "schemas/tracefile_sql.h"

/* The inserts but those of events, one prepared statement each; the order is that of `enum insert`. */
enum insert { IN_STRING, IN_PROCESS, IN_THREAD, IN_STREAM, IN_SITE, IN_META, IN_CLOCK, IN_LOSS, IN_MEMORY, IN_FRAME, IN_RING, IN_COUNT };

enum { NEVER = -0x7fffffff }; /* "cannot be absent": no value of a key or a count is this */

struct tracefile {
    sqlite3 *db;
    char *path, *tmp; /* tmp: NULL for a recording */
    sqlite3_stmt *in[IN_COUNT];
    struct tracefile_batch batch;
    size_t strings, processes, threads, streams, sites, stacks, memory; /* how many are written already */
    const struct ring_mark *marks;
    size_t nmarks;
};

bool tracefile_exec(struct tracefile *f, const char *sql, struct err *e);
bool tracefile_sql_fail(struct tracefile *f, struct err *e); /* false, with what SQLite says */
bool tracefile_prepare(struct tracefile *f, struct err *e);  /* the inserts */
