/* test_recorder.c - every event arrives once and in order, or is counted as lost; nothing exists without events. */
#include "unit.h"

#include "collector/ranges.h"
#include "collector/recorder.h"
#include "collector/text.h"
#include "schemas/clock.h"
#include "schemas/tracefile.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 16 };

static char path[64];

static struct recorder *open_recorder(size_t cap)
{
    snprintf(path, sizeof path, "recorder-%d.sqlite", (int)getpid());
    unlink(path);
    return recorder_open(&(struct recorder_config){.out = path, .memory_cap = cap});
}

static void load(struct tracedata *d)
{
    struct err e = {0};
    tracedata_init(d);
    assert_ok(tracefile_load(path, d, &e), &e);
    unlink(path);
}

static struct activity event(int rank, int64_t i)
{
    struct activity a = ACTIVITY_NONE;
    a.what = ACT_EVENT;
    a.kind = EV_OP;
    a.name = "item";
    a.rank = rank;
    a.correlation = i;
    a.start = clock_now();
    a.end = a.start + 1;
    return a;
}

/* ---- many threads ---- */

struct job {
    struct recorder *r;
    int number;
    int64_t n;
    uint64_t seed;
    bool slow;
};

static uint64_t next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

/* Some names are transient: short, empty, and too long for a chunk. */
static void *emit_all(void *p)
{
    struct job *j = p;
    static char huge[70000];
    char name[32];
    for (int64_t i = 0; i < j->n; i++) {
        struct activity a = event(j->number, i);
        uint64_t x = next(&j->seed);
        if (x % 8 == 0) {
            snprintf(name, sizeof name, "name %d", (int)(x >> 8 & 63));
            a.name = x % 64 ? name : x % 128 ? "" : huge;
            a.transient = true;
        }
        recorder_emit(j->r, &a);
        if (j->slow && x % 512 == 0)
            usleep((useconds_t)(x >> 20 & 1023));
    }
    return NULL;
}

static int64_t emit_from_threads(struct recorder *r, int64_t n, bool slow)
{
    pthread_t t[THREADS];
    struct job jobs[THREADS];
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){r, i, n + (int64_t)rnd(100), rnd(1u << 30) + 1, slow};
        assert_int_equal(pthread_create(&t[i], NULL, emit_all, &jobs[i]), 0);
    }
    int64_t total = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        total += jobs[i].n;
    }
    return total;
}

/* The events of each rank: numbers only grow; without losses they are 0, 1, 2 ... */
static void check_order(const struct tracedata *d, bool whole)
{
    int64_t last[THREADS];
    uint32_t thread[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        last[i] = -1;
    for (size_t i = 0; i < d->n; i++) {
        const struct event *v = &d->ev[i];
        if (whole ? v->correlation != last[v->rank] + 1 : v->correlation <= last[v->rank])
            fail_msg("rank %d: event %lld after %lld", v->rank, (long long)v->correlation, (long long)last[v->rank]);
        last[v->rank] = v->correlation;
        if (thread[v->rank] && thread[v->rank] != v->thread)
            fail_msg("rank %d is on two threads", v->rank);
        thread[v->rank] = v->thread;
        assert_int_equal(v->end - v->start, 1);
    }
}

TEST(every_event_arrives_once_and_in_order)
{
    PROP(3)
    {
        struct tracedata d;
        struct recorder *r = open_recorder(0);
        int64_t n = emit_from_threads(r, 4000, true);
        recorder_close(r);
        struct recorder_stats s = recorder_stats(r);
        assert_int_equal(s.events, n);
        assert_int_equal(s.lost, 0);
        load(&d);
        assert_int_equal(d.n, n);
        assert_int_equal(d.nloss, 0);
        assert_string_equal(tracedata_meta_get(&d, "clean_end"), "1");
        check_order(&d, true);
        tracedata_free(&d);
        recorder_free(r);
    }
}

TEST(losses_are_counted_exactly)
{
    PROP(3)
    {
        struct tracedata d;
        struct recorder *r = open_recorder((size_t)20 << 16);
        int64_t n = emit_from_threads(r, 20000, false), lost = 0;
        recorder_close(r);
        struct recorder_stats s = recorder_stats(r);
        assert_int_equal(s.events + s.lost, n);
        if (s.lost == 0)
            fail_msg("nothing was lost: the test says nothing");
        load(&d);
        assert_int_equal(d.n, s.events);
        for (size_t i = 0; i < d.nloss; i++) {
            lost += d.loss[i].count;
            assert_true(d.loss[i].start <= d.loss[i].end);
        }
        assert_int_equal(lost, s.lost);
        check_order(&d, false);
        tracedata_free(&d);
        recorder_free(r);
    }
}

static void *emit_one(void *p)
{
    struct job *j = p;
    struct activity a = event(0, j->n);
    pthread_setname_np(pthread_self(), "shortlived");
    recorder_emit(j->r, &a);
    return NULL;
}

/* Rings are used again, and each thread keeps its own number and name. */
TEST(threads_come_and_go)
{
    struct tracedata d;
    struct recorder *r = open_recorder(0);
    enum { N = 300 };
    for (int i = 0; i < N; i++) {
        pthread_t t;
        struct job j = {.r = r, .n = i};
        assert_int_equal(pthread_create(&t, NULL, emit_one, &j), 0);
        pthread_join(t, NULL);
        if (i % 50 == 49)
            usleep(60000); /* the writer looks in between */
    }
    recorder_close(r);
    assert_true(recorder_stats(r).bytes_peak < N / 2 * (1 << 16));
    load(&d);
    assert_int_equal(d.n, N);
    for (size_t i = 0; i < d.n; i++)
        assert_string_equal(intern_str(&d.strings, d.threads[d.ev[i].thread].name), "shortlived");
    tracedata_free(&d);
    recorder_free(r);
}

/* ---- what becomes of one event ---- */

static const struct event *find(const struct tracedata *d, const char *name)
{
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(intern_str(&d->strings, d->ev[i].name), name) == 0)
            return &d->ev[i];
    fail_msg("no event is called %s", name);
    return NULL;
}

static void emit_kinds(struct recorder *r)
{
    static const struct site here = {"route_build", "kernels/layout/route.c", 42};
    struct activity a = event(2, 7);
    a.kind = EV_RANGE;
    a.name = "layer";
    a.sequence = 3;
    recorder_emit(r, &a);
    a = event(2, 8);
    a.kind = EV_RANGE;
    a.name = a.text = "cpscope.batch tokens=1";
    a.transient = true;
    a.end = a.start;
    recorder_emit(r, &a);
    a = event(2, 9);
    a.kind = EV_RUNTIME;
    a.name = "deviceStreamSynchronize";
    a.sync_class = SYNC_STREAM;
    a.did_block = 1;
    a.device = 1;
    a.stream = 13;
    a.site = &here;
    recorder_emit(r, &a);
    a = event(2, 10);
    a.kind = EV_COMM;
    a.name = "comm.all_gather";
    a.function = "all_gather";
    a.group = "cp";
    a.sequence = 5;
    a.group_size = 4;
    a.bytes = 4096;
    a.device = 1;
    a.stream = 7;
    recorder_emit(r, &a);
    a = event(2, 11);
    a.kind = EV_MEMCPY;
    a.name = "copy";
    a.copy_kind = COPY_DTOH;
    recorder_emit(r, &a);
    a.what = ACT_MEMORY;
    a.name = "peak";
    a.bytes = 1 << 20;
    recorder_emit(r, &a);
    a.what = ACT_META;
    a.name = "mode";
    a.text = "gdn.chunkwise";
    recorder_emit(r, &a);
}

TEST(events_keep_what_they_say)
{
    struct tracedata d;
    struct recorder *r = open_recorder(0);
    emit_kinds(r);
    recorder_close(r);
    load(&d);
    assert_int_equal(d.n, 5);
    const struct event *v = find(&d, "layer#3");
    assert_int_equal(ev_range_of(&d, v)->index, 3);
    assert_int_equal(ev_range_of(&d, v)->flavour, RANGE_PUSH_POP);
    assert_int_equal(d.threads[v->thread].tid, getpid());
    assert_int_equal(v->rank, 2);
    v = find(&d, "cpscope.batch tokens=1");
    assert_int_equal(ev_range_of(&d, v)->flavour, RANGE_MARK);
    v = find(&d, "deviceStreamSynchronize");
    assert_int_equal(ev_sync_of(&d, v)->class, SYNC_STREAM);
    assert_int_equal(ev_sync_of(&d, v)->did_block, 1);
    assert_int_equal(ev_sync_of(&d, v)->wait_stream, 13);
    assert_int_equal(d.sites[v->site].line, 42);
    assert_string_equal(intern_str(&d.strings, d.sites[v->site].function), "route_build");
    v = find(&d, "comm.all_gather");
    assert_int_equal(ev_comm_of(&d, v)->sequence, 5);
    assert_int_equal(ev_comm_of(&d, v)->group_size, 4);
    assert_int_equal(ev_comm_of(&d, v)->peer, -1);
    assert_string_equal(intern_str(&d.strings, ev_comm_of(&d, v)->communicator), "cp");
    assert_string_equal(intern_str(&d.strings, ev_comm_of(&d, v)->function), "all_gather");
    assert_int_equal(v->bytes, 4096);
    assert_int_equal(v->thread, 0);
    assert_int_equal(d.streams[v->stream].native, 7);
    assert_int_equal(d.streams[v->stream].device, 1);
    assert_int_equal(ev_copy_of(&d, find(&d, "copy"))->kind, COPY_DTOH);
    assert_int_equal(d.nmemory, 1);
    assert_int_equal(d.memory[0].bytes, 1 << 20);
    assert_int_equal(d.nclocks, 2);
    assert_string_equal(tracedata_meta_get(&d, "mode"), "gdn.chunkwise");
    assert_string_equal(tracedata_meta_get(&d, "record_events"), "5");
    tracedata_free(&d);
    recorder_free(r);
}

TEST(virtual_time_starts_at_zero)
{
    struct tracedata d;
    struct recorder *r = open_recorder(0);
    struct activity a = event(0, 1);
    a.start = 1000;
    a.end = 1500;
    recorder_meta(r, "backend", "sim");
    recorder_emit(r, &a);
    recorder_close(r);
    load(&d);
    assert_int_equal(d.t0, 0);
    assert_int_equal(d.ev[0].start, 1000);
    assert_int_equal(d.ev[0].end, 1500);
    assert_int_equal(d.nclocks, 0);
    tracedata_free(&d);
    recorder_free(r);
}

TEST(nothing_without_an_event)
{
    struct recorder *r = open_recorder(0);
    struct activity a = event(0, 0);
    errno = ENOTTY;
    recorder_meta(r, "mode", "x");
    a.what = ACT_META;
    a.text = "y";
    recorder_emit(r, &a);
    recorder_close(r);
    assert_int_equal(errno, ENOTTY);
    assert_int_equal(access(path, F_OK), -1);
    assert_null(recorder_stats(r).path);
    recorder_free(r);
}

TEST(kinds_are_chosen)
{
    struct tracedata d;
    snprintf(path, sizeof path, "recorder-%d.sqlite", (int)getpid());
    struct recorder *r = recorder_open(&(struct recorder_config){.out = path, .kinds = 1u << EV_RANGE | 1u << EV_COMM});
    emit_kinds(r);
    recorder_close(r);
    load(&d);
    assert_int_equal(d.n, 3);
    assert_string_equal(tracedata_meta_get(&d, "record_kinds"), "comm,range");
    tracedata_free(&d);
    recorder_free(r);
}

/* ---- names and files ---- */

TEST(an_existing_file_is_not_touched)
{
    struct recorder *r = open_recorder(0);
    struct activity a = event(0, 0);
    struct stat st;
    FILE *f = fopen(path, "w");
    fputs("mine", f);
    fclose(f);
    recorder_emit(r, &a);
    recorder_close(r);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 4);
    char want[64];
    snprintf(want, sizeof want, "recorder-%d.%d.sqlite", (int)getpid(), (int)getpid());
    assert_string_equal(recorder_stats(r).path, want);
    unlink(want);
    recorder_free(r);
    r = recorder_open(&(struct recorder_config){.out = path, .replace_before = clock_of(CLOCK_REALTIME) + 1000000000});
    recorder_emit(r, &a);
    recorder_close(r);
    assert_string_equal(recorder_stats(r).path, path);
    recorder_free(r);
    unlink(path);
}

TEST(a_file_that_cannot_be_written_harms_nobody)
{
    struct recorder *r = recorder_open(&(struct recorder_config){.out = "no-such-folder/x.sqlite"});
    for (int i = 0; i < 100; i++) {
        struct activity a = event(0, i);
        recorder_emit(r, &a);
    }
    recorder_close(r);
    assert_int_equal(recorder_stats(r).events, 0);
    recorder_free(r);
}

/* The program's descriptors keep their numbers while the file is open. */
TEST(descriptors_stay_free)
{
    int before = dup(0);
    close(before);
    struct recorder *r = open_recorder(0);
    struct activity a = event(0, 0);
    recorder_emit(r, &a);
    for (int i = 0; i < 200 && access(path, F_OK) != 0; i++)
        usleep(10000);
    usleep(50000);
    int after = dup(0);
    close(after);
    assert_int_equal(after, before);
    recorder_close(r);
    assert_int_equal(recorder_stats(r).events, 1);
    unlink(path);
    recorder_free(r);
}

/* ---- forks and signals ---- */

TEST(a_forked_child_records_for_itself)
{
#ifdef __SANITIZE_THREAD__
    skip(); /* its runtime lets no thread start in the child of a program with threads */
#endif
    struct tracedata d;
    struct recorder *r = open_recorder(0);
    struct activity a = event(0, 0);
    recorder_emit(r, &a);
    recorder_fork_before(r);
    pid_t child = fork();
    if (child == 0) {
        recorder_fork_in_child(r);
        for (int i = 0; i < 3; i++)
            recorder_emit(r, &a);
        recorder_close(r);
        _exit(recorder_stats(r).events == 3 ? 0 : 1);
    }
    recorder_fork_after(r);
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    recorder_emit(r, &a);
    recorder_close(r);
    char own[64];
    snprintf(own, sizeof own, "recorder-%d.%d.sqlite", (int)getpid(), (int)child);
    if (access(own, F_OK) != 0) /* whoever came first has the name itself */
        snprintf(own, sizeof own, "recorder-%d.%d.sqlite", (int)getpid(), (int)getpid());
    assert_int_equal(access(own, F_OK), 0);
    unlink(own);
    load(&d);
    assert_true(d.n == 2 || d.n == 3);
    tracedata_free(&d);
    recorder_free(r);
}

static struct recorder *of_handler;
static _Atomic int64_t from_handler;

static void on_signal(int number)
{
    struct activity a = event(1, from_handler);
    (void)number;
    recorder_emit(of_handler, &a);
    from_handler++;
}

/* An event out of a handler that came into the middle of another is dropped and counted. */
TEST(signal_handlers_may_emit)
{
    struct recorder *r = of_handler = open_recorder(0);
    struct activity a = event(0, 0);
    struct timespec start;
    recorder_emit(r, &a);
    signal(SIGPROF, on_signal);
    timer_t timer;
    struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    clock_gettime(CLOCK_MONOTONIC, &start);
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &how, &timer), 0);
    timer_settime(timer, 0, &(struct itimerspec){{0, 20000}, {0, 20000}}, NULL);
    int64_t n = 1;
    for (int64_t end = clock_now() + 300000000; clock_now() < end; n++)
        recorder_emit(r, &a);
    timer_delete(timer);
    usleep(1000);
    signal(SIGPROF, SIG_DFL);
    recorder_close(r);
    struct recorder_stats s = recorder_stats(r);
    assert_int_equal(s.events + s.lost, n + from_handler);
    assert_true(from_handler > 100);
    unlink(path);
    recorder_free(r);
}

/* ---- kept texts and open ranges ---- */

static void *keep_many(void *p)
{
    const char **kept = p;
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < 5000; i++) {
            char s[32];
            snprintf(s, sizeof s, "text number %d", i);
            const char *k = text_keep(s);
            if (strcmp(k, s) != 0 || (kept[i] && kept[i] != k))
                return p;
            kept[i] = k;
        }
    return NULL;
}

TEST(equal_texts_are_kept_once)
{
    enum { N = 4 };
    static const char *kept[N][5000];
    pthread_t t[N];
    for (int i = 0; i < N; i++)
        pthread_create(&t[i], NULL, keep_many, kept[i]);
    for (int i = 0; i < N; i++) {
        void *wrong;
        pthread_join(t[i], &wrong);
        assert_null(wrong);
        assert_memory_equal(kept[i], kept[0], sizeof kept[0]);
    }
    assert_null(text_keep(NULL));
    assert_string_equal(text_keep_wide(L"a\u00e9\u20ac\U0001f600"), "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
}

/* Random pushes and pops of three owners on one thread, against a list that is searched from its end. */
TEST(ranges_nest_by_owner)
{
    static const char *const names[] = {"zero", "one", "two"};
    struct tracedata d;
    struct recorder *r = open_recorder(0);
    int stack[500], n = 0, depth[3] = {0};
    size_t ended[3] = {0};
    PROP(400)
    {
        int owner = (int)rnd(3);
        if (rnd(5) < 3) {
            assert_int_equal(ranges_push(r, &names[owner], owner ? names[owner] : NULL, names[owner]), depth[owner]++);
            stack[n++] = owner;
            continue;
        }
        int i = n - 1;
        while (i >= 0 && stack[i] != owner)
            i--;
        assert_int_equal(ranges_pop(r, &names[owner]), i < 0 ? -1 : --depth[owner]);
        if (i >= 0) {
            memmove(&stack[i], &stack[i + 1], (size_t)(--n - i) * sizeof *stack);
            ended[owner]++;
        }
    }
    ranges_end(r);
    recorder_close(r);
    load(&d);
    for (size_t i = 0; i < d.n; i++)
        for (size_t k = 0; k < 3; k++)
            if (strcmp(intern_str(&d.strings, d.ev[i].name), names[k]) == 0) {
                ended[k]--;
                assert_string_equal(intern_str(&d.strings, ev_range_of(&d, &d.ev[i])->domain), k ? names[k] : "");
            }
    assert_int_equal((int)(ended[0] + ended[1] + ended[2]), -n); /* those that were open ended at the end */
    assert_true(n == 0 || strstr(tracedata_meta_get(&d, "degraded"), "still open at the end"));
    tracedata_free(&d);
    recorder_free(r);
}

UNIT_MAIN(UNIT(every_event_arrives_once_and_in_order), UNIT(losses_are_counted_exactly), UNIT(threads_come_and_go), UNIT(events_keep_what_they_say),
          UNIT(virtual_time_starts_at_zero), UNIT(nothing_without_an_event), UNIT(kinds_are_chosen), UNIT(an_existing_file_is_not_touched),
          UNIT(a_file_that_cannot_be_written_harms_nobody), UNIT(descriptors_stay_free), UNIT(a_forked_child_records_for_itself),
          UNIT(signal_handlers_may_emit), UNIT(equal_texts_are_kept_once), UNIT(ranges_nest_by_owner))
