/* export_chrome.c - Chrome trace JSON as the PyTorch profiler (Kineto) writes it.
 *
 *   { facts, "traceEvents": [ names of processes and threads, rows in order of time, arrows from launches to their work ] }
 *
 * Device rows lie on pid = number of the device, tid = stream; host rows on their process and thread. Times are us with
 * three decimals, exactly the ns. What Kineto has no word for is in args too (rank, process, sync, mark ...) and read back
 * by the importer; correlation ids of several processes are moved apart, for here they are one space.
 */
#include "analyzer/chromeout.h"

static void member(struct chrome_out *c, const char *name, int64_t v)
{
    out_text(&c->o, name);
    out_int(&c->o, v);
}

static void begin_row(struct chrome_out *c, const char *phase)
{
    out_text(&c->o, c->begun ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    out_text(&c->o, phase);
    out_char(&c->o, '"');
    c->begun = true;
    c->sep = '{';
}

static void end_row(struct chrome_out *c)
{
    out_text(&c->o, c->sep == '{' ? "}" : "}}");
}

/* pid and tid: the device's track, or the thread. */
static void track(struct chrome_out *c, const struct event *ev)
{
    bool host = ev_kind_class((enum ev_kind)ev->kind) == EV_HOST;
    const struct threadkey *t = &c->d->threads[ev->thread];
    int64_t stream = ev->stream ? c->d->streams[ev->stream].native : -1;
    member(c, ",\"pid\":", !host ? export_device(c->x, c->file, ev) : ev->thread ? c->f->pid[t->process] : -1);
    member(c, ",\"tid\":", !host ? stream : ev->thread ? t->tid : -1);
}

/* In the space of the call that started it, else of its own process. */
static int64_t correlation(const struct chrome_out *c, uint32_t at)
{
    const struct event *ev = &c->d->ev[at], *from = c->f->launched[at] ? &c->d->ev[c->f->launched[at] - 1] : ev;
    int64_t more = c->correlation[c->file][export_process(c->d, from)], id;
    return ev->correlation < 0 || more == INT64_MIN || __builtin_add_overflow(ev->correlation, more, &id) ? -1 : id;
}

static void place(struct chrome_out *c, uint32_t at)
{
    const struct event *ev = &c->d->ev[at];
    int32_t rank = trace_event_rank(c->d, ev);
    uint32_t process = export_process(c->d, ev);
    int64_t id = correlation(c, at);
    if (ev_kind_class((enum ev_kind)ev->kind) != EV_HOST) {
        int32_t device = export_device(c->x, c->file, ev);
        chrome_arg(c, "device", device, device >= 0);
        chrome_arg(c, "stream", c->d->streams[ev->stream].native, ev->stream);
    }
    chrome_arg(c, "correlation", id, id >= 0);
    chrome_arg(c, "rank", rank, c->x->ranks && rank >= 0);
    chrome_arg(c, "process", c->f->pid[process], c->several && process);
}

static int64_t absolute(const struct chrome_out *c, int64_t t)
{
    return c->x->base + c->f->shift + t;
}

/* Arrows join a launch and its work. */
static void arrow(struct chrome_out *c, uint32_t at, const char *phase)
{
    const struct event *ev = &c->d->ev[at];
    begin_row(c, phase);
    member(c, ",\"id\":", correlation(c, at));
    track(c, ev);
    out_text(&c->o, ",\"ts\":");
    out_us(&c->o, absolute(c, ev->start));
    out_text(&c->o, *phase == 'f' ? ",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":\"e\"" : ",\"cat\":\"ac2g\",\"name\":\"ac2g\"");
    end_row(c);
}

static void row(struct chrome_out *c, uint32_t at)
{
    const struct event *ev = &c->d->ev[at];
    const struct chrome_kind *k = &chrome_kinds[ev->kind];
    char buf[64];
    begin_row(c, "X");
    out_text(&c->o, ",\"cat\":\"");
    out_text(&c->o, k->category);
    out_text(&c->o, "\",\"name\":");
    out_json(&c->o, chrome_name(c, ev, buf));
    track(c, ev);
    out_text(&c->o, ",\"ts\":");
    out_us(&c->o, absolute(c, ev->start));
    out_text(&c->o, ",\"dur\":");
    out_us(&c->o, ev->end - ev->start);
    place(c, at);
    if (k->args)
        k->args(c, ev);
    end_row(c);
    if (c->f->starts[at] && correlation(c, at) >= 0)
        arrow(c, at, "s");
    if (c->f->launched[at] && correlation(c, at) >= 0)
        arrow(c, at, "f");
}

static void label(struct chrome_out *c, const char *what, int64_t pid, int64_t tid, const char *name)
{
    begin_row(c, "M");
    out_text(&c->o, ",\"name\":\"");
    out_text(&c->o, what);
    out_char(&c->o, '"');
    member(c, ",\"pid\":", pid);
    member(c, ",\"tid\":", tid);
    chrome_arg_text(c, "name", name);
    end_row(c);
}

static void labels(struct chrome_out *c)
{
    for (size_t i = 1; i < c->d->nprocesses; i++)
        if (c->d->processes[i].name)
            label(c, "process_name", c->f->pid[i], 0, chrome_str(c, c->d->processes[i].name));
    for (size_t i = 1; i < c->d->nthreads; i++)
        if (c->d->threads[i].name)
            label(c, "thread_name", c->f->pid[c->d->threads[i].process], c->d->threads[i].tid, chrome_str(c, c->d->threads[i].name));
}

/* Names of the devices' tracks: two ranks may share a number where two runs do. */
static void device_labels(struct chrome_out *c)
{
    for (size_t i = 0; i < c->x->ndevices; i++) {
        const struct export_device *d = &c->x->devices[i];
        const char *name = export_device_name(c->x, d);
        if (d->rank >= 0)
            name = arena_printf(&c->x->arena, "rank %d, %s", d->rank, name);
        label(c, "process_name", d->number, 0, name);
        for (size_t s = 1; s < c->x->files[d->file].f->d.nstreams; s++) {
            const struct streamkey *k = &c->x->files[d->file].f->d.streams[s];
            if (k->device == d->device && c->x->ndevices * c->x->files[d->file].f->d.nstreams < 1 << 20)
                label(c, "thread_name", d->number, k->native, arena_printf(&c->x->arena, "stream %lld", (long long)k->native));
        }
    }
}

static void meta(struct chrome_out *c)
{
    const struct trace_file *f = c->x->files[0].f;
    char sep = '{';
    out_text(&c->o, "\"cpscope\":");
    for (size_t i = 0; i < f->d.nmeta; i++) {
        const char *name = trace_string(f, f->d.meta[i].key);
        if (!export_meta(f, name))
            continue;
        out_char(&c->o, sep);
        out_json(&c->o, name);
        out_char(&c->o, ':');
        out_json(&c->o, trace_string(f, f->d.meta[i].value));
        sep = ',';
    }
    out_text(&c->o, sep == '{' ? "{}" : "}");
}

/* Behind the rows: a job of thousands of ranks must not push the list of events out of a reader's first look. */
static void tail(struct chrome_out *c)
{
    struct export_job *x = c->x;
    out_text(&c->o, "\n],\n\"deviceProperties\":[");
    for (size_t i = 0; i < x->ndevices; i++) {
        const char *chip = tracedata_meta_get(&x->files[x->devices[i].file].f->d, "device_name");
        member(c, i ? ",{\"id\":" : "{\"id\":", x->devices[i].number);
        if (chip || x->simulated) {
            out_text(&c->o, ",\"name\":");
            out_json(&c->o, x->simulated ? "SIMULATED" : chip);
        }
        out_char(&c->o, '}');
    }
    out_text(&c->o, "],\n");
    meta(c);
    out_text(&c->o, "}\n");
}

static void facts(struct chrome_out *c)
{
    struct export_job *x = c->x;
    const struct trace_file *f = x->files[0].f;
    const char *utc = tracedata_meta_get(&f->d, "utc_epoch_ns"), *world = tracedata_meta_get(&f->d, "world_size");
    int64_t epoch, size;
    out_text(&c->o, "{\"schemaVersion\":1,\n");
    if (x->rank >= 0) {
        member(c, "\"distributedInfo\":{\"rank\":", x->rank);
        if (world && opt_int(world, &size))
            member(c, ",\"world_size\":", size);
        out_text(&c->o, "},\n");
    }
    if (utc && opt_int(utc, &epoch) && !__builtin_sub_overflow(epoch, x->base, &epoch) && epoch > 0) {
        member(c, "\"baseTimeNanoseconds\":", epoch);
        out_text(&c->o, ",\n");
    }
    out_text(&c->o, "\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[");
}

/* One space of correlation ids: each process's ids behind those of the one before, where that fits. */
static void move_correlations(struct chrome_out *c)
{
    struct export_job *x = c->x;
    int64_t next = 0;
    size_t users = 0;
    c->correlation = arena_array(&x->arena, int64_t *, x->nfiles);
    for (size_t i = 0; i < x->nfiles; i++) {
        const struct tracedata *d = &x->files[i].f->d;
        int64_t *most = c->correlation[i] = arena_array(&x->arena, int64_t, d->nprocesses), all;
        for (size_t k = 0; k < x->files[i].n; k++) {
            const struct event *ev = &d->ev[x->files[i].rows[k]];
            uint32_t p = export_process(d, ev);
            if (ev->correlation >= most[p])
                most[p] = ev->correlation + (ev->correlation < INT64_MAX);
        }
        for (size_t p = 0; p < d->nprocesses; p++) {
            bool fits = most[p] < INT64_MAX && !__builtin_add_overflow(next, most[p], &all) && all >= 0;
            users += most[p] > 0;
            most[p] = fits ? next : INT64_MIN;
            next = fits ? all : next;
        }
    }
    c->several = x->ranks || users > 1;
}

static bool write(struct export_job *x, const char *path, struct err *e)
{
    struct chrome_out c = {.x = x};
    if (!outbuf_open(&c.o, path, e))
        return false;
    move_correlations(&c);
    facts(&c);
    device_labels(&c);
    for (c.file = 0; c.file < x->nfiles; c.file++) {
        c.f = &x->files[c.file];
        c.d = &c.f->f->d;
        labels(&c);
        for (size_t i = 0; i < c.f->n; i++)
            row(&c, c.f->rows[i]);
    }
    tail(&c);
    return outbuf_close(&c.o, e);
}

const struct exporter export_chrome = {.name = "chrome", .what = "JSON as the PyTorch profiler writes it", .write = write};
