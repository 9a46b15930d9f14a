/* nccl_events.c - from NCCL's starts and stops to what each kernel carries.
 *
 *   thread:  GroupApi[ CollApi[] CollApi[]  KernelLaunch[ cuLaunchKernelEx ]  Group[ Coll[] Coll[] ] ]      release 2.28 on
 *                                                                             Group[ Coll[] Coll[] ]        before
 *
 * The operations between Group's start and stop belong to the launch before them on that thread and communicator. Into a graph
 * that is captured no Group comes: there the calls since GroupApi's start are the launch's operations.
 */
#include "collector/graphs.h"
#include "collector/nccl_abi.h"
#include "collector/nccl_parts.h"
#include "schemas/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1024, BLOCKS = 64, THREAD_LAUNCHES = 8 };

struct nccl_event {
    uint64_t type; /* 0: free */
    uint32_t turn, next_free;
    struct nccl_comm *comm;
    void *group;           /* of a call or a launch: the handle of its GroupApi */
    size_t at;             /* of a call: its number in the group's ops */
    uint64_t nodes;        /* of a launch: graph_nodes_made().count at its start */
    uint64_t count;        /* of a launch: launch_last().count at its start */
    struct launch *launch; /* of a launch, of a Group: what it is about; of a GroupApi: its launches */
    struct op *ops;        /* of a GroupApi */
    size_t nops, ops_cap;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nccl_event *blocks[BLOCKS];
static uint32_t nevents, first_free; /* number + 1; 0 none */
static _Atomic(struct recorder *) recorder;
static _Atomic bool says_launches; /* KernelLaunch events come: launches need not be guessed */

static __thread struct {
    struct launch *v[THREAD_LAUNCHES]; /* that wait for their Group; the newest last */
    size_t n;
    struct launch *tasks; /* between Group's start and stop */
    uint64_t guessed;     /* launch_last().count that was taken for one of NCCL's */
} mine __attribute__((tls_model("initial-exec")));

/* ---- handles ---- */

static struct nccl_event *at(uint32_t i)
{
    return &blocks[i / BLOCK][i % BLOCK];
}

static void *new_event(struct nccl_comm *c, uint64_t type, struct nccl_event **out)
{
    uint32_t i = first_free ? first_free - 1 : nevents;
    if (i == (uint32_t)BLOCK * BLOCKS || (!blocks[i / BLOCK] && !(blocks[i / BLOCK] = calloc(BLOCK, sizeof(struct nccl_event)))))
        return NULL;
    struct nccl_event *e = at(i);
    if (first_free)
        first_free = e->next_free;
    else
        nevents++;
    *e = (struct nccl_event){.type = type, .turn = (e->turn + 1) & 0x7fffffff, .comm = c};
    *out = e;
    return (void *)((uintptr_t)e->turn << 16 | i);
}

/* NULL: not, or no longer, one of that type (0: any). */
static struct nccl_event *event_of(void *handle, uint64_t type)
{
    uintptr_t h = (uintptr_t)handle;
    uint32_t i = h & 0xffff;
    struct nccl_event *e = h >> 16 && i < nevents ? at(i) : NULL;
    return e && e->turn == h >> 16 && e->type && (!type || e->type == type) ? e : NULL;
}

static void free_event(struct nccl_event *e, void *handle)
{
    free(e->ops);
    e->ops = NULL;
    e->type = 0;
    e->next_free = first_free;
    first_free = ((uintptr_t)handle & 0xffff) + 1;
}

static _Atomic int told; /* enum nccl_word */

enum nccl_word nccl_told(void)
{
    return (enum nccl_word)atomic_load_explicit(&told, memory_order_relaxed);
}

struct nccl_comm *nccl_comm_open(uint64_t id, const char *name, int ranks, enum nccl_word word)
{
    int saved = errno;
    atomic_store(&told, (int)word);
    pthread_mutex_lock(&lock);
    struct nccl_comm *c = comm_new(id, name, ranks);
    pthread_mutex_unlock(&lock);
    errno = saved;
    return c;
}

struct nccl_comm *nccl_comm_any(void)
{
    struct nccl_comm *c = nccl_comm_open(0, NULL, 0, NCCL_TELLS_TASKS);
    if (c)
        c->any = true;
    return c;
}

struct nccl_comm *nccl_comm_of_event(uint64_t id, const char *name)
{
    int saved = errno;
    pthread_mutex_lock(&lock);
    struct nccl_comm *c = comm_of(id, name);
    pthread_mutex_unlock(&lock);
    errno = saved;
    return c;
}

const char *nccl_comm_name(uint64_t id)
{
    pthread_mutex_lock(&lock);
    const struct nccl_comm *c = comm_find(id);
    pthread_mutex_unlock(&lock);
    return c ? c->name : NULL;
}

/* ---- launches ---- */

/* A call or event without a kernel of its own, or whose kernel nobody looks at, is a row of the host. */
static void hand_on(struct launch *l)
{
    if (l->done)
        return;
    if (l->node ? !graph_node_carries(l->node, &l->w) : !l->id || !launch_put(l->id, &l->w))
        launch_host_row(atomic_load(&recorder), &l->w);
    l->done = true;
}

static void put_launch(struct launch *l)
{
    if (!l || --l->refs)
        return;
    hand_on(l);
    free(l);
}

static void wait_for_group(struct launch *l)
{
    if (mine.n == THREAD_LAUNCHES) {
        put_launch(mine.v[0]);
        memmove(&mine.v[0], &mine.v[1], --mine.n * sizeof *mine.v);
    }
    mine.v[mine.n++] = l;
    l->refs++;
}

/* The oldest of this thread's launches that is the communicator's and has no Group yet, with its reference. */
static struct launch *waiting_launch(struct nccl_comm *c)
{
    for (size_t i = 0; i < mine.n; i++) {
        struct launch *l = mine.v[i];
        if (l->comm != c && !l->done)
            continue;
        memmove(&mine.v[i], &mine.v[i + 1], (--mine.n - i) * sizeof *mine.v);
        if (!l->done)
            return l;
        put_launch(l);
        i--;
    }
    return NULL;
}

/* Before release 2.28 nothing says which launch it was: the thread's latest, if that is no other operation's. */
static struct launch *guessed_launch(struct nccl_comm *c)
{
    struct launched last = launch_last();
    struct launch *l = launch_new(c);
    if (l && !atomic_load(&says_launches) && last.count > mine.guessed) {
        mine.guessed = last.count;
        l->id = last.id;
        launch_begin(l->id);
    }
    return l;
}

/* ---- starts ---- */

static bool room_for_op(struct nccl_event *g)
{
    if (g->nops < g->ops_cap)
        return true;
    size_t cap = g->ops_cap ? 2 * g->ops_cap : 16;
    struct op *v = realloc(g->ops, cap * sizeof *v);
    if (v) {
        g->ops = v;
        g->ops_cap = cap;
    }
    return v != NULL;
}

static void start_call(struct nccl_event *e, const struct nccl_desc *d)
{
    struct nccl_event *g = event_of(d->parent, NCCL_GROUP_API);
    e->group = d->parent;
    e->at = SIZE_MAX;
    if (!g || !room_for_op(g))
        return;
    e->at = g->nops;
    g->ops[g->nops++] = op_of(e->comm, d);
}

static void start_launch(struct nccl_event *e, const struct nccl_desc *d)
{
    struct nccl_event *g = event_of(d->parent, NCCL_GROUP_API);
    struct launch *l = launch_new(e->comm);
    atomic_store(&says_launches, true);
    e->count = launch_last().count;
    e->nodes = graph_nodes_made().count;
    e->launch = l;
    if (!l)
        return;
    l->refs++;
    wait_for_group(l);
    if (g) {
        l->next = g->launch;
        g->launch = l;
        l->refs++;
    }
}

static void start_group(struct nccl_event *e, const struct nccl_desc *d)
{
    (void)d;
    struct launch *l = waiting_launch(e->comm);
    if (!l && (l = guessed_launch(e->comm)))
        l->refs++;
    e->launch = l;
    mine.tasks = l;
}

/* The call that the task came from knows the type that was asked for; the task may be in bytes. */
static void claim(struct op *o, void *call)
{
    struct nccl_event *c = event_of(call, 0);
    struct nccl_event *g = c && (c->type == NCCL_COLL_API || c->type == NCCL_P2P_API) ? event_of(c->group, NCCL_GROUP_API) : NULL;
    if (!g || c->at >= g->nops)
        return;
    g->ops[c->at].claimed = true;
    o->dtype = g->ops[c->at].dtype;
}

/* The launch whose tasks come now; one of any communicator becomes its first task's. */
static struct launch *tasks_of(struct nccl_comm *c)
{
    struct launch *l = mine.tasks;
    if (l && l->comm->any) {
        l->comm = c;
        l->w.group = c->name;
    }
    return l && l->comm == c ? l : NULL;
}

static void start_task(struct nccl_event *e, const struct nccl_desc *d)
{
    struct op o = op_of(e->comm, d);
    if (d->type == NCCL_P2P)
        o.sequence = comm_count_peer(e->comm, d->peer, strcmp(o.function, "send") == 0);
    claim(&o, d->parent);
    struct launch *l = d->type != NCCL_CE_COLL ? tasks_of(e->comm) : NULL;
    if (!l && (l = launch_new(e->comm))) { /* nobody's: it ends with its own stop */
        l->refs++;
        e->launch = l;
    }
    if (l)
        launch_add(l, &o);
}

/* ---- stops ---- */

static void stop_launch(struct nccl_event *e)
{
    struct launched last = launch_last();
    if (!e->launch)
        return;
    e->launch->w.end = clock_now();
    struct nodes_made made = graph_nodes_made();
    if (made.count > e->nodes)
        e->launch->node = made.node;
    else if (last.count > e->count && !e->launch->done) {
        e->launch->id = last.id;
        launch_begin(last.id);
    }
    put_launch(e->launch);
}

static void stop_group(struct nccl_event *e)
{
    if (mine.tasks == e->launch)
        mine.tasks = NULL;
    if (!e->launch)
        return;
    hand_on(e->launch);
    put_launch(e->launch);
}

static void stop_task(struct nccl_event *e)
{
    if (e->launch)
        e->launch->w.end = clock_now();
    put_launch(e->launch);
}

/* Launches without tasks take the calls that no task claimed. */
static void stop_group_api(struct nccl_event *e)
{
    for (struct launch *l = e->launch, *next; l; l = next) {
        next = l->next;
        for (size_t i = 0; i < e->nops && !l->done; i++)
            if (e->ops[i].comm == l->comm && !e->ops[i].claimed && (l->w.operations == 0 || l->unclaimed)) {
                l->unclaimed = e->ops[i].claimed = true;
                launch_add(l, &e->ops[i]);
            }
        if (l->unclaimed)
            hand_on(l);
        put_launch(l);
    }
}

static const struct handler {
    uint64_t type;
    void (*start)(struct nccl_event *e, const struct nccl_desc *d);
    void (*stop)(struct nccl_event *e);
} handlers[] = {
    {NCCL_COLL_API, start_call, NULL},     {NCCL_P2P_API, start_call, NULL},       {NCCL_KERNEL_LAUNCH, start_launch, stop_launch},
    {NCCL_GROUP, start_group, stop_group}, {NCCL_COLL, start_task, stop_task},     {NCCL_P2P, start_task, stop_task},
    {NCCL_CE_COLL, start_task, stop_task}, {NCCL_GROUP_API, NULL, stop_group_api},
};

static const struct handler *handler_of(uint64_t type)
{
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (handlers[i].type == type)
            return &handlers[i];
    return NULL;
}

void *nccl_start(struct nccl_comm *c, const struct nccl_desc *d)
{
    const struct handler *h = handler_of(d->type);
    struct nccl_event *e;
    if (!c || !h || !atomic_load(&recorder))
        return NULL;
    int saved = errno;
    pthread_mutex_lock(&lock);
    void *handle = new_event(c, d->type, &e);
    if (handle && h->start)
        h->start(e, d);
    pthread_mutex_unlock(&lock);
    errno = saved;
    return handle;
}

void nccl_stop(void *handle)
{
    int saved = errno;
    pthread_mutex_lock(&lock);
    struct nccl_event *e = event_of(handle, 0);
    const struct handler *h = e ? handler_of(e->type) : NULL;
    if (h && h->stop)
        h->stop(e);
    if (e)
        free_event(e, handle);
    pthread_mutex_unlock(&lock);
    errno = saved;
}

void nccl_record_to(struct recorder *r)
{
    struct recorder *was = atomic_exchange(&recorder, r);
    size_t unseen = was && !r ? launch_rest(launch_host_row, was) : 0;
    if (unseen)
        recorder_lost(was, "operations of NCCL whose kernel was not seen", (int64_t)unseen, recorder_epoch(was), clock_now());
}

void nccl_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    launch_forked();
    graph_forked();
}
