/* launches.c - which host call started a device row: joined on correlation and process, both.
 *
 * Host calls are sorted by correlation; device rows come in order of time, so their call mostly is the next one. A file
 * whose device rows name no process of a host call (a text trace numbers devices, not processes) holds one process: there
 * the correlation alone is the key.
 */
#include "analyzer/nest.h"
#include "analyzer/sortkey.h"

#include <pthread.h>
#include <stdlib.h>

struct calls {
    const struct tracedata *d;
    struct sortkey *v;
    size_t n, hint;
};

static uint32_t host_process(const struct tracedata *d, const struct event *ev)
{
    return d->threads[ev->thread].process;
}

static struct calls collect(const struct tracedata *d, uint8_t *has_calls)
{
    struct calls c = {.d = d};
    size_t cap = 0;
    for (size_t i = 0; i < d->n; i++) {
        if (d->ev[i].kind != EV_RUNTIME || d->ev[i].correlation < 0)
            continue;
        has_calls[host_process(d, &d->ev[i])] = 1;
        ARRAY_PUSH(c.v, c.n, cap, ((struct sortkey){d->ev[i].correlation, (uint32_t)i}));
    }
    cap = 0;
    struct sortkey *tmp = c.n ? array_grow(NULL, &cap, c.n, sizeof *tmp) : NULL;
    sortkeys(c.v, tmp, c.n);
    free(tmp);
    return c;
}

static size_t first_at(const struct calls *c, int64_t correlation)
{
    size_t lo = 0, hi = c->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (c->v[mid].key < correlation)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* 1 + the call's row; any_process: the correlation alone decides. */
static uint32_t lookup(struct calls *c, int64_t correlation, uint32_t process, bool any_process)
{
    size_t i = c->hint;
    if (i >= c->n || c->v[i].key != correlation || (i && c->v[i - 1].key == correlation))
        i = first_at(c, correlation);
    for (; i < c->n && c->v[i].key == correlation; i++)
        if (any_process || host_process(c->d, &c->d->ev[c->v[i].at]) == process) {
            c->hint = i + 1;
            return c->v[i].at + 1;
        }
    return 0;
}

uint32_t *launches_find(const struct trace_file *f, struct arena *a)
{
    const struct tracedata *d = &f->d;
    uint32_t *of = arena_array(a, uint32_t, d->n + 1);
    uint8_t *has_calls = arena_array(a, uint8_t, d->nprocesses);
    struct calls c = collect(d, has_calls);
    size_t hosts = 0;
    for (size_t p = 0; p < d->nprocesses; p++)
        hosts += has_calls[p];
    for (size_t i = 0; c.n && i < d->n; i++) {
        const struct event *ev = &d->ev[i];
        if (ev_kind_class((enum ev_kind)ev->kind) != EV_WORK || ev->correlation < 0)
            continue;
        uint32_t process = d->streams[ev->stream].process;
        of[i] = lookup(&c, ev->correlation, process, hosts == 1 && !has_calls[process]);
    }
    free(c.v);
    return of;
}

struct launches {
    pthread_mutex_t lock;
    const uint32_t *of; /* NULL: not asked for yet */
    struct arena arena;
};

struct launches *launches_new(void)
{
    size_t cap = 0;
    struct launches *l = array_grow(NULL, &cap, 1, sizeof *l);
    *l = (struct launches){0};
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

void launches_free(struct launches *l)
{
    if (!l)
        return;
    pthread_mutex_destroy(&l->lock);
    arena_free(&l->arena);
    free(l);
}

const uint32_t *launches_of(const struct trace_file *f)
{
    struct launches *l = f->launches;
    pthread_mutex_lock(&l->lock);
    if (!l->of)
        l->of = launches_find(f, &l->arena);
    const uint32_t *of = l->of;
    pthread_mutex_unlock(&l->lock);
    return of;
}
