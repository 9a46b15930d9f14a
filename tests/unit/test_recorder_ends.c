/* test_recorder_ends.c - forks, signals, and programs that are cut off: every event that was reported is in the trace, once. */
#include "forks.h"
#include "recorder_left.h"

#include "schemas/ringfile.h"

#include <signal.h>
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
          UNIT(nothing_is_lost_whenever_a_process_is_killed), UNIT(a_forked_child_that_is_cut_off), UNIT(rings_without_a_file))
