/* tracefile_sql.h - what the files of tracefile*.c share. */
#pragma once
#include "schemas/tracefile.h"

#include <sqlite3.h>

/* How long a file in use is waited for: people look at recordings that still run. For sqlite3_busy_timeout(). */
enum { BUSY_MS = 10000 };

extern const char tracefile_schema[]; /* trace.sql and every migration, made by the Makefile */

/* The two halves of tracefile_append(); the first opens the transaction, the second closes it. On failure it is undone. */
bool tracefile_put_keys(struct tracefile *f, const struct tracedata *d, struct err *e);
bool tracefile_put_events(struct tracefile *f, const struct tracedata *d, struct err *e);

/* tracefile_load_some() of a file that is whole: nothing is written. */
bool tracefile_read(const char *path, unsigned sides, int threads, struct tracedata *d, struct err *e);

/* Keys and facts alone; *n: how many events there are. */
bool tracefile_read_keys(const char *path, struct tracedata *d, int64_t *n, struct err *e);

/* Folds the WAL into the file. A reader that is at it is waited for; for one that stays the rows are left in the WAL. */
bool tracefile_fold(sqlite3 *db);
