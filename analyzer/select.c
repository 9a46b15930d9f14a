/* select.c - --range: host rows inside matching ranges, and device rows that were launched from there.
 *
 * Source frames around such rows stay, so that a call keeps its site.
 *
 * A file without a single link between host calls and device rows is cut by time instead: device rows that begin while
 * a matching range of their rank is open.
 */
#include "analyzer/nest.h"
#include "analyzer/trace_build.h"

#include <stdlib.h>
#include <string.h>

/* Does a path match? Asked once per path. */
static bool matches(const struct build *b, const struct intern *paths, uint8_t *known, uint32_t id)
{
    if (!known[id])
        known[id] = id && regexec(b->range, intern_str(paths, id), 0, NULL, 0) == 0 ? 2 : 1;
    return known[id] == 2;
}

struct selection {
    uint8_t *keep;      /* by row number */
    uint32_t *launched; /* by row number: 1 + host row */
    bool linked;
};

static size_t thin(uint32_t *v, size_t n, const uint8_t *keep)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (keep[v[i]])
            v[m++] = v[i];
    return m;
}

static void thin_rank(struct trace_rank *r, const uint8_t *keep)
{
    struct thread_events *th = (struct thread_events *)r->threads;
    uint32_t *to = (uint32_t *)r->ev;
    r->n = 0;
    for (size_t i = 0; i < r->nthreads; i++) {
        size_t n = thin((uint32_t *)th[i].ev, th[i].n, keep);
        memmove(to + r->n, th[i].ev, n * sizeof *to);
        th[i].ev = to + r->n;
        th[i].n = n;
        r->n += n;
    }
}

static struct ivlset open_ranges(const struct trace *t, const struct trace_rank *r, const uint8_t *keep, struct arena *a)
{
    const struct event *ev = t->files[r->file].d.ev;
    struct ivl *v = arena_array(a, struct ivl, r->n);
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        if (keep[r->ev[i]] && ev[r->ev[i]].kind == EV_RANGE)
            v[n++] = (struct ivl){ev[r->ev[i]].start, ev[r->ev[i]].end};
    return ivl_from(v, n);
}

static void mark_lanes(const struct trace *t, const struct trace_rank *r, struct selection *s, struct arena *a)
{
    const struct event *ev = t->files[r->file].d.ev;
    struct ivlset open = s->linked ? (struct ivlset){0} : open_ranges(t, r, s->keep, a);
    for (uint32_t l = r->first_lane; l < r->first_lane + r->nlanes; l++)
        for (size_t i = 0; i < t->lanes[l].n; i++) {
            uint32_t row = t->lanes[l].ev[i];
            uint32_t host = s->launched[row];
            s->keep[row] = host ? s->keep[host - 1] : !s->linked && ivl_within(open, ev[row].start, ev[row].start + 1) > 0;
        }
}

/* Frames that enclose a row that is kept: within a thread what overlaps encloses or is enclosed. */
static void keep_frames(const struct trace_file *f, const struct thread_events *th, uint8_t *keep)
{
    struct arena a = {0};
    struct ivl *v = arena_array(&a, struct ivl, th->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < th->n; i++) {
        const struct event *ev = &f->d.ev[th->ev[i]];
        if (keep[th->ev[i]])
            v[n++] = (struct ivl){ev->start, ev->end > ev->start ? ev->end : ev->start + 1};
    }
    struct ivlset kept = ivl_from(v, n);
    for (size_t i = 0; i < th->n && n; i++) {
        const struct event *ev = &f->d.ev[th->ev[i]];
        if (ev->kind == EV_FRAME && ivl_within(kept, ev->start, ev->end) > 0)
            keep[th->ev[i]] = 1;
    }
    arena_free(&a);
}

static size_t select_file(struct build *b, uint32_t file)
{
    struct trace *t = b->t;
    struct trace_file *f = &t->files[file];
    struct arena a = {0};
    struct intern paths;
    intern_init(&paths);
    struct selection s = {.keep = arena_array(&a, uint8_t, f->d.n + 1), .launched = launches_find(f, &a)};
    uint32_t *of = range_paths(t, file, false, &paths, &a);
    uint8_t *known = arena_array(&a, uint8_t, paths.n + 1);
    size_t left = 0;
    for (size_t i = 0; i < f->d.n; i++)
        s.linked |= s.launched[i] != 0;
    for (size_t r = 0; r < t->nranks; r++) {
        struct trace_rank *k = &t->ranks[r];
        if (k->file != file)
            continue;
        for (size_t i = 0; i < k->n; i++)
            s.keep[k->ev[i]] = matches(b, &paths, known, of[k->ev[i]]);
        mark_lanes(t, k, &s, &a);
        for (size_t i = 0; i < k->nthreads; i++)
            keep_frames(f, &k->threads[i], s.keep);
        thin_rank(k, s.keep);
        left += k->n;
        for (uint32_t l = k->first_lane; l < k->first_lane + k->nlanes; l++) {
            t->lanes[l].n = thin((uint32_t *)t->lanes[l].ev, t->lanes[l].n, s.keep);
            left += t->lanes[l].n;
        }
    }
    intern_free(&paths);
    arena_free(&a);
    return left;
}

bool select_range(struct build *b, struct err *e)
{
    if (!b->range)
        return true;
    size_t left = 0;
    for (size_t i = 0; i < b->t->nfiles; i++)
        left += select_file(b, (uint32_t)i);
    return found(b->t, left, LACK_RANGE, e);
}
