/* ranks.c - ranks as threads, and what happens when one of them fails: the worlds that the others may wait in are aborted. */
#include "kernels/comm/backend.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct run {
    pthread_mutex_t lock;
    struct err first; /* of the rank that failed first */
    struct comm_world **worlds;
    int nworlds, cap;
};

struct rank_thread {
    struct run *run;
    int rank;
    bool (*rank_main)(int rank, void *ctx, struct err *e);
    void *ctx;
    pthread_t thread;
};

static _Thread_local struct run *my_run;

/* Called under the lock. */
static bool remember(struct run *r, struct comm_world *w)
{
    for (int i = 0; i < r->nworlds; i++)
        if (r->worlds[i] == w)
            return true;
    if (r->nworlds == r->cap) {
        int cap = r->cap ? 2 * r->cap : 4;
        struct comm_world **grown = realloc(r->worlds, (size_t)cap * sizeof(struct comm_world *));
        if (!grown)
            return false;
        r->worlds = grown;
        r->cap = cap;
    }
    r->worlds[r->nworlds++] = w;
    return true;
}

/* A world that is first used after a failure is aborted at once. */
void ranks_use_world(struct comm_world *w)
{
    struct run *r = my_run;
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    bool hopeless = !remember(r, w) || r->first.kind;
    pthread_mutex_unlock(&r->lock);
    if (hopeless)
        comm_world_abort(w);
}

static void give_up(struct run *r, const struct err *e)
{
    pthread_mutex_lock(&r->lock);
    if (!r->first.kind)
        r->first = *e;
    for (int i = 0; i < r->nworlds; i++)
        comm_world_abort(r->worlds[i]);
    pthread_mutex_unlock(&r->lock);
}

static void *start(void *arg)
{
    struct rank_thread *t = arg;
    struct err e = {0};
    my_run = t->run;
    if (!t->rank_main(t->rank, t->ctx, &e)) {
        fail(&e, ERR_FAIL, "rank %d failed", t->rank);
        give_up(t->run, &e);
    }
    return NULL;
}

static bool start_rank(struct rank_thread *t)
{
    if (pthread_create(&t->thread, NULL, start, t) != 0)
        return false;
    char name[16];
    snprintf(name, sizeof name, "rank%d", t->rank);
    pthread_setname_np(t->thread, name);
    return true;
}

static bool run_some(int first, int count, bool (*rank_main)(int rank, void *ctx, struct err *e), void *ctx, struct err *e)
{
    struct run run = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct rank_thread *threads = calloc((size_t)count, sizeof *threads);
    int started = 0;
    bool ok = threads != NULL;
    for (; ok && started < count; started += ok) {
        threads[started] = (struct rank_thread){.run = &run, .rank = first + started, .rank_main = rank_main, .ctx = ctx};
        ok = start_rank(&threads[started]);
    }
    if (!ok) {
        struct err why = {0};
        fail(&why, ERR_FAIL, "cannot start %d ranks: out of threads or memory", count);
        give_up(&run, &why);
    }
    for (int i = 0; i < started; i++)
        pthread_join(threads[i].thread, NULL);
    free(threads);
    free(run.worlds);
    pthread_mutex_destroy(&run.lock);
    return !run.first.kind || fail(e, run.first.kind, "%s", run.first.msg);
}

bool ranks_run(int size, bool (*rank_main)(int rank, void *ctx, struct err *e), void *ctx, struct err *e)
{
    return run_some(0, size, rank_main, ctx, e);
}

bool ranks_run_here(struct comm_world *w, bool (*rank_main)(int rank, void *ctx, struct err *e), void *ctx, struct err *e)
{
    struct err why = {0};
    if (w->backend->ops->run)
        return w->backend->ops->run(w, rank_main, ctx, e);
    if (run_some(w->first, w->local, rank_main, ctx, &why))
        return true;
    return w->local == w->size ? fail(e, why.kind, "%s", why.msg) : fail(e, why.kind, "rank %d: %s", w->first, why.msg);
}
