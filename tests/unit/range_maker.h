/* range_maker.h - ranges, marks, launches and shaped kernels for traces written by hand.
 */
#pragma once
#include "trace_maker.h"

static inline void make_range(struct maker *m, const char *domain, const char *name, enum range_flavour flavour, int64_t tid, int64_t start,
                              int64_t end)
{
    struct event ev = host_event(m, EV_RANGE, name, tid, start, end);
    ev.detail = tracedata_range_row(&m->d, (struct ev_range){.domain = intern_id(&m->d.strings, domain), .flavour = flavour, .index = -1});
    make_event(m, ev);
}

/* A push/pop range of the default domain. */
static inline void make_push(struct maker *m, const char *name, int64_t tid, int64_t start, int64_t end)
{
    make_range(m, "", name, RANGE_PUSH_POP, tid, start, end);
}

static inline void make_mark(struct maker *m, const char *text, int64_t tid, int64_t at)
{
    make_range(m, "", text, RANGE_MARK, tid, at, at);
}

/* A kernel of so many blocks on (m->rank, device 0, stream 7), launched by thread `tid` at `call` for one ns. */
static inline void make_launched(struct maker *m, const char *name, int grid, int64_t tid, int64_t call, int64_t start, int64_t end)
{
    int64_t corr = 1000 + (int64_t)m->d.n;
    make_call(m, "cudaLaunchKernel", tid, call, call + 1, corr);
    struct event ev = event_none(EV_KERNEL, start, end);
    ev.name = intern_id(&m->d.strings, name);
    ev.rank = m->rank;
    ev.device = 0;
    ev.correlation = corr;
    ev.stream = tracedata_stream(&m->d, tracedata_process(&m->d, m->pid, "host", -1), 0, 7);
    ev.detail = tracedata_kernel_row(&m->d, (struct ev_kernel){.grid = {grid, 1, 1}, .block = {128, 1, 1}});
    make_event(m, ev);
}

/* The row whose text column holds `text`; fails when there is none. */
static inline size_t row_with(const struct table *t, const char *column, const char *text)
{
    for (size_t i = 0; i < t->nrows; i++)
        if (strcmp(text_of(t, i, column), text) == 0)
            return i;
    fail_msg("%s: no row with %s %s among %zu", t->name, column, text, t->nrows);
    return 0;
}

static inline double real_of(const struct table *t, size_t row, const char *column)
{
    struct cell c = table_at(t, row)[table_column(t, column)];
    return c.kind == CELL_REAL ? c.r : c.kind == CELL_INT ? (double)c.i : -1e9;
}

static inline bool is_absent(const struct table *t, size_t row, const char *column)
{
    return table_at(t, row)[table_column(t, column)].kind == CELL_ABSENT;
}
