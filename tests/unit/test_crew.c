/* test_crew.c - every job is done once, by no more threads than asked for; those before a failure are all done. */
#include "schemas/crew.h"
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MOST = 300 };

struct work {
    atomic_int done[MOST], member_of[MOST];
    pthread_t thread_of[CREW_MOST];
    atomic_int known[CREW_MOST]; /* its thread stands in thread_of */
    size_t bad;                  /* the job that fails; MOST: none */
    atomic_int other_thread;     /* a member that was two threads */
};

static bool one(void *ctx, int member, size_t i)
{
    struct work *w = ctx;
    if (atomic_exchange(&w->known[member], 1) && !pthread_equal(w->thread_of[member], pthread_self()))
        atomic_store(&w->other_thread, 1);
    w->thread_of[member] = pthread_self();
    atomic_store(&w->member_of[i], member);
    atomic_fetch_add(&w->done[i], 1);
    return i != w->bad;
}

static void run(struct work *w, size_t n, int threads, size_t bad)
{
    *w = (struct work){.bad = bad};
    crew_run(n, threads, one, w);
    assert_false(atomic_load(&w->other_thread));
    assert_true(!atomic_load(&w->known[0]) || pthread_equal(w->thread_of[0], pthread_self()));
    for (size_t i = 0; i < MOST; i++) {
        if (atomic_load(&w->done[i]) > 1)
            fail_msg("job %zu was done %d times", i, atomic_load(&w->done[i]));
        if (i >= n && atomic_load(&w->done[i]))
            fail_msg("job %zu of %zu was done", i, n);
        if (threads && atomic_load(&w->member_of[i]) >= threads)
            fail_msg("member %d of %d threads", atomic_load(&w->member_of[i]), threads);
    }
}

TEST(every_job_is_done_once)
{
    struct work w;
    PROP(60)
    {
        size_t n = rnd(MOST + 1);
        run(&w, n, (int)rnd(9), MOST);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(atomic_load(&w.done[i]), 1);
    }
    run(&w, MOST, 1000, MOST);
    for (size_t i = 0; i < MOST; i++)
        assert_int_equal(atomic_load(&w.done[i]), 1);
}

TEST(jobs_before_a_failure_are_all_done)
{
    struct work w;
    PROP(60)
    {
        size_t bad = rnd(MOST);
        int threads = 1 + (int)rnd(8);
        run(&w, MOST, threads, bad);
        for (size_t i = 0; i <= bad; i++)
            assert_int_equal(atomic_load(&w.done[i]), 1);
        for (size_t i = bad + 1; threads == 1 && i < MOST; i++)
            assert_int_equal(atomic_load(&w.done[i]), 0);
    }
}

UNIT_MAIN(UNIT(every_job_is_done_once), UNIT(jobs_before_a_failure_are_all_done))
