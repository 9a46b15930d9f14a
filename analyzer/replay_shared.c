/* replay_shared.c - one graph for several tables of one trace, built by the first that asks. */
#include "analyzer/replay.h"

#include <pthread.h>
#include <stdlib.h>

struct replay_shared {
    const struct trace *t;
    pthread_mutex_t lock;
    bool built;
    struct replay r;
};

struct replay_shared *replay_share(const struct trace *t)
{
    size_t cap = 0;
    struct replay_shared *s = array_grow(NULL, &cap, 1, sizeof *s);
    *s = (struct replay_shared){.t = t};
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void replay_unshare(struct replay_shared *s)
{
    if (!s)
        return;
    if (s->built)
        replay_free(&s->r);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

bool replay_from_shared(const struct trace *t, enum site_by by, struct replay *r)
{
    struct replay_shared *s = t->replay;
    if (!s || s->t != t || by != SITE_FUNCTION)
        return false;
    pthread_mutex_lock(&s->lock);
    if (!s->built) {
        replay_make(t, by, &s->r);
        replay_order(&s->r);
        s->built = true;
    }
    pthread_mutex_unlock(&s->lock);
    *r = s->r;
    r->arena = (struct arena){0}; /* for what it adds itself */
    r->borrowed = true;
    return true;
}
