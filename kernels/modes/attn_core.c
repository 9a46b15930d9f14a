/* attn_core.c - calls of the attention kernels. */
#include "kernels/modes/attn_core.h"
#include "schemas/marker.h"

float *attn_stored(const struct attn_core *c, int64_t n)
{
    return devpool_rows(c->pool, n);
}

float *attn_floats(const struct attn_core *c, int64_t n)
{
    return devpool_floats(c->pool, n);
}

void attn_clear(const struct attn_core *c, float *v, int64_t n)
{
    dev_clear_rows(c->r->stream, v, n);
}

float *attn_zeros(const struct attn_core *c, int64_t n)
{
    float *v = attn_floats(c, n);
    dev_set_async(c->r->stream, v, 0, (size_t)n * sizeof *v);
    return v;
}

int64_t attn_k_size(const struct attn_core *c)
{
    return c->rows * c->kv_heads * c->d;
}

int64_t attn_v_size(const struct attn_core *c)
{
    return c->rows * c->kv_heads * c->e;
}

int64_t attn_q_size(const struct attn_core *c)
{
    return c->rows * c->heads * c->d;
}

int64_t attn_o_size(const struct attn_core *c)
{
    return c->rows * c->heads * c->e;
}

static struct attn_inputs inputs(const struct attn_core *c, const struct attn_call *call)
{
    return (struct attn_inputs){.q = c->q,
                                .k = c->k,
                                .v = c->v,
                                .pieces = c->meta->pieces + call->first,
                                .ldq = (int64_t)c->heads * c->d,
                                .ldk = (int64_t)c->kv_heads * c->d,
                                .ldv = (int64_t)c->kv_heads * c->e,
                                .npieces = call->n,
                                .pairs = call->pairs,
                                .heads = c->heads,
                                .kv_heads = c->kv_heads,
                                .d = c->d,
                                .e = c->e,
                                .scale = c->scale};
}

void attn_call_forward(const struct attn_core *c, int call)
{
    const struct attn_call *x = &c->meta->plan.calls[call];
    DEV_RANGE(c->r->device, RANGE_CORE_ATTENTION, -1);
    if (x->n)
        op_attention_fwd(c->stream, &(struct attention_fwd_args){inputs(c, x), c->o, c->lse, (int64_t)c->heads * c->e});
}

void attn_call_backward(const struct attn_core *c, int call)
{
    const struct attn_call *x = &c->meta->plan.calls[call];
    int64_t ldo = (int64_t)c->heads * c->e;
    DEV_RANGE(c->r->device, RANGE_CORE_ATTENTION, -1);
    if (x->n)
        op_attention_bwd(c->stream, &(struct attention_bwd_args){.in = inputs(c, x),
                                                                 .o = c->o,
                                                                 .lse = c->lse,
                                                                 .d_o = c->d_o,
                                                                 .dq = c->dq,
                                                                 .dk = c->dk,
                                                                 .dv = c->dv,
                                                                 .ldo = ldo,
                                                                 .lddo = ldo,
                                                                 .lddq = (int64_t)c->heads * c->d,
                                                                 .lddk = (int64_t)c->kv_heads * c->d,
                                                                 .lddv = (int64_t)c->kv_heads * c->e});
}

void attn_local_forward(struct attn_core *c)
{
    for (int i = 0; i < c->meta->plan.ncalls; i++)
        attn_call_forward(c, i);
}

void attn_local_backward(struct attn_core *c)
{
    attn_clear(c, c->dq, attn_q_size(c));
    attn_clear(c, c->dk, attn_k_size(c));
    attn_clear(c, c->dv, attn_v_size(c));
    for (int i = 0; i < c->meta->plan.ncalls; i++)
        attn_call_backward(c, i);
}
