/* tracefile_events.c - events in parts, a thread and a connection each.
 *
 * Events are numbered from 1 without a gap, so threads fill disjoint parts of the array; rows that stay close ranks at the
 * end:
 *
 *   |kept ...      |kept ..       |kept ...      |   ->   |kept ...kept ..kept ...|rows that stand for those left out|
 *    part 1         part 2         part 3
 */
#include "schemas/tracefile_job.h"
#include "schemas/tracefile_spare.h"

#include <stdlib.h>
#include <string.h>

struct event_part {
    struct event_rows *out;
    size_t at, kept; /* its rows: out->ev[at .. at + kept) */
    struct spare spare;
};

enum { ID, START, END, KIND, NAME, RANK, DEVICE, STREAM, THREAD, CORRELATION, BYTES, SITE };

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

static bool event_make(const struct tracedata *d, sqlite3_value **v, struct event *ev)
{
    *ev = (struct event){
        .start = sql_int(v[START], 0),
        .end = sql_int(v[END], 0),
        .kind = (int32_t)sql_int(v[KIND], 0),
        .name = (uint32_t)sql_int(v[NAME], 0),
        .rank = (int32_t)sql_int(v[RANK], -1),
        .device = (int32_t)sql_int(v[DEVICE], -1),
        .stream = (uint32_t)sql_int(v[STREAM], 0),
        .thread = (uint32_t)sql_int(v[THREAD], 0),
        .correlation = sql_int(v[CORRELATION], -1),
        .bytes = sql_int(v[BYTES], -1),
        .site = (uint32_t)sql_int(v[SITE], 0),
    };
    return is_valid(d, ev);
}

/* Of a row of a kind that nobody looks at SQLite reads these columns only; false: it is left out. */
#define TOLD_BY "id, start, \"end\", kind, rank, stream, thread"
static bool keep_event(struct job *j, sqlite3_value **v)
{
    struct event ev = {.start = sqlite3_value_int64(v[1]),
                       .end = sqlite3_value_int64(v[2]),
                       .kind = sqlite3_value_int(v[3]),
                       .rank = (int32_t)sql_int(v[4], -1),
                       .stream = (uint32_t)sqlite3_value_int64(v[5]),
                       .thread = (uint32_t)sqlite3_value_int64(v[6]),
                       .device = -1,
                       .correlation = -1,
                       .bytes = -1};
    bool left = sqlite3_value_int64(v[0]) == j->from && j->from <= j->to && is_valid(j->d, &ev) && spare_row(&j->part->spare, &ev);
    j->from += left;
    return !left;
}

static void row_event(struct job *j, sqlite3_value **v)
{
    struct event_part *p = j->part;
    struct event *ev = &p->out->ev[p->at + p->kept];
    int64_t id = sqlite3_value_int64(v[ID]);
    if (id != j->from || j->from > j->to || !event_make(j->d, v, ev)) {
        j->broken = true;
        return;
    }
    j->from++;
    if (p->out->id)
        p->out->id[p->at + p->kept] = (uint32_t)id;
    p->kept++;
}

static const char all_events[] = TAKE_PART("id, start, \"end\", kind, name, rank, device, stream, thread, correlation, bytes, site", "event", "id");
static const char but_for[] = "%s AND (NOT (%u >> kind & 1) OR keep(" TOLD_BY "))";

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
        if (jobs[i].from != jobs[i].to + 1)
            return fail(e, ERR_FAIL, "%s: damaged: the numbers of its events have a gap", path);
    return true;
}

static bool read_parts(const char *path, const struct tracedata *d, int64_t n, struct event_rows *out, struct err *e)
{
    size_t count = parts_of(n, out->threads);
    char *sql = sqlite3_mprintf(out->spared ? but_for : "%s", all_events, out->spared);
    struct job *jobs = calloc(count, sizeof *jobs);
    struct event_part *parts = calloc(count, sizeof *parts);
    bool ok = jobs && parts && sql ? true : fail(e, ERR_FAIL, "%s: out of memory", path);
    for (size_t i = 0; ok && i < count; i++) {
        int64_t share = n / (int64_t)count, first = share * (int64_t)i + 1;
        parts[i] = (struct event_part){.out = out, .at = (size_t)first - 1, .spare = {.kinds = out->spared}};
        jobs[i] = (struct job){.sql = sql, .row = row_event, .keep = keep_event, .d = (struct tracedata *)d, .part = &parts[i], .from = first};
        jobs[i].to = i + 1 < count ? first + share - 1 : n;
    }
    ok = ok && jobs_run(path, jobs, count, out->threads, e) && no_gap(path, jobs, count, e);
    if (ok)
        close_ranks(out, parts, count);
    sqlite3_free(sql);
    free(parts);
    free(jobs);
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
