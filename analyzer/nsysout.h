/* nsysout.h - the tables of an Nsight Systems export (schema 3.25.0), for writing.
 *
 * Names and columns are those that people's SQL, nsys stats and nsys analyze ask for; what a trace does not know is NULL.
 * What Nsight has no place for stands in columns and one table that begin with cpscope_ (read back by the importer): the
 * rank of a row, what kind of wait a call is, a collective's data, framework operators and source frames.
 */
#pragma once
#include "analyzer/export.h"
#include "analyzer/idmap.h"

#include <sqlite3.h>

enum nsys_out_table {
    OUT_STRINGS,
    OUT_KERNEL,
    OUT_MEMCPY,
    OUT_MEMSET,
    OUT_RUNTIME,
    OUT_SYNC,
    OUT_OVERHEAD,
    OUT_NVTX,
    OUT_OWN, /* rows of kinds that Nsight does not have */
    OUT_CALLCHAINS,
    OUT_PROCESSES,
    OUT_THREADS,
    OUT_GPU,
    OUT_CUDA_DEVICE,
    OUT_SESSION,
    OUT_DETAILS,
    OUT_EXPORT,
    OUT_TABLES
};

#define NSYS_NULL INT64_MIN

struct nsys_out {
    sqlite3 *db;
    const char *path;
    struct err *e;
    struct export_job *x;
    const struct export_file *f;
    const struct tracedata *d;
    uint32_t file;
    sqlite3_stmt *in[OUT_TABLES];
    struct intern strings; /* ids of StringIds */
    size_t written;        /* of them */
    uint32_t *string;      /* by string id of the file: 1 + id of StringIds */
    uint32_t *chain;       /* by site id of the file: its callchain, 0 not yet */
    int64_t *tid;          /* by thread id of the file: in 24 bits */
    uint32_t nchains;
    struct idmap domains, devices; /* seen already: of NVTX; (process, device) */
    struct idmap waits;            /* calls of the file whose wait has a row of its own: (process, correlation) */
    struct arena scratch;
};

/* An empty database with the tables, the enumerations and a transaction that is open. */
bool nsys_out_open(struct nsys_out *n, const char *path);
bool nsys_out_close(struct nsys_out *n, bool keep);

/* A row; integers from column `at` (1 is the first), NSYS_NULL as NULL; texts are bound before. */
void nsys_out_ints(struct nsys_out *n, enum nsys_out_table t, int at, const int64_t *v, size_t count);
void nsys_out_text(struct nsys_out *n, enum nsys_out_table t, int at, const char *s); /* must live until the row is put */
bool nsys_out_put(struct nsys_out *n, enum nsys_out_table t);

/* Id of StringIds; NSYS_NULL for the empty string. */
int64_t nsys_out_string(struct nsys_out *n, uint32_t string);
int64_t nsys_out_new_string(struct nsys_out *n, const char *s);
