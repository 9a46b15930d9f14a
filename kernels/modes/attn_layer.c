/* attn_layer.c - projections, the plan's life, and what all attention modes declare. */
#include "kernels/modes/attn_layer.h"
#include "kernels/ops/gemm.h"
#include "kernels/ops/rotary.h"
#include "kernels/ops/swiglu.h"
#include "schemas/marker.h"

#include <inttypes.h>
#include <math.h>

void attn_param_size(const struct cp_shape *s, enum attn_param i, int64_t *out, int64_t *in)
{
    const int64_t widths[] = {[ATTN_W_Q] = s->qheads * s->dqk,
                              [ATTN_W_K] = s->kvheads * s->dqk,
                              [ATTN_W_V] = s->kvheads * s->dv_attn,
                              [ATTN_W_GATE] = s->attn_gate ? s->qheads * s->dv_attn : 0};
    *out = i == ATTN_W_OUT ? s->hidden : widths[i];
    *in = i == ATTN_W_OUT ? s->qheads * s->dv_attn : s->hidden;
}

/* y = x W^T, rounded to the storage type. */
static void project(struct cp_rank *r, enum attn_param i, const float *x, const struct layer_tensors *w, float *y)
{
    int64_t out, in;
    attn_param_size(r->shape, i, &out, &in);
    op_gemm_nt(r->stream,
               &(struct gemm_args){.a = x, .b = w->v[i], .c = y, .m = shape_rows(r->shape), .n = out, .k = in, .lda = in, .ldb = in, .ldc = out});
    op_round(r->stream, r->shape->dtype, y, shape_rows(r->shape) * out);
}

/* dx = dy W, added to what is there when `add`; dW += dy^T x. */
static void project_back(struct cp_rank *r, enum attn_param i, const float *x, const float *dy, const struct layer_tensors *w,
                         const struct layer_tensors *grad, float *dx, bool add)
{
    int64_t out, in, rows = shape_rows(r->shape);
    attn_param_size(r->shape, i, &out, &in);
    op_gemm_nn(r->stream, &(struct gemm_args){
                              .a = dy, .b = w->v[i], .c = dx, .m = rows, .n = in, .k = out, .lda = out, .ldb = in, .ldc = in, .beta = add ? 1 : 0});
    op_gemm_tn(r->stream,
               &(struct gemm_args){.a = dy, .b = x, .c = grad->v[i], .m = out, .n = in, .k = rows, .lda = out, .ldb = in, .ldc = in, .beta = 1});
}

/* ---- the plan ---- */

static struct attn_place place_of(const struct attn_form *f, const struct cp_shape *s, int rank)
{
    return (struct attn_place){s->cp == 1 ? SPLIT_WHOLE : f->split, s->cp, rank, (int)s->ulysses};
}

static struct attn_meta *plan_of(const struct attn_form *f, struct cp_rank *r, struct err *e)
{
    struct attn_place at = place_of(f, r->shape, r->rank);
    if (r->batch->hoisted)
        return attn_meta_retain(r->batch->hoisted);
    if (r->kv && r->shape->metadata == METADATA_CACHED)
        return kv_cache_get(r->kv, &r->batch->packed, r->stream, &at, e);
    return attn_meta_build(&r->batch->packed, r->stream, &at, e);
}

bool attn_hoist(const struct attn_form *f, struct cp_rank *r, struct err *e)
{
    struct attn_place at = place_of(f, r->shape, r->rank);
    if (r->shape->metadata == METADATA_HOISTED)
        r->batch->hoisted = attn_meta_build(&r->batch->packed, r->stream, &at, e);
    return e->kind == ERR_NONE;
}

/* ---- one layer ---- */

struct kept {
    struct attn_core core;
    float *g, *gated; /* x w_gate^T, o sigmoid(g); NULL without a gate */
};

static void drop(void *kept)
{
    const struct kept *k = kept;
    attn_meta_release(k->core.meta);
}

/* Turns a head's first dims with the position; sign -1: back, the gradient. */
static void turn(const struct attn_core *c, float *x, int32_t heads, float sign)
{
    const struct cp_shape *s = c->r->shape;
    if (!s->rotary)
        return;
    op_rotary(c->stream, &(struct rotary_args){.x = x,
                                               .positions = c->r->batch->positions,
                                               .rows = c->rows,
                                               .heads = heads,
                                               .dim = c->d,
                                               .turned = (int32_t)s->rotary,
                                               .base = ROTARY_BASE,
                                               .sign = sign});
    op_round(c->stream, s->dtype, x, c->rows * heads * c->d);
}

/* What the output projection reads. */
static const float *gate(struct kept *k, const struct layer_tensors *w, const float *x)
{
    struct attn_core *c = &k->core;
    if (!c->r->shape->attn_gate)
        return c->o;
    k->g = attn_stored(c, attn_o_size(c));
    k->gated = attn_stored(c, attn_o_size(c));
    project(c->r, ATTN_W_GATE, x, w, k->g);
    op_sigmoid_gate_fwd(c->stream, &(struct sigmoid_gate_fwd_args){c->o, k->g, k->gated, attn_o_size(c)});
    op_round(c->stream, c->r->shape->dtype, k->gated, attn_o_size(c));
    return k->gated;
}

/* d_gated becomes d_o; the gradient of the gate, NULL without one. */
static float *gate_back(const struct kept *k, struct attn_core *c, float *d_o)
{
    if (!k->g)
        return NULL;
    float *dg = attn_stored(c, attn_o_size(c));
    op_sigmoid_gate_bwd(c->stream, &(struct sigmoid_gate_bwd_args){d_o, c->o, k->g, d_o, dg, attn_o_size(c)});
    op_round(c->stream, c->r->shape->dtype, dg, attn_o_size(c));
    return dg;
}

static struct attn_core core_of(struct cp_rank *r, struct devpool *pool, struct attn_meta *meta)
{
    const struct cp_shape *s = r->shape;
    return (struct attn_core){.r = r,
                              .stream = r->stream,
                              .pool = pool,
                              .meta = meta,
                              .rows = shape_rows(s),
                              .heads = (int32_t)s->qheads,
                              .kv_heads = (int32_t)s->kvheads,
                              .d = (int32_t)s->dqk,
                              .e = (int32_t)s->dv_attn,
                              .scale = 1 / sqrtf((float)s->dqk)};
}

bool attn_forward(const struct attn_form *f, struct cp_rank *r, const struct layer_tensors *w, const float *x, float *y, struct layer_state *st,
                  struct err *e)
{
    struct attn_meta *meta = plan_of(f, r, e);
    if (!meta)
        return false;
    struct kept *kept = st->kept = arena_array(&st->arena, struct kept, 1);
    struct attn_core *c = &kept->core;
    st->drop = drop;
    *c = core_of(r, &st->pool, meta);
    c->arena = &st->arena;
    float *q = attn_stored(c, attn_q_size(c)), *k = attn_stored(c, attn_k_size(c)), *v = attn_stored(c, attn_v_size(c));
    c->q = q;
    c->k = k;
    c->v = v;
    c->o = attn_stored(c, attn_o_size(c));
    c->lse = attn_floats(c, c->rows * c->heads);
    dev_range_push(r->device, RANGE_IN_PROJ, -1);
    project(r, ATTN_W_Q, x, w, q);
    project(r, ATTN_W_K, x, w, k);
    project(r, ATTN_W_V, x, w, v);
    dev_range_pop(r->device);
    turn(c, q, c->heads, 1);
    turn(c, k, c->kv_heads, 1);
    (r->shape->cp == 1 ? attn_local_forward : f->forward)(c);
    op_round(r->stream, r->shape->dtype, c->o, attn_o_size(c));
    DEV_RANGE(r->device, RANGE_OUT_PROJ, -1);
    project(r, ATTN_W_OUT, gate(kept, w, x), w, y);
    return true;
}

bool attn_backward(struct cp_rank *r, const struct attn_form *f, const struct layer_tensors *w, const struct layer_tensors *grad, const float *x,
                   const float *dy, float *dx, struct layer_state *st)
{
    struct devpool pool;
    const struct kept *kept = st->kept;
    struct attn_core c = kept->core;
    devpool_init(&pool, r->device);
    c.pool = &pool;
    float *d_o = attn_stored(&c, attn_o_size(&c));
    c.dq = attn_stored(&c, attn_q_size(&c));
    c.dk = attn_stored(&c, attn_k_size(&c));
    c.dv = attn_stored(&c, attn_v_size(&c));
    c.d_o = d_o;
    dev_range_push(r->device, RANGE_OUT_PROJ, -1);
    project_back(r, ATTN_W_OUT, kept->g ? kept->gated : c.o, dy, w, grad, d_o, false);
    dev_range_pop(r->device);
    const float *dg = gate_back(kept, &c, d_o);
    op_round(r->stream, r->shape->dtype, d_o, attn_o_size(&c));
    (r->shape->cp == 1 ? attn_local_backward : f->backward)(&c);
    op_round(r->stream, r->shape->dtype, c.dq, attn_q_size(&c));
    op_round(r->stream, r->shape->dtype, c.dk, attn_k_size(&c));
    op_round(r->stream, r->shape->dtype, c.dv, attn_v_size(&c));
    turn(&c, c.dq, c.heads, -1);
    turn(&c, c.dk, c.kv_heads, -1);
    dev_range_push(r->device, RANGE_IN_PROJ, -1);
    project_back(r, ATTN_W_Q, x, c.dq, w, grad, dx, false);
    project_back(r, ATTN_W_K, x, c.dk, w, grad, dx, true);
    project_back(r, ATTN_W_V, x, c.dv, w, grad, dx, true);
    if (dg)
        project_back(r, ATTN_W_GATE, x, dg, w, grad, dx, true);
    dev_range_pop(r->device);
    op_round(r->stream, r->shape->dtype, dx, shape_rows(r->shape) * r->shape->hidden);
    devpool_free(&pool);
    return true;
}

/* ---- rules and declarations ---- */

static bool check_heads(const struct cp_shape *s, struct err *e)
{
    if (s->kvheads < 1 || s->qheads < 1 || s->qheads % s->kvheads)
        return fail(e, ERR_USAGE, "--qheads %" PRId64 " is not a multiple of --kvheads %" PRId64, s->qheads, s->kvheads);
    if (s->dqk > ATTENTION_DIM_MAX || s->dv_attn > s->dqk)
        return fail(e, ERR_USAGE, "--dqk %" PRId64 ", --dv-attn %" PRId64 ": want value heads no wider than key heads, up to %d", s->dqk, s->dv_attn,
                    ATTENTION_DIM_MAX);
    return true;
}

bool attn_check(const struct attn_form *f, const struct cp_shape *s, struct err *e)
{
    if (!check_heads(s, e) || (attn_split_zigzag(f->split) && !mode_check_zigzag(s, e)))
        return false;
    return s->tokens % s->cp == 0 || fail(e, ERR_USAGE, "--tokens %" PRId64 " is not divisible by --cp %d", s->tokens, s->cp);
}

int64_t attn_kv_floats(const struct cp_shape *s)
{
    return shape_rows(s) * s->kvheads * (s->dqk + s->dv_attn);
}

/* Pairs and work of the rank over the micro-batches. */
static void count_work(const struct attn_form *f, const struct cp_shape *s, int rank, int64_t *pairs, int64_t *work)
{
    struct attn_place at = place_of(f, s, rank);
    for (int64_t b = 0; b < s->microbatches; b++) {
        struct arena a = {0};
        struct attn_plan plan;
        struct err e = {0};
        if (attn_plan_make(&a, s->packs[b].cu, s->packs[b].sequences + 1, &at, &plan, &e)) {
            *pairs += attn_plan_pairs(&plan);
            *work += attn_plan_work(&plan);
        }
        arena_free(&a);
    }
}

void attn_expect(const struct attn_form *f, const struct cp_shape *s, int rank, struct expect *x)
{
    int64_t passes = s->recompute ? 2 : 1, calls = s->layers * s->microbatches, pairs = 0, work = 0, weights = 0;
    int64_t heads = s->cp > 1 && f->own_heads ? f->own_heads(s) : s->qheads;
    for (int i = 0; i < ATTN_PARAMS; i++) {
        int64_t out, in;
        attn_param_size(s, (enum attn_param)i, &out, &in);
        weights += out * in;
    }
    count_work(f, s, rank, &pairs, &work);
    double products = 2 * (double)pairs * (double)heads * (double)s->layers, d = (double)s->dqk, v = (double)s->dv_attn;
    expect_flops(x, "projection", (double)calls * (double)(passes + 2) * 2 * (double)shape_rows(s) * (double)weights);
    expect_flops(x, "attention", products * ((double)passes * (d + v) + 3 * d + 2 * v));
    expect_work(x, work);
    expect_syncs(x, "kv_index_build", 0, s->metadata == METADATA_PER_LAYER ? calls * passes : s->microbatches);
    if (s->cp == 1)
        return;
    f->exchange(s, false, calls * passes, x);
    f->exchange(s, true, calls, x);
}
