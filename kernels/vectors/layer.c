/* layer.c - reading and comparing whole layers. */
#include "kernels/vectors/layer.h"

static bool read_sizes(const struct jtree *one, struct arena *a, struct vec_layer *l, struct err *e)
{
    l->name = jtree_text(jtree_get(one, "name"));
    l->cu = vec_cu(one, "cu_seqlens", &l->nseg, a, e);
    if (!l->cu || !vec_int(one, "hidden", 1, 8192, &l->hidden, e) || !vec_int(one, "HK", 1, 64, &l->HK, e) || !vec_int(one, "HV", 1, 64, &l->HV, e) ||
        !vec_int(one, "dk", 1, 512, &l->dk, e) || !vec_int(one, "dv", 1, 512, &l->dv, e) || !vec_int(one, "conv_width", 1, 32, &l->conv, e))
        return false;
    l->T = l->cu[l->nseg];
    if (l->HV % l->HK)
        return fail(e, ERR_FAIL, "HV: not a multiple of HK");
    if (!jtree_real(jtree_get(one, "l2_eps"), &l->l2_eps) || !jtree_real(jtree_get(one, "norm_eps"), &l->norm_eps))
        return fail(e, ERR_FAIL, "l2_eps, norm_eps: not numbers");
    return true;
}

bool vec_layer_read(const struct jtree *kase, struct arena *a, struct vec_layer *l, struct err *e)
{
    *l = (struct vec_layer){0};
    if (!read_sizes(kase, a, l, e))
        return false;
    int64_t qk = 2 * l->HK * l->dk, v = l->HV * l->dv;
    const struct vec_param shapes[VEC_LAYER_PARAMS] = {
        {"w_in", qk + 2 * v + 2 * l->HV, l->hidden},
        {"w_conv", qk + v, l->conv},
        {"A_log", 1, l->HV},
        {"dt_bias", 1, l->HV},
        {"w_norm", 1, l->dv},
        {"w_out", l->hidden, v},
    };
    for (int i = 0; i < VEC_LAYER_PARAMS; i++) {
        size_t n = (size_t)(shapes[i].rows * shapes[i].cols);
        l->param[i] = shapes[i];
        l->param[i].value = vec_f32(jtree_get(kase, "params"), shapes[i].name, n, a, e);
        l->param[i].grad = vec_f64(jtree_get(kase, "grads"), shapes[i].name, n, a, e);
    }
    size_t n = (size_t)(l->T * l->hidden);
    l->x = vec_f32(kase, "x", n, a, e), l->dy = vec_f32(kase, "dy", n, a, e);
    l->out = vec_f64(kase, "out", n, a, e), l->dx = vec_f64(kase, "dx", n, a, e);
    return !e->kind;
}

void vec_layer_compare(const struct vec_out *o, const char *prefix, const struct vec_layer *l, const float *out, const float *dx,
                       float *const grads[VEC_LAYER_PARAMS])
{
    size_t n = (size_t)(l->T * l->hidden);
    vec_compare_f32(o, table_text(o->t, "%sout", prefix), out, l->out, n);
    vec_compare_f32(o, table_text(o->t, "%sdx", prefix), dx, l->dx, n);
    for (int i = 0; i < VEC_LAYER_PARAMS; i++) {
        const struct vec_param *p = &l->param[i];
        vec_compare_f32(o, table_text(o->t, "%sgrad %s", prefix, p->name), grads[i], p->grad, (size_t)(p->rows * p->cols));
    }
}
