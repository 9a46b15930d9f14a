/* writer.c - the writer thread: drains the rings, turns events into rows, commits them several times a second.
 *
 * A batch is one transaction: BATCH events or what came in COMMIT_NS, so that a killed program loses less than that and a
 * fork waits no longer than one batch takes. The thread polls: waking it would cost the program a system call per event.
 */
#include "collector/recorder_parts.h"
#include "collector/fds.h"
#include "collector/size_limit.h"
#include "collector/writer_file.h"
#include "schemas/arena.h"
#include "schemas/clock.h"
#include "schemas/feed.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BATCH = 8192, TURN = 4096, NICE = -10 };
enum { COMMIT_NS = 100000000, FACTS_NS = 500000000, POLL_NS = 10000000, POLL_IDLE_NS = 40000000 };

struct writer {
    struct recorder *r;
    struct tracedata d;
    struct feed feed;
    struct tracefile *file; /* NULL before the first event */
    uint32_t news;          /* r->news as written */
    int64_t committed, facts_at, checked;
    struct size_limit limit;
    bool losing; /* events were dropped since the last look as well: */
    size_t loss; /* the row that says so */
    bool broken; /* the file cannot be written any more */
    int64_t threads;
    struct deftable defs;
    struct defs_cursor defs_at;
    struct ring_mark *marks; /* of the rings that moved since the last commit */
    size_t nmarks, marks_cap;
};

/* The mutex that this thread holds, for the way out when memory ends. */
static _Thread_local pthread_mutex_t *held;
static _Thread_local struct writer *current;

static void take(pthread_mutex_t *m)
{
    pthread_mutex_lock(m);
    held = m;
}

static void release(pthread_mutex_t *m)
{
    held = NULL;
    pthread_mutex_unlock(m);
}

/* The recorder stands aside: the rings take nothing more, and what is in them is of no use. */
static void stand_aside(struct writer *w, const char *why)
{
    char text[1100];
    int64_t now = clock_now() - w->d.t0;
    snprintf(text, sizeof text, "%s; recording stops here", why);
    recorder_say(text);
    tracedata_loss(&w->d, "recording stopped: the file could not be written", -1, now, now);
    atomic_store(&w->r->generation, RINGS_CLOSED);
    w->broken = true;
}

static void end(struct recorder *r)
{
    struct rusage use;
    getrusage(RUSAGE_THREAD, &use);
    pthread_mutex_lock(&r->lock);
    r->writer_ns = (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * INT64_C(1000000000) + (use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1000;
    r->ended = true;
    pthread_cond_broadcast(&r->wake);
    pthread_mutex_unlock(&r->lock);
}

static void memory_ended(void)
{
    if (held)
        release(held);
    recorder_say("out of memory; recording stops here");
    atomic_store(&current->r->generation, RINGS_CLOSED);
    end(current->r);
    pthread_exit(NULL);
}

/* The name as it is now: threads are often named after their first event. */
static uint32_t thread_of(struct writer *w, const struct ring *g)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", g->tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, name, sizeof name - 1);
    if (fd >= 0)
        close(fd);
    name[n > 0 ? n - 1 : 0] = '\0';
    w->threads++;
    return tracedata_thread(&w->d, w->feed.process, g->tid, *name ? name : g->name);
}

static void facts(struct writer *w, int64_t now)
{
    struct recorder *r = w->r;
    w->news = atomic_load(&r->news);
    w->facts_at = now;
    take(&r->lock);
    for (size_t i = 0; i < r->nfacts; i++)
        tracedata_meta(&w->d, r->facts[i].key, r->facts[i].value);
    if (*r->degraded)
        tracedata_meta(&w->d, "degraded", r->degraded);
    notes_feed(&r->notes, &w->d);
    release(&r->lock);
}

static bool open_file(struct writer *w, struct err *e)
{
    struct recorder *r = w->r;
    facts(w, clock_now());
    if (writer_file_simulated(&w->d))
        writer_file_virtual(&w->d);
    take(&r->gate);
    w->file = writer_file_open(r, &w->d, e);
    release(&r->gate);
    return w->file != NULL;
}

/* The facts are due at the start of the file, and later when they changed. */
static bool facts_due(const struct writer *w, int64_t now)
{
    return w->file && w->news != atomic_load(&w->r->news) && now - w->facts_at > FACTS_NS;
}

static struct ring *first_ring(const struct writer *w)
{
    return atomic_load_explicit(&w->r->rings, memory_order_acquire);
}

/* How far the rings were read: all of it is in w->d, or in the file. */
static void mark_rings(struct writer *w)
{
    w->nmarks = 0;
    for (struct ring *g = first_ring(w); g; g = atomic_load(&g->next)) {
        struct ring_mark m = {g->number, ring_position(g)};
        if (m.read == g->marked)
            continue;
        ARRAY_PUSH(w->marks, w->nmarks, w->marks_cap, m);
        g->marked = m.read;
    }
    tracefile_marks(w->file, w->marks, w->nmarks);
}

static void release_rings(struct writer *w)
{
    for (struct ring *g = first_ring(w); g; g = atomic_load(&g->next))
        ring_release(g, &w->r->pool);
}

static bool write_batch(struct writer *w, bool with_facts, struct err *e)
{
    struct recorder *r = w->r;
    if (with_facts)
        facts(w, clock_now());
    mark_rings(w);
    take(&r->gate);
    bool ok = (!with_facts || tracefile_facts(w->file, &w->d, e)) && tracefile_append(&w->d, w->file, e);
    if (ok)
        size_limit_written(&w->limit, &w->d, w->limit.most < 0 ? 0 : tracefile_bytes(w->file));
    release(&r->gate);
    return ok;
}

/* Nothing more is taken, though the program goes on. */
static void stop(struct writer *w, const char *why)
{
    tracedata_meta(&w->d, "record_stopped", why);
    atomic_store(&w->r->generation, RINGS_CLOSED);
}

static void stop_when_full(struct writer *w)
{
    int64_t now = clock_now() - w->d.t0;
    if (!size_limit_reached(&w->limit))
        return;
    tracedata_loss(&w->d, "recording stopped: the file has the size of --max-size", -1, now, now);
    stop(w, "max-size");
}

static void commit(struct writer *w)
{
    struct err e = {0};
    int64_t events = (int64_t)w->d.n;
    bool fresh = !w->file;
    w->committed = clock_now();
    if (events && !w->broken) {
        bool ok = (!fresh || open_file(w, &e)) && write_batch(w, fresh || facts_due(w, w->committed), &e);
        atomic_fetch_add(&w->r->events, ok ? events : 0);
        if (ok)
            stop_when_full(w);
        else
            stand_aside(w, e.msg);
        release_rings(w);
    }
    if (w->broken)
        w->d.n = w->d.nsyncs = w->d.nkernels = w->d.ncomms = w->d.ncopies = w->d.nranges = 0;
}

static void read_definitions(struct writer *w)
{
    const struct def *def;
    while ((def = defs_next(&w->r->defs, &w->defs_at)))
        if (def->kind == DEF_FRAME || def->kind == DEF_STACK || def->kind == DEF_MODULE)
            deftable_add(&w->defs, def);
}

/* What this ring has, up to a turn's worth. */
static size_t drain_ring(struct writer *w, struct ring *g)
{
    int state = atomic_load_explicit(&g->state, memory_order_acquire);
    if (state == RING_FREE)
        return 0;
    size_t n = 0;
    const struct slot *s = NULL;
    pool_ahead(&w->r->pool);
    for (; n < TURN && !size_limit_reached(&w->limit) && (s = ring_next(g)); n++) {
        if (!g->thread)
            g->thread = thread_of(w, g);
        if (s->stack)
            read_definitions(w); /* it was defined before the event was put */
        feed_slot(&w->feed, s, s->tid == g->tid ? g->thread : tracedata_thread(&w->d, w->feed.process, s->tid, NULL));
        if (w->d.n >= BATCH || size_limit_due(&w->limit, &w->d))
            commit(w);
    }
    if (!s && state == RING_DONE) {
        g->thread = 0;
        atomic_store_explicit(&g->state, RING_FREE, memory_order_release);
    }
    return n;
}

/* Nothing once the file is full: what the rings hold would make it some times as large. */
static size_t drain(struct writer *w)
{
    size_t n = 0;
    for (struct ring *g = first_ring(w); g && !size_limit_reached(&w->limit); g = atomic_load(&g->next))
        n += drain_ring(w, g);
    return n;
}

/* Events dropped since the last look: one row of loss for as long as it goes on. */
static void count_losses(struct writer *w)
{
    struct recorder *r = w->r;
    struct tracedata *d = &w->d;
    int64_t lost = atomic_exchange(&r->in_signal, 0), now = clock_now();
    for (struct ring *g = atomic_load(&r->rings); g; g = atomic_load(&g->next)) {
        int64_t seen = atomic_load_explicit(&g->lost, memory_order_relaxed);
        lost += seen - g->lost_seen;
        g->lost_seen = seen;
    }
    if (lost && w->losing) {
        d->loss[w->loss].count += lost;
        d->loss[w->loss].end = now - d->t0;
    } else if (lost) {
        w->loss = d->nloss;
        tracedata_loss(d, RINGFILE_DROPPED, lost, w->checked - d->t0, now - d->t0);
    }
    if (lost)
        atomic_fetch_add(&r->news, 1);
    atomic_fetch_add(&r->lost, lost);
    w->losing = lost > 0;
    w->checked = now;
}

static bool closing(struct recorder *r)
{
    pthread_mutex_lock(&r->lock);
    recorder_check_ring(r);
    bool yes = r->closing;
    pthread_mutex_unlock(&r->lock);
    return yes;
}

static void pause_for(struct recorder *r, int64_t ns)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ns;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&r->lock);
    if (!r->closing)
        pthread_cond_timedwait(&r->wake, &r->lock, &until);
    pthread_mutex_unlock(&r->lock);
}

/* Is the recording over though the program goes on? */
static bool reached_limit(struct writer *w)
{
    bool full = size_limit_reached(&w->limit), over = !full && control_over(&w->r->control, clock_now());
    if (over)
        stop(w, "duration");
    return over || full;
}

static void work(struct writer *w)
{
    struct recorder *r = w->r;
    for (bool last = false; !last && !w->broken;) {
        last = closing(r) || reached_limit(w);
        size_t n = drain(w);
        while (last && drain(w))
            ;
        count_losses(w);
        if (last || clock_now() - w->committed > COMMIT_NS)
            commit(w);
        if (!last && n < TURN)
            pause_for(r, n ? POLL_NS : POLL_IDLE_NS);
    }
}

static void finish(struct writer *w)
{
    struct recorder *r = w->r;
    struct err e = {0};
    if (!w->file) {
        recorder_end_files(r, false);
        return;
    }
    facts(w, clock_now());
    writer_file_costs(r, &w->d, w->threads);
    mark_rings(w);
    take(&r->gate);
    bool ok = w->broken ? tracefile_facts(w->file, &w->d, &e) : tracefile_finish(w->file, &w->d, &e);
    if (w->broken)
        tracefile_close(w->file);
    release(&r->gate);
    if (!ok && !w->broken)
        recorder_say(e.msg);
    if (!w->broken) /* else the rings hold what the file does not: cpscope recover puts it there, as cpscope record does at its end */
        recorder_end_files(r, true);
}

void *writer_main(void *recorder)
{
    struct recorder *r = recorder;
    struct writer w = {.r = r, .committed = clock_now(), .checked = r->t0, .limit = size_limit(r->max_size)};
    struct launch l = launch_env();
    char host[256] = "";
    current = &w;
    arena_exhausted = memory_ended;
    take(&r->gate); /* a child of a fork would never see SQLite's own lock opened again */
    fds_move_up();
    release(&r->gate);
    prctl(PR_SET_NAME, "cpscope");
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE); /* where allowed: on full cores the rings would fill up */
    gethostname(host, sizeof host - 1);
    tracedata_init(&w.d);
    w.d.t0 = r->t0;
    feed_init(&w.feed, &w.d, tracedata_process(&w.d, getpid(), host, l.rank), l.rank);
    w.feed.defs = &w.defs;
    work(&w);
    finish(&w);
    feed_free(&w.feed);
    deftable_free(&w.defs);
    free(w.marks);
    tracedata_free(&w.d);
    end(r);
    return NULL;
}
