/* replay_run.c - one pass over the instants, with a scenario.
 *
 *   instant = max over what it follows from of (when that happens now + distance)
 *
 * The measured distance is kept for the edge that explains the instant best (largest measured time + usual distance); the
 * others get their usual distance, never more than was measured.
 */
#include "analyzer/replay_net.h"

static const int64_t unknown = INT64_MIN; /* not replayed yet: a cause that was cut off to break a circle */

struct running {
    const struct replay *r;
    const struct scenario *s;
    int64_t *at;
};

static enum change change_of(const struct running *x, uint32_t task)
{
    return x->s->task ? (enum change)x->s->task[task] : KEEP;
}

static int64_t times(int64_t ns, int64_t ppm)
{
    return (int64_t)((__int128)ns * ppm / 1000000);
}

int64_t replay_host_span(const struct replay *r, const struct scenario *s, uint32_t queue, int64_t from, int64_t to)
{
    int64_t ns = to - from, offset = r->queues[queue].offset;
    if (ns <= 0)
        return ns;
    int64_t gone = s->gone ? ivl_within(s->gone[queue], from - offset, to - offset) : 0;
    int64_t scaled = s->scaled ? ivl_within(s->scaled[queue], from - offset, to - offset) : 0;
    return ns - gone + (scaled ? times(scaled, s->ppm) - scaled : 0);
}

/* How long after `x` the instant comes, when x is what it waited for. */
static int64_t distance(const struct running *x, uint32_t instant, int64_t from, int64_t to)
{
    uint32_t task = instant / 2;
    if (instant >= 2 * x->r->n || (instant & 1))
        return to - from;
    uint32_t queue = x->r->tasks[task].queue;
    bool host = x->r->queues[queue].lane == REPLAY_NONE;
    return host && (x->s->gone || x->s->scaled) ? replay_host_span(x->r, x->s, queue, from, to) : to - from;
}

static int64_t first_of(struct ivlset x, int64_t t)
{
    return x.n && x.v[0].start < t ? x.v[0].start : t;
}

/* An instant that follows from nothing is where it was; the first call of a thread comes earlier by the host time in front
 * of it that goes, for other threads and ranks do not wait with their beginning. */
static int64_t begin(const struct running *x, uint32_t instant, int64_t measured)
{
    uint32_t queue = instant < 2 * x->r->n ? x->r->tasks[instant / 2].queue : 0;
    const struct replay_queue *q = &x->r->queues[queue];
    if (instant != 2 * q->first || q->lane != REPLAY_NONE || (!x->s->gone && !x->s->scaled))
        return measured;
    int64_t from = measured - q->offset;
    from = x->s->gone ? first_of(x->s->gone[queue], from) : from;
    from = x->s->scaled ? first_of(x->s->scaled[queue], from) : from;
    return from + q->offset + replay_host_span(x->r, x->s, queue, from + q->offset, measured);
}

/* A call that waited for work which is gone does not fall asleep, unless what was before that work still runs. */
static bool found_nothing(const struct running *x, uint32_t instant, uint32_t cause)
{
    return (instant & 1) && cause / 2 != instant / 2 && change_of(x, cause / 2) == DROP && x->at[cause] <= x->at[instant - 1];
}

/* Start of a call or of work, end of a call. */
static int64_t follow(const struct running *x, uint32_t instant, bool immediate)
{
    int64_t measured = replay_measured(x->r, instant), best = unknown, binding = 0, now = unknown;
    struct replay_edge e;
    for (size_t k = 0; replay_edge(x->r, instant, k, &e); k++) {
        int64_t m = replay_measured(x->r, e.instant), explained = m + e.usual;
        if (x->at[e.instant] == unknown)
            continue;
        bool at_once = immediate || found_nothing(x, instant, e.instant);
        if (explained > best) {
            best = explained;
            binding = x->at[e.instant] + (at_once ? 0 : distance(x, instant, m, measured));
        }
        int64_t least = e.usual < measured - m ? e.usual : measured - m;
        int64_t t = x->at[e.instant] + (at_once ? 0 : least);
        now = t > now ? t : now;
    }
    if (best == unknown)
        return begin(x, instant, measured);
    return binding > now ? binding : now;
}

static int64_t duration(const struct running *x, uint32_t task)
{
    const struct replay_tie *k = replay_tie(x->r, task);
    int64_t ns = replay_end(x->r, task) - replay_start(x->r, task);
    if (k->group) {
        ns = x->r->groups[k->group - 1].transfer;
    } else if (x->s->shortest && x->s->shortest[task] >= 0) {
        ns = x->s->shortest[task];
    }
    return change_of(x, task) == SCALE ? times(ns, x->s->ppm) : ns;
}

static int64_t work_end(const struct running *x, uint32_t task)
{
    const struct replay_tie *k = replay_tie(x->r, task);
    int64_t start = x->at[2 * task], join = k->group ? x->at[2 * x->r->n + k->group - 1] : 0;
    if (start == unknown || join == unknown) /* a circle was cut here */
        return replay_end(x->r, task);
    if (change_of(x, task) == DROP)
        return start;
    if (!k->group)
        return start + duration(x, task);
    const struct replay_group *g = &x->r->groups[k->group - 1];
    int64_t end = join + duration(x, task) + (replay_end(x->r, task) - g->join - g->transfer);
    return end > start ? end : start; /* a member that ended before the last one came is none; it must not end before it starts */
}

static int64_t call_end(const struct running *x, uint32_t task)
{
    enum change c = change_of(x, task);
    int64_t start = x->at[2 * task];
    if (start == unknown) /* a circle was cut here */
        return replay_end(x->r, task);
    if (c == DROP || c == NO_WAIT)
        return start;
    if (!replay_tie(x->r, task)->deps)
        return start + replay_host_span(x->r, x->s, x->r->tasks[task].queue, replay_start(x->r, task), replay_end(x->r, task));
    return follow(x, 2 * task + 1, false);
}

/* Of the last rank; behind the last one that is known where a circle was cut. */
static int64_t arrival(const struct running *x, uint32_t instant)
{
    int64_t last = unknown, known = unknown;
    struct replay_edge e;
    for (size_t k = 0; replay_edge(x->r, instant, k, &e); k++) {
        int64_t m = replay_measured(x->r, e.instant) + e.usual;
        if (x->at[e.instant] == unknown)
            continue;
        known = m > known ? m : known;
        if (change_of(x, e.instant / 2) != DROP && x->at[e.instant] + e.usual > last)
            last = x->at[e.instant] + e.usual;
    }
    int64_t measured = replay_measured(x->r, instant);
    return last == unknown ? measured : last + (measured - known);
}

static int64_t instant_at(const struct running *x, uint32_t i)
{
    if (i >= 2 * x->r->n)
        return arrival(x, i);
    uint32_t task = i / 2;
    bool host = x->r->queues[x->r->tasks[task].queue].lane == REPLAY_NONE;
    if (!(i & 1))
        return follow(x, i, !host && change_of(x, task) == DROP);
    return host ? call_end(x, task) : work_end(x, task);
}

struct replayed replay_run(const struct replay *r, const struct scenario *s, struct arena *a)
{
    static const struct scenario nothing = {0};
    size_t all = 2 * r->n + r->ngroups;
    struct running x = {.r = r, .s = s ? s : &nothing, .at = arena_array(a, int64_t, all + 1)};
    for (size_t i = 0; i < all; i++)
        x.at[i] = unknown;
    for (size_t i = 0; i < r->norder; i++)
        x.at[r->order[i]] = instant_at(&x, r->order[i]);
    return (struct replayed){.at = x.at};
}

/* ---- windows ---- */

int64_t replayed_at(const struct replay *r, const struct replayed *p, uint32_t instant)
{
    return p->at ? p->at[instant] : replay_measured(r, instant) + (p->net ? replay_net_late(p->net, p->late, instant) : 0);
}

int64_t replay_host_time(const struct replay *r, const struct scenario *s, const struct replayed *p, uint32_t rank, int64_t t)
{
    static const struct scenario nothing = {0};
    uint32_t queue = r->clock[rank];
    if (queue == REPLAY_NONE)
        return t;
    s = s ? s : &nothing;
    const struct replay_queue *q = &r->queues[queue];
    t += q->offset;
    uint32_t i = replay_last(r, q, t);
    if (i == REPLAY_NONE)
        return replayed_at(r, p, 2 * q->first) - replay_host_span(r, s, queue, t, replay_start(r, q->first)) - q->offset;
    if (t >= replay_end(r, i))
        return replayed_at(r, p, 2 * i + 1) + replay_host_span(r, s, queue, replay_end(r, i), t) - q->offset;
    int64_t inside = replayed_at(r, p, 2 * i) + (t - replay_start(r, i)), end = replayed_at(r, p, 2 * i + 1);
    return (inside < end ? inside : end) - q->offset;
}

/* From the first start to the last end of the lanes' rows. */
static struct ivlset extent(const struct replay *r, const struct replayed *p, uint32_t rank, uint32_t lane, struct arena *a)
{
    int64_t from = INT64_MAX, to = INT64_MIN;
    for (size_t i = 0; i < r->nqueues; i++) {
        const struct replay_queue *q = &r->queues[i];
        if (q->rank != rank || q->lane == REPLAY_NONE || (lane != REPLAY_NONE && q->lane != lane))
            continue;
        for (uint32_t k = q->first; k < q->first + q->n; k++) {
            int64_t start = replayed_at(r, p, 2 * k) - q->offset, end = replayed_at(r, p, 2 * k + 1) - q->offset;
            from = start < from ? start : from;
            to = end > to ? end : to;
        }
    }
    return to > from ? ivl_one(a, from, to) : (struct ivlset){0};
}

struct ivlset replay_window(const struct replay *r, const struct scenario *s, const struct replayed *p, uint32_t rank, uint32_t lane, struct arena *a)
{
    const struct trace *t = r->t;
    struct ivlset was = lane == REPLAY_NONE ? t->ranks[rank].window : t->lanes[lane].window;
    if (t->span == SPAN_GPU || r->clock[rank] == REPLAY_NONE)
        return extent(r, p, rank, lane, a);
    struct ivl *v = arena_array(a, struct ivl, was.n + 1);
    for (size_t i = 0; i < was.n; i++)
        v[i] = (struct ivl){replay_host_time(r, s, p, rank, was.v[i].start), replay_host_time(r, s, p, rank, was.v[i].end)};
    return ivl_from(v, was.n);
}
