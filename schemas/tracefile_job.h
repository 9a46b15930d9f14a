/* tracefile_job.h - reading the rows of a table, for tracefile_load.c, tracefile_keys.c and tracefile_events.c.
 *
 * An aggregate function of ours, take(), gets the columns of every row: one call of SQLite scans a table, at half the
 * cost of stepping from row to row.
 */
#pragma once
#include "schemas/tracefile_events.h"
#include "schemas/tracefile_sql.h"

/* One table, or a part of one. */
struct job {
    const char *sql; /* ?1 and ?2 are `from` and `to` */
    void (*row)(struct job *, sqlite3_value **);
    int version;      /* of the file, in which this came */
    const char *old;  /* instead of `sql` for files from before that; NULL: nothing */
    int64_t from, to; /* numbers of events */
    struct tracedata *d;
    struct event_part *part;                      /* of events: where they go */
    const struct event_rows *rows;                /* of side rows: which events are there */
    size_t at;                                    /* among them: side rows come by event */
    bool (*keep)(struct job *, sqlite3_value **); /* what keep() says in `sql`; NULL where it is not asked */
    bool broken;                                  /* a key is out of its table */
    struct err err;
};

static inline int64_t sql_int(sqlite3_value *v, int64_t none)
{
    return sqlite3_value_type(v) == SQLITE_NULL ? none : sqlite3_value_int64(v);
}

static inline const char *sql_text(sqlite3_value *v)
{
    const unsigned char *p = sqlite3_value_text(v);
    return p ? (const char *)p : "";
}

/* NOT INDEXED: by rowid, whatever indexes people have added. */
#define TAKE(columns, table) "SELECT take(" columns ") FROM " table " NOT INDEXED"
#define TAKE_PART(columns, table, key) TAKE(columns, table) " WHERE " key " BETWEEN ?1 AND ?2"

/* A connection whose take() goes to the job *at. NULL: *e says why. */
sqlite3 *job_connect(const char *path, struct job **at, struct err *e);
/* False: j->err says why. */
bool job_run(sqlite3 *db, const char *path, struct job *j);
/* All of them, which touch nothing of one another, by up to `threads` threads with a connection each. */
bool jobs_run(const char *path, struct job *jobs, size_t n, int threads, struct err *e);
