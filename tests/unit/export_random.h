/* export_random.h - random traces with hostile names, exporting them, and every row of a trace as a line of text. */
#pragma once
#include "analyzer/export.h"
#include "schemas/utf8.h"
#include "import_run.h"
#include "trace_maker.h"

/* Bytes as they come, with more of those that formats stumble over. */
static inline void hostile(char *to, size_t most)
{
    static const char bad[] = "\";\\,\n\r\t{}[]</>&'% \x01\x1f\x7f\x80\xff\xc0\xed\xa0";
    size_t n = rnd(most);
    for (size_t i = 0; i < n; i++)
        to[i] = rnd(3) ? (char)('a' + rnd(26)) : rnd(2) ? bad[rnd(sizeof bad - 1)] : (char)(1 + rnd(255));
    to[n] = '\0';
}

static inline uint32_t hostile_id(struct tracedata *d)
{
    char s[24];
    hostile(s, sizeof s);
    return intern_id(&d->strings, s);
}

static inline uint32_t random_detail(struct tracedata *d, enum ev_kind kind)
{
    static const char *const types[] = {"", "Float", "BFloat16"};
    if (kind == EV_KERNEL && rnd(2))
        return tracedata_kernel_row(d, (struct ev_kernel){.grid = {1 + (int)rnd(9), 2, 3},
                                                          .block = {32, 1, 1},
                                                          .registers = (int)rnd(64),
                                                          .static_shared = 16,
                                                          .dynamic_shared = (int)rnd(99),
                                                          .graph = (int)rnd(3)});
    if (kind == EV_COMM)
        return tracedata_comm_row(d, (struct ev_comm){.communicator = hostile_id(d),
                                                      .function = intern_id(&d->strings, "all_gather"),
                                                      .dtype = intern_id(&d->strings, types[rnd(3)]),
                                                      .peer = (int)rnd(3) - 1,
                                                      .group_size = (int)rnd(4) - 1,
                                                      .sequence = (int64_t)rnd(5) - 1,
                                                      .message_bytes = rnd(2) ? -1 : (int64_t)rnd(99) * 4});
    if (kind == EV_MEMCPY || kind == EV_MEMSET)
        return tracedata_copy_row(d, (struct ev_copy){kind == EV_MEMCPY ? 1 + (int)rnd(5) : 0, kind == EV_MEMCPY ? (int)rnd(6) : 0, (int)rnd(6)});
    if (kind == EV_RUNTIME && rnd(2))
        return tracedata_sync_row(d, (struct ev_sync){1 + (int)rnd(5), (int)rnd(3) - 1, (int64_t)rnd(4) - 1, (int64_t)rnd(4) - 1});
    if (kind == EV_SYNC)
        return tracedata_sync_row(d, (struct ev_sync){(int)rnd(4), -1, (int64_t)rnd(4) - 1, (int64_t)rnd(4) - 1});
    if (kind == EV_RANGE)
        return tracedata_range_row(d, (struct ev_range){rnd(2) ? hostile_id(d) : 0, (int)rnd(3), -1});
    return 0;
}

/* Processes with a rank each, or with none; one device or two for each. */
static inline void random_rows(struct maker *m, size_t rows, unsigned kinds)
{
    int processes = 1 + (int)rnd(3), ranks = (int)rnd(2), devices = 1 + (int)rnd(2);
    make_host(m, EV_RANGE, "whole", 1, 0, 3000);
    for (size_t i = 0; i < rows; i++) {
        enum ev_kind kind;
        while (kind = (enum ev_kind)rnd(EV_NKINDS), !(kinds >> kind & 1))
            ;
        int p = (int)rnd((uint64_t)processes), device = ranks && devices == 1 ? 0 : (int)rnd((uint64_t)devices);
        int64_t start = (int64_t)rnd(2000), length = rnd(4) ? (int64_t)rnd(300) : 0;
        struct event ev = event_none(kind, start, start + length);
        uint32_t process = tracedata_process(&m->d, 5000 + p, "host", ranks ? p : -1), detail = random_detail(&m->d, kind);
        ev.name = hostile_id(&m->d);
        ev.detail = detail;
        if (detail && kind == EV_RANGE && m->d.ranges[detail - 1].flavour == RANGE_MARK)
            ev.end = ev.start;
        if (ev_kind_class(kind) == EV_HOST)
            ev.thread = tracedata_thread(&m->d, process, (int64_t)rnd(3), "worker \"x\"");
        else {
            ev.device = device;
            ev.stream = tracedata_stream(&m->d, process, device, (int64_t)rnd(3));
        }
        ev.correlation = kind == EV_RUNTIME ? (int64_t)i : ev_kind_class(kind) == EV_WORK ? (int64_t)rnd(rows + 1) - 1 : -1; /* a call has its own */
        ev.bytes = kind == EV_MEMCPY || kind == EV_MEMSET || kind == EV_COMM ? (int64_t)rnd(99) - 1 : -1;
        if ((kind == EV_RUNTIME || kind == EV_OP) && rnd(2)) {
            char function[24], file[24];
            hostile(function + 1, sizeof function - 1);
            hostile(file + 1, sizeof file - 1);
            *function = *file = 'f';
            ev.site = tracedata_site(&m->d, function, file, (int)rnd(3));
        }
        make_event(m, ev);
    }
}

static inline const struct exporter *exporter_named(const char *name)
{
    for (size_t i = 0; exporters[i]; i++)
        if (strcmp(exporters[i]->name, name) == 0)
            return exporters[i];
    fail_msg("no exporter %s", name);
    return NULL;
}

/* The trace at `path` opened and made ready. */
static inline void open_job(const char *path, const struct trace_opts *o, struct trace *t, struct export_job *x)
{
    static const struct trace_opts none = {.rank = -1, .device = -1, .from = INT64_MIN, .to = INT64_MAX};
    struct err e = {0};
    int old = import_hush();
    bool ok = trace_open(&path, 1, o ? o : &none, t, &e);
    import_unhush(old);
    assert_ok(ok, &e);
    assert_ok(export_open(x, t, &e), &e);
}

static inline void close_job(struct trace *t, struct export_job *x)
{
    export_close(x);
    trace_close(t);
}

/* A string of the trace as text. */
static inline const char *clean(const struct trace_file *f, uint32_t id, struct arena *a)
{
    struct intern t;
    int64_t bad = 0;
    intern_init(&t);
    const char *s = trace_string(f, id);
    const char *out = arena_strdup(a, intern_str(&t, utf8_intern(&t, s, strlen(s), a, &bad)));
    intern_free(&t);
    return out;
}
