/* nccl.c - the stand-in for NCCL: loads the profiler plug-in as NCCL does and calls it in NCCL's order (FAKE_NCCL_TABLE says by which
 * version of the table, 5 if unset), around kernels that it launches through the driver. */
#include "nccl.h"
#include "collector/nccl_abi.h"
#include "fake.h"
#include "ranges.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RELEASE = 22809,
    SORTED_SINCE = 22602,
    TASKS = 64,
    FUNCTIONS = 8,
    BROADCAST = 0,
    ALL_GATHER = 2,
    REDUCE_SCATTER,
    ALL_REDUCE,
    SEND = 6,
    RECV = 7,
    KERNEL_BLOCKS = 20
};

struct fake_comm {
    void *context;
    uint64_t id, sequence[FUNCTIONS];
    int ranks, rank;
};

struct task {
    struct fake_comm *comm;
    int function, type, peer;
    size_t count;
    void *stream, *call; /* call: the handle of its CollApi or P2pApi */
};

static const char *const names[FUNCTIONS] = {"Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce", "SendRecv", "Send", "Recv"};
static const char *const types[] = {"ncclInt8",   "ncclUint8",   "ncclInt32",   "ncclUint32",  "ncclInt64",
                                    "ncclUint64", "ncclFloat16", "ncclFloat32", "ncclFloat64", "ncclBfloat16"};
static void *plugin;
static int version = 5, mask;
static __thread struct task tasks[TASKS];
static __thread int ntasks, depth;
static __thread void *group_api;
static uint64_t comms;

static void *symbol(void)
{
    char name[40];
    const char *path = getenv("NCCL_PROFILER_PLUGIN"), *other = getenv("FAKE_NCCL_TABLE");
    version = other ? atoi(other) : version;
    snprintf(name, sizeof name, "ncclProfiler_v%d", version);
    plugin = plugin ? plugin : path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    return plugin ? dlsym(plugin, name) : NULL;
}

/* ---- the plug-in, whatever its version ---- */

static void plug_init(struct fake_comm *c, const char *name)
{
    void *t = symbol();
    if (!t)
        return;
    if (version <= 3)
        ((struct nccl_profiler_v1 *)t)->init(&c->context, &mask);
    else if (version == 4)
        ((struct nccl_profiler_v4 *)t)->init(&c->context, &mask, name, c->id, 1, c->ranks, c->rank, NULL);
    else
        ((struct nccl_profiler_v5 *)t)->init(&c->context, c->id, &mask, name, 1, c->ranks, c->rank, NULL);
}

static void plug_stop(void *handle)
{
    void *t = symbol();
    if (t) /* every table has it at the same place */
        ((struct nccl_profiler_v1 *)t)->stop(handle);
}

static void plug_finalize(struct fake_comm *c)
{
    void *t = symbol();
    if (t)
        ((struct nccl_profiler_v1 *)t)->finalize(c->context);
}

static void *start_v1(void *t, const struct task *k, uint64_t type, void *parent)
{
    void *handle = NULL;
    struct nccl_event_v1 e = {.type = (uint8_t)type, .parent = parent};
    if (type == NCCL_COLL) {
        e.coll.comm_hash = k->comm->id;
        e.coll.sequence = k->comm->sequence[k->function];
        e.coll.func = (uint8_t)k->function;
        e.coll.count = k->count;
        e.coll.datatype = (uint8_t)k->type;
    } else if (type == NCCL_P2P) {
        e.p2p.comm_hash = k->comm->id;
        e.p2p.func = (uint8_t)k->function;
        e.p2p.count = k->count;
        e.p2p.datatype = (uint8_t)k->type;
        e.p2p.peer = k->peer;
    }
    ((struct nccl_profiler_v1 *)t)->start(k->comm->context, &handle, &e);
    return handle;
}

static void *start_v2(void *t, const struct task *k, uint64_t type, void *parent)
{
    void *handle = NULL;
    struct nccl_event_v2 e = {.type = (uint8_t)type, .parent = parent};
    if (type == NCCL_COLL) {
        e.coll.comm_hash = k->comm->id;
        e.coll.sequence = k->comm->sequence[k->function];
        e.coll.func = names[k->function];
        e.coll.count = k->count;
        e.coll.datatype = types[k->type];
    } else if (type == NCCL_P2P) {
        e.p2p.comm_hash = k->comm->id;
        e.p2p.func = names[k->function];
        e.p2p.count = k->count;
        e.p2p.datatype = types[k->type];
        e.p2p.peer = k->peer;
    }
    ((struct nccl_profiler_v2 *)t)->start(k->comm->context, &handle, &e);
    return handle;
}

static struct nccl_coll coll(const struct task *k)
{
    return (struct nccl_coll){k->comm->sequence[k->function], names[k->function], NULL, NULL, k->count, 0, types[k->type]};
}

static struct nccl_p2p p2p(const struct task *k)
{
    return (struct nccl_p2p){names[k->function], NULL, types[k->type], k->count, k->peer};
}

static void *start_v4(void *t, const struct task *k, uint64_t type, void *parent)
{
    void *handle = NULL;
    struct nccl_event_v4 e = {.type = (uint8_t)type, .parent = parent};
    if (type == NCCL_COLL)
        e.coll = coll(k);
    else if (type == NCCL_P2P)
        e.p2p = p2p(k);
    ((struct nccl_profiler_v4 *)t)->start(k->comm->context, &handle, &e);
    return handle;
}

static void *start_v5(void *t, const struct task *k, uint64_t type, void *parent)
{
    void *handle = NULL;
    struct nccl_event_v5 e = {.type = type, .parent = parent};
    if (type == NCCL_COLL)
        e.coll = coll(k);
    else if (type == NCCL_P2P)
        e.p2p = p2p(k);
    else if (type == NCCL_COLL_API) {
        e.coll_api.func = names[k->function];
        e.coll_api.count = k->count;
        e.coll_api.datatype = types[k->type];
    } else if (type == NCCL_P2P_API) {
        e.p2p_api.func = names[k->function];
        e.p2p_api.count = k->count;
        e.p2p_api.datatype = types[k->type];
    }
    ((struct nccl_profiler_v5 *)t)->start(k->comm->context, &handle, &e);
    return handle;
}

static void *plug_start(const struct task *k, uint64_t type, void *parent)
{
    void *(*const starts[])(void *, const struct task *, uint64_t, void *) = {NULL, start_v1, start_v2, start_v2, start_v4, start_v5, start_v5};
    void *t = symbol();
    return t && (uint64_t)mask & type ? starts[version](t, k, type, parent) : NULL;
}

/* ---- communicators and groups ---- */

API int ncclCommInit(ncclComm_t *c, int ranks, int rank, const char *name)
{
    ranges_call("CommInitRank");
    *c = calloc(1, sizeof **c);
    **c = (struct fake_comm){.id = 0xc0ffee00 + comms++, .ranks = ranks, .rank = rank};
    plug_init(*c, name);
    ranges_end_made((*c)->id, ranks, rank);
    return 0;
}

API int ncclCommDestroy(ncclComm_t c)
{
    plug_finalize(c);
    return 0;
}

static int release(void)
{
    const char *v = getenv("FAKE_NCCL_VERSION");
    return v ? atoi(v) : RELEASE;
}

API int ncclGetVersion(int *v)
{
    *v = release();
    return 0;
}

static bool is_p2p(const struct task *k)
{
    return k->function == SEND || k->function == RECV;
}

static void log_tasks(const struct fake_comm *c, int from, int to, uint32_t id)
{
    for (int i = from; i < to; i++)
        if (tasks[i].comm == c)
            fake_log("task %u %s %s %zu %d %lld\n", id, names[tasks[i].function], types[tasks[i].type], tasks[i].count, tasks[i].peer,
                     is_p2p(&tasks[i]) ? -1LL : (long long)c->sequence[tasks[i].function]);
}

/* One kernel for those tasks of a communicator; then the tasks are told of. */
static void launch_tasks(struct task *head, int from, int to)
{
    struct fake_comm *c = head->comm;
    void *handles[TASKS];
    void *launch = plug_start(head, NCCL_KERNEL_LAUNCH, group_api);
    uint32_t id = fake_driver_launch(is_p2p(head) ? "ncclDevKernel_SendRecv" : "ncclDevKernel_AllGather_RING_LL", KERNEL_BLOCKS, head->stream);
    plug_stop(launch);
    if (fake_fault("captured") || fake_capturing(head->stream))
        return; /* into a graph: nobody tells of the tasks */
    void *group = plug_start(head, NCCL_GROUP, NULL);
    log_tasks(c, from, to, id);
    for (int i = from; i < to; i++)
        if (tasks[i].comm == c) {
            handles[i] = plug_start(&tasks[i], is_p2p(&tasks[i]) ? NCCL_P2P : NCCL_COLL, version >= 5 ? tasks[i].call : group);
            c->sequence[tasks[i].function] += !is_p2p(&tasks[i]);
        }
    for (int i = from; i < to; i++)
        if (tasks[i].comm == c)
            plug_stop(handles[i]);
    plug_stop(group);
}

/* All in one kernel; or, as FAKE_FAULT wants it, a kernel a task, or the first communicator's last task in one of its own. */
static void launch_comm(struct task *head)
{
    int last = ntasks;
    while (last > 0 && tasks[last - 1].comm != head->comm)
        last--;
    bool each = fake_fault("kernel_a_task"), split = fake_fault("split") && head == tasks && last > 1;
    for (int i = 0; each && i < ntasks; i++)
        if (tasks[i].comm == head->comm)
            launch_tasks(&tasks[i], i, i + 1);
    if (!each)
        launch_tasks(head, 0, split ? last - 1 : ntasks);
    if (split && !each)
        launch_tasks(&tasks[last - 1], last - 1, ntasks);
}

/* The communicators in the order of the release. */
static struct task *next_head(struct fake_comm *const *done, int n)
{
    struct task *next = NULL;
    for (int i = 0; i < ntasks; i++) {
        bool again = false;
        for (int j = 0; j < n; j++)
            again |= done[j] == tasks[i].comm;
        if (!again && (!next || (release() >= SORTED_SINCE && tasks[i].comm->id < next->comm->id)))
            next = &tasks[i];
    }
    return next;
}

static void launch_all(void)
{
    struct fake_comm *done[TASKS];
    int n = 0;
    for (struct task *head; (head = next_head(done, n)); done[n++] = head->comm)
        launch_comm(head);
    ntasks = 0;
    plug_stop(group_api);
    group_api = NULL;
}

static void group_end(void)
{
    if (--depth == 0)
        launch_all();
}

API int ncclGroupStart(void)
{
    ranges_call("GroupStart");
    depth++;
    ranges_end();
    return 0;
}

API int ncclGroupEnd(void)
{
    ranges_call("GroupEnd");
    group_end();
    ranges_end();
    return 0;
}

static int enqueue(struct fake_comm *c, int function, size_t count, int type, int peer, void *stream)
{
    static const int elements[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    struct task *k = &tasks[ntasks++];
    ranges_operation(names[function], c->id, count * (size_t)elements[type], peer);
    depth++;
    *k = (struct task){.comm = c, .function = function, .type = type, .peer = peer, .count = count, .stream = stream};
    group_api = group_api ? group_api : plug_start(k, NCCL_GROUP_API, NULL);
    k->call = plug_start(k, is_p2p(k) ? NCCL_P2P_API : NCCL_COLL_API, group_api);
    void *call = k->call;
    ntasks -= !count && !is_p2p(k); /* nothing to do */
    group_end();
    plug_stop(call);
    ranges_end();
    return 0;
}

API int ncclAllGather(size_t count, int type, ncclComm_t c, void *stream)
{
    return enqueue(c, ALL_GATHER, count, type, -1, stream);
}

API int ncclReduceScatter(size_t count, int type, ncclComm_t c, void *stream)
{
    return enqueue(c, REDUCE_SCATTER, count, type, -1, stream);
}

API int ncclAllReduce(size_t count, int type, ncclComm_t c, void *stream)
{
    return enqueue(c, ALL_REDUCE, count, type, -1, stream);
}

API int ncclSend(size_t count, int type, int peer, ncclComm_t c, void *stream)
{
    return enqueue(c, SEND, count, type, peer, stream);
}

API int ncclRecv(size_t count, int type, int peer, ncclComm_t c, void *stream)
{
    return enqueue(c, RECV, count, type, peer, stream);
}

API int ncclLateCalls(ncclComm_t c)
{
    struct task k = {.comm = c, .function = ALL_GATHER, .type = 7, .count = 1, .peer = -1};
    void *once = plug_start(&k, NCCL_COLL, NULL);
    plug_stop(once);
    plug_stop(once);
    plug_stop(NULL);
    plug_stop((void *)(uintptr_t)0x123456789);
    plug_stop(&k);
    plug_finalize(c);
    plug_stop(plug_start(&k, NCCL_COLL, once));
    return 0;
}
