/* graphs.c - a table by node, open addressing under a lock; nodes are never forgotten, but there are at most NODES_MAX. */
#include "collector/graphs.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { FIRST = 1024, NODES_MAX = 1 << 20 };

struct node {
    uint64_t id; /* 0 free */
    const char *range;
    struct nccl_work *work; /* NULL: not NCCL's; clones share it: a graph is instantiated after its capture */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *nodes;
static size_t nnodes, cap;
static _Atomic bool any;
static __thread struct nodes_made made __attribute__((tls_model("initial-exec")));

static struct node *place(struct node *v, size_t n, uint64_t id)
{
    for (size_t i = (size_t)((id * 0x9e3779b97f4a7c15u) >> 32) & (n - 1);; i = (i + 1) & (n - 1))
        if (!v[i].id || v[i].id == id)
            return &v[i];
}

static bool room(void)
{
    if (2 * (nnodes + 1) <= cap)
        return true;
    size_t n = cap ? 2 * cap : FIRST;
    struct node *v = n <= 2 * (size_t)NODES_MAX ? calloc(n, sizeof *v) : NULL;
    if (!v)
        return false;
    for (size_t i = 0; i < cap; i++)
        if (nodes[i].id)
            *place(v, n, nodes[i].id) = nodes[i];
    free(nodes);
    nodes = v;
    cap = n;
    return true;
}

static void set(uint64_t id, const char *range, struct nccl_work *work)
{
    if (!id || !room())
        return;
    struct node *p = place(nodes, cap, id);
    nnodes += !p->id;
    *p = (struct node){id, range, work};
    atomic_store(&any, true);
}

/* With the lock held; NULL: not known. */
static struct node *known(uint64_t id)
{
    struct node *p = cap && id ? place(nodes, cap, id) : NULL;
    return p && p->id ? p : NULL;
}

void graph_node_made(uint64_t node, const char *range)
{
    int saved = errno;
    pthread_mutex_lock(&lock);
    set(node, range, NULL);
    pthread_mutex_unlock(&lock);
    made.count++;
    made.node = node;
    errno = saved;
}

void graph_node_cloned(uint64_t node, uint64_t original)
{
    int saved = errno;
    pthread_mutex_lock(&lock);
    const struct node *o = known(original);
    if (o)
        set(node, o->range, o->work);
    pthread_mutex_unlock(&lock);
    errno = saved;
}

bool graph_node_carries(uint64_t node, const struct nccl_work *w)
{
    int saved = errno;
    pthread_mutex_lock(&lock);
    struct node *p = known(node);
    struct nccl_work *copy = p && !p->work ? malloc(sizeof *copy) : NULL;
    if (copy) {
        *copy = *w;
        copy->sequence = -1;
        p->work = copy;
    }
    bool carries = p && p->work;
    pthread_mutex_unlock(&lock);
    errno = saved;
    return carries;
}

bool graph_node_find(uint64_t node, struct node_origin *out)
{
    if (!node || !atomic_load_explicit(&any, memory_order_acquire))
        return false;
    pthread_mutex_lock(&lock);
    const struct node *p = known(node);
    if (p) {
        *out = (struct node_origin){.range = p->range, .comm = p->work != NULL};
        if (p->work)
            out->work = *p->work;
    }
    pthread_mutex_unlock(&lock);
    return p != NULL;
}

struct nodes_made graph_nodes_made(void)
{
    return made;
}

void graph_forked(void)
{
    pthread_mutex_init(&lock, NULL);
}
