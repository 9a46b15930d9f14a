/* window.c - the stretch of time that every number of a table refers to.
 *
 *   step   the union of the complete steps of the rank (warm-up left out); device rows are cut by the same host times
 *   gpu    from the first start to the last end of the lane's own rows; of host rows: over all lanes of the rank
 *   all    from the first start to the last end of all rows of the rank
 *
 * --step, --from and --to cut whichever it is. A rank without steps of its own (a helper thread of a job) takes the
 * steps of the other ranks of its file; a file without any falls back to gpu, then all.
 */
#include "analyzer/trace_build.h"

#include <inttypes.h>
#include <string.h>

void steps_build(struct build *b)
{
    struct trace *t = b->t;
    for (size_t i = 0; i < t->nranks; i++) {
        struct trace_rank *r = &t->ranks[i];
        r->steps = steps_find(&t->files[r->file].d, r->ev, r->n, b->marker, &t->arena);
        if (b->step_from > b->step_to)
            continue;
        struct step *v = arena_array(&t->arena, struct step, r->steps.n);
        size_t n = 0;
        for (size_t k = 0; k < r->steps.n; k++)
            if (r->steps.v[k].number >= b->step_from && r->steps.v[k].number <= b->step_to)
                v[n++] = r->steps.v[k];
        r->steps = (struct steplist){v, n, r->steps.left};
    }
}

/* The rank's own steps, else those of all ranks of its file. */
static struct ivlset union_of_steps(struct trace *t, const struct trace_rank *r)
{
    const struct trace_file *f = &t->files[r->file];
    const struct trace_rank *from = r->steps.n ? r : &t->ranks[f->first_rank];
    const struct trace_rank *to = from + (r->steps.n ? 1 : f->nranks);
    size_t n = 0;
    for (const struct trace_rank *k = from; k < to; k++)
        n += k->steps.n;
    struct ivl *v = arena_array(&t->arena, struct ivl, n);
    n = 0;
    for (const struct trace_rank *k = from; k < to; k++)
        for (size_t i = 0; i < k->steps.n; i++)
            v[n++] = (struct ivl){k->steps.v[i].start, k->steps.v[i].end};
    return ivl_from(v, n);
}

/* Extent of rows as far as they lie in `cut`; empty extents stay reversed. */
static void stretch(const struct event *ev, const uint32_t *v, size_t n, struct ivl cut, struct ivl *x)
{
    for (size_t i = 0; i < n; i++) {
        int64_t start = ev[v[i]].start > cut.start ? ev[v[i]].start : cut.start;
        int64_t end = ev[v[i]].end < cut.end ? ev[v[i]].end : cut.end;
        if (end < start)
            continue;
        x->start = start < x->start ? start : x->start;
        x->end = end > x->end ? end : x->end;
    }
}

static const struct ivl no_extent = {INT64_MAX, INT64_MIN};

static struct ivl extent_of_lane(const struct trace *t, const struct lane *l, struct ivl cut)
{
    struct ivl x = no_extent;
    stretch(t->files[l->file].d.ev, l->ev, l->n, cut, &x);
    return x;
}

static struct ivl extent_of_rank(const struct trace *t, const struct trace_rank *r, struct ivl cut, bool host_too)
{
    struct ivl x = no_extent;
    for (uint32_t l = r->first_lane; l < r->first_lane + r->nlanes; l++)
        stretch(t->files[r->file].d.ev, t->lanes[l].ev, t->lanes[l].n, cut, &x);
    if (host_too)
        stretch(t->files[r->file].d.ev, r->ev, r->n, cut, &x);
    return x;
}

/* A helper rank has no lane: the rows of all lanes of its file. */
static struct ivl extent_of_file(const struct trace *t, const struct trace_file *f, struct ivl cut)
{
    struct ivl x = no_extent;
    for (uint32_t i = f->first_rank; i < f->first_rank + f->nranks; i++) {
        struct ivl r = extent_of_rank(t, &t->ranks[i], cut, false);
        x.start = r.start < x.start ? r.start : x.start;
        x.end = r.end > x.end ? r.end : x.end;
    }
    return x;
}

static struct ivl extent_of_lanes(const struct trace *t, const struct trace_rank *r, struct ivl cut)
{
    return r->nlanes ? extent_of_rank(t, r, cut, false) : extent_of_file(t, &t->files[r->file], cut);
}

static bool file_has_steps(const struct trace *t, const struct trace_file *f)
{
    for (uint32_t i = f->first_rank; i < f->first_rank + f->nranks; i++)
        if (t->ranks[i].steps.n)
            return true;
    return false;
}

static bool file_has_work(const struct trace *t, const struct trace_file *f)
{
    for (uint32_t i = f->first_rank; i < f->first_rank + f->nranks; i++)
        for (uint32_t l = t->ranks[i].first_lane; l < t->ranks[i].first_lane + t->ranks[i].nlanes; l++)
            if (t->lanes[l].n)
                return true;
    return false;
}

static bool any_file(const struct trace *t, bool (*has)(const struct trace *, const struct trace_file *))
{
    for (size_t i = 0; i < t->nfiles; i++)
        if (has(t, &t->files[i]))
            return true;
    return false;
}

static enum span span_of_file(const struct trace *t, uint32_t file)
{
    if (t->span == SPAN_STEP && file_has_steps(t, &t->files[file]))
        return SPAN_STEP;
    return t->span != SPAN_ALL && file_has_work(t, &t->files[file]) ? SPAN_GPU : SPAN_ALL;
}

static struct ivl cut_of(const struct build *b, uint32_t file)
{
    int64_t zero = b->t->files[file].start;
    return (struct ivl){time_since(zero, b->t->opts.from), time_since(zero, b->t->opts.to)};
}

static struct ivlset window(struct build *b, const struct trace_rank *r, const struct lane *l)
{
    struct trace *t = b->t;
    struct arena *a = &t->arena;
    struct ivl cut = cut_of(b, r->file), x;
    struct ivlset steps = union_of_steps(t, r), limits = ivl_one(a, cut.start, cut.end);
    enum span span = span_of_file(t, r->file);
    if (span == SPAN_STEP)
        return ivl_and(a, steps, limits);
    if (b->step_from <= b->step_to && steps.n) {
        limits = ivl_and(a, limits, steps);
        cut = limits.n ? (struct ivl){limits.v[0].start, limits.v[limits.n - 1].end} : no_extent;
    }
    if (span == SPAN_ALL)
        x = extent_of_rank(t, r, cut, true);
    else
        x = l ? extent_of_lane(t, l, cut) : extent_of_lanes(t, r, cut);
    return ivl_and(a, ivl_one(a, x.start, x.end), limits);
}

/* The value of --span; false: none of the three. */
static bool parse_span(const char *text, enum span *span)
{
    static const char *const names[] = {"step", "gpu", "all"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *span = (enum span)i;
            return true;
        }
    return false;
}

static bool choose_span(struct build *b, struct err *e)
{
    struct trace *t = b->t;
    bool steps = any_file(t, file_has_steps), work = any_file(t, file_has_work);
    t->span = steps ? SPAN_STEP : work ? SPAN_GPU : SPAN_ALL;
    if (t->opts.span && !parse_span(t->opts.span, &t->span))
        return fail(e, ERR_USAGE, "--span %s: not step, gpu or all", t->opts.span);
    return found(t, !t->opts.step || steps, LACK_STEP, e) && found(t, t->span != SPAN_STEP || steps, LACK_MARKS, e) &&
           found(t, t->span != SPAN_GPU || work, LACK_WORK, e);
}

bool windows_build(struct build *b, struct err *e)
{
    struct trace *t = b->t;
    if (!choose_span(b, e))
        return false;
    for (size_t i = 0; i < t->nranks; i++) {
        struct trace_rank *r = &t->ranks[i];
        r->window = window(b, r, NULL);
        for (uint32_t l = r->first_lane; l < r->first_lane + r->nlanes; l++)
            t->lanes[l].window = t->span == SPAN_GPU || span_of_file(t, r->file) == SPAN_GPU ? window(b, r, &t->lanes[l]) : r->window;
    }
    return true;
}

static const char *steps_text(const struct trace *t, struct arena *a)
{
    int64_t first = INT64_MAX, last = INT64_MIN, n = 0;
    for (size_t i = 0; i < t->nranks; i++) {
        const struct steplist *s = &t->ranks[i].steps;
        n = (int64_t)s->n > n ? (int64_t)s->n : n;
        for (size_t k = 0; k < s->n; k++) {
            first = s->v[k].number < first ? s->v[k].number : first;
            last = s->v[k].number > last ? s->v[k].number : last;
        }
    }
    if (n == 1)
        return arena_printf(a, "step %" PRId64 " of each rank (host times)", first);
    return arena_printf(a, "the %" PRId64 " complete steps %" PRId64 " to %" PRId64 " of each rank together (host times)", n, first, last);
}

const char *trace_window_text(const struct trace *t, struct arena *a)
{
    const char *base = t->span == SPAN_STEP  ? steps_text(t, a)
                       : t->span == SPAN_GPU ? "first start to last end of the device's own rows"
                                             : "first start to last end of all rows of the rank";
    bool cut = t->opts.from != INT64_MIN || t->opts.to != INT64_MAX || (t->opts.step && t->span != SPAN_STEP);
    return arena_printf(a, "%s%s", base, cut ? ", cut as asked" : "");
}
