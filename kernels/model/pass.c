/* pass.c - one micro-batch through the stack and back.
 *
 *   x0 -> layer 0 -> + -> x1 -> layer 1 -> + -> x2 = out      dy = d loss / d out
 *                                                             dy <- dy + backward of layer 1 (x1, dy), then layer 0
 */
#include "kernels/model/block.h"
#include "kernels/ops/elementwise.h"
#include "kernels/ops/pack.h"
#include "schemas/marker.h"

struct pass {
    struct model *m;
    int64_t b;
    float **x; /* [layers + 1]: inputs of the layers, then the output; the first and last belong to the model */
    struct block_state *state;
};

static bool layers_forward(struct pass *p, struct err *e)
{
    struct model *m = p->m;
    int64_t n = model_floats(m), layers = m->shape->layers;
    DEV_RANGE(m->rank.device, MARK_FORWARD, -1);
    dev_event_record(m->marks[MARKS * p->b + MARK_BEGIN], m->rank.stream);
    for (int64_t l = 0; l < layers; l++) {
        bool last = l + 1 == layers;
        p->x[l + 1] = last ? m->outputs + p->b * n : dev_alloc_rows(m->rank.device, n);
        if (!block_forward(m, l, p->x[l], p->x[l + 1], &p->state[l], !m->shape->recompute, e))
            return false;
        if (m->shape->recompute)
            block_free(&p->state[l]);
    }
    dev_event_record(m->marks[MARKS * p->b + MARK_TURN], m->rank.stream);
    return true;
}

/* Before a recompute nothing is kept for the backward, which is cheaper for a framework's host. */
static bool forward(struct pass *p, struct err *e)
{
    const struct run_config *c = p->m->config;
    if (p->m->shape->recompute)
        device_host_cost(p->m->rank.device, c->host_nograd_ns);
    bool ok = layers_forward(p, e);
    device_host_cost(p->m->rank.device, c->host_cost_ns);
    return ok;
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
    float *zeros = dev_alloc_rows(m->rank.device, n * width);
    dev_upload_async(m->rank.stream, rows, t->padding, (size_t)n * sizeof *rows);
    dev_clear_rows(m->rank.stream, zeros, n * width);
    rows_scatter(m->rank.stream, m->outputs + p->b * model_floats(m), zeros, rows, n, width);
    dev_free(m->rank.device, zeros);
    dev_free(m->rank.device, rows);
}

/* Of layers alone. The mean is over the tokens of all micro-batches of the step and all ranks. */
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
    DEV_RANGE(p->m->rank.device, MARK_BACKWARD, -1);
    return block_backward(p->m, l, p->x[l], dy, &p->state[l], e);
}

/* What comes out is not needed again. */
static bool again(struct pass *p, int64_t l, struct err *e)
{
    struct model *m = p->m;
    DEV_RANGE(m->rank.device, MARK_RECOMPUTE, -1);
    float *out = dev_alloc_rows(m->rank.device, model_floats(m));
    bool ok = block_forward(m, l, p->x[l], out, &p->state[l], true, e);
    dev_free(m->rank.device, out);
    return ok;
}

static bool backward(struct pass *p, float *dy, struct err *e)
{
    struct model *m = p->m;
    for (int64_t l = m->shape->layers - 1; l >= 0; l--) {
        if ((m->shape->recompute && !again(p, l, e)) || !back_layer(p, l, dy, e))
            return false;
        block_free(&p->state[l]);
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
        block_free(&p->state[l]);
        if (l > 0)
            dev_free(d, p->x[l]);
    }
}

bool model_pass(struct model *m, int64_t b, struct err *e)
{
    int64_t n = model_floats(m), layers = m->shape->layers;
    struct cp_batch batch;
    struct pass p = {m, b, arena_array(&m->arena, float *, layers + 1), arena_array(&m->arena, struct block_state, layers)};
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
        if (m->net.vocab)
            head_embed(m, b, p.x[0]);
        ok = forward(&p, e);
        if (ok && m->net.vocab)
            head_loss(m, b, p.x[layers], dy);
        else if (ok)
            loss(&p, dy);
        ok = ok && backward(&p, dy, e);
        if (ok && m->net.vocab)
            head_embed_back(m, b, dy);
        dev_event_record(m->marks[MARKS * b + MARK_END], m->rank.stream);
        drop(&p);
    }
    batch_mark_caches(&batch, &m->rank);
    batch_close(&batch, &m->rank);
    m->rank.batch = NULL;
    return ok;
}
