/* tracefile_keys.c - keys, strings and facts of a trace file: what its events lead to, and how many there are. */
#include "schemas/tracefile_job.h"

#include <stdlib.h>

enum { LEAST_BYTES = 16 }; /* of an event in a file */

static void row_count(struct job *j, sqlite3_value **v)
{
    int64_t first = sql_int(v[0], 1), room = sqlite3_value_int64(v[2]) / LEAST_BYTES;
    j->to = sql_int(v[1], 0);
    j->broken |= first != 1 || j->to > room; /* more than the file has bytes for */
}

static void row_string(struct job *j, sqlite3_value **v)
{
    const char *s = sql_text(v[1]);
    j->broken |= sqlite3_value_int64(v[0]) != intern_id_n(&j->d->strings, s, (size_t)sqlite3_value_bytes(v[1]));
}

/* By number, not by value: processes of two hosts or of merged files may look alike. */
static void row_process(struct job *j, sqlite3_value **v)
{
    struct tracedata *d = j->d;
    struct processkey p = {sql_int(v[1], -1), (uint32_t)sql_int(v[2], 0), (uint32_t)sql_int(v[3], 0), (int32_t)sql_int(v[4], -1)};
    j->broken |= sqlite3_value_int64(v[0]) != (int64_t)d->nprocesses || p.host >= d->strings.n || p.name >= d->strings.n;
    ARRAY_PUSH(d->processes, d->nprocesses, d->processes_cap, p);
}

static void row_thread(struct job *j, sqlite3_value **v)
{
    struct tracedata *d = j->d;
    uint32_t process = (uint32_t)sql_int(v[1], 0);
    uint32_t id = tracedata_thread(d, process, sql_int(v[2], -1), intern_str(&d->strings, (uint32_t)sql_int(v[3], 0)));
    j->broken |= id != sqlite3_value_int64(v[0]) || process >= d->nprocesses;
}

static void row_stream(struct job *j, sqlite3_value **v)
{
    uint32_t process = (uint32_t)sql_int(v[1], 0);
    uint32_t id = tracedata_stream(j->d, process, (int32_t)sql_int(v[2], -1), sql_int(v[3], -1));
    j->broken |= id != sqlite3_value_int64(v[0]) || process >= j->d->nprocesses;
}

static void row_site(struct job *j, sqlite3_value **v)
{
    const struct intern *n = &j->d->strings;
    uint32_t id =
        tracedata_site(j->d, intern_str(n, (uint32_t)sql_int(v[1], 0)), intern_str(n, (uint32_t)sql_int(v[2], 0)), (int32_t)sql_int(v[3], 0));
    j->broken |= id != sqlite3_value_int64(v[0]);
}

static void row_meta(struct job *j, sqlite3_value **v)
{
    uint32_t key = intern_id(&j->d->strings, sql_text(v[0]));
    tracedata_meta(j->d, intern_str(&j->d->strings, key), sql_text(v[1]));
}

static void row_clock(struct job *j, sqlite3_value **v)
{
    struct clock_row c = {intern_id(&j->d->strings, sql_text(v[0])), sql_int(v[1], -1), sql_int(v[2], -1), sql_int(v[3], -1)};
    ARRAY_PUSH(j->d->clocks, j->d->nclocks, j->d->clocks_cap, c);
}

static void row_loss(struct job *j, sqlite3_value **v)
{
    tracedata_loss(j->d, sql_text(v[0]), sql_int(v[1], -1), sql_int(v[2], INT64_MIN), sql_int(v[3], INT64_MIN));
}

static void row_memory(struct job *j, sqlite3_value **v)
{
    struct memory_row m = {sql_int(v[0], 0), sql_int(v[4], -1), (int32_t)sql_int(v[1], -1), (int32_t)sql_int(v[2], -1),
                           intern_id(&j->d->strings, sql_text(v[3]))};
    ARRAY_PUSH(j->d->memory, j->d->nmemory, j->d->memory_cap, m);
}

/* Frames come in order of stack and depth; stacks are numbered without a gap. */
static void row_frame(struct job *j, sqlite3_value **v)
{
    struct tracedata *d = j->d;
    int64_t stack = sql_int(v[0], 0), depth = sql_int(v[1], -1), site = sql_int(v[2], 0);
    bool fresh = stack == (int64_t)d->nstacks && depth == 0;
    struct stackkey *last = &d->stacks[d->nstacks - 1];
    if ((!fresh && (stack + 1 != (int64_t)d->nstacks || stack == 0 || depth != last->depth)) || site <= 0 || site >= (int64_t)d->nsites) {
        j->broken = true;
        return;
    }
    uint32_t at = (uint32_t)site;
    if (fresh)
        tracedata_stack(d, &at, 1);
    else {
        ARRAY_PUSH(d->frames, d->nframes, d->frames_cap, at);
        last->depth++;
    }
}

/* The count comes first: a recording may still grow, and what is read later has every key that these events need. */
static const struct job small[] = {
    {"SELECT take(first, last, page_count * page_size) FROM pragma_page_count, pragma_page_size, (SELECT min(id) AS first FROM event), "
     "(SELECT max(id) AS last FROM event)",
     row_count},
    {TAKE("id, value", "string"), row_string},
    {TAKE("id, pid, host, name, rank", "process"), row_process},
    {TAKE("id, process, tid, name", "thread"), row_thread},
    {TAKE("id, process, device, native", "stream"), row_stream},
    {TAKE("id, function, file, line", "site"), row_site},
    {"SELECT take(key, value) FROM (SELECT key, value FROM meta ORDER BY key)", row_meta},
    {TAKE("clock, before, other, after", "clock"), row_clock},
    {TAKE("reason, count, start, \"end\"", "loss"), row_loss},
    {TAKE("time, rank, device, what, bytes", "memory"), row_memory},
    {"SELECT take(stack, depth, site) FROM (SELECT stack, depth, site FROM frame ORDER BY stack, depth)", row_frame, 2, NULL},
};

/* Keys, strings and facts in their order. */
bool tracefile_read_keys(const char *path, struct tracedata *d, int64_t *n, struct err *e)
{
    struct job j = small[0], *at = &j;
    sqlite3 *db = job_connect(path, &at, e);
    bool ok = db != NULL;
    for (size_t i = 0; i < sizeof small / sizeof *small && ok; i++) {
        j = small[i];
        j.d = d;
        ok = job_run(db, path, &j) || fail(e, j.err.kind, "%s", j.err.msg);
        *n = i ? *n : j.to;
    }
    sqlite3_close(db);
    const char *t0 = ok ? tracedata_meta_get(d, "t0_ns") : NULL;
    d->t0 = t0 ? strtoll(t0, NULL, 10) : 0;
    return ok;
}
