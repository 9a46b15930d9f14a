/* block.c - see block.h. */
#include "kernels/model/block.h"
#include "kernels/device/hostread.h"
#include "kernels/modes/tensor.h"
#include "kernels/ops/elementwise.h"
#include "kernels/ops/gemm.h"
#include "kernels/ops/rmsnorm.h"
#include "kernels/ops/swiglu.h"
#include "schemas/marker.h"

static void round_rows(struct model *m, float *v)
{
    op_round(m->rank.stream, m->shape->dtype, v, model_floats(m));
}

static float *rows_of(struct model *m, struct devpool *pool)
{
    return devpool_floats(pool, model_floats(m));
}

/* ---- norm ---- */

static float *norm(struct model *m, struct devpool *pool, const float *x, const float *w, float **rs)
{
    float *y = rows_of(m, pool);
    *rs = devpool_floats(pool, shape_own_rows(m->shape));
    op_rmsnorm_fwd(m->rank.stream, &(struct rmsnorm_fwd_args){x, w, y, *rs, shape_own_rows(m->shape), m->shape->hidden, NET_EPS});
    round_rows(m, y);
    return y;
}

/* d += the gradient through the norm of `dy`, which is used up. */
static void norm_back(struct model *m, float *dy, const float *x, const float *w, float *dw, const float *rs, float *d)
{
    int64_t rows = shape_own_rows(m->shape), width = m->shape->hidden;
    op_rmsnorm_dw(m->rank.stream, &(struct rmsnorm_dw_args){dy, x, rs, dw, rows, width});
    op_rmsnorm_bwd(m->rank.stream, &(struct rmsnorm_bwd_args){dy, x, w, rs, dy, rows, width});
    op_elementwise_axpy(m->rank.stream, 1, dy, d, model_floats(m));
    round_rows(m, d);
}

/* ---- MLP ---- */

/* y (rows, out) = x (rows, in) w^T (+= when `add`: the gradient's two parts), w (out, in). */
static void product(struct model *m, void (*op)(struct stream *, const struct gemm_args *), const float *a, const float *b, float *c, int64_t M,
                    int64_t N, int64_t K, int64_t lda, int64_t ldb, float beta)
{
    op(m->rank.stream, &(struct gemm_args){.a = a, .b = b, .c = c, .m = M, .n = N, .k = K, .lda = lda, .ldb = ldb, .ldc = N, .beta = beta});
}

struct mlp {
    int64_t rows, hidden, ffn; /* of the TP group's rows, this rank's columns */
    float *w[NET_MLPS], *dw[NET_MLPS];
};

static struct mlp mlp_of(struct model *m, int64_t l)
{
    struct mlp p = {.rows = shape_rows(m->shape), .hidden = m->shape->hidden, .ffn = m->net.ffn};
    for (int i = 0; i < NET_MLPS; i++) {
        p.w[i] = net_mlp(&m->net, m->params, l, (enum net_mlp)i);
        p.dw[i] = net_mlp(&m->net, m->grads, l, (enum net_mlp)i);
    }
    return p;
}

static void mlp_forward(struct model *m, int64_t l, struct block_state *st, float *y)
{
    struct mlp p = mlp_of(m, l);
    struct devpool pool;
    int64_t n = p.rows * p.ffn;
    DEV_RANGE(m->rank.device, RANGE_MLP, -1);
    devpool_init(&pool, m->rank.device);
    const float *x = tensor_gather(&m->rank, &pool, st->mlp_normed);
    float *const halves[] = {st->gate = devpool_floats(&st->pool, n), st->up = devpool_floats(&st->pool, n)};
    for (int i = NET_GATE; i <= NET_UP; i++) {
        product(m, op_gemm_nt, x, p.w[i], halves[i], p.rows, p.ffn, p.hidden, p.hidden, p.hidden, 0);
        op_round(m->rank.stream, m->shape->dtype, halves[i], n);
    }
    st->product = devpool_floats(&st->pool, n);
    op_swiglu_fwd(m->rank.stream, &(struct swiglu_fwd_args){st->gate, st->up, st->product, n});
    op_round(m->rank.stream, m->shape->dtype, st->product, n);
    float *part = tensor_part(&m->rank, &pool, y);
    product(m, op_gemm_nt, st->product, p.w[NET_DOWN], part, p.rows, p.hidden, p.ffn, p.ffn, p.ffn, 0);
    tensor_scatter(&m->rank, part, y);
    devpool_free(&pool);
}

/* dx: the gradient of the MLP's input. */
static void mlp_backward(struct model *m, int64_t l, struct block_state *st, const float *d, float *dx)
{
    struct mlp p = mlp_of(m, l);
    struct devpool pool;
    int64_t n = p.rows * p.ffn;
    DEV_RANGE(m->rank.device, RANGE_MLP, -1);
    devpool_init(&pool, m->rank.device);
    const float *x = tensor_gather(&m->rank, &pool, st->mlp_normed), *dy = tensor_gather(&m->rank, &pool, d);
    float *da = devpool_floats(&pool, n), *halves[] = {devpool_floats(&pool, n), devpool_floats(&pool, n)}, *part = tensor_part(&m->rank, &pool, dx);
    product(m, op_gemm_nn, dy, p.w[NET_DOWN], da, p.rows, p.ffn, p.hidden, p.hidden, p.ffn, 0);
    product(m, op_gemm_tn, dy, st->product, p.dw[NET_DOWN], p.hidden, p.ffn, p.rows, p.hidden, p.ffn, 1);
    op_swiglu_bwd(m->rank.stream, &(struct swiglu_bwd_args){da, st->gate, st->up, halves[0], halves[1], n});
    for (int i = NET_GATE; i <= NET_UP; i++) {
        op_round(m->rank.stream, m->shape->dtype, halves[i], n);
        product(m, op_gemm_nn, halves[i], p.w[i], part, p.rows, p.hidden, p.ffn, p.ffn, p.hidden, i == NET_UP ? 1 : 0);
        product(m, op_gemm_tn, halves[i], x, p.dw[i], p.ffn, p.hidden, p.rows, p.ffn, p.hidden, 1);
    }
    tensor_scatter(&m->rank, part, dx);
    devpool_free(&pool);
}

/* ---- blocks ---- */

static bool layer_forward(struct model *m, int64_t l, const float *x, float *out, struct block_state *st, struct err *e)
{
    struct layer_tensors w = stack_layer(&m->stack, m->params, l);
    struct devpool pool;
    devpool_init(&pool, m->rank.device);
    float *y = rows_of(m, &pool);
    const float *in = m->net.vocab ? st->normed = norm(m, &st->pool, x, net_norm(&m->net, m->params, l, NET_BEFORE_LAYER), &st->rs) : x;
    bool ok = tensor_forward(stack_mode(&m->stack, l), &m->rank, &w, in, y, &st->layer, e);
    if (ok) {
        op_elementwise_add(m->rank.stream, x, y, out, model_floats(m));
        round_rows(m, out);
    }
    devpool_free(&pool);
    return ok;
}

/* What somebody leaves behind who wanted to see a value: see run_config.extra_item. */
static void extra_item(struct cp_rank *r)
{
    float *value = dev_alloc(r->device, sizeof *value);
    dev_set_async(r->stream, value, 0, sizeof *value);
    hostread_item_f32(r->stream, value, SITE_HERE);
    dev_free(r->device, value);
}

/* The modules and launchers of a framework around its ops. */
static void pay_layer(struct model *m)
{
    if (m->config->host_layer_ns)
        dev_host_work(m->rank.device, m->config->host_layer_ns);
}

bool block_forward(struct model *m, int64_t l, const float *x, float *out, struct block_state *st, bool for_backward, struct err *e)
{
    DEV_RANGE(m->rank.device, MARK_LAYER, l);
    pay_layer(m);
    devpool_init(&st->pool, m->rank.device);
    layer_state_init(&st->layer, m->rank.device, for_backward);
    if (l + 1 == m->config->extra_item)
        extra_item(&m->rank);
    if (!m->net.vocab)
        return layer_forward(m, l, x, out, st, e);
    st->mid = rows_of(m, &st->pool);
    if (!layer_forward(m, l, x, st->mid, st, e))
        return false;
    st->mlp_normed = norm(m, &st->pool, st->mid, net_norm(&m->net, m->params, l, NET_BEFORE_MLP), &st->mlp_rs);
    mlp_forward(m, l, st, out);
    op_elementwise_axpy(m->rank.stream, 1, st->mid, out, model_floats(m));
    round_rows(m, out);
    return true;
}

static bool layer_backward(struct model *m, int64_t l, const float *x, float *d, float *dx, struct block_state *st, struct err *e)
{
    struct layer_tensors w = stack_layer(&m->stack, m->params, l), grad = stack_layer(&m->stack, m->grads, l);
    const float *in = m->net.vocab ? st->normed : x;
    if (!tensor_backward(stack_mode(&m->stack, l), &m->rank, &w, &grad, in, d, dx, &st->layer, e))
        return false;
    if (m->net.vocab) {
        norm_back(m, dx, x, net_norm(&m->net, m->params, l, NET_BEFORE_LAYER), net_norm(&m->net, m->grads, l, NET_BEFORE_LAYER), st->rs, d);
        return true;
    }
    op_elementwise_axpy(m->rank.stream, 1, dx, d, model_floats(m));
    round_rows(m, d);
    return true;
}

bool block_backward(struct model *m, int64_t l, const float *x, float *d, struct block_state *st, struct err *e)
{
    struct devpool pool;
    DEV_RANGE(m->rank.device, MARK_LAYER, l);
    pay_layer(m);
    devpool_init(&pool, m->rank.device);
    float *dx = rows_of(m, &pool);
    if (m->net.vocab) {
        mlp_backward(m, l, st, d, dx);
        norm_back(m, dx, st->mid, net_norm(&m->net, m->params, l, NET_BEFORE_MLP), net_norm(&m->net, m->grads, l, NET_BEFORE_MLP), st->mlp_rs, d);
    }
    bool ok = layer_backward(m, l, x, d, dx, st, e);
    devpool_free(&pool);
    return ok;
}

void block_free(struct block_state *st)
{
    if (st->layer.pool.d)
        layer_state_free(&st->layer);
    if (st->pool.d)
        devpool_free(&st->pool);
}
