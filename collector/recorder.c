/* recorder.c - the side of the emitting threads, and the life of a recorder. */
#include "collector/options.h"
#include "collector/recorder_parts.h"
#include "schemas/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEFAULT_CAP_MB = 512, PATIENCE_S = 10 };

/* The ring of this thread, valid while the generation is the recorder's. The initial-exec model spares a call at each emit. */
static __thread struct {
    struct ring *ring;
    uint64_t generation;
    bool busy; /* inside an emit: a signal handler that emits, too, must not go on */
} mine __attribute__((tls_model("initial-exec")));

static _Atomic uint64_t generations = RINGS_CLOSED + 1;

void recorder_say(const char *text)
{
    char line[1200];
    int n = snprintf(line, sizeof line, "cpscope: %s\n", text), saved = errno;
    n = n < (int)sizeof line ? n : (int)sizeof line - 1;
    if (write(STDERR_FILENO, line, (size_t)n) < 0)
        n = 0; /* nobody to tell */
    errno = saved;
}

void recorder_clocks(int64_t reading[3])
{
    reading[0] = clock_now();
    reading[1] = clock_of(CLOCK_REALTIME);
    reading[2] = clock_now();
}

static void thread_ended(void *ring)
{
    mine.generation = 0;
    atomic_store_explicit(&((struct ring *)ring)->state, RING_DONE, memory_order_release);
}

static void begin(struct recorder *r)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&r->wake, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&r->lock, NULL);
    pthread_mutex_init(&r->gate, NULL);
    recorder_clocks(r->realtime);
    r->t0 = r->realtime[0];
    atomic_store(&r->events, 0);
    atomic_store(&r->lost, 0);
    r->writer_ns = 0;
    r->path[0] = '\0';
    atomic_store(&r->rings, NULL);
    atomic_store(&r->in_signal, 0);
    r->started = r->closing = r->ended = false;
    r->notes = (struct notes){0};
    r->pool = (struct pool){0};
    r->pool_why = 0;
    r->nrings = 0;
    defs_init(&r->defs, &r->pool);
    atomic_store(&r->generation, atomic_fetch_add(&generations, 1) + 1);
}

static char *copy(const char *s)
{
    return s ? strdup(s) : NULL;
}

struct recorder *recorder_open(const struct recorder_config *c)
{
    struct recorder *r = calloc(1, sizeof *r);
    if (!r || pthread_key_create(&r->key, thread_ended) != 0) {
        free(r);
        return NULL;
    }
    r->out = copy(c->out);
    r->command = copy(c->command);
    r->stack_threshold = copy(c->stack_threshold);
    r->replace_before = c->replace_before;
    r->kinds = c->kinds ? c->kinds : UINT32_MAX;
    r->max_size = c->options ? c->options->max_size : -1;
    r->memory_cap = c->memory_cap ? c->memory_cap : (size_t)DEFAULT_CAP_MB << 20;
    begin(r);
    const char *why = NULL;
    if (!control_init(&r->control, c->options, r->t0, &why))
        recorder_degraded(r, why);
    return r;
}

/* No signal of the program is ever handled on our thread. */
static bool start_writer(struct recorder *r)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&r->thread, NULL, writer_main, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    char text[200];
    snprintf(text, sizeof text, "nothing is recorded: no thread for it: %s", strerror(rc));
    if (rc) {
        recorder_say(text);
        recorder_end_files(r, false);
    }
    return rc == 0;
}

/* A ring that nobody uses any more, else a new one. */
static struct ring *free_ring(struct recorder *r)
{
    for (struct ring *g = atomic_load(&r->rings); g; g = atomic_load(&g->next))
        if (atomic_load_explicit(&g->state, memory_order_acquire) == RING_FREE)
            return g;
    struct ring *g = calloc(1, sizeof *g);
    if (g) {
        g->number = RING_FIRST + r->nrings++;
        g->defs = &r->defs;
        atomic_store(&g->next, atomic_load(&r->rings));
        atomic_store_explicit(&r->rings, g, memory_order_release);
    }
    return g;
}

static struct ring *ring_of_thread(struct recorder *r)
{
    struct ring *g = NULL;
    int saved = errno;
    pthread_mutex_lock(&r->lock);
    uint64_t now = atomic_load(&r->generation);
    if (now != RINGS_CLOSED && (r->started || (r->started = recorder_begin_files(r) && start_writer(r))))
        g = free_ring(r);
    else
        atomic_store(&r->generation, RINGS_CLOSED);
    if (g) {
        g->tid = (int32_t)syscall(SYS_gettid);
        prctl(PR_GET_NAME, g->name);
        defs_put(g->defs, DEF_THREAD, (uint64_t)g->tid, 0, 0, (struct def_tail){.text = {g->name}});
        atomic_store_explicit(&g->state, RING_LIVE, memory_order_release);
        pthread_setspecific(r->key, g);
        mine.ring = g;
        mine.generation = now;
    }
    pthread_mutex_unlock(&r->lock);
    errno = saved;
    return g;
}

static inline struct ring *enter(struct recorder *r)
{
    uint64_t now = atomic_load_explicit(&r->generation, memory_order_relaxed);
    if (now == RINGS_CLOSED)
        return NULL;
    if (mine.busy) {
        atomic_fetch_add_explicit(&r->in_signal, 1, memory_order_relaxed);
        return NULL;
    }
    mine.busy = true;
    atomic_signal_fence(memory_order_seq_cst);
    struct ring *g = mine.generation == now ? mine.ring : ring_of_thread(r);
    if (!g)
        mine.busy = false;
    return g;
}

static inline void leave(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    mine.busy = false;
}

struct ring *recorder_enter(struct recorder *r)
{
    return enter(r);
}

void recorder_leave(void)
{
    leave();
}

void recorder_emit_as(struct recorder *r, const struct activity *a, const struct emit_as *as)
{
    if (a->what == ACT_META) {
        if (atomic_load_explicit(&r->generation, memory_order_relaxed) != RINGS_CLOSED)
            recorder_meta(r, a->name, a->text);
        return;
    }
    if (a->what == ACT_EVENT && !(r->kinds >> a->kind & 1))
        return;
    if (r->control.active && !control_wants(&r->control, a, as->more))
        return;
    struct ring *g = enter(r);
    if (g) {
        ring_put(g, &r->pool, a, as);
        leave();
    }
}

void recorder_emit(struct recorder *r, const struct activity *a)
{
    bool mark = a->kind == EV_RANGE && a->text;
    recorder_emit_as(r, a, &(struct emit_as){.flavour = mark ? RANGE_MARK : RANGE_PUSH_POP});
}

static void set_fact(struct recorder *r, const char *key, const char *value)
{
    size_t i = 0;
    while (i < r->nfacts && strcmp(r->facts[i].key, key) != 0)
        i++;
    if (i == FACTS_MAX)
        return;
    char *k = i < r->nfacts ? r->facts[i].key : strdup(key), *v = strdup(value);
    if (!k || !v) {
        free(v);
        return;
    }
    free(r->facts[i].value);
    r->facts[i] = (struct fact){k, v};
    r->nfacts += i == r->nfacts;
    atomic_fetch_add(&r->news, 1);
    if (strcmp(key, "backend") == 0)
        atomic_store(&r->control.virtual_time, strcmp(value, "sim") == 0);
    if (r->started)
        defs_put(&r->defs, DEF_META, 0, 0, 0, (struct def_tail){.text = {key, value}});
}

void recorder_meta(struct recorder *r, const char *key, const char *value)
{
    int saved = errno;
    pthread_mutex_lock(&r->lock);
    if (key && value)
        set_fact(r, key, value);
    pthread_mutex_unlock(&r->lock);
    errno = saved;
}

void recorder_add_degraded(struct recorder *r, const char *reason)
{
    size_t n = strlen(r->degraded);
    if (strstr(r->degraded, reason))
        return;
    snprintf(r->degraded + n, sizeof r->degraded - n, "%s%s", n ? "; " : "", reason);
    atomic_fetch_add(&r->news, 1);
    if (r->started)
        defs_put(&r->defs, DEF_DEGRADED, 0, 0, 0, (struct def_tail){.text = {r->degraded}});
    recorder_say(reason);
}

int64_t recorder_epoch(const struct recorder *r)
{
    return r->t0;
}

void recorder_degraded(struct recorder *r, const char *reason)
{
    int saved = errno;
    pthread_mutex_lock(&r->lock);
    recorder_add_degraded(r, reason);
    pthread_mutex_unlock(&r->lock);
    errno = saved;
}

void recorder_lost(struct recorder *r, const char *reason, int64_t count, int64_t start, int64_t end)
{
    pthread_mutex_lock(&r->lock);
    notes_lost(&r->notes, reason, count, start, end);
    atomic_fetch_add(&r->news, 1);
    pthread_mutex_unlock(&r->lock);
}

void recorder_clock_pair(struct recorder *r, const char *clock, const int64_t reading[3])
{
    pthread_mutex_lock(&r->lock);
    notes_clock(&r->notes, clock, reading);
    atomic_fetch_add(&r->news, 1);
    pthread_mutex_unlock(&r->lock);
}

/* Waits for the writer, but not for ever: a program that ends inside a signal handler may hold what the writer needs. */
static bool writer_ended(struct recorder *r)
{
    int64_t seen = -1, written;
    while (!r->ended && (written = atomic_load(&r->events)) != seen) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += PATIENCE_S;
        seen = written;
        while (!r->ended && pthread_cond_timedwait(&r->wake, &r->lock, &until) == 0)
            ;
    }
    return r->ended;
}

void recorder_close(struct recorder *r)
{
    int saved = errno;
    pthread_mutex_lock(&r->lock);
    atomic_store(&r->generation, RINGS_CLOSED);
    bool ended = false, started = r->started && !r->closing;
    r->closing = true;
    if (started) {
        pthread_cond_broadcast(&r->wake);
        ended = writer_ended(r);
    }
    pthread_mutex_unlock(&r->lock);
    if (ended)
        pthread_join(r->thread, NULL);
    else if (started)
        recorder_say("the recording could not be finished in time; what was written so far can be read");
    errno = saved;
}

void recorder_fork_before(struct recorder *r)
{
    pthread_mutex_lock(&r->lock);
    pthread_mutex_lock(&r->gate);
}

void recorder_fork_after(struct recorder *r)
{
    pthread_mutex_unlock(&r->gate);
    pthread_mutex_unlock(&r->lock);
}

void recorder_fork_in_child(struct recorder *r)
{
    bool closed = atomic_load(&r->generation) == RINGS_CLOSED;
    if (r->pool.base)
        pool_close(&r->pool);
    mine.busy = false;
    control_forked(&r->control);
    begin(r); /* the parent's rings and connection stay behind as memory that nobody uses */
    if (closed)
        atomic_store(&r->generation, RINGS_CLOSED);
}

void recorder_free(struct recorder *r)
{
    for (struct ring *g = atomic_load(&r->rings), *next; g; g = next) {
        next = atomic_load(&g->next);
        free(g);
    }
    for (size_t i = 0; i < r->nfacts; i++) {
        free(r->facts[i].key);
        free(r->facts[i].value);
    }
    pool_close(&r->pool);
    defs_free(&r->defs);
    control_free(&r->control);
    pthread_key_delete(r->key);
    pthread_mutex_destroy(&r->lock);
    pthread_mutex_destroy(&r->gate);
    pthread_cond_destroy(&r->wake);
    free(r->out);
    free(r->command);
    free(r->stack_threshold);
    free(r);
}

struct recorder_stats recorder_stats(const struct recorder *r)
{
    return (struct recorder_stats){.events = atomic_load(&r->events),
                                   .lost = atomic_load(&r->lost),
                                   .bytes_peak = (int64_t)pool_peak(&r->pool),
                                   .writer_ns = r->writer_ns,
                                   .path = *r->path ? r->path : NULL};
}
