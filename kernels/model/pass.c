/* pass.c - one micro-batch through the stack and back.
 *
 *   x0 -> layer 0 -> + -> x1 -> layer 1 -> + -> x2 = out      dy = d loss / d out
 *                                                             dy <- dy + backward of layer 1 (x1, dy), then layer 0
 */
#include "kernels/device/hostread.h"
#include "kernels/model/model_impl.h"
#include "kernels/modes/tensor.h"
#include "kernels/ops/elementwise.h"
#include "kernels/ops/pack.h"
#include "schemas/marker.h"

struct pass {
    struct model *m;
    int64_t b;
    float **x; /* [layers + 1]: inputs of the layers, then the output; the first and last belong to the model */
    struct layer_state *state;
    float *y; /* what a layer gives: forward's output, backward's gradient */
};

/* What somebody leaves behind who wanted to see a value: see run_config.extra_item. */
static void extra_item(struct cp_rank *r)
{
    float *value = dev_alloc(r->device, sizeof *value);
    dev_set_async(r->stream, value, 0, sizeof *value);
    hostread_item_f32(r->stream, value, SITE_HERE);
    dev_free(r->device, value);
}

static bool run_layer(struct pass *p, int64_t l, bool for_backward, struct err *e)
{
    struct model *m = p->m;
    struct layer_tensors w = stack_layer(&m->stack, m->params, l);
    DEV_RANGE(m->rank.device, MARK_LAYER, l);
    layer_state_init(&p->state[l], m->rank.device, for_backward);
    if (m->config->extra_item == l + 1)
        extra_item(&m->rank);
    return tensor_forward(stack_mode(&m->stack, l), &m->rank, &w, p->x[l], p->y, &p->state[l], e);
}

static bool forward(struct pass *p, struct err *e)
{
    struct model *m = p->m;
    int64_t n = model_floats(m), layers = m->shape->layers;
    DEV_RANGE(m->rank.device, MARK_FORWARD, -1);
    dev_event_record(m->marks[2 * p->b], m->rank.stream);
    for (int64_t l = 0; l < layers; l++) {
        bool last = l + 1 == layers;
        p->x[l + 1] = last ? m->outputs + p->b * n : dev_alloc(m->rank.device, (size_t)n * sizeof(float));
        if (!run_layer(p, l, !m->shape->recompute, e))
            return false;
        op_elementwise_add(m->rank.stream, p->x[l], p->y, p->x[l + 1], n);
        op_round(m->rank.stream, m->shape->dtype, p->x[l + 1], n);
        if (m->shape->recompute)
            layer_state_free(&p->state[l]);
    }
    dev_event_record(m->marks[2 * p->b + 1], m->rank.stream);
    return true;
}

/* The loss mask: what padding gives is zero, and so is its gradient. */
static void mask(struct pass *p)
{
    struct model *m = p->m;
    const struct turn *t = &m->turns[p->b];
    int64_t n = t->npadding, width = m->shape->hidden;
    if (!n)
        return;
    int64_t *rows = dev_alloc(m->rank.device, (size_t)n * sizeof *rows);
    float *zeros = dev_alloc(m->rank.device, (size_t)(n * width) * sizeof *zeros);
    dev_upload_async(m->rank.stream, rows, t->padding, (size_t)n * sizeof *rows);
    dev_set_async(m->rank.stream, zeros, 0, (size_t)(n * width) * sizeof *zeros);
    rows_scatter(m->rank.stream, m->outputs + p->b * model_floats(m), zeros, rows, n, width);
    dev_free(m->rank.device, zeros);
    dev_free(m->rank.device, rows);
}

/* The mean is over the tokens of all micro-batches of the step and all ranks. */
static void loss(struct pass *p, float *dy)
{
    struct model *m = p->m;
    double count = (double)m->tokens * (double)m->shape->hidden;
    mask(p);
    op_elementwise_sumsq(
        m->rank.stream,
        &(struct elementwise_sumsq_args){
            .x = m->outputs + p->b * model_floats(m), .dx = dy, .sum = m->sums + SUM_LOSS, .n = model_floats(m), .factor = 0.5 / count});
    op_round(m->rank.stream, m->shape->dtype, dy, model_floats(m));
}

static bool back_layer(struct pass *p, int64_t l, float *dy, struct err *e)
{
    struct model *m = p->m;
    struct layer_tensors w = stack_layer(&m->stack, m->params, l), grad = stack_layer(&m->stack, m->grads, l);
    DEV_RANGE(m->rank.device, MARK_BACKWARD, -1);
    DEV_RANGE(m->rank.device, MARK_LAYER, l);
    if (!tensor_backward(stack_mode(&m->stack, l), &m->rank, &w, &grad, p->x[l], dy, p->y, &p->state[l], e))
        return false;
    op_elementwise_axpy(m->rank.stream, 1, p->y, dy, model_floats(m));
    op_round(m->rank.stream, m->shape->dtype, dy, model_floats(m));
    return true;
}

static bool again(struct pass *p, int64_t l, struct err *e)
{
    DEV_RANGE(p->m->rank.device, MARK_RECOMPUTE, -1);
    return run_layer(p, l, true, e);
}

static bool backward(struct pass *p, float *dy, struct err *e)
{
    struct model *m = p->m;
    for (int64_t l = m->shape->layers - 1; l >= 0; l--) {
        if ((m->shape->recompute && !again(p, l, e)) || !back_layer(p, l, dy, e))
            return false;
        layer_state_free(&p->state[l]);
        if (l > 0) {
            dev_free(m->rank.device, p->x[l]);
            p->x[l] = NULL;
        }
    }
    op_elementwise_sumsq(m->rank.stream,
                         &(struct elementwise_sumsq_args){.x = dy, .sum = m->sums + SUM_INPUT_GRADS, .n = model_floats(m), .factor = 1});
    return true;
}

/* What is left of a pass that failed; of one that did not, nothing. */
static void drop(struct pass *p)
{
    struct device *d = p->m->rank.device;
    for (int64_t l = 0; l < p->m->shape->layers; l++) {
        if (p->state[l].pool.d)
            layer_state_free(&p->state[l]);
        if (l > 0)
            dev_free(d, p->x[l]);
    }
    dev_free(d, p->y);
}

bool model_pass(struct model *m, int64_t b, struct err *e)
{
    int64_t n = model_floats(m), layers = m->shape->layers;
    struct cp_batch batch;
    struct pass p = {m, b, arena_array(&m->arena, float *, layers + 1), arena_array(&m->arena, struct layer_state, layers), NULL};
    float *dy = m->dinputs + b * n; /* becomes the gradient of the input */
    DEV_RANGE(m->rank.device, MARK_MICROBATCH, b);
    const struct turn *t = &m->turns[b];
    m->rank.shape = &t->group->shape;
    m->rank.rank = t->at.rank;
    m->rank.comm = t->group->comm;
    m->rank.batch = &batch;
    batch_mark(&m->rank, &t->pack);
    bool ok = batch_open(&batch, &m->rank, &(struct batch_modes){m->config->mode, m->config->attn}, &t->pack, e);
    if (ok) {
        p.x[0] = m->inputs + b * n;
        p.y = dev_alloc(m->rank.device, (size_t)n * sizeof(float));
        ok = forward(&p, e);
        if (ok)
            loss(&p, dy);
        ok = ok && backward(&p, dy, e);
        drop(&p);
    }
    batch_mark_caches(&batch, &m->rank);
    batch_close(&batch, &m->rank);
    m->rank.batch = NULL;
    return ok;
}
