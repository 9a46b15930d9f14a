/* params.c - sizes and first values of a layer's parameters.
 *
 * Scales: projections uniform with variance 1/fan_in (the output one also 1/layers, so that the residual stream of a
 * deep stack keeps its size), conv taps with variance 1/W, A_log and dt_bias as upstream initialises them (A.2).
 */
#include "kernels/model/params.h"
#include "kernels/model/draw.h"
#include "kernels/modes/attn_layer.h"
#include "kernels/modes/gdn_core.h"

#include <math.h>
#include <string.h>

struct sizes {
    double fan_in, layers;
    struct param_init init;
};

static float projection(struct draw *d, const struct sizes *s)
{
    return (float)(draw_signed(d) * sqrt(3 / s->fan_in));
}

static float projection_out(struct draw *d, const struct sizes *s)
{
    return (float)(draw_signed(d) * sqrt(3 / (s->fan_in * s->layers)));
}

static float log_a(struct draw *d, const struct sizes *s)
{
    return (float)log(s->init.a_low + (s->init.a_high - s->init.a_low) * draw_unit(d));
}

static float one(struct draw *d, const struct sizes *s)
{
    (void)d, (void)s;
    return 1;
}

static float near_one(struct draw *d, const struct sizes *s)
{
    (void)s;
    return (float)(1 + 0.1 * draw_signed(d));
}

/* The tensors of a layer, in the order of enum gdn_param and enum attn_param. */
static const struct tensor_row {
    const char *name;
    float (*first)(struct draw *d, const struct sizes *s);
} gdn_rows[GDN_PARAMS] =
    {
        [GDN_W_IN] = {"w_in", projection}, [GDN_W_CONV] = {"w_conv", projection}, [GDN_A_LOG] = {"A_log", log_a},
        [GDN_DT_BIAS] = {"dt_bias", one},  [GDN_W_NORM] = {"w_norm", near_one},   [GDN_W_OUT] = {"w_out", projection_out},
},
  attn_rows[ATTN_PARAMS] = {
      [ATTN_W_Q] = {"w_q", projection},         [ATTN_W_K] = {"w_k", projection},       [ATTN_W_V] = {"w_v", projection},
      [ATTN_W_OUT] = {"w_out", projection_out}, [ATTN_W_GATE] = {"w_gate", projection},
};

static const struct tensor_row *const op_rows[OP_COUNT] = {[OP_GDN] = gdn_rows, [OP_ATTN] = attn_rows};

static void append(struct param_layout *out, const char *name, int64_t rows, int64_t cols)
{
    out->t[out->n++] = (struct param_tensor){name, rows, cols, out->layer_floats};
    out->layer_floats += rows * cols;
}

static void gdn_layout(struct param_layout *out, const struct cp_shape *s)
{
    const int64_t size[GDN_PARAMS][2] = {
        [GDN_W_IN] = {gdn_in_width(s), s->hidden},
        [GDN_W_CONV] = {gdn_conv_width(s), s->conv},
        [GDN_A_LOG] = {1, s->vheads},
        [GDN_DT_BIAS] = {1, s->vheads},
        [GDN_W_NORM] = {1, s->dv},
        [GDN_W_OUT] = {s->hidden, s->vheads * s->dv},
    };
    for (int i = 0; i < GDN_PARAMS; i++)
        append(out, gdn_rows[i].name, size[i][0], size[i][1]);
}

static void attn_layout(struct param_layout *out, const struct cp_shape *s)
{
    for (int i = 0; i < ATTN_PARAMS; i++) {
        int64_t rows, cols;
        attn_param_size(s, (enum attn_param)i, &rows, &cols);
        append(out, attn_rows[i].name, rows, cols);
    }
}

void param_layout(struct param_layout *out, const struct cp_shape *s)
{
    *out = (struct param_layout){0};
    (s->op == OP_ATTN ? attn_layout : gdn_layout)(out, s);
    out->floats = out->layer_floats * s->layers;
}

/* Keys lean towards the queries of their head (correlation 0.8). Independent ones are almost orthogonal now and then, and
 * the first token of a sequence then gives an output near zero whose normalisation magnifies rounding a thousandfold. */
static void lean_keys(float *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        v[n + i] = 0.8f * v[i] + 0.6f * v[n + i];
}

void param_draw_layer(float *host, const struct param_layout *l, const struct cp_shape *shape, struct param_init init, uint64_t seed, int64_t layer)
{
    for (int i = 0; i < l->n; i++) {
        const struct param_tensor *t = &l->t[i];
        struct sizes s = {(double)t->cols, (double)shape->layers, init};
        struct draw d = draw_from(seed, DRAW_PARAMS, layer, i);
        float *v = host + t->offset;
        for (int64_t k = 0; k < t->rows * t->cols; k++)
            v[k] = op_rows[shape->op][i].first(&d, &s);
        if (shape->op == OP_GDN && (i == GDN_W_IN || i == GDN_W_CONV))
            lean_keys(v, shape->kheads * shape->dk * t->cols);
    }
}

void param_draw(float *host, const struct param_layout *l, const struct cp_shape *shape, struct param_init init, uint64_t seed)
{
    for (int64_t layer = 0; layer < shape->layers; layer++)
        param_draw_layer(host + layer * l->layer_floats, l, shape, init, seed, layer);
}

struct layer_tensors param_layer(const struct param_layout *l, float *flat, int64_t layer)
{
    struct layer_tensors out = {{0}};
    for (int i = 0; i < l->n; i++)
        out.v[i] = flat + layer * l->layer_floats + l->t[i].offset;
    return out;
}
