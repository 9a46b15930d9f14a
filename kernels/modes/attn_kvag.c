/* attn_kvag.c - see attn_kvag.h. Gathered K and V are not kept: backward gathers them again. */
#include "kernels/modes/attn_kvag.h"
#include "kernels/ops/elementwise.h"
#include "kernels/ops/pack.h"
#include "schemas/marker.h"

/* Everybody's rows of x, then those that the plan wants; NULL index: all, as they lie. */
static float *gather(const struct attn_core *c, const float *x, int64_t width)
{
    struct cp_rank *r = c->r;
    DEV_RANGE(r->device, RANGE_KV_EXCHANGE, -1);
    float *all = attn_stored(c, c->rows * r->shape->cp * width);
    comm_all_gather_rows(r->comm, r->stream, x, all, c->rows * width);
    if (!c->meta->index)
        return all;
    float *picked = attn_stored(c, c->meta->plan.indices * width);
    rows_gather(r->stream, picked, all, c->meta->index, c->meta->plan.indices, width);
    return picked;
}

/* The way back: gradients of the rows used, summed where they belong, then over the ranks into dx. */
static void scatter(const struct attn_core *c, float *picked, float *dx, int64_t width)
{
    struct cp_rank *r = c->r;
    DEV_RANGE(r->device, RANGE_KV_EXCHANGE, -1);
    float *all = picked;
    if (c->meta->index) {
        float *sums = attn_zeros(c, c->rows * r->shape->cp * width);
        rows_scatter_add(r->stream, sums, picked, c->meta->index, c->meta->plan.indices, width);
        all = sums;
    }
    op_round(r->stream, r->shape->dtype, all, c->rows * r->shape->cp * width);
    comm_reduce_scatter_rows(r->comm, r->stream, all, dx, c->rows * width);
}

/* Rows of x in the order of the calls. */
static float *in_order(const struct attn_core *c, const float *x, int64_t width)
{
    float *y = attn_stored(c, c->rows * width);
    rows_gather(c->r->stream, y, x, c->meta->q_index, c->rows, width);
    return y;
}

static void restore(const struct attn_core *c, float *x, const float *ordered, int64_t width)
{
    rows_scatter(c->r->stream, x, ordered, c->meta->q_index, c->rows, width);
}

/* The gathered core in a pool of its own, as large as its indices say. */
static struct attn_core gathered(const struct attn_core *c, struct devpool *pool)
{
    struct attn_core g = *c;
    devpool_init(pool, c->r->device);
    g.pool = pool;
    g.k = gather(&g, c->k, (int64_t)c->kv_heads * c->d);
    g.v = gather(&g, c->v, (int64_t)c->kv_heads * c->e);
    if (c->meta->q_index)
        g.q = in_order(&g, c->q, (int64_t)c->heads * c->d);
    return g;
}

/* `after` starts once everything enqueued on `before` so far is done. */
static void order(struct device *d, struct stream *before, struct stream *after)
{
    struct dev_event *ev = dev_event_open(d);
    dev_event_record(ev, before);
    dev_stream_wait_event(after, ev);
    dev_event_close(ev);
}

/* The second call of two, on the side stream, beside the first. */
static void beside(struct attn_core *g, const struct attn_core *second, void (*call)(const struct attn_core *c, int call))
{
    struct cp_rank *r = g->r;
    struct attn_core x = *second;
    if (!r->side)
        r->side = stream_open(r->device);
    x.stream = r->side;
    order(r->device, r->stream, r->side);
    call(g, 0);
    call(&x, 1);
    order(r->device, r->side, r->stream);
}

static void reordered_forward(struct attn_core *c, struct attn_core *g)
{
    g->o = attn_stored(g, attn_o_size(c));
    g->lse = attn_floats(g, c->rows * c->heads);
    beside(g, g, attn_call_forward);
    restore(c, c->o, g->o, (int64_t)c->heads * c->e);
    restore(c, c->lse, g->lse, c->heads);
}

void attn_kvag_forward(struct attn_core *c)
{
    struct devpool pool;
    struct attn_core g = gathered(c, &pool);
    if (c->meta->q_index)
        reordered_forward(c, &g);
    else
        attn_local_forward(&g);
    devpool_free(&pool);
}

/* The calls run at the same time, so each has gradients of K and V of its own, which are then added. */
static void reordered_backward(struct attn_core *c, struct attn_core *g, int64_t k, int64_t v)
{
    struct attn_core second;
    g->o = in_order(g, c->o, (int64_t)c->heads * c->e);
    g->lse = in_order(g, c->lse, c->heads);
    g->d_o = in_order(g, c->d_o, (int64_t)c->heads * c->e);
    g->dq = attn_zeros(g, attn_q_size(c));
    second = *g;
    second.dk = attn_zeros(g, k);
    second.dv = attn_zeros(g, v);
    beside(g, &second, attn_call_backward);
    op_elementwise_axpy(c->stream, 1, second.dk, g->dk, k);
    op_elementwise_axpy(c->stream, 1, second.dv, g->dv, v);
    restore(c, c->dq, g->dq, (int64_t)c->heads * c->d);
}

void attn_kvag_backward(struct attn_core *c)
{
    struct devpool pool;
    struct attn_core g = gathered(c, &pool);
    int64_t rows = c->meta->index ? c->meta->plan.indices : c->rows * c->r->shape->cp, k = rows * c->kv_heads * c->d, v = rows * c->kv_heads * c->e;
    g.dk = attn_zeros(&g, k);
    g.dv = attn_zeros(&g, v);
    if (c->meta->q_index)
        reordered_backward(c, &g, k, v);
    else
        attn_clear(&g, g.dq, attn_q_size(c));
    for (int i = 0; !c->meta->q_index && i < c->meta->plan.ncalls; i++)
        attn_call_backward(&g, i);
    scatter(&g, g.dk, c->dk, (int64_t)c->kv_heads * c->d);
    scatter(&g, g.dv, c->dv, (int64_t)c->kv_heads * c->e);
    devpool_free(&pool);
}

void attn_kvag_exchange(const struct cp_shape *s, bool backward, int64_t times, struct expect *x)
{
    int64_t bytes = attn_kv_floats(s) * dtype_size(s->dtype);
    expect_comm(x, "all_gather", 2 * times, times * bytes);
    if (backward)
        expect_comm(x, "reduce_scatter", 2 * times, times * (s->cp - 1) * bytes);
}
