/* gdn_layer.c - projections around a middle. */
#include "kernels/modes/gdn_layer.h"
#include "kernels/modes/expect.h"
#include "kernels/ops/gemm.h"
#include "schemas/marker.h"

struct linear {
    int64_t rows, in, out;
};

/* y = x W^T, W [out][in]. */
static void project(struct stream *s, struct linear l, const float *x, const float *w, float *y)
{
    op_gemm_nt(s, &(struct gemm_args){.a = x, .b = w, .c = y, .m = l.rows, .n = l.out, .k = l.in, .lda = l.in, .ldb = l.in, .ldc = l.out});
}

/* dx = dy W; dW += dy^T x. */
static void project_back(struct stream *s, struct linear l, const float *x, const float *w, const float *dy, float *dx, float *dw)
{
    op_gemm_nn(s, &(struct gemm_args){.a = dy, .b = w, .c = dx, .m = l.rows, .n = l.in, .k = l.out, .lda = l.out, .ldb = l.in, .ldc = l.in});
    op_gemm_tn(s,
               &(struct gemm_args){.a = dy, .b = x, .c = dw, .m = l.out, .n = l.in, .k = l.rows, .lda = l.out, .ldb = l.in, .ldc = l.in, .beta = 1});
}

static struct linear linear_in(const struct cp_shape *s)
{
    return (struct linear){shape_rows(s), s->hidden, gdn_in_width(s)};
}

static struct linear linear_out(const struct cp_shape *s)
{
    return (struct linear){shape_rows(s), gdn_out_width(s), s->hidden};
}

bool gdn_layer_forward(const struct gdn_middle *middle, struct cp_rank *r, const struct layer_tensors *w, const float *x, float *y,
                       struct layer_state *st, struct err *e)
{
    struct gdn_kept *k = st->kept = arena_array(&st->arena, struct gdn_kept, 1);
    struct linear in = linear_in(r->shape), out = linear_out(r->shape);
    k->proj = devpool_rows(&st->pool, in.rows * in.out);
    dev_range_push(r->device, RANGE_IN_PROJ, -1);
    project(r->stream, in, x, w->v[GDN_W_IN], k->proj);
    op_round(r->stream, r->shape->dtype, k->proj, in.rows * in.out);
    dev_range_pop(r->device);
    k->m = middle->forward(r, w, st, k->proj, &k->middle, e);
    if (!k->m)
        return false;
    DEV_RANGE(r->device, RANGE_OUT_PROJ, -1);
    project(r->stream, out, k->m, w->v[GDN_W_OUT], y);
    op_round(r->stream, r->shape->dtype, y, out.rows * out.out);
    return true;
}

bool gdn_layer_backward(const struct gdn_middle *middle, struct cp_rank *r, const struct layer_tensors *w, const struct layer_tensors *grad,
                        const float *x, const float *dy, float *dx, struct layer_state *st, struct err *e)
{
    const struct gdn_kept *k = st->kept;
    struct linear in = linear_in(r->shape), out = linear_out(r->shape);
    struct devpool pool;
    devpool_init(&pool, r->device);
    float *dm = devpool_rows(&pool, out.rows * out.in);
    dev_range_push(r->device, RANGE_OUT_PROJ, -1);
    project_back(r->stream, out, k->m, w->v[GDN_W_OUT], dy, dm, grad->v[GDN_W_OUT]);
    op_round(r->stream, r->shape->dtype, dm, out.rows * out.in);
    dev_range_pop(r->device);
    const float *dproj = middle->backward(r, grad, k->middle, &pool, dm, e);
    if (dproj) {
        DEV_RANGE(r->device, RANGE_IN_PROJ, -1);
        project_back(r->stream, in, x, w->v[GDN_W_IN], dproj, dx, grad->v[GDN_W_IN]);
        op_round(r->stream, r->shape->dtype, dx, in.rows * in.in);
    }
    devpool_free(&pool);
    return dproj != NULL;
}

static float *local_forward(struct cp_rank *r, const struct layer_tensors *w, struct layer_state *st, const float *proj, void **kept, struct err *e)
{
    (void)e;
    struct gdn_core *c = *kept = arena_array(&st->arena, struct gdn_core, 1);
    const struct boundaries *b = packed_layout(&r->batch->packed);
    *c = gdn_core_of(r, w, st);
    c->proj = proj;
    c->tokens = r->shape->tokens;
    c->cu = b->cu;
    c->segments = b->entries - 1;
    float *m = devpool_rows(&st->pool, c->tokens * gdn_core_out(c));
    gdn_core_forward(c, m);
    return m;
}

static float *local_backward(struct cp_rank *r, const struct layer_tensors *grad, void *kept, struct devpool *pool, float *dm, struct err *e)
{
    (void)r, (void)e;
    struct gdn_core *c = kept;
    gdn_core_grads(c, grad);
    return gdn_core_backward(c, pool, dm);
}

const struct gdn_middle gdn_middle_local = {local_forward, local_backward};

static const struct gdn_middle *middle_of(const struct cp_rank *r, const struct gdn_middle *own)
{
    return r->shape->cp == 1 ? &gdn_middle_local : own;
}

bool gdn_mode_forward(const struct gdn_middle *own, struct cp_rank *r, const struct layer_tensors *w, const float *x, float *y,
                      struct layer_state *st, struct err *e)
{
    return (!own->resolves || mode_resolve(r, e)) && gdn_layer_forward(middle_of(r, own), r, w, x, y, st, e);
}

bool gdn_mode_backward(const struct gdn_middle *own, struct cp_rank *r, const struct layer_tensors *w, const struct layer_tensors *grad,
                       const float *x, const float *dy, float *dx, struct layer_state *st, struct err *e)
{
    return gdn_layer_backward(middle_of(r, own), r, w, grad, x, dy, dx, st, e);
}

void gdn_expect_flops(struct expect *x, const struct cp_shape *s, double tokens, double vheads)
{
    double passes = s->recompute ? 2 : 1, calls = (double)(s->layers * s->microbatches);
    double projection = 2.0 * (double)shape_rows(s) * (double)s->hidden * (double)(gdn_in_width(s) + gdn_out_width(s));
    expect_flops(x, "projection", calls * (passes + 2) * projection);
    expect_flops(x, "core", calls * gdn_core_flops(s, tokens, vheads, (int)passes));
}
