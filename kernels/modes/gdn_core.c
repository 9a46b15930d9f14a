/* gdn_core.c - the ops of a GDN layer's middle, strung together; the sections of a row are addressed in place. */
#include "kernels/modes/gdn_core.h"
#include "kernels/ops/conv1d.h"
#include "kernels/ops/gates.h"
#include "kernels/ops/l2norm.h"
#include "kernels/ops/norm.h"
#include "schemas/marker.h"

#include <inttypes.h>
#include <math.h>

int64_t gdn_in_width(const struct cp_shape *s)
{
    return 2 * s->kheads * s->dk + 2 * s->vheads * s->dv + 2 * s->vheads;
}

int64_t gdn_conv_width(const struct cp_shape *s)
{
    return 2 * s->kheads * s->dk + s->vheads * s->dv;
}

int64_t gdn_out_width(const struct cp_shape *s)
{
    return s->vheads * s->dv;
}

bool gdn_check(const struct cp_shape *s, struct err *e)
{
    if (s->vheads % s->kheads)
        return fail(e, ERR_USAGE, "--vheads %" PRId64 " is not a multiple of --kheads %" PRId64, s->vheads, s->kheads);
    if (s->tokens % s->cp)
        return fail(e, ERR_USAGE, "--tokens %" PRId64 " is not divisible by --cp %d", s->tokens, s->cp);
    return true;
}

struct gdn_core gdn_core_of(struct cp_rank *r, const struct layer_tensors *w, struct layer_state *st)
{
    const struct cp_shape *s = r->shape;
    return (struct gdn_core){.stream = r->stream,
                             .dtype = s->dtype,
                             .pool = &st->pool,
                             .kheads = s->kheads,
                             .vheads = s->vheads,
                             .dk = s->dk,
                             .dv = s->dv,
                             .conv = s->conv,
                             .w_conv = w->v[GDN_W_CONV],
                             .A_log = w->v[GDN_A_LOG],
                             .dt_bias = w->v[GDN_DT_BIAS],
                             .w_norm = w->v[GDN_W_NORM]};
}

void gdn_core_grads(struct gdn_core *c, const struct layer_tensors *grad)
{
    c->dw_conv = grad->v[GDN_W_CONV];
    c->dA_log = grad->v[GDN_A_LOG];
    c->ddt_bias = grad->v[GDN_DT_BIAS];
    c->dw_norm = grad->v[GDN_W_NORM];
}

int64_t gdn_core_mix(const struct gdn_core *c)
{
    return 2 * c->kheads * c->dk + c->vheads * c->dv;
}

int64_t gdn_core_out(const struct gdn_core *c)
{
    return c->vheads * c->dv;
}

int64_t gdn_core_in(const struct gdn_core *c)
{
    return gdn_core_mix(c) + (c->no_z ? 0 : gdn_core_out(c)) + 2 * c->vheads;
}

int64_t gdn_core_summary(const struct gdn_core *c)
{
    return c->vheads * c->dk * (c->dk + c->dv);
}

/* Where the sections of a row of proj begin, in floats. */
static int64_t at_z(const struct gdn_core *c)
{
    return gdn_core_mix(c);
}

static int64_t at_b(const struct gdn_core *c)
{
    return at_z(c) + (c->no_z ? 0 : gdn_core_out(c));
}

static int64_t at_a(const struct gdn_core *c)
{
    return at_b(c) + c->vheads;
}

static void conv(struct gdn_core *c, struct device *d)
{
    DEV_RANGE(d, RANGE_CONV1D, -1);
    op_conv1d_fwd(c->stream, &(struct conv1d_fwd_args){.x = c->proj,
                                                       .w = c->w_conv,
                                                       .halo = c->halo,
                                                       .y = c->mix,
                                                       .cu = c->cu,
                                                       .ldx = gdn_core_in(c),
                                                       .ldy = gdn_core_mix(c),
                                                       .T = (int32_t)c->tokens,
                                                       .D = (int32_t)gdn_core_mix(c),
                                                       .W = (int32_t)c->conv,
                                                       .nseg = (int32_t)c->segments,
                                                       .halo_valid = (int32_t)c->halo_valid});
}

/* q and k lie side by side: one launch normalises the heads of both, in place. */
static void normalise(struct gdn_core *c, struct device *d)
{
    DEV_RANGE(d, RANGE_PREPARE_QKV, -1);
    op_l2norm_fwd(c->stream, &(struct l2norm_fwd_args){.x = c->mix,
                                                       .y = c->mix,
                                                       .inv = c->inv,
                                                       .ldx = gdn_core_mix(c),
                                                       .ldy = gdn_core_mix(c),
                                                       .T = (int32_t)c->tokens,
                                                       .H = (int32_t)(2 * c->kheads),
                                                       .d = (int32_t)c->dk,
                                                       .eps = GDN_EPS});
}

static void gates(struct gdn_core *c, struct device *d)
{
    DEV_RANGE(d, RANGE_G_AND_BETA, -1);
    op_gate_fwd(c->stream, &(struct gate_fwd_args){.b = c->proj + at_b(c),
                                                   .a = c->proj + at_a(c),
                                                   .A_log = c->A_log,
                                                   .dt_bias = c->dt_bias,
                                                   .beta = c->beta,
                                                   .g = c->g,
                                                   .ldb = gdn_core_in(c),
                                                   .lda = gdn_core_in(c),
                                                   .T = (int32_t)c->tokens,
                                                   .HV = (int32_t)c->vheads});
}

void gdn_core_pre(struct gdn_core *c)
{
    struct device *d = stream_device(c->stream);
    c->mix = devpool_rows(c->pool, c->tokens * gdn_core_mix(c));
    c->inv = devpool_floats(c->pool, c->tokens * 2 * c->kheads);
    c->beta = devpool_floats(c->pool, c->tokens * c->vheads);
    c->g = devpool_floats(c->pool, c->tokens * c->vheads);
    conv(c, d);
    op_round(c->stream, c->dtype, c->mix, c->tokens * gdn_core_mix(c));
    normalise(c, d);
    op_round(c->stream, c->dtype, c->mix, c->tokens * gdn_core_mix(c));
    gates(c, d);
}

struct gdn_inputs gdn_core_inputs(const struct gdn_core *c)
{
    return (struct gdn_inputs){.q = c->mix,
                               .k = c->mix + c->kheads * c->dk,
                               .v = c->mix + 2 * c->kheads * c->dk,
                               .g = c->g,
                               .beta = c->beta,
                               .tm = c->tm,
                               .cu = c->cu,
                               .ldqk = gdn_core_mix(c),
                               .ldv = gdn_core_mix(c),
                               .T = (int32_t)c->tokens,
                               .HK = (int32_t)c->kheads,
                               .HV = (int32_t)c->vheads,
                               .dk = (int32_t)c->dk,
                               .dv = (int32_t)c->dv,
                               .C = GDN_CHUNK,
                               .nseg = (int32_t)c->segments,
                               .scale = 1 / sqrtf((float)c->dk)};
}

void gdn_core_prepare(struct gdn_core *c)
{
    c->tm = devpool_floats(c->pool, c->vheads * c->tokens * GDN_CHUNK);
    op_gdn_scan_prepare(c->stream, &(struct gdn_scan_prepare_args){.in = gdn_core_inputs(c)});
}

void gdn_core_scan(struct gdn_core *c, const float *h_in)
{
    c->o = devpool_rows(c->pool, c->tokens * gdn_core_out(c));
    op_gdn_scan_fwd(c->stream, &(struct gdn_scan_fwd_args){.in = gdn_core_inputs(c), .h_in = h_in, .o = c->o, .ldo = gdn_core_out(c)});
    op_round(c->stream, c->dtype, c->o, c->tokens * gdn_core_out(c));
}

void gdn_core_norm(struct gdn_core *c, float *m)
{
    DEV_RANGE(stream_device(c->stream), RANGE_GATED_NORM, -1);
    op_norm_fwd(c->stream, &(struct norm_fwd_args){.o = c->o,
                                                   .z = c->proj + at_z(c),
                                                   .w = c->w_norm,
                                                   .m = m,
                                                   .ldo = gdn_core_out(c),
                                                   .ldz = gdn_core_in(c),
                                                   .ldm = gdn_core_out(c),
                                                   .T = (int32_t)c->tokens,
                                                   .HV = (int32_t)c->vheads,
                                                   .dv = (int32_t)c->dv,
                                                   .eps = GDN_EPS});
    op_round(c->stream, c->dtype, m, c->tokens * gdn_core_out(c));
}

void gdn_back_norm(const struct gdn_core *c, struct gdn_back *b, float *dm)
{
    DEV_RANGE(stream_device(c->stream), RANGE_GATED_NORM, -1);
    if (!b->dproj)
        b->dproj = devpool_rows(b->pool, c->tokens * gdn_core_in(c));
    b->d_o = dm;
    op_norm_bwd(c->stream, &(struct norm_bwd_args){.dm = dm,
                                                   .o = c->o,
                                                   .z = c->proj + at_z(c),
                                                   .w = c->w_norm,
                                                   .d_o = b->d_o,
                                                   .dz = b->dproj + at_z(c),
                                                   .dw = c->dw_norm,
                                                   .lddm = gdn_core_out(c),
                                                   .ldo = gdn_core_out(c),
                                                   .ldz = gdn_core_in(c),
                                                   .lddo = gdn_core_out(c),
                                                   .lddz = gdn_core_in(c),
                                                   .T = (int32_t)c->tokens,
                                                   .HV = (int32_t)c->vheads,
                                                   .dv = (int32_t)c->dv,
                                                   .eps = GDN_EPS});
    op_round(c->stream, c->dtype, b->d_o, c->tokens * gdn_core_out(c));
}

void gdn_back_scan(const struct gdn_core *c, struct gdn_back *b, const float *h_in, const float *dh_out)
{
    b->dmix = devpool_rows(b->pool, c->tokens * gdn_core_mix(c));
    b->dg = devpool_floats(b->pool, c->tokens * c->vheads);
    b->dbeta = devpool_floats(b->pool, c->tokens * c->vheads);
    op_gdn_scan_bwd(c->stream, &(struct gdn_scan_bwd_args){.in = gdn_core_inputs(c),
                                                           .h_in = h_in,
                                                           .d_o = b->d_o,
                                                           .dh_out = dh_out,
                                                           .dq = b->dmix,
                                                           .dk = b->dmix + c->kheads * c->dk,
                                                           .dv = b->dmix + 2 * c->kheads * c->dk,
                                                           .dg = b->dg,
                                                           .dbeta = b->dbeta,
                                                           .dh_in = b->dh_in,
                                                           .lddo = gdn_core_out(c),
                                                           .lddqk = gdn_core_mix(c),
                                                           .lddv = gdn_core_mix(c)});
}

static void back_gates(const struct gdn_core *c, struct gdn_back *b, struct device *d)
{
    DEV_RANGE(d, RANGE_G_AND_BETA, -1);
    op_gate_bwd(c->stream, &(struct gate_bwd_args){.beta = c->beta,
                                                   .g = c->g,
                                                   .dbeta = b->dbeta,
                                                   .dg = b->dg,
                                                   .a = c->proj + at_a(c),
                                                   .A_log = c->A_log,
                                                   .dt_bias = c->dt_bias,
                                                   .db = b->dproj + at_b(c),
                                                   .da = b->dproj + at_a(c),
                                                   .dA_log = c->dA_log,
                                                   .ddt_bias = c->ddt_bias,
                                                   .lda = gdn_core_in(c),
                                                   .lddb = gdn_core_in(c),
                                                   .ldda = gdn_core_in(c),
                                                   .T = (int32_t)c->tokens,
                                                   .HV = (int32_t)c->vheads});
}

static void back_normalise(const struct gdn_core *c, struct gdn_back *b, struct device *d)
{
    DEV_RANGE(d, RANGE_PREPARE_QKV, -1);
    op_l2norm_bwd(c->stream, &(struct l2norm_bwd_args){.y = c->mix,
                                                       .inv = c->inv,
                                                       .dy = b->dmix,
                                                       .dx = b->dmix,
                                                       .ldy = gdn_core_mix(c),
                                                       .lddy = gdn_core_mix(c),
                                                       .lddx = gdn_core_mix(c),
                                                       .T = (int32_t)c->tokens,
                                                       .H = (int32_t)(2 * c->kheads),
                                                       .d = (int32_t)c->dk});
}

static void back_conv(const struct gdn_core *c, struct gdn_back *b, struct device *d)
{
    DEV_RANGE(d, RANGE_CONV1D, -1);
    op_conv1d_bwd(c->stream, &(struct conv1d_bwd_args){.x = c->proj,
                                                       .w = c->w_conv,
                                                       .halo = c->halo,
                                                       .dy = b->dmix,
                                                       .dx = b->dproj,
                                                       .dw = c->dw_conv,
                                                       .d_halo = b->d_halo,
                                                       .cu = c->cu,
                                                       .ldx = gdn_core_in(c),
                                                       .lddy = gdn_core_mix(c),
                                                       .lddx = gdn_core_in(c),
                                                       .T = (int32_t)c->tokens,
                                                       .D = (int32_t)gdn_core_mix(c),
                                                       .W = (int32_t)c->conv,
                                                       .nseg = (int32_t)c->segments,
                                                       .halo_valid = (int32_t)c->halo_valid});
}

void gdn_back_pre(const struct gdn_core *c, struct gdn_back *b)
{
    struct device *d = stream_device(c->stream);
    op_round(c->stream, c->dtype, b->dmix, c->tokens * gdn_core_mix(c));
    back_gates(c, b, d);
    back_normalise(c, b, d);
    op_round(c->stream, c->dtype, b->dmix, c->tokens * gdn_core_mix(c));
    back_conv(c, b, d);
    op_round(c->stream, c->dtype, b->dproj, c->tokens * gdn_core_in(c));
}

void gdn_core_forward(struct gdn_core *c, float *m)
{
    struct device *d = stream_device(c->stream);
    dev_range_push(d, RANGE_PRE_GATED_DELTA_RULE, -1);
    gdn_core_pre(c);
    dev_range_pop(d);
    dev_range_push(d, RANGE_GATED_DELTA_RULE, -1);
    gdn_core_prepare(c);
    gdn_core_scan(c, NULL);
    dev_range_pop(d);
    gdn_core_norm(c, m);
}

float *gdn_core_backward(const struct gdn_core *c, struct devpool *pool, float *dm)
{
    struct device *d = stream_device(c->stream);
    struct gdn_back b = {.pool = pool};
    gdn_back_norm(c, &b, dm);
    dev_range_push(d, RANGE_GATED_DELTA_RULE, -1);
    gdn_back_scan(c, &b, NULL, NULL);
    dev_range_pop(d);
    dev_range_push(d, RANGE_PRE_GATED_DELTA_RULE, -1);
    gdn_back_pre(c, &b);
    dev_range_pop(d);
    return b.dproj;
}

double gdn_core_flops(const struct cp_shape *s, double tokens, double vheads, int passes)
{
    double C = GDN_CHUNK, dk = (double)s->dk, dv = (double)s->dv;
    double forward = C * (3 * dk + 2 * dv) + 3 * dk * dv + C * C / 3;
    double backward = C * (7 * dk + 5 * dv) + 8 * dk * dv;
    return 2 * tokens * vheads * (passes * forward + backward);
}
