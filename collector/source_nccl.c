/* source_nccl.c - the profiler plug-in of NCCL: one table per version, each brings its events into the form of nccl.h.
 *
 * Asked for: calls, groups, operations and kernel launches. Not asked for: proxy steps and kernel channels, which make NCCL
 * itself do more (a profiler transport on each channel). Whatever happens here, NCCL hears "success".
 */
#include "collector/nccl.h"
#include "collector/nccl_abi.h"
#include "collector/nccl_names.h"

#include <stdatomic.h>

enum {
    OLD_MASK = NCCL_GROUP | NCCL_COLL | NCCL_P2P,
    API_MASK = OLD_MASK | NCCL_GROUP_API | NCCL_COLL_API | NCCL_P2P_API | NCCL_KERNEL_LAUNCH,
    CE_MASK = API_MASK | NCCL_CE_COLL,
};

static _Atomic bool recording;

static int open_comm(void **context, int *mask, int wanted, uint64_t id, const char *name, int ranks)
{
    bool on = atomic_load(&recording);
    if (context)
        *context = on ? nccl_comm_open(id, name, ranks, wanted & NCCL_KERNEL_LAUNCH ? NCCL_TELLS_ALL : NCCL_TELLS_TASKS) : NULL;
    if (mask)
        *mask = on ? wanted : 0;
    return NCCL_OK;
}

static int start(void *context, void **handle, const struct nccl_desc *d)
{
    void *h = nccl_start(context, d);
    if (handle)
        *handle = h;
    return NCCL_OK;
}

static int stop_event(void *handle)
{
    nccl_stop(handle);
    return NCCL_OK;
}

static int record_state(void *handle, int state, void *args)
{
    (void)handle, (void)state, (void)args; /* states of proxies: not asked for */
    return NCCL_OK;
}

/* Events may still come with it: communicators stay. */
static int finalize(void *context)
{
    (void)context;
    return NCCL_OK;
}

#define DESC_NONE ((struct nccl_desc){.count = -1, .sequence = -1, .peer = -1})

/* ---- version 1: numbers for names, the communicator in each event ---- */

static int init_v1(void **context, int *mask)
{
    bool on = atomic_load(&recording);
    if (context)
        *context = on ? nccl_comm_any() : NULL;
    if (mask)
        *mask = on ? OLD_MASK : 0;
    return NCCL_OK;
}

static int start_group(void *context, void **handle, uint64_t type)
{
    struct nccl_desc d = DESC_NONE;
    d.type = type == NCCL_GROUP ? type : 0; /* 0: nothing is kept of it */
    return start(context, handle, &d);
}

static struct nccl_desc coll_desc(const struct nccl_coll *c)
{
    struct nccl_desc d = DESC_NONE;
    d.func = c->func;
    d.datatype = c->datatype;
    d.count = (int64_t)c->count;
    d.sequence = (int64_t)c->sequence;
    return d;
}

static struct nccl_desc p2p_desc(const struct nccl_p2p *p)
{
    struct nccl_desc d = DESC_NONE;
    d.func = p->func;
    d.datatype = p->datatype;
    d.count = (int64_t)p->count;
    d.peer = p->peer;
    return d;
}

static int start_with_comm(void **handle, struct nccl_desc d, uint64_t type, void *parent, uint64_t hash, const char *name)
{
    d.type = type;
    d.parent = parent;
    return start(nccl_comm_of_event(hash, name), handle, &d);
}

static int start_v1(void *context, void **handle, struct nccl_event_v1 *e)
{
    if (e->type == NCCL_COLL) {
        struct nccl_coll c = {
            e->coll.sequence, nccl_function(NULL, e->coll.func), NULL, NULL, e->coll.count, 0, nccl_datatype(NULL, e->coll.datatype)};
        return start_with_comm(handle, coll_desc(&c), NCCL_COLL, e->parent, e->coll.comm_hash, e->coll.name);
    }
    if (e->type == NCCL_P2P) {
        struct nccl_p2p p = {nccl_function(NULL, e->p2p.func), NULL, nccl_datatype(NULL, e->p2p.datatype), e->p2p.count, e->p2p.peer};
        return start_with_comm(handle, p2p_desc(&p), NCCL_P2P, e->parent, e->p2p.comm_hash, e->p2p.name);
    }
    return start_group(context, handle, e->type);
}

/* ---- versions 2 and 3 ---- */

static int start_v2(void *context, void **handle, struct nccl_event_v2 *e)
{
    if (e->type == NCCL_COLL) {
        struct nccl_coll c = {e->coll.sequence, e->coll.func, NULL, NULL, e->coll.count, 0, e->coll.datatype};
        return start_with_comm(handle, coll_desc(&c), NCCL_COLL, e->parent, e->coll.comm_hash, e->coll.name);
    }
    if (e->type == NCCL_P2P) {
        struct nccl_p2p p = {e->p2p.func, NULL, e->p2p.datatype, e->p2p.count, e->p2p.peer};
        return start_with_comm(handle, p2p_desc(&p), NCCL_P2P, e->parent, e->p2p.comm_hash, e->p2p.name);
    }
    return start_group(context, handle, e->type);
}

/* ---- version 4: the communicator comes once ---- */

static int init_v4(void **context, int *mask, const char *name, uint64_t hash, int nodes, int ranks, int rank, nccl_log_fn *log)
{
    (void)nodes, (void)rank, (void)log;
    return open_comm(context, mask, OLD_MASK, hash, name, ranks);
}

static int start_v4(void *context, void **handle, struct nccl_event_v4 *e)
{
    struct nccl_desc d = e->type == NCCL_COLL ? coll_desc(&e->coll) : e->type == NCCL_P2P ? p2p_desc(&e->p2p) : DESC_NONE;
    d.type = e->type;
    d.parent = e->parent;
    return start(context, handle, &d);
}

/* ---- versions 5 and 6: calls and launches ---- */

static int init_v5(void **context, uint64_t id, int *mask, const char *name, int nodes, int ranks, int rank, nccl_log_fn *log)
{
    (void)nodes, (void)rank, (void)log;
    return open_comm(context, mask, API_MASK, id, name, ranks);
}

static int init_v6(void **context, uint64_t id, int *mask, const char *name, int nodes, int ranks, int rank, nccl_log_fn *log)
{
    (void)nodes, (void)rank, (void)log;
    return open_comm(context, mask, CE_MASK, id, name, ranks);
}

static struct nccl_desc coll_api(const struct nccl_event_v5 *e)
{
    struct nccl_desc d = DESC_NONE;
    d.func = e->coll_api.func;
    d.datatype = e->coll_api.datatype;
    d.count = (int64_t)e->coll_api.count;
    return d;
}

static struct nccl_desc p2p_api(const struct nccl_event_v5 *e)
{
    struct nccl_desc d = DESC_NONE;
    d.func = e->p2p_api.func;
    d.datatype = e->p2p_api.datatype;
    d.count = (int64_t)e->p2p_api.count;
    return d;
}

static struct nccl_desc coll(const struct nccl_event_v5 *e)
{
    return coll_desc(&e->coll);
}

static struct nccl_desc p2p(const struct nccl_event_v5 *e)
{
    return p2p_desc(&e->p2p);
}

static int start_v5(void *context, void **handle, struct nccl_event_v5 *e)
{
    static const struct {
        uint64_t type;
        struct nccl_desc (*desc)(const struct nccl_event_v5 *e);
    } kinds[] = {{NCCL_COLL_API, coll_api}, {NCCL_P2P_API, p2p_api}, {NCCL_COLL, coll}, {NCCL_P2P, p2p}, {NCCL_CE_COLL, coll}};
    struct nccl_desc d = DESC_NONE;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].type == e->type)
            d = kinds[i].desc(e);
    d.type = e->type;
    d.parent = e->parent;
    return start(context, handle, &d);
}

#define TABLE(n, init, start)                                                                                                                        \
    __attribute__((visibility("default"))) extern const struct nccl_profiler_v##n ncclProfiler_v##n;                                                 \
    const struct nccl_profiler_v##n ncclProfiler_v##n = {"cpscope", init, start, stop_event, record_state, finalize}
TABLE(1, init_v1, start_v1);
TABLE(2, init_v1, start_v2);
TABLE(3, init_v1, start_v2);
TABLE(4, init_v4, start_v4);
TABLE(5, init_v5, start_v5);
TABLE(6, init_v6, start_v5);

static bool begin(struct recorder *r)
{
    nccl_record_to(r);
    atomic_store(&recording, true);
    return true;
}

static void end(struct recorder *r)
{
    (void)r;
    atomic_store(&recording, false);
    nccl_record_to(NULL);
}

static void forked(struct recorder *r)
{
    (void)r;
    nccl_forked();
}

const struct event_source source_nccl = {
    .name = "nccl",
    .what = "collectives, sends and receives of NCCL: communicator, function, sequence, bytes, peer, and the kernel each runs in",
    .start = begin,
    .stop = end,
    .forked = forked,
};
