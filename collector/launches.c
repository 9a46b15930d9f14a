/* launches.c - a table of the launches that wait for their kernel, and one of ids that stand for another. */
#include "collector/launches.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Ids are consecutive, so id modulo size is a good place: an entry that is still there after SLOTS further launches goes. */
enum { SLOTS = 1 << 14 };

struct waiting {
    uint32_t id; /* 0 free */
    bool known;
    struct nccl_work work;
};

struct alias {
    uint32_t inner, outer;
};

static __thread struct launched last __attribute__((tls_model("initial-exec")));
static __thread struct launch_list *list __attribute__((tls_model("initial-exec")));
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct waiting *waiting; /* SLOTS, from the first one on */
static struct alias *aliases;
static _Atomic uint32_t nwaiting, naliases; /* 0: the table need not be looked at */
static _Atomic bool collecting;

struct launched launch_last(void)
{
    return last;
}

void launch_note(uint32_t id)
{
    last.count++;
    last.id = id;
    bool again = list && list->n && list->n <= LAUNCHES_MOST && list->v[list->n - 1].id == id; /* a call within the call */
    if (list && !again && list->n++ < LAUNCHES_MOST)
        list->v[list->n - 1] = (struct launch_item){.id = id};
}

void launch_listen(struct launch_list *l)
{
    list = l;
}

void launch_captured(uint64_t node)
{
    if (list && list->n && list->n <= LAUNCHES_MOST)
        list->v[list->n - 1].node = node;
}

static struct waiting *place(uint32_t id)
{
    if (!waiting)
        waiting = calloc(SLOTS, sizeof *waiting);
    return waiting ? &waiting[id % SLOTS] : NULL;
}

static bool set(uint32_t id, const struct nccl_work *w)
{
    pthread_mutex_lock(&lock);
    struct waiting *p = place(id);
    bool ok = id && p && (!p->id || p->id == id);
    if (ok) {
        atomic_fetch_add(&nwaiting, !p->id);
        p->id = id;
        p->known = w != NULL;
        if (w)
            p->work = *w;
    }
    pthread_mutex_unlock(&lock);
    return ok;
}

void launch_begin(uint32_t id)
{
    if (atomic_load(&collecting))
        set(id, NULL);
}

bool launch_put(uint32_t id, const struct nccl_work *w)
{
    return atomic_load(&collecting) && set(id, w);
}

enum launch_state launch_take(uint32_t id, struct nccl_work *w)
{
    enum launch_state state = LAUNCH_PLAIN;
    if (!atomic_load_explicit(&nwaiting, memory_order_acquire))
        return state;
    pthread_mutex_lock(&lock);
    struct waiting *p = place(id);
    if (p && p->id == id && id) {
        state = p->known ? LAUNCH_KNOWN : LAUNCH_PENDING;
        if (p->known) {
            *w = p->work;
            p->id = 0;
            atomic_fetch_sub(&nwaiting, 1);
        }
    }
    pthread_mutex_unlock(&lock);
    return state;
}

void launch_alias(uint32_t inner, uint32_t outer)
{
    pthread_mutex_lock(&lock);
    if (!aliases)
        aliases = calloc(SLOTS, sizeof *aliases);
    if (aliases) {
        aliases[inner % SLOTS] = (struct alias){inner, outer};
        atomic_store(&naliases, 1);
    }
    pthread_mutex_unlock(&lock);
}

uint32_t launch_outer(uint32_t id)
{
    if (!atomic_load_explicit(&naliases, memory_order_acquire))
        return id;
    pthread_mutex_lock(&lock);
    const struct alias *a = &aliases[id % SLOTS];
    uint32_t outer = a->inner == id ? a->outer : id;
    pthread_mutex_unlock(&lock);
    return outer;
}

void launch_collect(bool kernels)
{
    atomic_store(&collecting, kernels);
}

bool launch_collecting(void)
{
    return atomic_load(&collecting);
}

size_t launch_rest(void (*fn)(void *ctx, const struct nccl_work *w), void *ctx)
{
    size_t n = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; waiting && i < SLOTS; i++) {
        bool known = waiting[i].id && waiting[i].known;
        if (known)
            fn(ctx, &waiting[i].work);
        n += known;
        waiting[i].id = 0;
    }
    atomic_store(&nwaiting, 0);
    pthread_mutex_unlock(&lock);
    return n;
}

void launch_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    launch_collect(false);
    for (size_t i = 0; waiting && i < SLOTS; i++)
        waiting[i].id = 0;
    atomic_store(&nwaiting, 0);
}
