/* recorder_left.h - processes that do not end well: what they report, numbered, and whether all of it is in what they left. */
#pragma once
#include "recorder_run.h"

#include "schemas/recover.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { WORKERS = 4 };

static _Atomic int64_t *said; /* by worker: events that it has reported; survives the process */
static char left[80];

static const struct site sites[] = {{"forward", "model.py", 10}, {"backward", "model.py", 20}};

/* Event i of a worker says in each of its fields which one it is. */
static inline void emit_numbered(struct recorder *r, int worker, int64_t i)
{
    static const char *const names[] = {"all_gather", "all_to_all", "broadcast"};
    struct activity a = event(worker, i);
    union emit_more more = {.comm = {i % 2 ? "bf16" : NULL, i}};
    char name[32];
    if (i % 3 == 0) {
        a.kind = EV_COMM;
        a.name = a.function = names[i % 9 / 3];
        a.group = worker % 2 ? "cp" : "grad";
        a.sequence = i;
        recorder_emit_as(r, &a, &(struct emit_as){.more = &more});
        return;
    }
    snprintf(name, sizeof name, "name %d", (int)(i % 50));
    a.name = i % 3 == 1 ? name : "item";
    a.transient = i % 3 == 1;
    a.site = i % 3 == 2 ? &sites[i % 2] : NULL;
    recorder_emit(r, &a);
}

static inline void check_numbered(const struct tracedata *d, const struct event *v)
{
    const struct ev_comm *c = ev_comm_of(d, v);
    int64_t i = v->correlation;
    const char *name = intern_str(&d->strings, v->name);
    char want[32];
    snprintf(want, sizeof want, "name %d", (int)(i % 50));
    if (i % 3 == 0) {
        assert_string_equal(name, i % 9 == 0 ? "all_gather" : i % 9 == 3 ? "all_to_all" : "broadcast");
        assert_string_equal(intern_str(&d->strings, c->function), name);
        assert_string_equal(intern_str(&d->strings, c->communicator), v->rank % 2 ? "cp" : "grad");
        assert_string_equal(intern_str(&d->strings, c->dtype), i % 2 ? "bf16" : "");
        assert_true(c->sequence == i && c->message_bytes == i);
        return;
    }
    assert_string_equal(name, i % 3 == 1 ? want : "item");
    assert_int_equal(d->sites[v->site].line, i % 3 == 1 ? 0 : i % 2 ? 20 : 10);
}

struct worker {
    struct recorder *r;
    int number;
    int64_t until, pause; /* a pause of so many us from time to time */
};

static inline void *report_all(void *p)
{
    struct worker *w = p;
    for (int64_t i = 0; i < w->until; i++) {
        emit_numbered(w->r, w->number, i);
        atomic_store(&said[w->number], i + 1);
        if (w->pause && i % 256 == 255)
            usleep((useconds_t)w->pause);
    }
    return NULL;
}

/* The life of a process that does not end well. */
static inline void be_killed(int64_t until, int64_t pause, void (*end)(void))
{
    pthread_t t[WORKERS];
    struct worker w[WORKERS];
    struct recorder *r = recorder_open(&(struct recorder_config){.out = left});
    recorder_meta(r, "mode", "before");
    for (int i = 0; i < WORKERS; i++) {
        w[i] = (struct worker){r, i, until, pause};
        pthread_create(&t[i], NULL, report_all, &w[i]);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(t[i], NULL);
    recorder_meta(r, "mode", "after");
    end();
}

static inline void start_over(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-ring"};
    char s[100];
    snprintf(left, sizeof left, "left-%d.sqlite", (int)getpid());
    for (int i = 0; i < 4; i++) {
        snprintf(s, sizeof s, "%s%s", left, ends[i]);
        unlink(s);
    }
    if (!said)
        said = mmap(NULL, WORKERS * sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < WORKERS; i++)
        said[i] = 0;
}

static inline void check_left(const char *mode)
{
    struct tracedata d;
    struct err e = {0};
    int64_t n[WORKERS] = {0}, last[WORKERS] = {-1, -1, -1, -1};
    tracedata_init(&d);
    assert_ok(tracefile_load(left, &d, &e), &e);
    for (size_t i = 0; i < d.n; i++) {
        const struct event *v = &d.ev[i];
        if (v->correlation != last[v->rank] + 1)
            fail_msg("worker %d: event %lld after %lld", v->rank, (long long)v->correlation, (long long)last[v->rank]);
        last[v->rank] = v->correlation;
        n[v->rank]++;
        check_numbered(&d, v);
    }
    for (int i = 0; i < WORKERS; i++)
        if (n[i] < said[i] || n[i] > said[i] + 1)
            fail_msg("worker %d has reported %lld events, %lld are there", i, (long long)said[i], (long long)n[i]);
    assert_int_equal(d.nloss, 0);
    assert_int_equal(d.nprocesses, 2);
    assert_string_equal(tracedata_meta_get(&d, "clean_end"), "0");
    assert_string_equal(tracedata_meta_get(&d, "backend"), "cpu");
    if (mode)
        assert_string_equal(tracedata_meta_get(&d, "mode"), mode);
    assert_int_equal(recover_left(left), LEFT_NOTHING);
    tracedata_free(&d);
    unlink(left);
}

static inline void exit_at_once(void)
{
    _exit(0);
}
