/* scenario.c - which tasks and which host time the options of `whatif` name. */
#include "analyzer/decimal.h"
#include "analyzer/nest.h"
#include "analyzer/re.h"
#include "analyzer/whatif.h"

#include <stdlib.h>
#include <string.h>

enum option { RANGE, SYNCS, KERNELS, COMM, SCALED, NOPTIONS };

static const char *const option_names[] = {"drop-range", "drop-syncs", "drop-kernels", "drop-comm", "scale"};

/* One compiled RE with its answers by string id. */
struct matcher {
    bool on;
    regex_t re;
    uint8_t *names, *paths; /* of the file at hand: 0 not asked, 1 no, 2 yes */
    size_t hits;
};

struct making {
    const struct replay *r;
    struct arena *a;
    struct matcher m[NOPTIONS];
    const struct trace_file *f;
    struct intern paths;
    const uint32_t *path_of; /* range_paths() of the file */
    uint8_t *task;
    struct ivlset *gone, *scaled;
    uint8_t *sites[NOPTIONS]; /* by id of waits.names: answers */
};

static bool asked(struct matcher *m, uint8_t *known, uint32_t id, const char *text)
{
    if (!known[id])
        known[id] = id && regexec(&m->re, text, 0, NULL, 0) == 0 ? 2 : 1;
    return known[id] == 2;
}

static bool name_matches(struct making *x, enum option o, uint32_t name)
{
    return asked(&x->m[o], x->m[o].names, name, trace_string(x->f, name));
}

/* The row's name, its range path, or the place in the source that came with it. */
static bool row_matches(struct making *x, enum option o, uint32_t row)
{
    const struct event *ev = &x->f->d.ev[row];
    uint32_t path = x->path_of[row];
    if (!x->m[o].on)
        return false;
    if (name_matches(x, o, ev->name) || asked(&x->m[o], x->m[o].paths, path, intern_str(&x->paths, path)))
        return true;
    const struct sitekey *k = &x->f->d.sites[ev->site];
    return ev->site && (name_matches(x, o, k->function) || name_matches(x, o, k->file));
}

static bool wait_matches(struct making *x, enum option o, uint32_t wait)
{
    const struct wait *w = &x->r->waits.v[wait - 1];
    const struct intern *names = &x->r->waits.names;
    /* Ids of that table begin at 0 for "": the answers are kept one further. */
    return x->m[o].on && (row_matches(x, o, w->event) || asked(&x->m[o], x->sites[o], w->site + 1, intern_str(names, w->site)) ||
                          asked(&x->m[o], x->sites[o], w->api + 1, intern_str(names, w->api)));
}

static bool is_span(const struct event *ev)
{
    return ev->end > ev->start && (ev->kind == EV_RANGE || ev->kind == EV_OP || ev->kind == EV_FRAME);
}

/* Host time of a thread in ranges that match. */
static struct ivlset thread_time(struct making *x, enum option o, const struct thread_events *th)
{
    struct ivl *v = NULL;
    size_t n = 0, cap = 0;
    for (size_t i = 0; x->m[o].on && i < th->n; i++) {
        const struct event *ev = &x->f->d.ev[th->ev[i]];
        uint32_t path = x->path_of[th->ev[i]];
        if (!is_span(ev))
            continue;
        bool in = name_matches(x, o, ev->name) || (ev->kind == EV_RANGE && asked(&x->m[o], x->m[o].paths, path, intern_str(&x->paths, path)));
        if (in)
            ARRAY_PUSH(v, n, cap, ((struct ivl){ev->start, ev->end}));
    }
    x->m[o].hits += n;
    struct ivl *kept = arena_array(x->a, struct ivl, n + 1);
    if (n)
        memcpy(kept, v, n * sizeof *v);
    free(v);
    return ivl_from(kept, n);
}

static bool lies_in(struct ivlset x, int64_t t)
{
    size_t i = ivl_find(x, t);
    return i < x.n && x.v[i].start <= t;
}

static enum change call_change(struct making *x, uint32_t queue, uint32_t task)
{
    uint32_t wait = replay_tie(x->r, task)->wait;
    const struct replay_queue *q = &x->r->queues[queue];
    if (lies_in(x->gone[queue], replay_start(x->r, task) - q->offset))
        return DROP;
    if (!wait || !wait_matches(x, SYNCS, wait))
        return KEEP;
    x->m[SYNCS].hits++;
    return NO_WAIT;
}

/* The row itself, the call that launched it, a collective's group and function. */
static bool work_matches(struct making *x, enum option o, const struct replay_task *k)
{
    if (!x->m[o].on)
        return false;
    const struct ev_comm *c = ev_comm_of(&x->f->d, &x->f->d.ev[k->row]);
    bool hit = row_matches(x, o, k->row) || (c && (name_matches(x, o, c->communicator) || name_matches(x, o, c->function))) ||
               (k->cause != REPLAY_NONE && row_matches(x, o, x->r->tasks[k->cause].row));
    x->m[o].hits += hit;
    return hit;
}

static enum change work_change(struct making *x, const struct replay_task *k)
{
    if (k->cause != REPLAY_NONE && x->task[k->cause] == DROP)
        return DROP;
    if (work_matches(x, trace_is_comm(x->f, &x->f->d.ev[k->row]) ? COMM : KERNELS, k))
        return DROP;
    return work_matches(x, SCALED, k) ? SCALE : KEEP;
}

static void choose_queue(struct making *x, uint32_t queue)
{
    const struct replay_queue *q = &x->r->queues[queue];
    bool host = q->lane == REPLAY_NONE;
    for (size_t i = 0; host && i < x->r->t->ranks[q->rank].nthreads; i++) {
        const struct thread_events *th = &x->r->t->ranks[q->rank].threads[i];
        if (th->thread == q->id) {
            x->gone[queue] = thread_time(x, RANGE, th);
            x->scaled[queue] = thread_time(x, SCALED, th);
        }
    }
    for (uint32_t i = q->first; i < q->first + q->n; i++)
        x->task[i] = (uint8_t)(host ? call_change(x, queue, i) : work_change(x, &x->r->tasks[i]));
}

/* Threads before streams: work goes with the call that launched it. */
static void choose_file(struct making *x, uint32_t file)
{
    struct arena a = {0};
    x->f = &x->r->t->files[file];
    intern_init(&x->paths);
    x->path_of = range_paths(x->r->t, file, false, &x->paths, &a);
    for (int o = 0; o < NOPTIONS; o++) {
        x->m[o].names = arena_array(&a, uint8_t, x->f->d.strings.n + 1);
        x->m[o].paths = arena_array(&a, uint8_t, x->paths.n + 1);
    }
    for (int host = 1; host >= 0; host--)
        for (uint32_t q = 0; q < x->r->nqueues; q++)
            if (x->r->queues[q].file == file && (x->r->queues[q].lane == REPLAY_NONE) == (host == 1))
                choose_queue(x, q);
    intern_free(&x->paths);
    arena_free(&a);
}

static bool compile(struct matcher *m, enum option o, const char *text, struct err *e)
{
    if (!text)
        return true;
    char buf[RE_WHY];
    const char *why = re_compile(&m->re, text, buf);
    m->on = !why;
    return m->on || fail(e, ERR_USAGE, "--%s '%s': %s", option_names[o], text, why);
}

const char *scale_pattern(const char *scale, struct arena *a)
{
    const char *eq = strrchr(scale, '=');
    return eq && eq != scale && eq[1] ? arena_strndup(a, scale, (size_t)(eq - scale)) : NULL;
}

static bool compile_scale(struct making *x, const char *text, int64_t *ppm, struct err *e)
{
    if (!text)
        return true;
    const char *re = scale_pattern(text, x->a), *factor = re ? text + strlen(re) + 1 : "";
    if (!re || !decimal_scaled(factor, strlen(factor), 6, ppm) || *ppm < 0 || *ppm > INT64_C(1000000000))
        return fail(e, ERR_USAGE, "--scale %s: not RE=X with a factor X from 0 to 1000", text);
    return compile(&x->m[SCALED], SCALED, re, e);
}

static bool all_hit(const struct making *x, const char *const *texts, struct err *e)
{
    for (int o = 0; o < NOPTIONS; o++)
        if (x->m[o].on && !x->m[o].hits)
            return fail(e, ERR_UNDECIDED, "--%s %s: nothing in this trace matches", option_names[o], texts[o]);
    return true;
}

static struct touched count_touched(const struct making *x)
{
    const struct replay *r = x->r;
    struct touched n = {.ranges = x->m[RANGE].hits};
    for (size_t i = 0; i < r->n; i++) {
        const struct replay_queue *q = &r->queues[r->tasks[i].queue];
        const struct trace_file *f = &r->t->files[q->file];
        if (x->task[i] == KEEP)
            continue;
        if (q->lane == REPLAY_NONE) {
            n.waits += replay_tie(r, (uint32_t)i)->wait != 0;
        } else {
            n.work++;
            n.comms += trace_is_comm(f, &f->d.ev[r->tasks[i].row]);
        }
    }
    return n;
}

bool scenario_make(const struct replay *r, const struct whatif_args *o, struct arena *a, struct scenario *s, struct touched *n, struct err *e)
{
    const char *const texts[] = {o->drop_range, o->drop_syncs, o->drop_kernels, o->drop_comm, o->scale};
    struct making x = {.r = r, .a = a};
    int64_t ppm = 1000000;
    bool ok = compile_scale(&x, o->scale, &ppm, e);
    for (int i = 0; i < SCALED; i++)
        ok = ok && compile(&x.m[i], (enum option)i, texts[i], e);
    x.task = arena_array(a, uint8_t, r->n + 1);
    x.gone = arena_array(a, struct ivlset, r->nqueues + 1);
    x.scaled = arena_array(a, struct ivlset, r->nqueues + 1);
    for (int i = 0; i < NOPTIONS; i++)
        x.sites[i] = arena_array(a, uint8_t, r->waits.names.n + 2);
    for (uint32_t f = 0; ok && f < r->t->nfiles; f++)
        choose_file(&x, f);
    ok = ok && all_hit(&x, texts, e);
    *s = (struct scenario){.task = x.task, .gone = x.gone, .scaled = x.scaled, .ppm = ppm};
    *n = count_touched(&x);
    for (int i = 0; i < NOPTIONS; i++)
        if (x.m[i].on)
            regfree(&x.m[i].re);
    return ok;
}
