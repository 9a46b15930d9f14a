/* attn_ring.c - see attn_ring.h. A block is K rows, then V rows; three buffers take turns: the one in use, the one that comes
 * next, and in a double ring the one with which the next window begins. */
#include "kernels/modes/attn_ring.h"
#include "kernels/layout/schedule.h"
#include "kernels/ops/elementwise.h"
#include "schemas/marker.h"

#include <math.h>

struct walk {
    struct attn_core *c;
    const struct attn_ring *ring;
    int64_t k_size, size;        /* floats of K, of K and V */
    float *block, *next, *outer; /* keys */
    float *grad, *grad_next;     /* their gradients, backward only */
};

static int rank_of(const struct attn_ring *g, int member)
{
    return g->first + member * g->stride;
}

static void exchange(const struct walk *w, const float *send, int to, float *recv, int from)
{
    struct cp_rank *r = w->c->r;
    DEV_RANGE(r->device, RANGE_KV_EXCHANGE, -1);
    comm_send_recv_rows(r->comm, r->stream, send, rank_of(w->ring, to), recv, rank_of(w->ring, from), w->size);
}

/* Gradients on their way are sums: they stay float. */
static void exchange_grad(const struct walk *w, int to, int from)
{
    struct cp_rank *r = w->c->r;
    DEV_RANGE(r->device, RANGE_KV_EXCHANGE, -1);
    comm_send_recv(r->comm, r->stream, w->grad, rank_of(w->ring, to), w->grad_next, rank_of(w->ring, from), (size_t)w->size * sizeof *w->grad);
}

static struct walk walk_of(struct attn_core *c, const struct attn_ring *ring)
{
    struct walk w = {.c = c, .ring = ring, .k_size = attn_k_size(c), .size = attn_k_size(c) + attn_v_size(c)};
    w.block = attn_stored(c, w.size);
    w.next = attn_stored(c, w.size);
    if (ring->window < ring->n)
        w.outer = attn_stored(c, w.size);
    dev_copy_rows(c->r->stream, w.block, c->k, w.k_size);
    dev_copy_rows(c->r->stream, w.block + w.k_size, c->v, attn_v_size(c));
    return w;
}

static void swap(float **x, float **y)
{
    float *t = *x;
    *x = *y;
    *y = t;
}

/* Before step k: the block that the next window begins with sets out when this one is entered. */
static void enter_window(struct walk *w, int k)
{
    const struct attn_ring *g = w->ring;
    if (k % g->window == 0 && k + g->window < g->n)
        exchange(w, w->block, ring_neighbour(g->n, g->window, g->me, true, 1), w->outer, ring_neighbour(g->n, g->window, g->me, true, -1));
}

/* After step k: the block of step k + 1. */
static void advance(struct walk *w, int k)
{
    const struct attn_ring *g = w->ring;
    if (k + 1 == g->n)
        return;
    if ((k + 1) % g->window == 0) {
        swap(&w->block, &w->outer);
        return;
    }
    exchange(w, w->block, ring_neighbour(g->n, g->window, g->me, false, 1), w->next, ring_neighbour(g->n, g->window, g->me, false, -1));
    swap(&w->block, &w->next);
}

static int owner_at(const struct walk *w, int k)
{
    return ring_owner(w->ring->n, w->ring->window, w->ring->me, k);
}

/* ---- forward ---- */

/* The first step covers every row; later ones are partial results of their own, merged. */
static void step(struct walk *w, int k, struct attn_core *part)
{
    struct attn_core now = k ? *part : *w->c;
    struct stream *s = w->c->r->stream;
    int owner = owner_at(w, k);
    now.k = w->block;
    now.v = w->block + w->k_size;
    if (!now.meta->plan.calls[owner].n)
        return;
    if (k)
        op_elementwise_fill(s, -INFINITY, now.lse, now.rows * now.heads);
    attn_call_forward(&now, owner);
    if (k)
        op_attention_merge(s, &(struct attention_merge_args){w->c->o, w->c->lse, now.o, now.lse, now.rows, now.heads, now.e});
}

void attn_ring_forward(struct attn_core *c, const struct attn_ring *ring)
{
    struct devpool pool, *kept = c->pool;
    devpool_init(&pool, c->r->device);
    c->pool = &pool;
    struct walk w = walk_of(c, ring);
    struct attn_core part = *c;
    part.o = attn_floats(c, attn_o_size(c));
    part.lse = attn_floats(c, c->rows * c->heads);
    for (int k = 0; k < ring->n; k++) {
        enter_window(&w, k);
        step(&w, k, &part);
        advance(&w, k);
    }
    c->pool = kept;
    devpool_free(&pool);
}

/* ---- backward ---- */

static void step_back(struct walk *w, int k)
{
    struct attn_core now = *w->c;
    now.k = w->block;
    now.v = w->block + w->k_size;
    now.dk = w->grad;
    now.dv = w->grad + w->k_size;
    attn_call_backward(&now, owner_at(w, k));
}

/* The gradient of the block just used goes where the block is used next, after the last step home. */
static void hand_on(struct walk *w, int k)
{
    const struct attn_ring *g = w->ring;
    bool last = k + 1 == g->n;
    int to = last ? owner_at(w, k) : ring_holder(g->n, g->window, owner_at(w, k), k + 1);
    int from = ring_holder(g->n, g->window, last ? g->me : owner_at(w, k + 1), k);
    if (g->n == 1)
        return;
    exchange_grad(w, to, from);
    swap(&w->grad, &w->grad_next);
}

void attn_ring_backward(struct attn_core *c, const struct attn_ring *ring)
{
    struct devpool pool, *kept = c->pool;
    devpool_init(&pool, c->r->device);
    c->pool = &pool;
    struct walk w = walk_of(c, ring);
    w.grad = attn_zeros(c, w.size);
    w.grad_next = attn_floats(c, w.size);
    attn_clear(c, c->dq, attn_q_size(c));
    for (int k = 0; k < ring->n; k++) {
        enter_window(&w, k);
        step_back(&w, k);
        hand_on(&w, k);
        advance(&w, k);
    }
    dev_copy_async(c->r->stream, c->dk, w.grad, (size_t)w.k_size * sizeof(float));
    dev_copy_async(c->r->stream, c->dv, w.grad + w.k_size, (size_t)attn_v_size(c) * sizeof(float));
    c->pool = kept;
    devpool_free(&pool);
}

void attn_ring_exchange(int n, int64_t floats, enum dtype t, bool backward, int64_t times, struct expect *x)
{
    int64_t blocks = n - 1, grads = backward && n > 1 ? n : 0;
    expect_comm(x, "send_recv", times * (blocks + grads), times * floats * (blocks * dtype_size(t) + grads * (int64_t)sizeof(float)));
}

static struct attn_ring all(const struct attn_core *c)
{
    return (struct attn_ring){.n = c->r->shape->cp, .me = c->r->rank, .window = c->r->shape->cp, .first = 0, .stride = 1};
}

void attn_ring_all_forward(struct attn_core *c)
{
    struct attn_ring ring = all(c);
    attn_ring_forward(c, &ring);
}

void attn_ring_all_backward(struct attn_core *c)
{
    struct attn_ring ring = all(c);
    attn_ring_backward(c, &ring);
}

void attn_ring_all_exchange(const struct cp_shape *s, bool backward, int64_t times, struct expect *x)
{
    attn_ring_exchange(s->cp, attn_kv_floats(s), s->dtype, backward, times, x);
}
