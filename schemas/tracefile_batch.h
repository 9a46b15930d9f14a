/* tracefile_batch.h - events and their side rows into a trace file, a table at a time. */
#pragma once
#include "schemas/tracedata.h"

#include <sqlite3.h>

enum { BATCH_TABLES = 6 };

/* Of one file; zero is empty. Stays at its address while it is open. */
struct tracefile_batch {
    const struct tracedata *d; /* what is written now */
    struct batch_table {
        struct tracefile_batch *batch;
        const struct batch_rows *rows;
        sqlite3_stmt *copy;
    } tables[BATCH_TABLES];
};

struct tracefile;

/* Prepares the statements, and drops them. */
bool tracefile_batch_open(struct tracefile *f, struct err *e);
void tracefile_batch_close(struct tracefile *f);

/* Appends all events of *d and their side rows. */
bool tracefile_batch_put(struct tracefile *f, const struct tracedata *d, struct err *e);
