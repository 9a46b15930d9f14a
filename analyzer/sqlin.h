/* sqlin.h - foreign SQLite databases: opened where they lie, read-only and immutable, so that nothing appears beside them.
 *
 * Tables and columns come and go with the version of the profiler, so queries are put together from what is there:
 * sqlin_column() gives a column or NULL.
 */
#pragma once
#include "analyzer/rows.h"

#include <sqlite3.h>

struct sqlin {
    sqlite3 *db;
    const char *what; /* "rpd trace" ..., for messages */
    struct rows r;
};

/* The pieces, for importers that do without the rest. */
bool sqlin_is_database(const struct input *in);
sqlite3 *sqlin_open_immutable(const char *path); /* NULL: cannot */

/* YES when the database holds every one of the tables or views; NO also for what cannot be read. */
enum sniffed sqlin_sniff(const struct input *in, const char *const *tables);
bool sqlin_sniff_like(const struct input *in, const char *glob); /* a table of such a name */

/* False: cut, damaged, or not a database (with the reason). sqlin_close() also after that. */
bool sqlin_open(struct sqlin *q, struct input *in, const char *what, struct tracedata *d, struct err *e);
void sqlin_close(struct sqlin *q);

bool sqlin_has(struct sqlin *q, const char *table);
/* "alias.\"column\"", or "NULL" where the table does not have it; in the scratch arena. */
const char *sqlin_column(struct sqlin *q, const char *table, const char *alias, const char *column);
/* The first column of the first row of a query, "" when there is none; in the scratch arena. */
const char *sqlin_text(struct sqlin *q, const char *sql);

/* Columns that may lack in some versions: from here on those that a table lacks are NULL in it. `columns` ends with NULL; a table
 * that is not there stays so. */
struct sqlin_table {
    const char *name;
    const char *columns[10];
};
bool sqlin_complete(struct sqlin *q, const struct sqlin_table *tables); /* the table of no name ends them */

/* Every row of the query. False: damaged, or the row function says so. */
bool sqlin_rows(struct sqlin *q, const char *sql, bool (*row)(void *ctx, sqlite3_stmt *s), void *ctx);

int64_t sqlin_int(sqlite3_stmt *s, int column, int64_t none); /* whole numbers, also as text or reals */
uint32_t sqlin_string(struct sqlin *q, sqlite3_stmt *s, int column);
/* start and end are columns 0 and 1. */
bool sqlin_event(struct sqlin *q, sqlite3_stmt *s, enum ev_kind kind, struct event *ev);

/* Said at the end: facts, and that a write-ahead log lies beside the file. False when there was no row at all. */
bool sqlin_finish(struct sqlin *q, const char *format, const char *backend);
