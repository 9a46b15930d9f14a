/* trial.c - random layers and distances between their results. */
#include "kernels/model/trial.h"
#include "kernels/model/draw.h"

#include <math.h>

static float *drawn(struct arena *a, const struct cp_shape *s, uint64_t seed, int64_t which)
{
    int64_t n = s->tokens * s->hidden;
    float *v = arena_array(a, float, n);
    struct draw d = draw_from(seed, DRAW_TOKENS, which, n);
    for (int64_t i = 0; i < n; i++)
        v[i] = dtype_round(s->dtype, (float)draw_signed(&d));
    return v;
}

struct layer_case trial_make(const struct cp_mode *mode, const struct cp_shape *shape, const struct packing *pack, struct param_init init,
                             uint64_t seed, struct arena *a)
{
    struct layer_case c = {.mode = mode, .shape = *shape, .pack = *pack};
    struct param_layout l;
    c.shape.op = mode->op;
    c.shape.layers = c.shape.microbatches = 1;
    c.shape.packs = pack;
    param_layout(&l, &c.shape);
    float *params = arena_array(a, float, l.floats);
    param_draw(params, &l, &c.shape, init, seed);
    dtype_round_host(shape->dtype, params, l.floats);
    c.params = params;
    c.x = drawn(a, &c.shape, seed, 1);
    c.dy = drawn(a, &c.shape, seed, 2);
    return c;
}

static double squares(const float *v, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)v[i] * v[i];
    return sum;
}

static double largest(const float *v, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)v[i]));
    return most;
}

static struct distance worse(struct distance x, struct distance y)
{
    return (struct distance){fmax(x.max_abs, y.max_abs), fmax(x.max_rel_ref, y.max_rel_ref), fmax(x.rel_l2, y.rel_l2)};
}

struct agreement trial_compare(const struct layer_case *c, const struct layer_result *got, const struct layer_result *want)
{
    struct agreement g = {.least_param_abs = INFINITY, .least_param_l2 = INFINITY};
    struct param_layout l;
    int64_t n = c->shape.tokens * c->shape.hidden;
    param_layout(&l, &c->shape);
    g.out = distance_of(got->out, want->out, n);
    g.dx = distance_of(got->dx, want->dx, n);
    double norm = sqrt(squares(want->dx, n) + squares(want->grads[0], l.floats));
    for (int rank = 0; rank < c->shape.cp; rank++) {
        for (int i = 0; i < l.n; i++) {
            int64_t size = l.t[i].rows * l.t[i].cols;
            g.param = worse(g.param, distance_of(got->grads[rank] + l.t[i].offset, want->grads[0] + l.t[i].offset, size));
        }
        g.grad_norm = fmax(g.grad_norm, fabs(sqrt(squares(got->dx, n) + squares(got->grads[rank], l.floats)) - norm) / norm);
    }
    for (int i = 0; i < l.n; i++) {
        int64_t size = l.t[i].rows * l.t[i].cols;
        g.least_param_abs = fmin(g.least_param_abs, largest(want->grads[0] + l.t[i].offset, size));
        g.least_param_l2 = fmin(g.least_param_l2, sqrt(squares(want->grads[0] + l.t[i].offset, size)));
    }
    return g;
}
