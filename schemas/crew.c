/* crew.c - one counter that all members draw from. A thread that cannot be had is done without. */
#include "schemas/crew.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

struct crew {
    size_t n;
    bool (*each)(void *ctx, int member, size_t i);
    void *ctx;
    atomic_size_t next;
    atomic_bool failed;
};

struct member {
    struct crew *crew;
    int number;
    pthread_t thread;
};

static void *take_jobs(void *arg)
{
    struct member *m = arg;
    struct crew *c = m->crew;
    while (!atomic_load(&c->failed)) {
        size_t i = atomic_fetch_add(&c->next, 1);
        if (i >= c->n)
            break;
        if (!c->each(c->ctx, m->number, i))
            atomic_store(&c->failed, true);
    }
    return NULL;
}

static int members_for(size_t n, int threads)
{
    long most = threads > 0 ? threads : sysconf(_SC_NPROCESSORS_ONLN);
    most = most < CREW_MOST ? most : CREW_MOST;
    return (size_t)most < n ? (int)most : (int)n;
}

void crew_run(size_t n, int threads, bool (*each)(void *ctx, int member, size_t i), void *ctx)
{
    struct crew c = {.n = n, .each = each, .ctx = ctx};
    struct member m[CREW_MOST] = {{.crew = &c}};
    int most = members_for(n, threads), k = 1;
    for (; k < most; k++) {
        m[k] = (struct member){.crew = &c, .number = k};
        if (pthread_create(&m[k].thread, NULL, take_jobs, &m[k]) != 0)
            break;
    }
    take_jobs(&m[0]);
    while (--k > 0)
        pthread_join(m[k].thread, NULL);
}
