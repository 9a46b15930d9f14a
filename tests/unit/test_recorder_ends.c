/* test_recorder_ends.c - forks, signals, and programs that are cut off: every event that was reported is in the trace, once. */
#include "forks.h"
#include "recorder_run.h"

#include "schemas/recover.h"
#include "schemas/ringfile.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

TEST(a_forked_child_records_for_itself)
{
    needs_forks_of_threads();
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

/* ---- processes that are killed ---- */

enum { WORKERS = 4 };

static _Atomic int64_t *said; /* by worker: events that it has reported; survives the process */
static char left[80];

static const struct site sites[] = {{"forward", "model.py", 10}, {"backward", "model.py", 20}};

/* Event i of a worker says in each of its fields which one it is. */
static void emit_numbered(struct recorder *r, int worker, int64_t i)
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

static void check_numbered(const struct tracedata *d, const struct event *v)
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

static void *report_all(void *p)
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
static void be_killed(int64_t until, int64_t pause, void (*end)(void))
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

static void start_over(void)
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

static void check_left(const char *mode)
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

static void exit_at_once(void)
{
    _exit(0);
}

static void exec_another(void)
{
    execl("/bin/true", "true", (char *)NULL);
    _exit(1);
}

static void killed_by_itself(void)
{
    raise(SIGKILL);
}

TEST(nothing_is_lost_however_a_process_ends)
{
    needs_threads_in_children();
    void (*const ends[])(void) = {exit_at_once, exec_another, killed_by_itself};
    static const int64_t numbers[] = {1, 100, 30000};
    for (size_t k = 0; k < 9; k++) {
        start_over();
        pid_t child = fork();
        if (child == 0)
            be_killed(numbers[k / 3], 0, ends[k % 3]);
        waitpid(child, NULL, 0);
        check_left("after");
    }
}

TEST(nothing_is_lost_whenever_a_process_is_killed)
{
    needs_threads_in_children();
    PROP(12)
    {
        start_over();
        useconds_t wait = (useconds_t)rnd(rnd(2) ? 60000 : 400000);
        int64_t pause = (int64_t)rnd(3) * 200;
        pid_t child = fork();
        if (child == 0)
            be_killed(INT64_MAX, pause, exit_at_once);
        usleep(wait);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        char ring[100];
        snprintf(ring, sizeof ring, "%s-ring", left);
        if (access(left, F_OK) == 0 && ringfile_has_head(ring))
            check_left(NULL);
        else /* it was killed before it could have said anything */
            assert_int_equal(said[0] + said[1] + said[2] + said[3], 0);
    }
}

/* Parent and child of a fork have a ring each: the child's end takes nothing from either. */
TEST(a_forked_child_that_is_cut_off)
{
    needs_threads_in_children();
    enum { N = 2000 };
    struct tracedata d;
    struct err e = {0};
    char own[100];
    start_over();
    struct recorder *r = recorder_open(&(struct recorder_config){.out = left});
    for (int64_t i = 0; i < N / 2; i++)
        emit_numbered(r, 0, i);
    recorder_fork_before(r);
    pid_t child = fork();
    if (child == 0) {
        recorder_fork_in_child(r);
        for (int64_t i = 0; i < N; i++)
            emit_numbered(r, 1, i);
        _exit(0);
    }
    recorder_fork_after(r);
    waitpid(child, NULL, 0);
    for (int64_t i = N / 2; i < N; i++)
        emit_numbered(r, 0, i);
    recorder_close(r);
    snprintf(own, sizeof own, "left-%d.%d.sqlite", (int)getpid(), (int)child);
    for (int which = 0; which < 2; which++) {
        tracedata_init(&d);
        assert_ok(tracefile_load(which ? own : left, &d, &e), &e);
        assert_int_equal(d.n, N);
        for (int64_t i = 0; i < N; i++) {
            assert_true(d.ev[i].rank == which && d.ev[i].correlation == i);
            check_numbered(&d, &d.ev[i]);
        }
        assert_string_equal(tracedata_meta_get(&d, "clean_end"), which ? "0" : "1");
        tracedata_free(&d);
        unlink(which ? own : left);
    }
    recorder_free(r);
}

/* The ring file of a process that has reported `n` events a worker and is gone, in *size bytes. */
static char *a_ring(int64_t n, size_t *size)
{
    char ring[100];
    struct stat st;
    start_over();
    pid_t child = fork();
    if (child == 0)
        be_killed(n, 0, exit_at_once);
    waitpid(child, NULL, 0);
    snprintf(ring, sizeof ring, "%s-ring", left);
    FILE *f = fopen(ring, "rb");
    assert_int_equal(fstat(fileno(f), &st), 0);
    char *bytes = malloc((size_t)st.st_size);
    *size = fread(bytes, 1, (size_t)st.st_size, f);
    fclose(f);
    return bytes;
}

static void put_ring(const char *bytes, size_t size)
{
    char ring[100];
    snprintf(ring, sizeof ring, "%s-ring", left);
    FILE *f = fopen(ring, "wb");
    fwrite(bytes, 1, size, f);
    fclose(f);
}

/* A ring that was merged is not merged again, nor is one of another recording. */
TEST(a_ring_is_merged_once)
{
    needs_threads_in_children();
    size_t size;
    struct err e = {0};
    bool done;
    char *bytes = a_ring(500, &size);
    assert_ok(tracefile_recover(left, &done, &e), &e);
    assert_true(done);
    put_ring(bytes, size);
    check_left("after");
    char *other = a_ring(300, &size);
    assert_ok(tracefile_recover(left, &done, &e), &e);
    put_ring(bytes, size);
    check_left("after");
    free(bytes);
    free(other);
}

/* Bytes that are not as they were: an error or a trace, and nothing is read that is not there. */
/* Copied while it was being written, or by a disk that was full: what is left comes, and that some is missing is said. */
TEST(a_ring_that_was_cut_gives_what_is_left)
{
    needs_threads_in_children();
    enum { CUTS = 24 };
    size_t size, before = 0;
    struct err e = {0};
    bool done;
    char *good = a_ring(60, &size);
    for (size_t i = 0; i <= CUTS; i++) {
        struct tracedata d;
        size_t n = sizeof(struct ring_head) + (size - sizeof(struct ring_head)) * i / CUTS;
        start_over();
        fclose(fopen(left, "w"));
        put_ring(good, n);
        assert_ok(recover_merge(left, &done, &e), &e);
        assert_true(done);
        tracedata_init(&d);
        assert_ok(tracefile_load(left, &d, &e), &e);
        assert_true(d.n >= before);
        assert_int_equal(d.nloss > 0, n % CHUNK_BYTES != 0);
        before = d.n;
        tracedata_free(&d);
    }
    assert_true(before > 0);
    start_over();
    free(good);
}

TEST(a_damaged_ring_harms_nobody)
{
    needs_threads_in_children();
    size_t size;
    struct err e = {0};
    bool done;
    char *good = a_ring(60, &size), *bad = malloc(size);
    PROP(150)
    {
        memcpy(bad, good, size);
        for (uint64_t i = 1 + rnd(40); i > 0; i--) {
            size_t chunk = (rnd(6) + (rnd(4) != 0)) << 16, at = chunk + rnd(rnd(2) ? 64 : 12000);
            if (at < size)
                bad[at] = (char)(rnd(2) ? rnd(256) : (uint64_t)bad[at] ^ UINT64_C(1) << rnd(8));
        }
        start_over();
        fclose(fopen(left, "w"));
        put_ring(bad, rnd(4) ? size : rnd(size));
        e = (struct err){0};
        if (recover_merge(left, &done, &e) && done) {
            struct tracedata d;
            tracedata_init(&d);
            if (!tracefile_load(left, &d, &e))
                fail_msg("merged, and cannot be read: %s", e.msg);
            tracedata_free(&d);
        }
    }
    start_over();
    free(good);
    free(bad);
}

/* No file for the rings: the recording goes on, and says what a kill would cost. */
TEST(rings_without_a_file)
{
    struct tracedata d;
    struct recorder *r = open_recorder(0);
    char ring[100];
    snprintf(ring, sizeof ring, "%s-ring", path);
    assert_int_equal(mkdir(ring, 0700), 0);
    for (int64_t i = 0; i < 3000; i++)
        emit_numbered(r, 0, i);
    recorder_close(r);
    assert_int_equal(rmdir(ring), 0);
    load(&d);
    assert_int_equal(d.n, 3000);
    for (size_t i = 0; i < d.n; i++)
        check_numbered(&d, &d.ev[i]);
    assert_non_null(strstr(tracedata_meta_get(&d, "degraded"), "a kill of the program loses its last events"));
    tracedata_free(&d);
    recorder_free(r);
}

UNIT_MAIN(UNIT(a_forked_child_records_for_itself), UNIT(signal_handlers_may_emit), UNIT(nothing_is_lost_however_a_process_ends),
          UNIT(nothing_is_lost_whenever_a_process_is_killed), UNIT(a_forked_child_that_is_cut_off), UNIT(a_ring_is_merged_once),
          UNIT(a_damaged_ring_harms_nobody), UNIT(a_ring_that_was_cut_gives_what_is_left), UNIT(rings_without_a_file))
