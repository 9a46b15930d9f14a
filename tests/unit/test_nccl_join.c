/* test_nccl_join.c - groups of NCCL made up with what each kernel carries: what is told of a kernel is so, and where the kernels are one a
 * communicator, or one an operation, all of it is told. */
#include "unit.h"

#include "collector/graphs.h"
#include "collector/nccl_join.h"

#include <inttypes.h>

enum { COMMS = 4, OPS = 5, RANKS = 4, KERNELS = COMMS * OPS };

struct call {
    int comm, function, peer, kernel; /* kernel: of its communicator; -1 none */
    int64_t bytes;
};

static const struct {
    const char *call, *name;
    int parts; /* of the message that one rank has, as NCCL counts */
    bool to_peer;
} functions[] = {
    {"AllReduce", "all_reduce", 1, false}, {"AllGather", "all_gather", RANKS, false}, {"Send", "send", 1, true}, {"Recv", "recv", 1, true}};

struct made {
    struct call v[COMMS * OPS];
    size_t n, parts, operations;
    int64_t id[COMMS];
    int kernels[COMMS]; /* of each communicator */
    int order[COMMS];   /* in which they launch */
    bool captured;
    uint64_t first; /* id or node of the first launch; the others follow */
};

/* Which kernel of its communicator each call is in: 0 one for all, 1 one each, 2 any. */
static void deal(struct made *m, int comm, int how)
{
    for (size_t i = 0; i < m->n; i++) {
        struct call *c = &m->v[i];
        if (c->comm != comm)
            continue;
        bool idle = !functions[c->function].to_peer && c->bytes == 0;
        bool next = m->kernels[comm] == 0 || how == 1 || (how == 2 && rnd(2));
        m->kernels[comm] += !idle && next;
        c->kernel = idle ? -1 : m->kernels[comm] - 1;
        m->operations += !idle;
    }
    m->parts += m->kernels[comm] > 0;
}

/* By first use, or by id. */
static void put_in_order(struct made *m, enum nccl_order order)
{
    size_t k = 0;
    for (size_t i = 0; i < m->n; i++) {
        bool again = m->v[i].kernel < 0; /* NCCL drops such a call before it looks at its communicator */
        for (size_t j = 0; j < k; j++)
            again |= m->order[j] == m->v[i].comm;
        if (!again)
            m->order[k++] = m->v[i].comm;
    }
    for (size_t i = 0; order == NCCL_ORDER_ID && i < k; i++)
        for (size_t j = i; j > 0 && (uint64_t)m->id[m->order[j]] < (uint64_t)m->id[m->order[j - 1]]; j--) {
            int swap = m->order[j];
            m->order[j] = m->order[j - 1];
            m->order[j - 1] = swap;
        }
    while (k < COMMS)
        m->order[k++] = -1;
}

static struct made make(enum nccl_order order, int how)
{
    static uint64_t next = 1;
    struct made m = {.captured = rnd(3) == 0, .first = next};
    size_t comms = 1 + rnd(COMMS), functions_used = 1 + rnd(4);
    for (size_t c = 0; c < comms; c++)
        m.id[c] = (int64_t)(rnd(1u << 30) * 0x9e3779b97f4a7c15u); /* also negative as signed numbers */
    m.n = comms + rnd(comms * (OPS - 1) + 1);
    for (size_t i = 0; i < m.n; i++) {
        int f = (int)rnd(functions_used);
        m.v[i] = (struct call){.comm = (int)rnd(comms), .function = f, .peer = functions[f].to_peer ? (int)rnd(2) : -1, .bytes = 8 * (int64_t)rnd(3)};
    }
    for (int c = 0; c < (int)comms; c++)
        deal(&m, c, how);
    put_in_order(&m, order);
    next += KERNELS;
    return m;
}

static size_t fill(const struct made *m, struct nccl_group *g)
{
    size_t n = 0;
    nccl_group_clear(g);
    for (size_t i = 0; i < m->n; i++) {
        const struct call *c = &m->v[i];
        struct nccl_said said = {.communicator = m->id[c->comm], .bytes = c->bytes, .peer = c->peer, .ranks = -1, .id = true};
        assert_true(nccl_group_add(g, functions[c->function].call, &said, RANKS));
    }
    launch_listen(&g->launches);
    for (int i = 0; i < COMMS && m->order[i] >= 0; i++)
        for (int k = 0; k < m->kernels[m->order[i]]; k++, n++) {
            launch_note((uint32_t)(m->first + n));
            if (m->captured) {
                graph_node_made(m->first + n, "range");
                launch_captured(m->first + n);
            }
        }
    launch_listen(NULL);
    return n;
}

/* What is said of the kernel is so; true: bytes are said. */
static bool is_so(const struct made *m, int comm, int kernel, const struct nccl_work *w)
{
    char group[32];
    int64_t bytes = 0;
    bool all_to_peers = true, alike = true;
    const struct call *first = NULL;
    snprintf(group, sizeof group, "0x%" PRIx64, (uint64_t)m->id[comm]);
    assert_string_equal(w->group, group);
    assert_int_equal(w->ranks, RANKS);
    for (size_t i = 0; i < m->n; i++) {
        const struct call *c = &m->v[i];
        if (c->comm != comm || c->kernel != kernel)
            continue;
        first = first ? first : c;
        bytes += c->bytes * functions[c->function].parts;
        all_to_peers &= functions[c->function].to_peer;
        alike &= c->function == first->function;
        assert_true(w->peer < 0 || w->peer == c->peer);
    }
    assert_non_null(first);
    assert_true(w->message_bytes < 0 || w->message_bytes == bytes);
    if (w->function && strcmp(w->function, "send_recv") == 0)
        assert_true(all_to_peers);
    else if (w->function && strcmp(w->function, "group") == 0)
        assert_false(alike);
    else if (w->function)
        assert_true(alike && strcmp(w->function, functions[first->function].name) == 0);
    return w->message_bytes >= 0 && w->function;
}

static bool said_of(const struct made *m, uint64_t launch, struct nccl_work *w)
{
    struct node_origin node;
    if (!m->captured)
        return launch_take((uint32_t)launch, w) == LAUNCH_KNOWN;
    assert_true(graph_node_find(launch, &node));
    *w = node.work;
    return node.comm;
}

/* How many kernels are told of, and of how many everything. */
static void look(const struct made *m, size_t *told, size_t *whole)
{
    size_t at = 0;
    struct nccl_work w;
    *told = *whole = 0;
    for (int i = 0; i < COMMS && m->order[i] >= 0; i++)
        for (int k = 0; k < m->kernels[m->order[i]]; k++)
            if (said_of(m, m->first + at++, &w)) {
                ++*told;
                *whole += is_so(m, m->order[i], k, &w);
            }
}

TEST(what_is_told_is_so)
{
    struct nccl_group g = {0};
    launch_collect(true);
    PROP(6000)
    {
        enum nccl_order order = rnd(2) ? NCCL_ORDER_ID : NCCL_ORDER_FIRST_USE, known = rnd(4) ? order : NCCL_ORDER_UNKNOWN;
        struct made m = make(order, (int)rnd(3));
        size_t told, whole, launches = fill(&m, &g);
        int64_t uncertain = nccl_join(&g, known, false, NULL);
        bool ordered = m.parts == 1 || known != NCCL_ORDER_UNKNOWN;
        look(&m, &told, &whole);
        assert_true(told == 0 || told == launches);
        assert_int_equal(uncertain == 0, whole == launches);
        if (!told)
            assert_int_equal(uncertain, m.operations);
        if (ordered && launches == m.parts)
            assert_int_equal(whole, launches);
        if (ordered && (launches == m.operations || m.parts == 1))
            assert_int_equal(told, launches);
        launch_forked();
        launch_collect(true);
    }
    free(g.v);
}

static void add(struct nccl_group *g, const char *function, int64_t bytes)
{
    assert_true(nccl_group_add(g, function, &(struct nccl_said){.communicator = 5, .bytes = bytes, .peer = -1, .ranks = -1, .id = true}, RANKS));
}

static void launch(struct nccl_group *g, uint32_t first, size_t n)
{
    launch_listen(&g->launches);
    for (uint32_t i = 0; i < n; i++) {
        launch_note(first + i); /* of the runtime */
        launch_note(first + i); /* of the driver inside it */
    }
    launch_listen(NULL);
}

TEST(too_many_launches_are_not_certain)
{
    struct nccl_group g = {0};
    struct nccl_work w;
    launch_collect(true);
    for (size_t n = LAUNCHES_MOST; n <= LAUNCHES_MOST + 1; n++) {
        nccl_group_clear(&g);
        for (size_t i = 0; i < n; i++)
            add(&g, "AllReduce", 16);
        launch(&g, 1000, n);
        assert_int_equal(nccl_join(&g, NCCL_ORDER_ID, false, NULL), n == LAUNCHES_MOST ? 0 : n);
    }
    for (uint32_t i = 0; i < LAUNCHES_MOST; i++)
        assert_true(launch_take(1000 + i, &w) == LAUNCH_KNOWN && w.message_bytes == 16);
    assert_int_equal(launch_take(1000 + LAUNCHES_MOST, &w), LAUNCH_PLAIN);
    free(g.v);
    launch_forked();
}

/* Where the profiler tells of launches outside of graphs, ranges tell of those inside, and of nothing else. */
TEST(beside_the_profiler_only_graphs_are_told_of)
{
    struct nccl_group g = {0};
    struct nccl_work w;
    struct node_origin node;
    launch_collect(true);
    add(&g, "AllGather", 100);
    launch(&g, 1, 1);
    assert_int_equal(nccl_join(&g, NCCL_ORDER_ID, true, NULL), 0);
    assert_int_equal(launch_take(1, &w), LAUNCH_PLAIN);
    nccl_group_clear(&g);
    add(&g, "AllGather", 100);
    launch_listen(&g.launches);
    launch_note(2);
    graph_node_made(UINT64_C(1) << 40, "range");
    launch_captured(UINT64_C(1) << 40);
    launch_listen(NULL);
    launch_captured(7); /* nobody listens */
    assert_int_equal(nccl_join(&g, NCCL_ORDER_ID, true, NULL), 0);
    assert_true(graph_node_find(UINT64_C(1) << 40, &node) && node.comm && node.work.message_bytes == 100 * RANKS);
    assert_int_equal(launch_take(2, &w), LAUNCH_PLAIN);
    free(g.v);
    launch_forked();
}

UNIT_MAIN(UNIT(what_is_told_is_so), UNIT(too_many_launches_are_not_certain), UNIT(beside_the_profiler_only_graphs_are_told_of))
