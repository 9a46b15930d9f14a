/* tracefile_events.c - events in parts, a thread and a connection each.
 *
 * Events are numbered from 1 without a gap, so threads fill disjoint parts of the array; rows that stay close ranks at the
 * end:
 *
 *   |kept ...      |kept ..       |kept ...      |   ->   |kept ...kept ..kept ...|rows that stand for those left out|
 *    part 1         part 2         part 3
 *
 * What SQLite does for a row is mostly handing out its columns, so each kind is asked for those that are looked at. A part
 * begins at its first number and ends with as many rows as it has numbers: when the last of them has the last number, there
 * was no gap.
 */
#include "schemas/tracefile_job.h"
#include "schemas/tracefile_spare.h"
#include "schemas/waitapi.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct event_part {
    struct event_rows *out;
    atomic_uchar *blocking; /* by string id; of all parts */
    size_t at, kept;        /* its rows: out->ev[at .. at + kept) */
    bool ended;             /* the row was the last one */
    struct spare spare;
};

/* Differences of any two times must fit: 146 years either way. */
static bool is_time(int64_t t)
{
    return t < INT64_C(1) << 62 && t > -(INT64_C(1) << 62);
}

/* False: a key that is not among those of d, or an impossible time. */
static bool is_valid(const struct tracedata *d, const struct event *ev)
{
    return ev->name < d->strings.n && ev->stream < d->nstreams && ev->thread < d->nthreads && ev->site < d->nsites && ev->kind >= 0 &&
           is_time(ev->start) && is_time(ev->end);
}

/* ---- the columns of a row, by its kind ---- */

/* Columns that every row is asked for. */
#define ALWAYS "start, \"end\", rank"
enum { KIND, START, END, RANK, MORE };

static struct event event_at(sqlite3_value **v)
{
    return (struct event){.kind = sqlite3_value_int(v[KIND]),
                          .start = sqlite3_value_int64(v[START]),
                          .end = sqlite3_value_int64(v[END]),
                          .rank = (int32_t)sql_int(v[RANK], -1),
                          .device = -1,
                          .correlation = -1,
                          .bytes = -1};
}

static struct job *job_of(sqlite3_context *c)
{
    return *(struct job **)sqlite3_user_data(c);
}

/* One row more of the part. */
static void count_row(sqlite3_context *c, struct job *j)
{
    j->part->ended = j->from == j->to;
    j->from++;
    sqlite3_result_int(c, j->part->ended);
}

static void keep_row(sqlite3_context *c, const struct event *ev)
{
    struct job *j = job_of(c);
    struct event_part *p = j->part;
    if (!is_valid(j->d, ev)) {
        job_break(c, j);
        return;
    }
    p->out->ev[p->at + p->kept] = *ev;
    if (p->out->id)
        p->out->id[p->at + p->kept] = (uint32_t)j->from;
    p->kept++;
    count_row(c, j);
}

static uint32_t key(sqlite3_value *v)
{
    return (uint32_t)sqlite3_value_int64(v); /* of NULL: 0, none */
}

/* The row is not what its kind makes expect: see_all() is to have it. */
static void pass_on(sqlite3_context *c)
{
    sqlite3_result_int(c, 1);
}

#define HOST "thread, name"
static struct event host_at(sqlite3_value **v)
{
    struct event ev = event_at(v);
    ev.thread = key(v[MORE]);
    ev.name = key(v[MORE + 1]);
    return ev;
}

static void see_host(sqlite3_context *c, int n, sqlite3_value **v)
{
    struct event ev = host_at(v);
    (void)n;
    ev.thread ? keep_row(c, &ev) : pass_on(c);
}

#define OP HOST ", site"
static void see_op(sqlite3_context *c, int n, sqlite3_value **v)
{
    struct event ev = host_at(v);
    (void)n;
    ev.site = key(v[MORE + 2]);
    ev.thread ? keep_row(c, &ev) : pass_on(c);
}

#define WORK "stream, name, device, correlation, bytes"
static void see_work(sqlite3_context *c, int n, sqlite3_value **v)
{
    struct event ev = event_at(v);
    (void)n;
    ev.stream = key(v[MORE]);
    ev.name = key(v[MORE + 1]);
    ev.device = (int32_t)sql_int(v[MORE + 2], -1);
    ev.correlation = sql_int(v[MORE + 3], -1);
    ev.bytes = sql_int(v[MORE + 4], -1);
    ev.stream ? keep_row(c, &ev) : pass_on(c);
}

/* Does a call of that name block, by its name alone? Asked once per name or so, by whichever part meets it. */
static bool blocks(const struct job *j, uint32_t name)
{
    enum { UNKNOWN, NO, YES };
    atomic_uchar *known = j->part->blocking;
    if (name >= j->d->strings.n) /* is found out later */
        return true;
    unsigned char is = atomic_load_explicit(&known[name], memory_order_relaxed);
    if (is == UNKNOWN) {
        is = wait_class(intern_str(&j->d->strings, name), true) ? YES : NO;
        atomic_store_explicit(&known[name], is, memory_order_relaxed);
    }
    return is == YES;
}

#define CALL HOST ", site, correlation"
static void see_call(sqlite3_context *c, int n, sqlite3_value **v)
{
    struct event ev = host_at(v);
    (void)n;
    ev.site = key(v[MORE + 2]);
    ev.correlation = sql_int(v[MORE + 3], -1);
    ev.thread && !blocks(job_of(c), ev.name) ? keep_row(c, &ev) : pass_on(c);
}

#define ALL CALL ", stream, device, bytes"
static void see_all(sqlite3_context *c, int n, sqlite3_value **v)
{
    struct event ev = host_at(v);
    (void)n;
    if (job_of(c)->part->ended) { /* it has been taken already */
        sqlite3_result_int(c, 1);
        return;
    }
    ev.site = key(v[MORE + 2]);
    ev.correlation = sql_int(v[MORE + 3], -1);
    ev.stream = key(v[MORE + 4]);
    ev.device = (int32_t)sql_int(v[MORE + 5], -1);
    ev.bytes = sql_int(v[MORE + 6], -1);
    keep_row(c, &ev);
}

/* Of a kind that nobody looks at. */
#define SPARE "thread"
static void see_spare(sqlite3_context *c, int n, sqlite3_value **v)
{
    struct job *j = job_of(c);
    struct event ev = event_at(v);
    (void)n;
    ev.thread = key(v[MORE]);
    if (ev.thread && is_valid(j->d, &ev) && spare_row(&j->part->spare, &ev))
        count_row(c, j);
    else
        pass_on(c);
}

static const struct job_function functions[] = {
    {"see_host", see_host}, {"see_op", see_op}, {"see_call", see_call}, {"see_work", see_work}, {"see_spare", see_spare}, {"see_all", see_all}, {0}};

/* What analyses look at, the most frequent kinds first; of other kinds, and for whoever wants all, everything is read. */
static const struct shape {
    enum ev_kind kind;
    const char *function, *columns;
} shapes[] = {
    {EV_KERNEL, "see_work", WORK}, {EV_RUNTIME, "see_call", CALL}, {EV_OP, "see_op", OP},         {EV_FRAME, "see_host", HOST},
    {EV_RANGE, "see_host", HOST},  {EV_COMM, "see_work", WORK},    {EV_MEMCPY, "see_work", WORK}, {EV_MEMSET, "see_work", WORK},
};

/* A row goes to the function of its kind; what that is not content with goes on to see_all(). */
static const char *sql_of(const struct event_rows *out, struct arena *a)
{
    const char *cases = "", *which = "";
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct shape *s = &shapes[i];
        if (out->spared >> s->kind & 1)
            cases = arena_printf(a, "%s WHEN %d THEN see_spare(%d, " ALWAYS ", " SPARE ")", cases, s->kind, s->kind);
        else if (out->few)
            cases = arena_printf(a, "%s WHEN %d THEN %s(%d, " ALWAYS ", %s)", cases, s->kind, s->function, s->kind, s->columns);
    }
    if (*cases)
        which = arena_printf(a, " AND CASE kind%s ELSE 1 END", cases);
    return arena_printf(a, "SELECT id FROM event NOT INDEXED WHERE id >= ?1%s AND see_all(kind, " ALWAYS ", " ALL ")", which);
}

/* ---- parts ---- */

/* Rows that stand for others are no more than were left out. */
static void close_ranks(struct event_rows *out, const struct event_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct event_part *p = &parts[i];
        memmove(out->ev + out->n, out->ev + p->at, p->kept * sizeof *out->ev);
        if (out->id)
            memmove(out->id + out->n, out->id + p->at, p->kept * sizeof *out->id);
        out->n += p->kept;
    }
    out->nid = out->id ? out->n : 0;
    for (size_t i = 0; out->id && i < count; i++)
        out->n += spare_rows(&parts[i].spare, out->ev + out->n);
    struct event *less = realloc(out->ev, out->n * sizeof *less);
    out->ev = less ? less : out->ev;
    out->cap = less ? out->n : out->cap;
}

static size_t parts_of(int64_t n, int threads)
{
    enum { MOST = 256 };
    size_t worth = (size_t)(n / FEW_EVENTS) + 1, count = threads > 1 ? 4 * (size_t)threads : 1;
    count = count < worth ? count : worth;
    return count < MOST ? count : MOST;
}

static bool no_gap(const char *path, const struct job *jobs, size_t count, struct err *e)
{
    for (size_t i = 0; i < count; i++)
        if (jobs[i].from != jobs[i].to + 1 || jobs[i].last != jobs[i].to)
            return fail(e, ERR_FAIL, "%s: damaged: the numbers of its events have a gap", path);
    return true;
}

static bool read_parts(const char *path, const struct tracedata *d, int64_t n, struct event_rows *out, struct err *e)
{
    size_t count = parts_of(n, out->threads);
    struct arena a = {0};
    const char *sql = sql_of(out, &a);
    atomic_uchar *blocking = arena_array(&a, atomic_uchar, d->strings.n + 1);
    struct job *jobs = arena_array(&a, struct job, count);
    struct event_part *parts = arena_array(&a, struct event_part, count);
    for (size_t i = 0; i < count; i++) {
        int64_t share = n / (int64_t)count, first = share * (int64_t)i + 1;
        parts[i] = (struct event_part){.out = out, .blocking = blocking, .at = (size_t)first - 1, .spare = {.kinds = out->spared}};
        jobs[i] = (struct job){.sql = sql, .functions = functions, .d = (struct tracedata *)d, .part = &parts[i], .from = first};
        jobs[i].to = i + 1 < count ? first + share - 1 : n;
    }
    bool ok = jobs_run(path, jobs, count, out->threads, e) && no_gap(path, jobs, count, e);
    if (ok)
        close_ranks(out, parts, count);
    arena_free(&a);
    return ok;
}

bool tracefile_events(const char *path, const struct tracedata *d, int64_t n, struct event_rows *out, struct err *e)
{
    size_t ids = 0;
    if (!n)
        return true;
    if (n > UINT32_MAX)
        return fail(e, ERR_FAIL, "%s: %lld events, more than can be numbered", path, (long long)n);
    out->ev = array_grow(NULL, &out->cap, (size_t)n, sizeof *out->ev);
    out->id = out->spared ? array_grow(NULL, &ids, (size_t)n, sizeof *out->id) : NULL;
    return read_parts(path, d, n, out, e);
}
