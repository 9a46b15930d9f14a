/* idlehost.c - covered stretches of threads, sites of launches, streams that were told to wait. */
#include "analyzer/idlehost.h"
#include "analyzer/nest.h"
#include "analyzer/sortkey.h"

#include <stdlib.h>
#include <string.h>

static struct ivlset covered_by(const struct event *ev, const struct thread_events *th, struct arena *a)
{
    struct ivl *v = arena_array(a, struct ivl, th->n);
    size_t n = 0;
    for (size_t i = 0; i < th->n; i++) {
        const struct event *e = &ev[th->ev[i]];
        if (e->kind == EV_OVERHEAD)
            continue;
        if (n && e->start - v[n - 1].end <= IDLE_UNTRACED)
            v[n - 1].end = e->end > v[n - 1].end ? e->end : v[n - 1].end;
        else
            v[n++] = (struct ivl){e->start, e->end};
    }
    return ivl_from(v, n);
}

static struct ivlset covered_by_any(const struct hostviews *v, size_t nthreads, struct arena *a)
{
    size_t n = 0, m = 0;
    for (size_t i = 0; i < nthreads; i++)
        n += v->threads[i].covered.n;
    struct ivl *all = arena_array(a, struct ivl, n);
    for (size_t i = 0; i < nthreads; i++) {
        memcpy(all + m, v->threads[i].covered.v, v->threads[i].covered.n * sizeof *all);
        m += v->threads[i].covered.n;
    }
    return ivl_from(all, n);
}

void hostviews_make(const struct trace *t, const struct trace_rank *r, const struct wait *w, size_t n, struct hostviews *v, struct arena *a)
{
    const struct tracedata *d = &t->files[r->file].d;
    const struct wait **by_thread = arena_array(a, const struct wait *, n), **by_start = arena_array(a, const struct wait *, n);
    struct sortkey *keys = arena_array(a, struct sortkey, 2 * n);
    v->threads = arena_array(a, struct hostview, r->nthreads);
    v->thread_at = arena_array(a, uint32_t, d->nthreads);
    size_t at = 0;
    for (size_t i = 0; i < r->nthreads; i++) {
        struct hostview *h = &v->threads[i];
        v->thread_at[r->threads[i].thread] = (uint32_t)i + 1;
        h->covered = covered_by(d->ev, &r->threads[i], a);
        h->waits = by_thread + at;
        for (; at < n && d->ev[w[at].event].thread == r->threads[i].thread; at++, h->nwaits++)
            by_thread[at] = &w[at];
    }
    for (size_t i = 0; i < n; i++)
        keys[i] = (struct sortkey){d->ev[w[i].event].start, (uint32_t)i};
    sortkeys(keys, keys + n, n);
    for (size_t i = 0; i < n; i++)
        by_start[i] = &w[keys[i].at];
    v->all = (struct hostview){covered_by_any(v, r->nthreads, a), by_start, n};
}

/* ---- sites of launches ---- */

struct launchlook {
    const struct trace_file *f;
    struct sites sites;
    struct nest open;
    uint32_t *around;
    size_t cap;
    uint32_t *of;
};

static uint32_t site_of(struct launchlook *x, uint32_t row)
{
    const struct event *ev = x->f->d.ev;
    if (x->open.n > x->cap)
        x->around = array_grow(x->around, &x->cap, x->open.n, sizeof *x->around);
    size_t n = nest_around(&x->open, ev, row, x->around);
    for (size_t i = n; i-- > 0;)
        if (ev[x->around[i]].kind == EV_OP)
            return intern_id(x->sites.names, trace_string(x->f, ev[x->around[i]].name));
    return sites_id(&x->sites, &ev[row], x->around, n);
}

static void look_thread(struct launchlook *x, const struct thread_events *th)
{
    const struct event *ev = x->f->d.ev;
    x->open.n = 0;
    for (size_t i = 0; i < th->n; i++) {
        uint32_t row = th->ev[i];
        int32_t kind = ev[row].kind;
        nest_move(&x->open, ev, row);
        if (x->of[row])
            x->of[row] = 1 + site_of(x, row);
        if (kind == EV_FRAME || kind == EV_RANGE || kind == EV_OP)
            nest_push(&x->open, row);
    }
}

void launch_sites(const struct trace *t, uint32_t file, uint32_t *wanted, struct intern *names)
{
    struct launchlook x = {.f = &t->files[file], .of = wanted};
    sites_init(&x.sites, x.f, SITE_FUNCTION, names);
    for (size_t r = 0; r < t->nranks; r++)
        for (size_t i = 0; t->ranks[r].file == file && i < t->ranks[r].nthreads; i++)
            look_thread(&x, &t->ranks[r].threads[i]);
    sites_free(&x.sites);
    nest_free(&x.open);
    free(x.around);
}

/* ---- streams that were told to wait ---- */

/* Rows of either side of cudaStreamWaitEvent and its like: the host's call, the stream's wait. */
struct waitrows {
    struct sortkey *calls, *waits; /* calls by correlation; waits by row, then by time */
    size_t ncalls, nwaits;
};

enum { NAMED_CALL = 1, NAMED_WAIT = 2 };

/* The side that a row is of, 0 none; named: by string id. */
static int side_of(const struct event *ev, const uint8_t *named)
{
    if (ev->kind == EV_RUNTIME && ev->correlation >= 0 && named[ev->name] == NAMED_CALL)
        return NAMED_CALL;
    return ev->kind == EV_SYNC && ev->stream && named[ev->name] == NAMED_WAIT ? NAMED_WAIT : 0;
}

static struct waitrows wait_rows(const struct trace_file *f, struct arena *a)
{
    const struct tracedata *d = &f->d;
    uint8_t *named = arena_array(a, uint8_t, d->strings.n + 1);
    struct waitrows w = {0};
    size_t ncalls = 0, nwaits = 0;
    for (size_t i = 0; i < d->strings.n; i++) {
        const char *s = intern_str(&d->strings, (uint32_t)i);
        named[i] = strstr(s, "StreamWaitEvent") ? NAMED_CALL : strcmp(s, "Stream Wait Event") == 0 ? NAMED_WAIT : 0;
    }
    for (size_t i = 0; i < d->n; i++) {
        int side = side_of(&d->ev[i], named);
        ncalls += side == NAMED_CALL;
        nwaits += side == NAMED_WAIT;
    }
    w.calls = arena_array(a, struct sortkey, 2 * ncalls);
    w.waits = arena_array(a, struct sortkey, 2 * nwaits);
    for (size_t i = 0; i < d->n; i++) {
        int side = side_of(&d->ev[i], named);
        if (side == NAMED_CALL)
            w.calls[w.ncalls++] = (struct sortkey){d->ev[i].correlation, (uint32_t)i};
        if (side == NAMED_WAIT)
            w.waits[w.nwaits++] = (struct sortkey){d->ev[i].start, (uint32_t)i};
    }
    sortkeys(w.calls, w.calls + w.ncalls, w.ncalls);
    return w;
}

/* When the host asked for that wait: its call's start, else the row's own. */
static int64_t asked_at(const struct tracedata *d, const struct waitrows *w, uint32_t row)
{
    const struct event *ev = &d->ev[row];
    size_t lo = 0, hi = ev->correlation >= 0 ? w->ncalls : 0;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (w->calls[mid].key < ev->correlation)
            lo = mid + 1;
        else
            hi = mid;
    }
    uint32_t process = d->streams[ev->stream].process;
    for (; lo < w->ncalls && w->calls[lo].key == ev->correlation; lo++)
        if (d->threads[d->ev[w->calls[lo].at].thread].process == process)
            return d->ev[w->calls[lo].at].start;
    return ev->start;
}

uint32_t *event_waits(const struct trace *t, uint32_t file, const uint32_t *launched, struct arena *a)
{
    const struct tracedata *d = &t->files[file].d;
    uint32_t *waited = arena_array(a, uint32_t, d->n + 1);
    struct waitrows w = wait_rows(&t->files[file], a);
    if (!w.nwaits)
        return waited;
    for (size_t i = 0; i < w.nwaits; i++)
        w.waits[i].key = asked_at(d, &w, w.waits[i].at);
    sortkeys(w.waits, w.waits + w.nwaits, w.nwaits);
    /* Waits of each stream in order of time, as lists through `next`. */
    uint32_t *first = arena_array(a, uint32_t, d->nstreams), *next = arena_array(a, uint32_t, w.nwaits);
    for (size_t i = w.nwaits; i-- > 0;) {
        uint32_t s = d->ev[w.waits[i].at].stream;
        next[i] = first[s];
        first[s] = (uint32_t)i + 1;
    }
    for (uint32_t l = 0; l < t->nlanes; l++)
        for (size_t i = 0; t->lanes[l].file == file && i < t->lanes[l].n; i++) {
            uint32_t row = t->lanes[l].ev[i], s = d->ev[row].stream;
            int64_t launch = launched[row] ? d->ev[launched[row] - 1].start : d->ev[row].start;
            for (; first[s] && w.waits[first[s] - 1].key <= launch; first[s] = next[first[s] - 1])
                waited[row] = waited[row] ? SEVERAL_WAITS : 1 + w.waits[first[s] - 1].at;
        }
    return waited;
}
