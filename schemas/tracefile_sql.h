/* tracefile_sql.h - the schema as C strings, for tracefile*.c only. */
#pragma once
#include <sqlite3.h>

extern const char tracefile_schema[]; /* trace.sql and every migration, made by the Makefile */
