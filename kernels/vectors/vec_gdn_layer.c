/* vec_gdn_layer.c - the whole layer on one device, kernel by kernel: what every mode must agree with. */
#include "kernels/ops/conv1d.h"
#include "kernels/ops/gates.h"
#include "kernels/ops/gemm.h"
#include "kernels/ops/l2norm.h"
#include "kernels/ops/norm.h"
#include "kernels/vectors/gdn_case.h"
#include "kernels/vectors/layer.h"

#include <math.h>

enum { W_IN, W_CONV, A_LOG, DT_BIAS, W_NORM, W_OUT, CHUNK = 16 };

/* Column offsets and widths of a row of the projection, and everything that forward leaves. */
struct pass {
    const struct vec_layer *l;
    struct arena *a;
    int64_t qk, v, mix, wide; /* q and k; v; q, k and v; all six sections */
    float *proj, *p, *inv, *beta, *g, *o, *m, *out;
    float *dx, *grad[VEC_LAYER_PARAMS];
    struct gdn_inputs in;
};

static float *room(struct pass *s, int64_t columns)
{
    return arena_array(s->a, float, s->l->T *columns + 1);
}

static void widths(struct pass *s)
{
    const struct vec_layer *l = s->l;
    s->qk = 2 * l->HK * l->dk, s->v = l->HV * l->dv, s->mix = s->qk + s->v, s->wide = s->mix + s->v + 2 * l->HV;
    s->proj = room(s, s->wide), s->p = room(s, s->mix), s->inv = room(s, 2 * l->HK), s->beta = room(s, l->HV), s->g = room(s, l->HV);
    s->o = room(s, s->v), s->m = room(s, s->v), s->out = room(s, l->hidden), s->dx = room(s, l->hidden);
    for (int i = 0; i < VEC_LAYER_PARAMS; i++)
        s->grad[i] = arena_array(s->a, float, l->param[i].rows * l->param[i].cols);
}

/* y [T][n] = x [T][k] w^T */
static void project(const struct pass *s, const float *x, int64_t k, const float *w, float *y, int64_t n)
{
    gemm_nt_cpu(&(struct gemm_args){.a = x, .b = w, .c = y, .m = s->l->T, .n = n, .k = k, .lda = k, .ldb = k, .ldc = n});
}

static void project_back(const struct pass *s, const float *dy, int64_t n, const float *w, float *dx, int64_t k)
{
    gemm_nn_cpu(&(struct gemm_args){.a = dy, .b = w, .c = dx, .m = s->l->T, .n = k, .k = n, .lda = n, .ldb = k, .ldc = k});
}

static void project_grad(const struct pass *s, const float *dy, int64_t n, const float *x, float *dw, int64_t k)
{
    gemm_tn_cpu(&(struct gemm_args){.a = dy, .b = x, .c = dw, .m = n, .n = k, .k = s->l->T, .lda = n, .ldb = k, .ldc = k, .beta = 1});
}

static void scan(struct pass *s)
{
    const struct vec_layer *l = s->l;
    int32_t T = (int32_t)l->T, HK = (int32_t)l->HK, HV = (int32_t)l->HV, dk = (int32_t)l->dk, dv = (int32_t)l->dv;
    s->in = (struct gdn_inputs){.q = s->p, .k = s->p + l->HK * l->dk, .v = s->p + s->qk, .g = s->g, .beta = s->beta, .cu = l->cu, .ldqk = s->mix};
    s->in.ldv = s->mix, s->in.T = T, s->in.HK = HK, s->in.HV = HV, s->in.dk = dk, s->in.dv = dv, s->in.C = CHUNK, s->in.nseg = l->nseg;
    s->in.scale = 1 / sqrtf((float)dk);
    s->in.tm = room(s, l->HV * CHUNK);
    gdn_scan_prepare_cpu(&(struct gdn_scan_prepare_args){s->in, gdn_case_work(s->a, gdn_scan_prepare_work(&s->in))});
    gdn_scan_fwd_cpu(&(struct gdn_scan_fwd_args){.in = s->in, .o = s->o, .ldo = s->v, .work = gdn_case_work(s->a, gdn_scan_fwd_work(&s->in))});
}

static void forward(struct pass *s)
{
    const struct vec_layer *l = s->l;
    const float *b = s->proj + s->mix + s->v;
    int32_t T = (int32_t)l->T;
    project(s, l->x, l->hidden, l->param[W_IN].value, s->proj, s->wide);
    conv1d_fwd_cpu(&(struct conv1d_fwd_args){.x = s->proj,
                                             .w = l->param[W_CONV].value,
                                             .y = s->p,
                                             .cu = l->cu,
                                             .ldx = s->wide,
                                             .ldy = s->mix,
                                             .T = T,
                                             .D = (int32_t)s->mix,
                                             .W = (int32_t)l->conv,
                                             .nseg = l->nseg});
    l2norm_fwd_cpu(&(struct l2norm_fwd_args){.x = s->p,
                                             .y = s->p,
                                             .inv = s->inv,
                                             .ldx = s->mix,
                                             .ldy = s->mix,
                                             .T = T,
                                             .H = 2 * (int32_t)l->HK,
                                             .d = (int32_t)l->dk,
                                             .eps = (float)l->l2_eps});
    gate_fwd_cpu(&(struct gate_fwd_args){.b = b,
                                         .a = b + l->HV,
                                         .A_log = l->param[A_LOG].value,
                                         .dt_bias = l->param[DT_BIAS].value,
                                         .beta = s->beta,
                                         .g = s->g,
                                         .ldb = s->wide,
                                         .lda = s->wide,
                                         .T = T,
                                         .HV = (int32_t)l->HV});
    scan(s);
    norm_fwd_cpu(&(struct norm_fwd_args){.o = s->o,
                                         .z = s->proj + s->mix,
                                         .w = l->param[W_NORM].value,
                                         .m = s->m,
                                         .ldo = s->v,
                                         .ldz = s->wide,
                                         .ldm = s->v,
                                         .T = T,
                                         .HV = (int32_t)l->HV,
                                         .dv = (int32_t)l->dv,
                                         .eps = (float)l->norm_eps});
    project(s, s->m, s->v, l->param[W_OUT].value, s->out, l->hidden);
}

/* d_o -> the q, k, v and b, a sections of dproj, before and after the conv. */
static void middle_back(struct pass *s, const float *d_o, float *dp, float *dproj)
{
    const struct vec_layer *l = s->l;
    float *dg = room(s, l->HV), *dbeta = room(s, l->HV), *db = dproj + s->mix + s->v;
    int32_t T = (int32_t)l->T;
    gdn_scan_bwd_cpu(&(struct gdn_scan_bwd_args){.in = s->in,
                                                 .d_o = d_o,
                                                 .dq = dp,
                                                 .dk = dp + l->HK * l->dk,
                                                 .dv = dp + s->qk,
                                                 .dg = dg,
                                                 .dbeta = dbeta,
                                                 .lddo = s->v,
                                                 .lddqk = s->mix,
                                                 .lddv = s->mix,
                                                 .work = gdn_case_work(s->a, gdn_scan_bwd_work(&s->in))});
    gate_bwd_cpu(&(struct gate_bwd_args){.beta = s->beta,
                                         .g = s->g,
                                         .dbeta = dbeta,
                                         .dg = dg,
                                         .a = s->proj + s->mix + s->v + l->HV,
                                         .A_log = l->param[A_LOG].value,
                                         .dt_bias = l->param[DT_BIAS].value,
                                         .db = db,
                                         .da = db + l->HV,
                                         .dA_log = s->grad[A_LOG],
                                         .ddt_bias = s->grad[DT_BIAS],
                                         .lda = s->wide,
                                         .lddb = s->wide,
                                         .ldda = s->wide,
                                         .T = T,
                                         .HV = (int32_t)l->HV});
    l2norm_bwd_cpu(&(struct l2norm_bwd_args){.y = s->p,
                                             .inv = s->inv,
                                             .dy = dp,
                                             .dx = dp,
                                             .ldy = s->mix,
                                             .lddy = s->mix,
                                             .lddx = s->mix,
                                             .T = T,
                                             .H = 2 * (int32_t)l->HK,
                                             .d = (int32_t)l->dk});
    conv1d_bwd_cpu(&(struct conv1d_bwd_args){.x = s->proj,
                                             .w = l->param[W_CONV].value,
                                             .dy = dp,
                                             .dx = dproj,
                                             .dw = s->grad[W_CONV],
                                             .cu = l->cu,
                                             .ldx = s->wide,
                                             .lddy = s->mix,
                                             .lddx = s->wide,
                                             .T = T,
                                             .D = (int32_t)s->mix,
                                             .W = (int32_t)l->conv,
                                             .nseg = l->nseg});
}

static void backward(struct pass *s)
{
    const struct vec_layer *l = s->l;
    float *dm = room(s, s->v), *d_o = room(s, s->v), *dproj = room(s, s->wide);
    project_back(s, l->dy, l->hidden, l->param[W_OUT].value, dm, s->v);
    project_grad(s, l->dy, l->hidden, s->m, s->grad[W_OUT], s->v);
    norm_bwd_cpu(&(struct norm_bwd_args){.dm = dm,
                                         .o = s->o,
                                         .z = s->proj + s->mix,
                                         .w = l->param[W_NORM].value,
                                         .d_o = d_o,
                                         .dz = dproj + s->mix,
                                         .dw = s->grad[W_NORM],
                                         .lddm = s->v,
                                         .ldo = s->v,
                                         .ldz = s->wide,
                                         .lddo = s->v,
                                         .lddz = s->wide,
                                         .T = (int32_t)l->T,
                                         .HV = (int32_t)l->HV,
                                         .dv = (int32_t)l->dv,
                                         .eps = (float)l->norm_eps});
    middle_back(s, d_o, room(s, s->mix), dproj);
    project_back(s, dproj, s->wide, l->param[W_IN].value, s->dx, l->hidden);
    project_grad(s, dproj, s->wide, l->x, s->grad[W_IN], l->hidden);
}

static bool sniff(const struct jtree *root)
{
    static const char *const keys[] = {"params", "grads", "conv_width", "x", "dy", NULL};
    return vec_has(jtree_at(vec_cases(root), 0), keys);
}

static bool run_case(const struct jtree *one, const struct vec_out *o, struct arena *a, struct err *e)
{
    struct vec_layer l;
    struct pass s = {.l = &l, .a = a};
    if (!vec_layer_read(one, a, &l, e))
        return false;
    gemm_init();
    widths(&s);
    forward(&s);
    backward(&s);
    vec_layer_compare(o, "", &l, s.out, s.dx, s.grad);
    return true;
}

static bool run(const struct jtree *root, const char *file, struct table *t, struct err *e)
{
    return vec_each_case(root, file, t, run_case, e);
}

const struct vector_form vec_gdn_layer = {
    .name = "gdn_layer",
    .what = "a whole layer: output and all gradients",
    .sniff = sniff,
    .run = run,
};
