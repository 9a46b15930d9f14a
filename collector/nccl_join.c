/* nccl_join.c - see nccl_join.h. */
#include "collector/nccl_join.h"
#include "collector/graphs.h"
#include "collector/nccl_names.h"
#include "collector/nccl_parts.h"
#include "collector/text.h"
#include "schemas/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- operations ---- */

static const char *communicator(int64_t id)
{
    char text[32];
    const char *name = nccl_comm_name((uint64_t)id);
    if (name)
        return name;
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)id);
    return text_keep(text);
}

static struct nccl_part *part_of(struct nccl_group *g, const struct nccl_said *said, bool idle)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->v[i].has_id == said->id && g->v[i].idle == idle && (!said->id || g->v[i].id == said->communicator))
            return &g->v[i];
    if (g->n == g->cap) {
        size_t cap = g->cap ? 2 * g->cap : 4;
        struct nccl_part *v = realloc(g->v, cap * sizeof *v);
        if (!v)
            return NULL;
        g->v = v;
        g->cap = cap;
    }
    int64_t now = clock_now();
    struct nccl_part *p = &g->v[g->n++];
    *p = (struct nccl_part){.id = said->communicator, .has_id = said->id, .idle = idle, .alike = true, .one_function = true};
    p->w = (struct nccl_work){.start = now, .end = now, .sequence = -1, .sent = -1, .message_bytes = -1, .peer = -1, .ranks = -1};
    p->w.group = said->id ? communicator(said->communicator) : NULL;
    p->w.tid = (int32_t)syscall(SYS_gettid);
    return p;
}

bool nccl_group_add(struct nccl_group *g, const char *name, const struct nccl_said *said, int ranks)
{
    const char *function = nccl_function(name, -1);
    bool to_peer = strcmp(function, "send") == 0 || strcmp(function, "recv") == 0;
    struct nccl_part *p = part_of(g, said, !to_peer && (said->bytes == 0 || ranks == 1));
    if (!p)
        return false;
    bool first = p->w.operations == 0, same_function = first || p->w.function == function;
    p->alike &= first || (p->alike && same_function && p->bytes == said->bytes && p->w.peer == said->peer);
    p->one_function &= same_function;
    p->bytes = first ? said->bytes : p->bytes;
    struct launch l = {.w = p->w};
    launch_add(&l, &(struct op){
                       .function = function, .message = nccl_message(function, "int8", said->bytes, ranks), .sequence = -1, .peer = (int)said->peer});
    p->w = l.w;
    p->w.ranks = ranks ? ranks : -1;
    return true;
}

void nccl_group_clear(struct nccl_group *g)
{
    g->n = 0;
    g->launches.n = 0;
}

/* ---- launches ---- */

static int by_id(const void *x, const void *y)
{
    uint64_t a = (uint64_t)((const struct nccl_part *)x)->id, b = (uint64_t)((const struct nccl_part *)y)->id;
    return (a > b) - (a < b);
}

/* Puts the parts into the order of their launches; false: it is not certain. */
static bool put_in_order(struct nccl_group *g, enum nccl_order order, size_t parts)
{
    const struct nccl_part *last = NULL;
    bool ids = true, sorted = true;
    for (size_t i = 0; i < g->n; i++) {
        const struct nccl_part *p = &g->v[i];
        if (p->idle)
            continue;
        sorted &= !last || by_id(last, p) < 0;
        ids &= p->has_id;
        last = p;
    }
    if (parts > 1 && ids && order == NCCL_ORDER_ID)
        qsort(g->v, g->n, sizeof *g->v, by_id);
    return parts == 1 || (ids && (order != NCCL_ORDER_UNKNOWN || sorted));
}

/* What a group has to launch, and has launched. */
struct sums {
    size_t parts, operations, launches;
};

static struct sums sums_of(const struct nccl_group *g)
{
    struct sums s = {.launches = g->launches.n};
    for (size_t i = 0; i < g->n; i++)
        if (!g->v[i].idle) {
            s.parts++;
            s.operations += (size_t)g->v[i].w.operations;
        }
    return s;
}

static bool is_certain(const struct sums *s)
{
    bool possible = s->launches > 0 && s->launches <= s->operations && s->launches <= LAUNCHES_MOST;
    return possible && (s->parts == 1 || s->launches == s->parts || s->launches == s->operations);
}

/* How many launches a part has, where that is certain. */
static size_t launches_of(const struct nccl_part *p, const struct sums *s)
{
    if (p->idle)
        return 0;
    return s->parts == 1 ? s->launches : s->launches == s->parts ? 1 : (size_t)p->w.operations;
}

/* What each of `n` launches of a part certainly carries; true: that is all there is to know. */
static bool share(const struct nccl_part *p, size_t n, struct nccl_work *w)
{
    bool all = n == 1 || (p->alike && n == (size_t)p->w.operations);
    *w = p->w;
    if (n == 1)
        return true;
    w->message_bytes = all && w->message_bytes >= 0 ? w->message_bytes / (int64_t)n : -1;
    w->sent = all && w->sent >= 0 ? w->sent / (int64_t)n : -1;
    w->operations = 1;
    if (!p->one_function && strcmp(w->function, "send_recv") != 0)
        w->function = NULL;
    return all;
}

static void put(const struct launch_item *l, const struct nccl_work *w, struct recorder *r)
{
    if (l->node ? !graph_node_carries(l->node, w) : !launch_put(l->id, w))
        launch_host_row(r, w);
}

/* How many operations are not certain; -1: all, and nothing has been said of them. */
static int64_t join_parts(struct nccl_group *g, enum nccl_order order, struct recorder *r)
{
    struct sums s = sums_of(g);
    size_t at = 0;
    int64_t uncertain = 0;
    if (!is_certain(&s) || !put_in_order(g, order, s.parts))
        return -1;
    for (size_t i = 0; i < g->n; i++) {
        const struct nccl_part *p = &g->v[i];
        struct nccl_work w;
        size_t k = launches_of(p, &s);
        if (k && !share(p, k, &w))
            uncertain += p->w.operations;
        for (size_t j = 0; j < k; j++)
            put(&g->launches.v[at++], &w, r);
    }
    return uncertain;
}

static bool all_captured(const struct launch_list *l)
{
    bool all = l->n > 0 && l->n <= LAUNCHES_MOST;
    for (size_t i = 0; all && i < l->n; i++)
        all = l->v[i].node != 0;
    return all;
}

int64_t nccl_join(struct nccl_group *g, enum nccl_order order, bool captured, struct recorder *r)
{
    int64_t now = clock_now(), uncertain = 0;
    for (size_t i = 0; i < g->n; i++)
        g->v[i].w.end = now;
    if (captured)
        return all_captured(&g->launches) && (uncertain = join_parts(g, order, NULL)) > 0 ? uncertain : 0;
    uncertain = join_parts(g, order, r);
    int64_t all = 0;
    for (size_t i = 0; i < g->n; i++) {
        if (uncertain < 0 || g->v[i].idle)
            launch_host_row(r, &g->v[i].w);
        all += g->v[i].idle ? 0 : g->v[i].w.operations;
    }
    return uncertain < 0 ? all : uncertain;
}
