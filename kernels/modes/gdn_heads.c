/* gdn_heads.c - slices of weights and their gradients. */
#include "kernels/modes/gdn_heads.h"
#include "kernels/modes/expect.h"
#include "kernels/modes/gdn_layer.h"
#include "kernels/ops/pack.h"

#include <inttypes.h>

void gdn_section_widths(const struct cp_shape *s, int64_t w[GDN_SECTIONS])
{
    w[GDN_Q] = w[GDN_K] = s->kheads * s->dk;
    w[GDN_V] = w[GDN_Z] = s->vheads * s->dv;
    w[GDN_B] = w[GDN_A] = s->vheads;
}

bool gdn_heads_check(const struct cp_shape *s, struct err *e)
{
    if (s->kheads % s->cp)
        return fail(e, ERR_USAGE, "--kheads %" PRId64 "%s is not divisible by --cp %d: this mode gives every rank its share of the heads", s->kheads,
                    shape_tp(s) > 1 ? " (of one --tp rank)" : "", s->cp);
    return true;
}

/* Own heads' rows of the conv weights, section by section. */
static void conv_slices(const struct cp_rank *r, int64_t first[3], int64_t rows[3])
{
    int64_t w[GDN_SECTIONS], at = 0, c = r->shape->cp;
    gdn_section_widths(r->shape, w);
    for (int i = 0; i < 3; at += w[i++]) {
        rows[i] = w[i] / c;
        first[i] = at + r->rank * rows[i];
    }
}

void gdn_heads_weights(struct cp_rank *r, struct gdn_core *c)
{
    int64_t first[3], rows[3], heads = r->shape->vheads / r->shape->cp;
    struct rows_part parts[3];
    conv_slices(r, first, rows);
    for (int i = 0; i < 3; i++)
        parts[i] = (struct rows_part){c->w_conv + first[i] * c->conv, rows[i]};
    c->kheads /= r->shape->cp;
    c->vheads = heads;
    float *w = devpool_floats(c->pool, gdn_core_mix(c) * c->conv);
    rows_concat(c->stream, w, parts, 3, c->conv);
    c->w_conv = w;
    c->A_log += r->rank * heads;
    c->dt_bias += r->rank * heads;
}

void gdn_heads_grads(struct cp_rank *r, struct gdn_core *c, const struct layer_tensors *grad, struct devpool *pool)
{
    size_t bytes = (size_t)(gdn_core_mix(c) * c->conv) * sizeof(float);
    gdn_core_grads(c, grad);
    c->dw_conv = devpool_bytes(pool, bytes);
    dev_set_async(r->stream, c->dw_conv, 0, bytes);
    c->dA_log += r->rank * c->vheads;
    c->ddt_bias += r->rank * c->vheads;
}

void gdn_heads_add(struct cp_rank *r, const struct gdn_core *c, const struct layer_tensors *grad)
{
    int64_t first[3], rows[3], at = 0;
    conv_slices(r, first, rows);
    for (int i = 0; i < 3; at += rows[i++])
        rows_accumulate(r->stream, grad->v[GDN_W_CONV] + first[i] * c->conv, c->conv, c->dw_conv + at * c->conv, c->conv, rows[i], c->conv);
}

void gdn_heads_expect(struct expect *x, const struct cp_shape *s, int64_t width)
{
    int64_t passes = expect_forwards(s) + s->layers * s->microbatches;
    int64_t bytes = shape_rows(s) * width * dtype_size(s->dtype) / s->cp * (s->cp - 1);
    gdn_expect_flops(x, s, (double)s->tokens, (double)(s->vheads / s->cp));
    if (s->cp > 1)
        expect_comm(x, "all_to_all", 2 * passes, passes * bytes);
}
