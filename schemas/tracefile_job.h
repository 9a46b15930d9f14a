/* tracefile_job.h - reading the rows of a table, for tracefile_load.c, tracefile_keys.c and tracefile_events.c.
 *
 * A function of ours gets the columns of every row: one call of SQLite scans a table, at half the cost of stepping from row
 * to row. take() is an aggregate, others stand in the WHERE, where they are false.
 */
#pragma once
#include "schemas/tracefile_events.h"
#include "schemas/tracefile_sql.h"

struct job;

struct job_function { /* of an SQL: true ends the statement, with the number of its last row */
    const char *name;
    void (*call)(sqlite3_context *c, int n, sqlite3_value **v); /* its user data is a struct job ** */
};

/* One table, or a part of one. */
struct job {
    const char *sql;                             /* ?1 and ?2 are `from` and `to` */
    void (*row)(struct job *, sqlite3_value **); /* take() */
    int version;                                 /* of the file, in which this came */
    const char *old;                             /* instead of `sql` for files from before that; NULL: nothing */
    int64_t from, to;                            /* numbers of events */
    struct tracedata *d;
    struct event_part *part;              /* of events: where they go */
    const struct event_rows *rows;        /* of side rows: which events are there */
    size_t at;                            /* among them: side rows come by event */
    const struct job_function *functions; /* that `sql` has besides take(); the same in all jobs of a run; NULL: none */
    int64_t last;                         /* out: the first column of the row that ended the statement */
    bool broken;                          /* a key is out of its table */
    struct err err;
};

static inline int64_t sql_int(sqlite3_value *v, int64_t none)
{
    int64_t x = sqlite3_value_int64(v); /* of NULL: 0 */
    return x == 0 && sqlite3_value_type(v) == SQLITE_NULL ? none : x;
}

/* A row that cannot be: ends the statement with an error. */
void job_break(sqlite3_context *c, struct job *j);

static inline const char *sql_text(sqlite3_value *v)
{
    const unsigned char *p = sqlite3_value_text(v);
    return p ? (const char *)p : "";
}

/* NOT INDEXED: by rowid, whatever indexes people have added. */
#define TAKE(columns, table) "SELECT take(" columns ") FROM " table " NOT INDEXED"
#define TAKE_PART(columns, table, key) TAKE(columns, table) " WHERE " key " BETWEEN ?1 AND ?2"

/* A connection whose functions, those of *at, go to the job *at. NULL: *e says why. */
sqlite3 *job_connect(const char *path, struct job **at, struct err *e);
/* False: j->err says why. */
bool job_run(sqlite3 *db, const char *path, struct job *j);
/* All of them, which touch nothing of one another, by up to `threads` threads with a connection each. */
bool jobs_run(const char *path, struct job *jobs, size_t n, int threads, struct err *e);
