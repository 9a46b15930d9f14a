/* table.h - a result table: columns with units, cells that may be absent, and the csv printer.
 *
 * The zero value of a cell means "not in this trace": a new row is all absent and a table sets what it knows. Text shows
 * "-", json null, csv an empty field. Times are integer ns up to the printer; a percentage names its base.
 */
#pragma once
#include "schemas/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum unit {
    UNIT_TEXT,
    UNIT_ID, /* a number that names something (rank, device, step): never grouped by thousands nor added up */
    UNIT_COUNT,
    UNIT_NS,
    UNIT_BYTES,
    UNIT_PERCENT, /* csv: 4 decimals */
    UNIT_REAL,    /* csv: %.17g */
    UNIT_POINTS,  /* of a cell only: the difference of two percentages */
};

struct column {
    const char *name;
    enum unit unit;
    const char *base; /* of a percentage: the column or window it is a share of */
    const char *what; /* one line for `cpscope help TABLE` */
    bool asked;       /* filled where options ask for it: empty does not mean that the trace lacks it */
};

enum cell_kind { CELL_ABSENT, CELL_INT, CELL_REAL, CELL_TEXT };

struct cell {
    enum cell_kind kind;
    enum unit unit; /* 0: the column's; else its own, for people (csv and json print as the column does): cell_measure() */
    union {
        int64_t i;
        double r;
        const char *s;
    };
};

struct table {
    const char *name, *title;
    const struct column *columns; /* ends with a row of no name */
    size_t ncolumns;
    struct cell *cells; /* row major */
    size_t nrows, cap;
    const char **notes; /* lines printed below by text and html: the window, what is missing, what is modelled */
    size_t nnotes, notes_cap;
    struct arena arena; /* owns texts and notes */
};

void table_init(struct table *t, const char *name, const char *title, const struct column *columns);
void table_free(struct table *t);
struct cell *table_row(struct table *t);                   /* a new row, all absent; valid until the next call */
struct cell *table_at(const struct table *t, size_t row);  /* its first cell */
int table_column(const struct table *t, const char *name); /* -1: no such column */
void table_note(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *table_text(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct cell cell_int(int64_t i);
struct cell cell_id(int64_t i);                       /* absent when negative */
struct cell cell_real(double r);                      /* absent when not finite */
struct cell cell_text(const char *s);                 /* kept by pointer; NULL is absent */
struct cell cell_measure(struct cell c, enum unit u); /* c, in a column whose rows have units of their own */
struct cell cell_share(int64_t part, int64_t whole);  /* 100 * part / whole; absent when whole is 0 */

/* Orders rows; total orders only (qsort keeps none of its own). `down` reverses. Absent sorts last either way. */
void table_sort(struct table *t, int column, bool down);
void table_sort_by(struct table *t, int (*cmp)(const struct cell *x, const struct cell *y)); /* of whole rows */
void table_cut(struct table *t, size_t nrows);                                               /* keeps the first rows */

/* RFC 4180 (but \n line ends), header row first. */
void table_csv(const struct table *t, FILE *out);
void table_csv_rows(const struct table *t, FILE *out, bool header); /* for tables that are written as they grow */
/* One cell as csv text without quoting, "" when absent; buf is large enough for any number. */
const char *cell_csv(struct cell c, enum unit u, char buf[64]);
