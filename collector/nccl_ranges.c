/* nccl_ranges.c - see nccl_ranges.h. What a thread has called since its outermost group began, and launched inside of NCCL. */
#include "collector/nccl.h"
#include "collector/nccl_join.h"
#include "schemas/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 32, COMMS = 256, SORTED_SINCE = 22602 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the communicators, by id modulo their number */
static struct {
    int64_t id, ranks;
} comms[COMMS];

struct calls {
    struct nccl_group group;
    int64_t since; /* the first of them */
    uint32_t ends; /* bit k: the range at depth k is a group's end */
    int depth, groups;
};
static __thread struct calls *mine __attribute__((tls_model("initial-exec")));
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

void nccl_range_ranks(int64_t id, int64_t ranks)
{
    pthread_mutex_lock(&lock);
    comms[(uint64_t)id % COMMS].id = id;
    comms[(uint64_t)id % COMMS].ranks = ranks;
    pthread_mutex_unlock(&lock);
}

/* 0: not known. */
static int ranks_of(int64_t id)
{
    pthread_mutex_lock(&lock);
    int64_t n = comms[(uint64_t)id % COMMS].id == id ? comms[(uint64_t)id % COMMS].ranks : 0;
    pthread_mutex_unlock(&lock);
    return n > 0 && n <= INT32_MAX ? (int)n : 0;
}

/* ---- threads ---- */

static void free_calls(void *calls)
{
    struct calls *c = calls;
    launch_listen(NULL);
    mine = NULL;
    free(c->group.v);
    free(c);
}

static void make_key(void)
{
    pthread_key_create(&key, free_calls);
}

static struct calls *calls_of_thread(void)
{
    int saved = errno;
    if (!mine && (mine = calloc(1, sizeof *mine))) {
        pthread_once(&once, make_key);
        pthread_setspecific(key, mine);
    }
    errno = saved;
    return mine;
}

void nccl_ranges_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    launch_listen(NULL);
    if (!mine)
        return;
    nccl_group_clear(&mine->group);
    mine->depth = mine->groups = 0;
}

/* ---- ranges ---- */

static bool is(const char *name, const char *what)
{
    return strncmp(name, "nccl", 4) == 0 && strcmp(name + 4, what) == 0;
}

/* The order in which the NCCL of this process launches the communicators of a group. */
static enum nccl_order order_of_release(void)
{
    int version = 0, (*get)(int *) = NULL;
    *(void **)&get = dlsym(RTLD_DEFAULT, "ncclGetVersion");
    void *lib = get ? NULL : dlopen("libnccl.so.2", RTLD_LAZY | RTLD_NOLOAD);
    if (lib)
        *(void **)&get = dlsym(lib, "ncclGetVersion");
    if (!get || get(&version) != 0 || version <= 0)
        return NCCL_ORDER_UNKNOWN;
    return version >= SORTED_SINCE ? NCCL_ORDER_ID : NCCL_ORDER_FIRST_USE;
}

static bool is_operation(const char *name, const struct nccl_said *said)
{
    return name && said && said->bytes >= 0 && strncmp(name, "nccl", 4) == 0;
}

void nccl_range_push(const char *name, const struct nccl_said *said)
{
    struct calls *c = calls_of_thread();
    if (!c)
        return;
    bool end = name && is(name, "GroupEnd");
    uint32_t bit = c->depth < DEEPEST ? UINT32_C(1) << c->depth : 0;
    c->ends = end ? c->ends | bit : c->ends & ~bit;
    if (c->depth++ == 0)
        launch_listen(&c->group.launches);
    c->groups += name && is(name, "GroupStart");
    if (!is_operation(name, said) || nccl_told() == NCCL_TELLS_ALL)
        return;
    if (!c->group.n)
        c->since = clock_now();
    nccl_group_add(&c->group, name + 4, said, said->id ? ranks_of(said->communicator) : 0);
}

/* The outermost group, or a call outside of groups, is over. */
static void end_group(struct calls *c, struct recorder *r)
{
    enum nccl_word word = nccl_told();
    enum nccl_order order = c->group.n > 1 ? order_of_release() : NCCL_ORDER_UNKNOWN;
    int64_t uncertain = word != NCCL_TELLS_ALL ? nccl_join(&c->group, order, word == NCCL_TELLS_TASKS, r) : 0;
    if (uncertain && launch_collecting())
        recorder_lost(r,
                      "operations of NCCL whose kernel is not certain: without its profiler plug-in a group's kernels are told apart by their order",
                      uncertain, c->since, clock_now());
}

void nccl_range_pop(struct recorder *r)
{
    struct calls *c = mine;
    if (!c || !c->depth)
        return;
    c->depth--;
    bool end = c->depth < DEEPEST && c->ends >> c->depth & 1;
    c->groups -= end && c->groups;
    if (c->depth)
        return;
    launch_listen(NULL);
    if (c->groups && c->group.n)
        return; /* more may come */
    if (c->group.n)
        end_group(c, r);
    nccl_group_clear(&c->group);
}
