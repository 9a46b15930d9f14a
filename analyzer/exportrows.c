/* exportrows.c - which rows are exported, in which order, and under which numbers of devices and processes. */
#include "analyzer/export.h"
#include "analyzer/idmap.h"
#include "analyzer/nest.h"
#include "analyzer/sortkey.h"
#include "analyzer/trace_build.h"

#include <stdlib.h>
#include <string.h>

uint32_t export_process(const struct tracedata *d, const struct event *ev)
{
    return ev->thread ? d->threads[ev->thread].process : d->streams[ev->stream].process;
}

/* Rows of a list that lie in the window, where one was asked for: each as a whole. */
static void keep_list(uint8_t *keep, const struct event *ev, const uint32_t *v, size_t n, const struct ivlset *window)
{
    for (size_t i = 0; i < n; i++)
        keep[v[i]] = !window || ivl_touches(*window, ev[v[i]].start, ev[v[i]].end);
}

/* Under --range or a window, waits and annotations of a device follow what is kept: their call, or the name of a range. */
struct follow {
    uint8_t *name; /* by string id: a range of that name is kept */
    struct idmap calls;
};

static int64_t call_key(const struct tracedata *d, const struct event *ev)
{
    return (int64_t)((uint64_t)export_process(d, ev) << 40 ^ (uint64_t)ev->correlation);
}

static bool selected(const struct trace *t, const struct trace_file *f, const struct event *ev)
{
    const struct trace_opts *o = &t->opts;
    int64_t from = time_since(f->start, o->from), to = time_since(f->start, o->to);
    bool other = (o->rank >= 0 && trace_event_rank(&f->d, ev) != o->rank) || (o->device >= 0 && ev->device != o->device);
    return !other && !row_is_bad(f, ev) && ev->start < to && (ev->end > from || ev->start >= from);
}

static bool follows(const struct tracedata *d, const struct follow *w, const struct event *ev)
{
    if (ev->kind == EV_GPU_RANGE)
        return w->name[ev->name];
    return ev->correlation >= 0 && idmap_get(&w->calls, call_key(d, ev));
}

static void follow_kept(const struct tracedata *d, const uint8_t *keep, struct follow *w)
{
    for (size_t i = 0; i < d->n; i++) {
        if (keep[i] && d->ev[i].kind == EV_RANGE)
            w->name[d->ev[i].name] = 1;
        if (keep[i] && d->ev[i].kind == EV_RUNTIME && d->ev[i].correlation >= 0)
            idmap_set(&w->calls, call_key(d, &d->ev[i]), 1);
    }
}

static void keep_rest(const struct trace *t, const struct trace_file *f, bool cut, uint8_t *keep)
{
    const struct tracedata *d = &f->d;
    struct arena a = {0};
    struct follow w = {.name = arena_array(&a, uint8_t, d->strings.n + 1)};
    if (cut)
        follow_kept(d, keep, &w);
    for (size_t i = 0; i < d->n; i++) {
        enum ev_class class = ev_kind_class((enum ev_kind)d->ev[i].kind);
        if (class == EV_WAIT || class == EV_NOTE)
            keep[i] = selected(t, f, &d->ev[i]) && (!cut || follows(d, &w, &d->ev[i]));
    }
    idmap_free(&w.calls);
    arena_free(&a);
}

static void select_rows(const struct trace *t, uint32_t file, uint8_t *keep)
{
    const struct trace_file *f = &t->files[file];
    bool window = t->opts.step || t->opts.span;
    for (uint32_t r = f->first_rank; r < f->first_rank + f->nranks; r++) {
        const struct trace_rank *k = &t->ranks[r];
        keep_list(keep, f->d.ev, k->ev, k->n, window ? &k->window : NULL);
        for (uint32_t l = k->first_lane; l < k->first_lane + k->nlanes; l++)
            keep_list(keep, f->d.ev, t->lanes[l].ev, t->lanes[l].n, window ? &t->lanes[l].window : NULL);
    }
    keep_rest(t, f, window || t->opts.range, keep);
}

/* By start, then longest first, then by number: two stable passes, the last key first. */
static void order_rows(struct export_file *x, const uint8_t *keep, struct arena *a)
{
    const struct event *ev = x->f->d.ev;
    size_t cap = 0, n = 0;
    for (size_t i = 0; i < x->f->d.n; i++)
        x->n += keep[i];
    struct sortkey *v = array_grow(NULL, &cap, 2 * x->n + 1, sizeof *v);
    for (size_t i = 0; i < x->f->d.n; i++)
        if (keep[i])
            v[n++] = (struct sortkey){-ev[i].end, (uint32_t)i};
    sortkeys(v, v + n, n);
    for (size_t i = 0; i < n; i++)
        v[i].key = ev[v[i].at].start;
    sortkeys(v, v + n, n);
    uint32_t *rows = arena_array(a, uint32_t, n);
    for (size_t i = 0; i < n; i++)
        rows[i] = v[i].at;
    x->rows = rows;
    free(v);
}

static void link_rows(struct export_file *x, const uint8_t *keep, struct arena *a)
{
    uint32_t *launched = launches_find(x->f, a);
    uint8_t *starts = arena_array(a, uint8_t, x->f->d.n + 1);
    for (size_t i = 0; i < x->f->d.n; i++) {
        if (launched[i] && (!keep[i] || !keep[launched[i] - 1]))
            launched[i] = 0;
        if (launched[i])
            starts[launched[i] - 1] = 1;
    }
    x->launched = launched;
    x->starts = starts;
}

static int by_lane(const void *p, const void *q)
{
    const struct export_device *a = p, *b = q;
    int order = (a->file > b->file) - (a->file < b->file);
    order = order ? order : (a->rank > b->rank) - (a->rank < b->rank);
    return order ? order : (a->device > b->device) - (a->device < b->device);
}

static struct export_device *device_find(struct export_job *x, struct export_device key)
{
    if (x->last_dev < x->ndevices && by_lane(&x->devices[x->last_dev], &key) == 0)
        return &x->devices[x->last_dev];
    struct export_device *d = x->ndevices ? bsearch(&key, x->devices, x->ndevices, sizeof key, by_lane) : NULL;
    if (d)
        x->last_dev = (size_t)(d - x->devices);
    return d;
}

int32_t export_device(struct export_job *x, uint32_t file, const struct event *ev)
{
    const struct tracedata *d = &x->files[file].f->d;
    struct export_device *dev = ev->device < 0 ? NULL : device_find(x, (struct export_device){file, trace_event_rank(d, ev), ev->device, 0});
    return dev ? dev->number : -1;
}

static void collect_devices(struct export_job *x, uint32_t file)
{
    const struct export_file *f = &x->files[file];
    for (size_t i = 0; i < f->n; i++) {
        const struct event *ev = &f->f->d.ev[f->rows[i]];
        struct export_device key = {file, trace_event_rank(&f->f->d, ev), ev->device, 0};
        if (ev_kind_class((enum ev_kind)ev->kind) == EV_HOST || ev->device < 0 || device_find(x, key))
            continue;
        ARRAY_PUSH(x->devices, x->ndevices, x->devices_cap, key);
        qsort(x->devices, x->ndevices, sizeof key, by_lane);
    }
}

/* Is the rank, or the device's own number, different for every device? */
static bool differ(const struct export_job *x, bool by_rank)
{
    struct idmap seen = {0};
    bool all = true;
    for (size_t i = 0; i < x->ndevices; i++) {
        int32_t key = by_rank ? x->devices[i].rank : x->devices[i].device;
        all &= key >= 0 && !idmap_get(&seen, key);
        idmap_set(&seen, key, 1);
    }
    idmap_free(&seen);
    return all;
}

/* One number a device; see export.h. */
static void number_devices(struct export_job *x)
{
    bool own = differ(x, false), rank = differ(x, true);
    for (size_t i = 0; i < x->ndevices; i++)
        x->devices[i].number = own ? x->devices[i].device : rank ? x->devices[i].rank : (int32_t)i;
}

static void number_processes(struct export_job *x)
{
    enum { FIRST = 1000000, LAST = 1 << 24 };
    struct idmap taken = {0};
    int64_t next = FIRST;
    for (size_t i = 0; i < x->ndevices; i++)
        idmap_set(&taken, x->devices[i].number, 1);
    for (size_t i = 0; i < x->nfiles; i++) {
        const struct tracedata *d = &x->files[i].f->d;
        int64_t *pid = arena_array(&x->arena, int64_t, d->nprocesses);
        for (size_t p = 1; p < d->nprocesses; p++) {
            pid[p] = d->processes[p].pid;
            if (pid[p] < 0 || pid[p] >= LAST || idmap_get(&taken, pid[p]))
                for (pid[p] = next; idmap_get(&taken, pid[p]);)
                    pid[p] = ++next;
            idmap_set(&taken, pid[p], 1);
        }
        x->files[i].pid = pid;
    }
    idmap_free(&taken);
}

static void find_ranks(struct export_job *x)
{
    bool any = false;
    for (size_t i = 0; i < x->nfiles; i++)
        for (size_t k = 0; k < x->files[i].n; k++) {
            const struct event *ev = &x->files[i].f->d.ev[x->files[i].rows[k]];
            int32_t rank = trace_event_rank(&x->files[i].f->d, ev);
            x->ranks |= any && rank != x->rank;
            x->rank = rank;
            any = true;
        }
    x->rank = x->ranks ? -1 : x->rank;
}

/* Absolute times, when they all fit. */
static void find_base(struct export_job *x)
{
    bool fits = true;
    int64_t t;
    x->first = INT64_MAX;
    for (size_t i = 0; i < x->nfiles; i++)
        for (size_t k = 0; k < x->files[i].n; k++) {
            const struct event *ev = &x->files[i].f->d.ev[x->files[i].rows[k]];
            int64_t start = ev->start + x->files[i].shift;
            x->first = start < x->first ? start : x->first;
            fits &= !__builtin_add_overflow(start, x->files[0].f->d.t0, &t) && !__builtin_add_overflow(t, ev->end - ev->start, &t);
        }
    x->base = fits ? x->files[0].f->d.t0 : 0;
}

/* Which collectives there are does not hang on what is exported. */
static void find_clock(struct export_job *x)
{
    struct trace_opts o = TRACE_OPTS_NONE;
    struct trace all;
    struct err none = {0};
    o.patterns = x->t->opts.patterns;
    o.one_of_many = true;
    bool other = x->nfiles > 1 && trace_again(x->t, &o, &all, &none);
    one_clock_find(other ? &all : x->t, &x->arena, &x->clock);
    if (other)
        trace_close(&all);
    for (size_t i = 0; i < x->nfiles; i++)
        x->files[i].shift = x->clock.shift[i];
}

bool export_open(struct export_job *x, const struct trace *t, struct err *e)
{
    *x = (struct export_job){.t = t, .rank = -1};
    x->nfiles = t->nfiles;
    x->files = arena_array(&x->arena, struct export_file, t->nfiles);
    size_t rows = 0;
    for (uint32_t i = 0; i < t->nfiles; i++) {
        struct export_file *f = &x->files[i];
        uint8_t *keep = arena_array(&x->arena, uint8_t, t->files[i].d.n + 1);
        f->f = &t->files[i];
        select_rows(t, i, keep);
        order_rows(f, keep, &x->arena);
        link_rows(f, keep, &x->arena);
        collect_devices(x, i);
        x->simulated |= f->f->backend && strcmp(f->f->backend, "sim") == 0;
        rows += f->n;
    }
    if (!rows)
        return fail(e, ERR_UNDECIDED, "%s: no event is left to export", t->files[0].name);
    find_clock(x);
    number_devices(x);
    number_processes(x);
    find_ranks(x);
    find_base(x);
    return true;
}

void export_close(struct export_job *x)
{
    free(x->devices);
    arena_free(&x->arena);
}

const char *export_device_name(struct export_job *x, const struct export_device *d)
{
    const struct trace_file *f = x->files[d->file].f;
    const char *chip = tracedata_meta_get(&f->d, "device_name");
    if (f->backend && strcmp(f->backend, "sim") == 0)
        return arena_printf(&x->arena, "SIMULATED device %d", d->number);
    if (chip)
        return arena_printf(&x->arena, "device %d (%s)", d->number, chip);
    return arena_printf(&x->arena, "device %d", d->number);
}

bool export_meta(const struct trace_file *f, const char *key)
{
    static const char *const not [] = {"t0_ns", "utc_epoch_ns", "source_format",   "version", "clean_end",
                                       "host",  "command",      "process_command", "pid",     "device_name"};
    const char *format = tracedata_meta_get(&f->d, "source_format");
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        if (strcmp(key, not [i]) == 0)
            return false;
    bool ours = format && strcmp(format, "cpscope") == 0;
    return strcmp(key, "backend") == 0 || (ours && strncmp(key, "record_", 7) != 0);
}
