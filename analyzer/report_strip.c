/* report_strip.c - data of the timeline: one step as lanes of bins.
 *
 *     rank 0 host        |##  ####  ##|     ns of a bin that some thread of the rank was blocked in a device wait
 *     rank 0 stream 7    |#### ##  ###|     ns of a bin that each kind of work ran
 *     rank 0 stream 20   |    ####    |
 *
 * The strip is as large as its bins, whatever the trace's size: a stretch of STRIP_BINS bins, four ranks, three streams each
 * (the busiest; the others of a rank share one lane).
 */
#include "analyzer/report.h"
#include "analyzer/waits.h"

#include <inttypes.h>
#include <stdlib.h>

enum { STRIP_BINS = 400, RANKS_MOST = 4, STREAMS_MOST = 3, LANES_MOST = RANKS_MOST * (STREAMS_MOST + 2), DEVICE_STREAMS_MOST = 64 };

struct strip {
    const struct trace *t;
    struct arena *a;
    int64_t start, end;
    struct plot_lane lanes[LANES_MOST];
    size_t n;
};

static int64_t *bins(struct strip *s)
{
    return arena_array(s->a, int64_t, STRIP_BINS);
}

/* Adds [start, end) to the bins it lies in. */
static void spread(const struct strip *s, int64_t *v, int64_t start, int64_t end)
{
    int64_t width = (s->end - s->start) / STRIP_BINS;
    start = (start < s->start ? s->start : start) - s->start;
    end = (end > s->end ? s->end : end) - s->start;
    for (int64_t b = width > 0 ? start / width : STRIP_BINS; b < STRIP_BINS && b * width < end; b++) {
        int64_t from = b * width > start ? b * width : start, to = (b + 1) * width < end ? (b + 1) * width : end;
        v[b] += to > from ? to - from : 0;
    }
}

/* ---- streams of a lane ---- */

struct busy_stream {
    uint32_t id;
    int64_t ns;
};

static int busiest(const void *x, const void *y)
{
    const struct busy_stream *a = x, *b = y;
    int more = (a->ns < b->ns) - (a->ns > b->ns);
    return more ? more : (a->id > b->id) - (a->id < b->id);
}

static int by_id(const void *x, const void *y)
{
    const struct busy_stream *a = x, *b = y;
    return (a->id > b->id) - (a->id < b->id);
}

/* The streams of a lane with work in the strip; the busiest STREAMS_MOST first. Streams beyond the table share entry 0. */
static size_t streams_of(const struct strip *s, const struct lane *l, struct busy_stream *v)
{
    const struct event *ev = s->t->files[l->file].d.ev;
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        const struct event *x = &ev[l->ev[i]];
        if (x->end <= s->start || x->start >= s->end)
            continue;
        size_t k = 0;
        while (k < n && v[k].id != x->stream)
            k++;
        if (k == n && n == DEVICE_STREAMS_MOST)
            k = 0;
        else if (k == n)
            v[n++] = (struct busy_stream){x->stream, 0};
        v[k].ns += x->end - x->start;
    }
    qsort(v, n, sizeof *v, busiest);
    if (n > STREAMS_MOST)
        qsort(v, STREAMS_MOST, sizeof *v, by_id);
    else
        qsort(v, n, sizeof *v, by_id);
    return n;
}

static size_t lane_of(const struct busy_stream *v, size_t n, uint32_t stream)
{
    size_t k = 0;
    while (k < n && k < STREAMS_MOST && v[k].id != stream)
        k++;
    return k;
}

static void fill_lanes(struct strip *s, const struct lane *l, const struct busy_stream *v, size_t n, size_t first)
{
    static const uint8_t shades[] = {[WORK_COMPUTE] = SHADE_COMPUTE, [WORK_COMM] = SHADE_COMM, [WORK_COPY] = SHADE_COPY, [WORK_SET] = SHADE_COPY};
    const struct trace_file *f = &s->t->files[l->file];
    for (size_t i = 0; i < l->n; i++) {
        const struct event *x = &f->d.ev[l->ev[i]];
        size_t k = first + lane_of(v, n, x->stream);
        if (x->end > s->start && x->start < s->end && k < s->n)
            spread(s, s->lanes[k].ns[shades[trace_work(f, x)]], x->start, x->end);
    }
}

static const char *stream_label(const struct strip *s, const struct lane *l, const char *who, const struct busy_stream *v, size_t n, size_t k)
{
    const struct tracedata *d = &s->t->files[l->file].d;
    if (k == STREAMS_MOST)
        return arena_printf(s->a, "%s%zu more streams", who, n - STREAMS_MOST);
    return arena_printf(s->a, "%sstream %" PRId64, who, v[k].id < d->nstreams ? d->streams[v[k].id].native : -1);
}

static void add_device(struct strip *s, const struct lane *l, const char *who)
{
    struct busy_stream v[DEVICE_STREAMS_MOST];
    size_t n = streams_of(s, l, v), lanes = n > STREAMS_MOST ? STREAMS_MOST + 1 : n, first = s->n;
    for (size_t k = 0; k < lanes && s->n < LANES_MOST; k++, s->n++)
        s->lanes[s->n] = (struct plot_lane){.label = stream_label(s, l, who, v, n, k), .ns = {bins(s), bins(s), bins(s)}};
    fill_lanes(s, l, v, n, first);
}

/* ---- the host ---- */

static void add_host(struct strip *s, size_t rank, const struct waits *w, const char *who)
{
    const struct event *ev = s->t->files[s->t->ranks[rank].file].d.ev;
    struct arena scratch = {0};
    struct ivl *v = arena_array(&scratch, struct ivl, w->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        if (w->v[i].rank == rank)
            v[n++] = (struct ivl){ev[w->v[i].event].start, ev[w->v[i].event].end};
    struct ivlset blocked = ivl_from(v, n);
    struct plot_lane *p = &s->lanes[s->n++];
    *p = (struct plot_lane){.label = arena_printf(s->a, "%shost", who), .ns = {[SHADE_WAIT] = bins(s)}};
    for (size_t i = 0; i < blocked.n; i++)
        if (blocked.v[i].end > s->start && blocked.v[i].start < s->end)
            spread(s, p->ns[SHADE_WAIT], blocked.v[i].start, blocked.v[i].end);
    arena_free(&scratch);
}

static void add_rank(struct strip *s, size_t rank, const struct waits *w)
{
    const struct trace_rank *r = &s->t->ranks[rank];
    const char *who = r->rank < 0 ? "" : arena_printf(s->a, "rank %d, ", r->rank);
    if (w->recorded && s->n < LANES_MOST)
        add_host(s, rank, w, who);
    for (uint32_t i = 0; i < r->nlanes && s->n < LANES_MOST; i++) {
        const struct lane *l = &s->t->lanes[r->first_lane + i];
        add_device(s, l, r->nlanes > 1 || r->rank < 0 ? arena_printf(s->a, "%sdevice %d, ", who, l->device) : who);
    }
}

/* ---- the stretch of time ---- */

static void widen(struct ivl *x, int64_t start, int64_t end)
{
    x->start = start < x->start ? start : x->start;
    x->end = end > x->end ? end : x->end;
}

static void widen_by_step(struct ivl *x, const struct trace_rank *r, int64_t number)
{
    for (size_t k = 0; k < r->steps.n; k++)
        if (r->steps.v[k].number == number)
            widen(x, r->steps.v[k].start, r->steps.v[k].end);
}

/* The first rank that has steps; NULL when none has. */
static const struct trace_rank *stepping(const struct trace *t)
{
    for (size_t i = 0; i < t->nranks; i++)
        if (t->ranks[i].steps.n)
            return &t->ranks[i];
    return NULL;
}

/* The first step of that rank together with the same step of the other ranks of its file; without steps the window of the
 * first file's devices. Files have clocks of their own, so a strip is of one file. */
static struct ivl stretch(const struct trace *t, uint32_t *file, struct arena *a, const char **what)
{
    struct ivl x = {INT64_MAX, INT64_MIN};
    const struct trace_rank *first = stepping(t);
    *file = first ? first->file : t->nlanes ? t->lanes[0].file : 0;
    *what = first ? arena_printf(a, "step %" PRId64, first->steps.v[0].number) : "the window";
    for (size_t i = 0; first && i < t->nranks; i++)
        if (t->ranks[i].file == *file)
            widen_by_step(&x, &t->ranks[i], first->steps.v[0].number);
    for (size_t i = 0; !first && i < t->nlanes; i++)
        if (t->lanes[i].file == *file && t->lanes[i].window.n)
            widen(&x, t->lanes[i].window.v[0].start, t->lanes[i].window.v[t->lanes[i].window.n - 1].end);
    return x;
}

static int64_t longest_step(struct report *r)
{
    const char *what;
    uint32_t file;
    struct ivl b = stretch(&r->before.t, &file, &r->arena, &what), a = stretch(&r->after.t, &file, &r->arena, &what);
    int64_t before = b.end > b.start ? b.end - b.start : 0, after = a.end > a.start ? a.end - a.start : 0;
    return before > after ? before : after;
}

bool report_plot_timeline(struct report *r, const struct side *side, enum plot_format f, struct plot *out, const char **caption, struct err *e)
{
    const struct trace *t = &side->t;
    struct strip s = {.t = t, .a = &r->arena};
    struct waits w = {0};
    const char *what;
    uint32_t file = 0;
    struct ivl x = stretch(t, &file, s.a, &what);
    if (side_simulated(side))
        what = arena_printf(s.a, "%s, modelled", what);
    s.start = x.start, s.end = x.end;
    if (x.end <= x.start)
        return fail(e, ERR_UNDECIDED, "timeline: no work of a device is in the window");
    waits_find(t, SITE_FUNCTION, &w);
    size_t shown = 0;
    for (size_t i = 0; i < t->nranks && shown < RANKS_MOST; i++)
        if (t->ranks[i].file == file) {
            add_rank(&s, i, &w);
            shown++;
        }
    waits_free(&w);
    struct plot_strip strip = {s.lanes, s.n, STRIP_BINS, x.end - x.start, r->pair ? longest_step(r) : 0, what};
    *caption =
        arena_printf(s.a,
                     "%s of %s, %zu of %zu rank%s%s. Each lane is as high as it is used in a %d-th of the time: compute, communication and copies on "
                     "a device's streams; on the host lane, time that a thread was blocked in a device wait.",
                     what, side->label, shown, t->nranks, t->nranks == 1 ? "" : "s",
                     t->nfiles > 1 ? " (of the first file: files have clocks of their own)" : "", STRIP_BINS);
    return plot_timeline(&strip, f, s.a, out, e);
}
