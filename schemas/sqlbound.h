/* sqlbound.h - databases of strangers end: a view may recurse for good, so a connection gets so much work and no more; and
 * a file may have been cut.
 *
 * The work is counted in steps of SQLite's machine, not in time, so that what is refused does not hang on the machine: far
 * more than reading and joining every byte of the file takes.
 */
#pragma once
#include "schemas/err.h"

#include <sqlite3.h>
#include <stdbool.h>

/* False: out of memory. */
bool sqlbound_set(sqlite3 *db, const char *path);
/* sqlite3_errmsg(), or in words that the bound was reached. */
const char *sqlbound_why(sqlite3 *db);

/* Is the file as long as its header says? SQLite notices a missing tail only when it comes to read it. False: it is cut. */
bool sqlbound_whole(const char *path, struct err *e);
