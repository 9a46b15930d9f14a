/* test_recorder.c - every event arrives once and in order, or is counted as lost; nothing exists without events. */
#include "recorder_run.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>

enum { THREADS = 16 };

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

UNIT_MAIN(UNIT(every_event_arrives_once_and_in_order), UNIT(losses_are_counted_exactly), UNIT(threads_come_and_go), UNIT(nothing_without_an_event),
          UNIT(an_existing_file_is_not_touched), UNIT(a_file_that_cannot_be_written_harms_nobody), UNIT(descriptors_stay_free))
