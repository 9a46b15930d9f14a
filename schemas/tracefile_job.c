/* tracefile_job.c - rows of a table to the job that wants them; several jobs at a time. */
#include "schemas/tracefile_job.h"
#include "schemas/crew.h"
#include "schemas/sqlbound.h"

void job_break(sqlite3_context *c, struct job *j)
{
    j->broken = true;
    sqlite3_result_error(c, "a row holds a key that is not there or an impossible time", -1);
}

static void take(sqlite3_context *c, int n, sqlite3_value **v)
{
    struct job *j = *(struct job **)sqlite3_user_data(c);
    (void)n;
    j->row(j, v);
    if (j->broken)
        job_break(c, j);
}

static void taken(sqlite3_context *c)
{
    sqlite3_result_null(c);
}

static bool add_functions(sqlite3 *db, struct job **at)
{
    enum { FLAGS = SQLITE_UTF8 | SQLITE_DIRECTONLY };
    bool ok = sqlite3_create_function_v2(db, "take", -1, FLAGS, at, NULL, take, taken, NULL) == SQLITE_OK;
    for (const struct job_function *f = (*at)->functions; ok && f && f->name; f++)
        ok = sqlite3_create_function_v2(db, f->name, -1, FLAGS, at, f->call, NULL, NULL, NULL) == SQLITE_OK;
    return ok;
}

sqlite3 *job_connect(const char *path, struct job **at, struct err *e)
{
    sqlite3 *db = NULL;
    bool ok = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
              sqlite3_busy_timeout(db, BUSY_MS) == SQLITE_OK && sqlbound_set(db, path) && add_functions(db, at);
    if (ok)
        return db;
    fail(e, ERR_FAIL, "%s: cannot open: %s", path, sqlite3_errmsg(db));
    sqlite3_close(db);
    return NULL;
}

static int version_of(sqlite3 *db)
{
    sqlite3_stmt *s = NULL;
    int version = 1;
    if (sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
        version = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    return version;
}

bool job_run(sqlite3 *db, const char *path, struct job *j)
{
    sqlite3_stmt *s;
    const char *sql = j->version && version_of(db) < j->version ? j->old : j->sql;
    if (!sql)
        return true;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        return fail(&j->err, ERR_FAIL, "%s: %s", path, sqlite3_errmsg(db));
    if (sqlite3_bind_parameter_count(s)) {
        sqlite3_bind_int64(s, 1, j->from);
        sqlite3_bind_int64(s, 2, j->to);
    }
    int rc = sqlite3_step(s); /* take() gives one row, in which there is nothing */
    bool ok = rc == SQLITE_ROW || rc == SQLITE_DONE;
    if (rc == SQLITE_ROW)
        j->last = sqlite3_column_int64(s, 0);
    if (!ok)
        fail(&j->err, ERR_FAIL, "%s: damaged: %s", path, sqlbound_why(db));
    sqlite3_finalize(s);
    return ok;
}

struct reading {
    const char *path;
    struct job *jobs;
    struct reader { /* by member of the crew */
        sqlite3 *db;
        struct job *at;
    } reader[CREW_MOST];
};

static bool read_job(void *ctx, int member, size_t i)
{
    struct reading *x = ctx;
    struct reader *r = &x->reader[member];
    r->at = &x->jobs[i];
    return (r->db || (r->db = job_connect(x->path, &r->at, &r->at->err))) && job_run(r->db, x->path, r->at);
}

bool jobs_run(const char *path, struct job *jobs, size_t n, int threads, struct err *e)
{
    struct reading x = {.path = path, .jobs = jobs};
    crew_run(n, threads, read_job, &x);
    for (int i = 0; i < CREW_MOST; i++)
        sqlite3_close(x.reader[i].db);
    for (size_t i = 0; i < n; i++)
        if (jobs[i].err.kind)
            return fail(e, jobs[i].err.kind, "%s", jobs[i].err.msg);
    return true;
}
