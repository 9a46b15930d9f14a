/* trace_maker.h - small traces written by hand in tests, opened as a user would open the file.
 *
 *     struct maker m = maker();
 *     make_work(&m, EV_KERNEL, "gemm", 0, 7, 10, 20, 1);
 *     struct trace t; make_open(&m, &opts, &t);
 */
#pragma once
#include "analyzer/trace.h"
#include "schemas/tracefile.h"
#include "unit.h"

#include <unistd.h>

struct maker {
    struct tracedata d;
    int32_t rank; /* of what is made next */
    int64_t pid;
    char path[256];
};

static inline struct maker maker(const char *name)
{
    struct maker m = {.rank = 0, .pid = 100};
    const char *dir = getenv("TMPDIR");
    snprintf(m.path, sizeof m.path, "%s/cpscope-unit-%d-%s.sqlite", dir ? dir : "/tmp", (int)getpid(), name);
    tracedata_init(&m.d);
    tracedata_meta(&m.d, "backend", "cpu");
    tracedata_meta(&m.d, "source_format", "test");
    tracedata_meta(&m.d, "clean_end", "1");
    return m;
}

static inline void make_event(struct maker *m, struct event ev)
{
    struct err e = {0};
    assert_ok(tracedata_event(&m->d, &ev, &e), &e);
}

/* A reading of the wall clock, which took 10 ns: absolute times. */
static inline void make_reading(struct maker *m, int64_t own, int64_t wall)
{
    struct clock_row c = {intern_id(&m->d.strings, "realtime"), own - 5, wall, own + 5};
    ARRAY_PUSH(m->d.clocks, m->d.nclocks, m->d.clocks_cap, c);
}

/* A device row on (m->rank, device, stream). */
static inline void make_work(struct maker *m, enum ev_kind kind, const char *name, int device, int stream, int64_t start, int64_t end, int64_t corr)
{
    struct event ev = event_none(kind, start, end);
    ev.name = intern_id(&m->d.strings, name);
    ev.rank = m->rank;
    ev.device = device;
    ev.correlation = corr;
    ev.stream = tracedata_stream(&m->d, tracedata_process(&m->d, m->pid, "host", -1), device, stream);
    make_event(m, ev);
}

/* A host row on thread `tid`; the event is returned unappended, for callers that add to it. */
static inline struct event host_event(struct maker *m, enum ev_kind kind, const char *name, int64_t tid, int64_t start, int64_t end)
{
    struct event ev = event_none(kind, start, end);
    ev.name = intern_id(&m->d.strings, name);
    ev.rank = m->rank;
    ev.thread = tracedata_thread(&m->d, tracedata_process(&m->d, m->pid, "host", -1), tid, "main");
    return ev;
}

static inline void make_host(struct maker *m, enum ev_kind kind, const char *name, int64_t tid, int64_t start, int64_t end)
{
    make_event(m, host_event(m, kind, name, tid, start, end));
}

static inline void make_call(struct maker *m, const char *name, int64_t tid, int64_t start, int64_t end, int64_t corr)
{
    struct event ev = host_event(m, EV_RUNTIME, name, tid, start, end);
    ev.correlation = corr;
    make_event(m, ev);
}

static inline void make_comm(struct maker *m, const char *group, const char *function, int device, int64_t start, int64_t end, int64_t sequence,
                             int size, int64_t bytes)
{
    struct event ev = event_none(EV_COMM, start, end);
    ev.name = intern_id(&m->d.strings, function);
    ev.rank = m->rank;
    ev.device = device;
    ev.bytes = bytes;
    ev.stream = tracedata_stream(&m->d, tracedata_process(&m->d, m->pid, "host", -1), device, 7);
    ev.detail = tracedata_comm_row(&m->d, (struct ev_comm){.communicator = intern_id(&m->d.strings, group),
                                                           .function = intern_id(&m->d.strings, function),
                                                           .peer = -1,
                                                           .group_size = size,
                                                           .sequence = sequence,
                                                           .message_bytes = -1});
    make_event(m, ev);
}

/* Writes the file and forgets what was made. */
static inline void make_file(struct maker *m)
{
    struct err e = {0};
    struct tracefile *f = tracefile_create(m->path, true, &e);
    assert_ok(f != NULL, &e);
    assert_ok(tracefile_finish(f, &m->d, &e), &e);
    tracedata_free(&m->d);
}

static inline bool make_try(struct maker *m, const struct trace_opts *o, struct trace *t, struct err *e)
{
    static const struct trace_opts none = {.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX};
    const char *paths[] = {m->path};
    make_file(m);
    bool ok = trace_open(paths, 1, o ? o : &none, t, e);
    unlink(m->path);
    return ok;
}

static inline void make_open(struct maker *m, const struct trace_opts *o, struct trace *t)
{
    struct err e = {0};
    assert_ok(make_try(m, o, t, &e), &e);
}

static inline void make_table(const struct trace *t, const char *name, const void *args, struct table *out)
{
    struct err e = {0};
    const struct table_desc *d = table_find(name);
    assert_non_null(d);
    assert_ok(table_build(d, t, args, out, &e), &e);
}

/* A trace and one of its tables. */
struct opened {
    struct trace t;
    struct table s;
};

static inline struct opened open_table(struct maker *m, const struct trace_opts *o, const char *name, const void *args)
{
    struct opened x;
    make_open(m, o, &x.t);
    make_table(&x.t, name, args, &x.s);
    return x;
}

static inline void close_table(struct opened *x)
{
    table_free(&x->s);
    trace_close(&x->t);
}

/* The integer in a row's named column; INT64_MIN when absent. */
static inline int64_t cell_of(const struct table *t, size_t row, const char *column)
{
    int c = table_column(t, column);
    if (c < 0 || row >= t->nrows)
        fail_msg("%s: no column %s or no row %zu of %zu", t->name, column, row, t->nrows);
    struct cell x = table_at(t, row)[c];
    return x.kind == CELL_INT ? x.i : INT64_MIN;
}

static inline const char *text_of(const struct table *t, size_t row, const char *column)
{
    struct cell x = table_at(t, row)[table_column(t, column)];
    return x.kind == CELL_TEXT ? x.s : "";
}
