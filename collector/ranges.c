/* ranges.c - each stack has a flag that its thread sets while it is in there: ranges_end() comes from another thread.
 *
 *   its thread    busy = 1, then look at ending           neither may see the other's flag as it was before: the fence between
 *   ranges_end()  ending = 1, fence in all, look at busy  each pair is made by ranges_end() for both, for it comes once
 */
#include "collector/ranges.h"
#include "schemas/clock.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { DEEPEST = 1 << 16, FIRST_DEPTH = 64, PATIENCE = 1000 };

struct open_range {
    int64_t start, bytes; /* bytes: -1 nobody said */
    const void *owner;
    const char *domain, *name;
    int depth; /* in its owner's stack */
};

struct stack {
    struct open_range *v;
    size_t n, cap;
    int32_t tid;
    _Atomic bool busy, ending;
    struct recorder *r;
    struct activity report; /* of a range that ends, with what is the same in all of them */
    struct stack *next;     /* of all, newest first; stacks of ended threads are used again */
    bool free;
};

static __thread struct stack *mine __attribute__((tls_model("initial-exec")));
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list, and of `free` */
static struct stack *stacks;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static _Atomic int64_t unbalanced;

static void emit(struct stack *s, const struct open_range *o, int64_t end, int32_t tid)
{
    struct activity *a = &s->report;
    a->start = o->start;
    a->end = end;
    a->name = o->name;
    a->group = o->domain;
    a->bytes = o->bytes;
    recorder_emit_as(s->r, a, &(struct emit_as){.tid = tid, .flavour = RANGE_PUSH_POP});
    recorder_closed(s->r, o->name, end);
}

/* Ends all of a stack that the caller has to itself; how many. */
static size_t end_all(struct stack *s)
{
    size_t n = s->n;
    int64_t now = n ? clock_now() : 0;
    while (s->n)
        emit(s, &s->v[--s->n], now, s->tid);
    return n;
}

static void say_open(struct recorder *r, size_t n, const char *where)
{
    char text[120];
    snprintf(text, sizeof text, "%zu range%s still open %s: ended there in the trace", n, n == 1 ? " was" : "s were", where);
    if (n)
        recorder_degraded(r, text);
}

static void leave(struct stack *s)
{
    atomic_store_explicit(&s->busy, false, memory_order_release);
}

/* false: a signal handler has come into another call, or the ranges are being ended. */
static bool enter(struct stack *s)
{
    if (!s || atomic_load_explicit(&s->busy, memory_order_relaxed))
        return false;
    atomic_store_explicit(&s->busy, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&s->ending, memory_order_acquire))
        return true;
    leave(s);
    return false;
}

static void thread_ended(void *stack)
{
    struct stack *s = stack;
    if (enter(s)) {
        say_open(s->r, end_all(s), "when a thread ended");
        leave(s);
    }
    mine = NULL;
    pthread_mutex_lock(&lock);
    s->free = true;
    pthread_mutex_unlock(&lock);
}

static void make_key(void)
{
    pthread_key_create(&key, thread_ended);
}

static struct stack *new_stack(struct recorder *r)
{
    int saved = errno;
    pthread_once(&once, make_key);
    pthread_mutex_lock(&lock);
    struct stack *s = stacks;
    while (s && !s->free)
        s = s->next;
    if (!s && (s = calloc(1, sizeof *s))) {
        s->next = stacks;
        stacks = s;
    }
    if (s) {
        s->free = false;
        s->r = r;
        s->tid = (int32_t)syscall(SYS_gettid);
        s->report = ACTIVITY_NONE;
        s->report.what = ACT_EVENT;
        s->report.kind = EV_RANGE;
        pthread_setspecific(key, s);
        mine = s;
    }
    pthread_mutex_unlock(&lock);
    errno = saved;
    return s;
}

__attribute__((noinline)) static bool grow(struct stack *s)
{
    size_t cap = s->cap ? s->cap * 2 : FIRST_DEPTH;
    struct open_range *v = cap <= DEEPEST ? realloc(s->v, cap * sizeof *v) : NULL;
    if (v) {
        s->v = v;
        s->cap = cap;
    }
    return v != NULL;
}

/* The innermost range of an owner; NULL: none. */
static struct open_range *innermost(struct stack *s, const void *owner)
{
    struct open_range *o = s->v + s->n;
    while (o > s->v)
        if ((--o)->owner == owner)
            return o;
    return NULL;
}

int ranges_push(struct recorder *r, const void *owner, const char *domain, const char *name)
{
    struct stack *s = mine ? mine : new_stack(r);
    if (!enter(s))
        return -1;
    int depth = -1;
    if (s->n < s->cap || grow(s)) {
        const struct open_range *outer = innermost(s, owner);
        depth = outer ? outer->depth + 1 : 0;
        s->v[s->n++] = (struct open_range){clock_now(), -1, owner, domain, name, depth};
        recorder_opened(r, name, s->v[s->n - 1].start);
    }
    leave(s);
    return depth;
}

int ranges_pop(struct recorder *r, const void *owner)
{
    struct stack *s = mine ? mine : new_stack(r);
    if (!enter(s))
        return -1;
    struct open_range *found = innermost(s, owner);
    int depth = found ? found->depth : -1;
    if (found) {
        emit(s, found, clock_now(), 0);
        if (found < s->v + --s->n)
            memmove(found, found + 1, (size_t)(s->v + s->n - found) * sizeof *found);
    } else
        atomic_fetch_add(&unbalanced, 1);
    leave(s);
    return depth;
}

void ranges_bytes(const void *owner, int64_t bytes)
{
    struct stack *s = mine;
    if (!enter(s))
        return;
    struct open_range *o = innermost(s, owner);
    if (o)
        o->bytes = bytes;
    leave(s);
}

const char *ranges_innermost(void)
{
    struct stack *s = mine;
    if (!enter(s))
        return NULL;
    const char *name = s->n ? s->v[s->n - 1].name : NULL;
    leave(s);
    return name;
}

/* A fence in every thread. */
static void fence_all(void)
{
    static const struct timespec a_while = {0, 10000000};
    int saved = errno;
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0) != 0)
        nanosleep(&a_while, NULL); /* there is none to be had: no store takes that long to be seen */
    errno = saved;
}

/* Keeps threads from their stacks. Are there any of other threads? */
static bool begin_end(void)
{
    bool others = false;
    pthread_mutex_lock(&lock);
    for (struct stack *s = stacks; s; s = s->next) {
        atomic_store(&s->ending, true);
        others |= s != mine && !s->free;
    }
    pthread_mutex_unlock(&lock);
    return others;
}

static size_t end_stack(struct stack *s)
{
    size_t n = 0;
    int tries = 0;
    if (!atomic_load(&s->ending)) /* it is new */
        return 0;
    while (atomic_load_explicit(&s->busy, memory_order_acquire) && ++tries < PATIENCE)
        sched_yield();
    if (tries < PATIENCE)
        n = end_all(s);
    atomic_store_explicit(&s->ending, false, memory_order_release);
    return n;
}

void ranges_end(struct recorder *r)
{
    size_t n = 0;
    if (begin_end())
        fence_all();
    pthread_mutex_lock(&lock);
    for (struct stack *s = stacks; s; s = s->next)
        n += end_stack(s);
    pthread_mutex_unlock(&lock);
    say_open(r, n, "at the end");
    int64_t odd = atomic_exchange(&unbalanced, 0);
    char text[100];
    snprintf(text, sizeof text, "pops of ranges without a push: %lld, left out", (long long)odd);
    if (odd)
        recorder_degraded(r, text);
}

void ranges_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    for (struct stack *s = stacks; s; s = s->next) {
        s->n = 0;
        s->free = s != mine;
        atomic_store(&s->busy, false);
        atomic_store(&s->ending, false);
    }
    if (mine)
        mine->tid = (int32_t)syscall(SYS_gettid);
    atomic_store(&unbalanced, 0);
}
