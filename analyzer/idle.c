/* idle.c - cutting the gaps of each lane into pieces, and the cause of each piece. */
#include "analyzer/idle.h"
#include "analyzer/idlehost.h"
#include "analyzer/nest.h"
#include "analyzer/sortkey.h"

#include <stdlib.h>

const char *idle_cause_name(enum idle_cause c)
{
    static const char *const names[] = {NULL, "sync", "launch", "event", "none"};
    return (unsigned)c < sizeof names / sizeof *names ? names[c] : NULL;
}

struct next_work { /* what ends a gap */
    bool there;
    uint32_t row, host; /* host: 1 + row of the call that launched it; 0 unknown */
};

struct finder {
    const struct trace *t;
    const struct trace_file *f;
    const struct lane *l;
    struct hostviews views;
    const uint32_t *launched, *site; /* site: by row, of launches; 1 + id */
    const uint32_t *waited;
    const struct wait *w; /* of the rank */
    size_t nw;
    struct sortkey *bubbles; /* of the lane: numbers in w, by start */
    size_t nbubbles;
    uint32_t gap;
    struct idles *out;
    size_t cap;
};

static void emit(struct finder *x, int64_t start, int64_t end, enum idle_cause cause, uint32_t site)
{
    uint32_t lane = (uint32_t)(x->l - x->t->lanes);
    struct idle_piece *last = x->out->n ? &x->out->v[x->out->n - 1] : NULL;
    if (end <= start)
        return;
    if (last && last->lane == lane && last->gap == x->gap && last->cause == cause && last->site == site && last->end == start) {
        last->end = end;
        return;
    }
    ARRAY_PUSH(x->out->v, x->out->n, x->cap, ((struct idle_piece){start, end, lane, x->gap, site, cause}));
}

/* The part of [from, to) in which nobody is blocked: launch where the host is at something, else none. */
static void emit_running(struct finder *x, struct ivlset covered, int64_t from, int64_t to, bool work, uint32_t site)
{
    for (size_t i = ivl_find(covered, from); work && i < covered.n && covered.v[i].start < to; i++) {
        int64_t start = covered.v[i].start > from ? covered.v[i].start : from, end = covered.v[i].end < to ? covered.v[i].end : to;
        emit(x, from, start, IDLE_NONE, 0);
        emit(x, start, end, IDLE_LAUNCH, site);
        from = end;
    }
    emit(x, from, to, IDLE_NONE, 0);
}

/* The first wait of the view that may reach beyond `at`. Waits of one thread do not overlap; over threads they may, so
 * the look back is over the few that are open at once. */
static size_t wait_from(const struct finder *x, const struct hostview *h, int64_t at)
{
    size_t lo = 0, hi = h->nwaits;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (x->f->d.ev[h->waits[mid]->event].start <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    size_t back = h == &x->views.all ? 16 : 1;
    return lo > back ? lo - back : 0;
}

/* [from, to) before the next work was launched. */
static void emit_host(struct finder *x, const struct hostview *h, int64_t from, int64_t to, bool work, uint32_t site)
{
    const struct event *ev = x->f->d.ev;
    if (from >= to)
        return;
    for (size_t i = wait_from(x, h, from); i < h->nwaits && ev[h->waits[i]->event].start < to; i++) {
        const struct event *call = &ev[h->waits[i]->event];
        if (call->end <= from)
            continue;
        int64_t start = call->start > from ? call->start : from, end = call->end < to ? call->end : to;
        emit_running(x, h->covered, from, start, work, site);
        emit(x, start, end, IDLE_SYNC, h->waits[i]->site);
        from = end;
    }
    emit_running(x, h->covered, from, to, work, site);
}

/* [from, to) outside of bubbles. */
static void emit_rest(struct finder *x, const struct next_work *k, int64_t from, int64_t to)
{
    if (from >= to)
        return;
    if (!k->host) {
        emit_host(x, &x->views.all, from, to, k->there, 0);
        return;
    }
    const struct event *call = &x->f->d.ev[k->host - 1];
    uint32_t thread = x->views.thread_at[call->thread], site = x->site[k->host - 1];
    int64_t launched = call->end < from ? from : call->end > to ? to : call->end;
    emit_host(x, thread ? &x->views.threads[thread - 1] : &x->views.all, from, launched, true, site ? site - 1 : 0);
    if (x->waited[k->row])
        emit(x, launched, to, IDLE_EVENT, 0);
    else
        emit(x, launched, to, IDLE_LAUNCH, site ? site - 1 : 0);
}

static void split(struct finder *x, struct ivl gap, const struct next_work *k, size_t *bubble)
{
    int64_t at = gap.start;
    while (*bubble < x->nbubbles && x->w[x->bubbles[*bubble].at].bubble_end <= gap.start)
        ++*bubble;
    for (size_t i = *bubble; i < x->nbubbles && x->bubbles[i].key < gap.end; i++) {
        const struct wait *w = &x->w[x->bubbles[i].at];
        int64_t start = w->bubble_start > at ? w->bubble_start : at, end = w->bubble_end < gap.end ? w->bubble_end : gap.end;
        emit_rest(x, k, at, start);
        emit(x, start, end, IDLE_SYNC, w->site);
        at = end;
    }
    emit_rest(x, k, at, gap.end);
}

/* The lane's first row that starts at or after `at`, from *i on. */
static struct next_work next_work(const struct finder *x, size_t *i, int64_t at)
{
    const struct event *ev = x->f->d.ev;
    while (*i < x->l->n && ev[x->l->ev[*i]].start < at)
        ++*i;
    if (*i == x->l->n)
        return (struct next_work){0};
    return (struct next_work){true, x->l->ev[*i], x->launched[x->l->ev[*i]]};
}

static void find_bubbles(struct finder *x, struct arena *a)
{
    uint32_t lane = (uint32_t)(x->l - x->t->lanes);
    x->bubbles = arena_array(a, struct sortkey, 2 * x->nw);
    x->nbubbles = 0;
    for (size_t i = 0; i < x->nw; i++)
        if (x->w[i].bubble_end > x->w[i].bubble_start && x->w[i].lane == lane)
            x->bubbles[x->nbubbles++] = (struct sortkey){x->w[i].bubble_start, (uint32_t)i};
    sortkeys(x->bubbles, x->bubbles + x->nw, x->nbubbles);
}

static void find_lane(struct finder *x, bool host_rows)
{
    struct arena a = {0};
    struct ivlset idle = trace_idle(x->t, &a, x->l);
    size_t at = 0, bubble = 0;
    find_bubbles(x, &a);
    for (size_t i = 0; i < idle.n; i++) {
        x->gap = (uint32_t)i;
        struct next_work k = next_work(x, &at, idle.v[i].end);
        if (host_rows)
            split(x, idle.v[i], &k, &bubble);
        else
            emit(x, idle.v[i].start, idle.v[i].end, IDLE_UNKNOWN, 0);
    }
    arena_free(&a);
}

/* Marks the calls that launched the work behind each gap. */
static void want_sites(const struct finder *x, uint32_t *wanted)
{
    for (size_t l = 0; l < x->t->nlanes; l++) {
        struct finder y = *x;
        struct arena a = {0};
        size_t at = 0;
        y.l = &x->t->lanes[l];
        struct ivlset idle = y.l->file == (uint32_t)(x->f - x->t->files) ? trace_idle(x->t, &a, y.l) : (struct ivlset){0};
        for (size_t i = 0; i < idle.n; i++) {
            struct next_work k = next_work(&y, &at, idle.v[i].end);
            if (k.host)
                wanted[k.host - 1] = 1;
        }
        arena_free(&a);
    }
}

static void find_rank(struct finder *x, const struct trace_rank *r)
{
    struct arena a = {0};
    hostviews_make(x->t, r, x->w, x->nw, &x->views, &a);
    for (uint32_t l = r->first_lane; l < r->first_lane + r->nlanes; l++) {
        x->l = &x->t->lanes[l];
        find_lane(x, r->n > 0);
    }
    arena_free(&a);
}

static void find_file(struct finder *x, uint32_t file, const struct waits *w, size_t *wait)
{
    struct arena a = {0};
    x->f = &x->t->files[file];
    x->launched = launches_of(x->f);
    x->waited = event_waits(x->t, file, x->launched, &a);
    uint32_t *site = arena_array(&a, uint32_t, x->f->d.n + 1);
    want_sites(x, site);
    launch_sites(x->t, file, site, &x->out->names);
    x->site = site;
    for (uint32_t r = 0; r < x->t->nranks; r++) {
        if (x->t->ranks[r].file != file)
            continue;
        x->w = w->v + *wait;
        for (x->nw = 0; *wait < w->n && w->v[*wait].rank == r; ++*wait)
            x->nw++;
        find_rank(x, &x->t->ranks[r]);
    }
    arena_free(&a);
}

void idles_find(const struct trace *t, struct idles *out)
{
    struct waits w;
    waits_find(t, SITE_FUNCTION, &w);
    *out = (struct idles){.names = w.names}; /* sites of waits and of launches share their ids */
    w.names = (struct intern){0};
    struct finder x = {.t = t, .out = out};
    size_t wait = 0;
    for (uint32_t i = 0; i < t->nfiles; i++)
        find_file(&x, i, &w, &wait);
    waits_free(&w);
}

void idles_free(struct idles *x)
{
    free(x->v);
    intern_free(&x->names);
    *x = (struct idles){0};
}
