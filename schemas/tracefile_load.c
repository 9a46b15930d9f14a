/* tracefile_load.c - reading trace files: keys, strings and facts, then events, then side rows, which find their event.
 *
 *   keys, strings, facts   |--- main ---|
 *   events, in parts                     |--- thread 1 ---|--- thread 2 ---| ...
 *   sync, kernel, ...                                      |--- thread 1 ---|--- thread 2 ...
 */
#include "schemas/tracefile_job.h"

#include <stdlib.h>
#include <unistd.h>

static struct event *event_at(struct job *j, int64_t id)
{
    const struct event_rows *r = j->rows;
    if (!r->id)
        return id > 0 && id <= (int64_t)j->d->n ? &j->d->ev[id - 1] : NULL;
    while (j->at < r->nid && r->id[j->at] < id)
        j->at++;
    return j->at < r->nid && r->id[j->at] == id ? &j->d->ev[j->at] : NULL;
}

/* The event that a side row belongs to; NULL (and broken) when there is none of a fitting kind. */
static struct event *owner(struct job *j, sqlite3_value **v, enum ev_kind a, enum ev_kind b)
{
    struct event *ev = event_at(j, sqlite3_value_int64(v[0]));
    if (!ev || (ev->kind != (int)a && ev->kind != (int)b) || ev->detail) {
        j->broken = true;
        return NULL;
    }
    return ev;
}

/* Of calls that do not block, stream and device may have been left out; of those that do they are wanted. */
static void row_sync(struct job *j, sqlite3_value **v)
{
    struct event *ev = owner(j, v, EV_RUNTIME, EV_SYNC);
    uint32_t stream = (uint32_t)sql_int(v[6], 0);
    if (ev) {
        ev->detail = tracedata_sync_row(
            j->d, (struct ev_sync){(int32_t)sql_int(v[1], 0), (int32_t)sql_int(v[2], -1), sql_int(v[3], -1), sql_int(v[4], -1), sql_int(v[5], 0)});
        ev->stream = stream;
        ev->device = (int32_t)sql_int(v[7], -1);
    }
    j->broken |= sql_int(v[5], 0) < 0 || sql_int(v[5], 0) >= (int64_t)j->d->nstacks || stream >= j->d->nstreams;
}

static void row_kernel(struct job *j, sqlite3_value **v)
{
    struct event *ev = owner(j, v, EV_KERNEL, EV_KERNEL);
    struct ev_kernel k = {.registers = sqlite3_value_int(v[7]),
                          .static_shared = sqlite3_value_int(v[8]),
                          .dynamic_shared = sqlite3_value_int(v[9]),
                          .graph = sqlite3_value_int64(v[10]),
                          .graph_node = sqlite3_value_int64(v[11])};
    for (int i = 0; i < 3; i++)
        k.grid[i] = sqlite3_value_int(v[1 + i]), k.block[i] = sqlite3_value_int(v[4 + i]);
    if (ev)
        ev->detail = tracedata_kernel_row(j->d, k);
}

static void row_comm(struct job *j, sqlite3_value **v)
{
    struct event *ev = owner(j, v, EV_COMM, EV_COMM);
    struct ev_comm c = {(uint32_t)sql_int(v[1], 0), (uint32_t)sql_int(v[2], 0), (uint32_t)sql_int(v[3], 0), (int32_t)sql_int(v[4], -1),
                        (int32_t)sql_int(v[5], -1), sql_int(v[6], -1),          sql_int(v[7], -1)};
    size_t n = j->d->strings.n;
    j->broken |= c.communicator >= n || c.function >= n || c.dtype >= n;
    if (ev)
        ev->detail = tracedata_comm_row(j->d, c);
}

static void row_copy(struct job *j, sqlite3_value **v)
{
    struct event *ev = owner(j, v, EV_MEMCPY, EV_MEMSET);
    if (ev)
        ev->detail = tracedata_copy_row(j->d, (struct ev_copy){sqlite3_value_int(v[1]), sqlite3_value_int(v[2]), sqlite3_value_int(v[3])});
}

static void row_range(struct job *j, sqlite3_value **v)
{
    struct event *ev = owner(j, v, EV_RANGE, EV_RANGE);
    struct ev_range r = {(uint32_t)sql_int(v[1], 0), sqlite3_value_int(v[2]), sql_int(v[3], -1)};
    j->broken |= r.domain >= j->d->strings.n;
    if (ev)
        ev->detail = tracedata_range_row(j->d, r);
}

#define SYNCS(stack)                                                                                                                                 \
    "SELECT take(s.event, class, did_block, wait_stream, wait_event, " stack ", e.stream, e.device) FROM sync AS s NOT INDEXED "                     \
    "LEFT JOIN event AS e ON e.id = s.event WHERE s.event BETWEEN ?1 AND ?2"

static const struct job side[] = {
    /* in order of the bits */
    {SYNCS("stack"), row_sync, 2, SYNCS("NULL")},
    {TAKE_PART("event, grid_x, grid_y, grid_z, block_x, block_y, block_z, registers, static_shared, dynamic_shared, graph, graph_node", "kernel",
               "event"),
     row_kernel},
    {TAKE_PART("event, communicator, function, dtype, peer, group_size, sequence, message_bytes", "comm", "event"), row_comm},
    {TAKE_PART("event, kind, src, dst", "copy", "event"), row_copy},
    {TAKE_PART("event, domain, flavour, idx", "range", "event"), row_range},
};

static bool load_sides(const char *path, struct tracedata *d, unsigned sides, int64_t n, const struct event_rows *rows, struct err *e)
{
    struct job jobs[sizeof side / sizeof *side];
    size_t k = 0;
    for (size_t i = 0; i < sizeof side / sizeof *side; i++)
        if (sides >> i & 1) {
            jobs[k] = side[i];
            jobs[k].d = d;
            jobs[k].rows = rows;
            jobs[k].from = 1;
            jobs[k++].to = n;
        }
    return jobs_run(path, jobs, k, d->n < FEW_EVENTS ? 1 : rows->threads, e);
}

/* Kinds whose rows need not be there, as bits. */
static unsigned spared_kinds(unsigned sides)
{
    unsigned runtime = sides & (ROWS_RUNTIME | SIDE_SYNC) ? 0 : 1u << EV_RUNTIME;
    return runtime | (sides & ROWS_OP ? 0 : 1u << EV_OP) | (sides & ROWS_FRAME ? 0 : 1u << EV_FRAME);
}

bool tracefile_read(const char *path, unsigned sides, int threads, struct tracedata *d, struct err *e)
{
    int64_t n = 0;
    struct event_rows rows = {
        .spared = spared_kinds(sides), .few = !(sides & COLUMNS_ALL), .threads = threads ? threads : (int)sysconf(_SC_NPROCESSORS_ONLN)};
    bool ok = tracefile_read_keys(path, d, &n, e) && tracefile_events(path, d, n, &rows, e);
    d->ev = rows.ev;
    d->cap = rows.cap;
    d->n = ok ? rows.n : 0; /* what is not filled in must not be looked at */
    ok = ok && load_sides(path, d, sides, n, &rows, e);
    free(rows.id);
    if (ok && !tracedata_meta_get(d, "clean_end"))
        tracedata_meta(d, "clean_end", "0");
    return ok;
}
