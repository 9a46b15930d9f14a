/* tracefile_sql.h - what the files of tracefile*.c share. */
#pragma once
#include "schemas/tracefile.h"

#include <sqlite3.h>

extern const char tracefile_schema[]; /* trace.sql and every migration, made by the Makefile */

/* tracefile_load_some() of a file that is whole: nothing is written. */
bool tracefile_read(const char *path, unsigned sides, int threads, struct tracedata *d, struct err *e);
