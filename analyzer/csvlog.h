/* csvlog.h - a csv file of numbers (RFC 4180): a header, then rows. */
#pragma once
#include "schemas/arena.h"
#include "schemas/err.h"

#include <stdbool.h>
#include <stddef.h>

struct csvlog {
    const char **names; /* of the columns */
    size_t ncolumns, nrows;
    double *v; /* row major; NAN: empty, or not a number */
};

/* Reads the file into `a`. ERR_FAIL with file and line: unreadable, no header, a row with other fields than the header. */
bool csvlog_read(const char *path, struct arena *a, struct csvlog *out, struct err *e);
int csvlog_column(const struct csvlog *c, const char *name); /* -1: none of that name */
