/* control.c - see control.h. */
#include "collector/control.h"
#include "schemas/clock.h"
#include "schemas/marker.h"

#include <stdlib.h>
#include <string.h>

enum { LATE_NS = 2000000000 };

bool control_init(struct control *c, const struct record_options *o, int64_t now, const char **why)
{
    *c = (struct control){.lock = PTHREAD_MUTEX_INITIALIZER, .from = INT64_MIN, .until = INT64_MAX, .step_from = -1};
    if (!o)
        return true;
    c->lite = o->lite;
    if (o->delay >= 0)
        c->from = now + o->delay;
    if (o->duration >= 0)
        c->until = (o->delay >= 0 ? c->from : now) + o->duration;
    c->step_from = o->step_from;
    c->step_to = o->step_to;
    c->range = o->range;
    if (o->range && regcomp(&c->expression, o->range, REG_EXTENDED | REG_NOSUB) != 0) {
        c->range = NULL;
        *why = "the expression of --range cannot be read: ranges do not limit the recording";
    }
    c->by_name = c->range || c->step_from >= 0;
    atomic_store(&c->off, o->paused);
    c->active = c->lite || c->by_name || o->delay >= 0 || o->duration >= 0 || o->control;
    return c->range == o->range;
}

void control_free(struct control *c)
{
    if (c->range)
        regfree(&c->expression);
    c->range = NULL;
}

/* ---- events ---- */

static bool is_lite(const struct activity *a, const union emit_more *more)
{
    static const bool heavy[EV_NKINDS] = {[EV_KERNEL] = true, [EV_MEMCPY] = true, [EV_MEMSET] = true};
    if (a->kind == EV_RUNTIME)
        return more ? more->sync.class != SYNC_NONE : a->sync_class != SYNC_NONE;
    return a->kind >= EV_NKINDS || !heavy[a->kind];
}

/* Windows follow one another; the newest is looked at first, for most events belong to it. */
static bool in_window(struct control *c, int64_t start, int64_t end)
{
    uint64_t n = atomic_load_explicit(&c->nwindows, memory_order_acquire);
    bool in = false;
    if (!n)
        return false;
    pthread_mutex_lock(&c->lock);
    n = c->nwindows;
    for (uint64_t i = n; i > 0 && i + WINDOWS > n; i--) {
        const struct control_window *w = &c->windows[(i - 1) % WINDOWS];
        in = start <= w->end && end >= w->start;
        if (in || w->start < start)
            break;
    }
    pthread_mutex_unlock(&c->lock);
    return in;
}

bool control_wants(struct control *c, const struct activity *a, const union emit_more *more)
{
    bool now = atomic_load_explicit(&c->virtual_time, memory_order_relaxed);
    int64_t t = now ? clock_now() : 0, start = now ? t : a->start, end = now ? t : a->end;
    if (a->what != ACT_EVENT)
        return true;
    if (atomic_load_explicit(&c->off, memory_order_relaxed) || end < c->from || start > c->until || (c->lite && !is_lite(a, more)))
        return false;
    return !c->by_name || in_window(c, start, end);
}

bool control_over(const struct control *c, int64_t now)
{
    return c->until != INT64_MAX && now > c->until + LATE_NS;
}

/* ---- ranges ---- */

static bool is_step(const struct control *c, const char *name)
{
    static const char *const steps[] = {MARK_STEP "#", "ProfilerStep#"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        size_t n = strlen(steps[i]);
        char *end;
        if (strncmp(name, steps[i], n) != 0)
            continue;
        int64_t number = strtoll(name + n, &end, 10);
        return end > name + n && !*end && number >= c->step_from && number <= c->step_to;
    }
    return false;
}

/* Kept texts stay at their address: each is looked at once in a while. */
static bool matches(struct control *c, const char *name)
{
    uintptr_t key = (uintptr_t)name << 1;
    _Atomic uint64_t *at = &c->names[(key >> 4 ^ key >> 12) % CONTROL_NAMES];
    uint64_t seen = atomic_load_explicit(at, memory_order_relaxed);
    if (!name || !c->by_name)
        return false;
    if (seen >> 1 == key >> 1)
        return seen & 1;
    bool yes = (c->range && regexec(&c->expression, name, 0, NULL, 0) == 0) || (c->step_from >= 0 && is_step(c, name));
    atomic_store_explicit(at, key | yes, memory_order_relaxed);
    return yes;
}

static void begin_window(struct control *c, int64_t start)
{
    pthread_mutex_lock(&c->lock);
    if (c->open++ == 0) {
        c->windows[c->nwindows % WINDOWS] = (struct control_window){start, INT64_MAX};
        atomic_fetch_add(&c->nwindows, 1);
    }
    pthread_mutex_unlock(&c->lock);
}

static void end_window(struct control *c, int64_t end)
{
    pthread_mutex_lock(&c->lock);
    if (c->open && --c->open == 0)
        c->windows[(c->nwindows - 1) % WINDOWS].end = end;
    pthread_mutex_unlock(&c->lock);
}

void control_open(struct control *c, const char *name, int64_t start)
{
    if (matches(c, name))
        begin_window(c, start);
}

void control_close(struct control *c, const char *name, int64_t end)
{
    if (matches(c, name))
        end_window(c, end);
}

/* How deep the thread is in ranges, and at which depth it has opened a window; 0: it has not. */
static __thread struct {
    int64_t depth, opened;
} nest __attribute__((tls_model("initial-exec")));

void control_push(struct control *c, const char *name, int64_t start)
{
    nest.depth++;
    if (!nest.opened && matches(c, name)) {
        nest.opened = nest.depth;
        begin_window(c, start);
    }
}

void control_pop(struct control *c, int64_t end)
{
    if (nest.opened && nest.opened == nest.depth) {
        nest.opened = 0;
        end_window(c, end);
    }
    nest.depth -= nest.depth > 0;
}

void control_forked(struct control *c)
{
    pthread_mutex_init(&c->lock, NULL);
    c->open = 0;
    atomic_store(&c->nwindows, 0);
    nest.depth = nest.opened = 0;
}
