/* test_modes_layer.c - a layer is what its definition says: outputs against a double oracle, gradients against central
 * differences of it, in every mode; and against the reference vectors where they are at hand. */
#include "mode_oracle.h"
#include "modes_run.h"

#include "kernels/vectors/layer.h"

#include <unistd.h>

/* Everything of a case in double: tensor 0 is x, then the parameters in order. */
enum { TENSORS = GDN_PARAMS + 1 };
struct tensors {
    double *v[TENSORS];
    int64_t n[TENSORS];
};

static const char *const names[TENSORS] = {"x", "w_in", "w_conv", "A_log", "dt_bias", "w_norm", "w_out"};

static struct tensors tensors_of(const struct layer_case *c, struct arena *a)
{
    struct param_layout l;
    struct tensors t;
    param_layout(&l, &c->shape);
    for (int i = 0; i < TENSORS; i++) {
        const float *from = i ? c->params + l.t[i - 1].offset : c->x;
        t.n[i] = i ? l.t[i - 1].rows * l.t[i - 1].cols : c->shape.tokens * c->shape.hidden;
        t.v[i] = arena_array(a, double, t.n[i]);
        for (int64_t k = 0; k < t.n[i]; k++)
            t.v[i][k] = from[k];
    }
    return t;
}

static void oracle_out_of(const struct layer_case *c, const struct tensors *t, double *out)
{
    const struct cp_shape *s = &c->shape;
    oracle_layer(&(struct oracle_layer){.T = (int)s->tokens,
                                        .hidden = (int)s->hidden,
                                        .HK = (int)s->kheads,
                                        .HV = (int)s->vheads,
                                        .dk = (int)s->dk,
                                        .dv = (int)s->dv,
                                        .W = (int)s->conv,
                                        .nseg = (int)c->pack.sequences,
                                        .cu = c->pack.cu,
                                        .x = t->v[0],
                                        .w_in = t->v[1],
                                        .w_conv = t->v[2],
                                        .A_log = t->v[3],
                                        .dt_bias = t->v[4],
                                        .w_norm = t->v[5],
                                        .w_out = t->v[6]},
                 out);
}

/* sum(out * dy) with tensor i moved by h along `way`. */
static double loss_at(const struct layer_case *c, struct tensors t, int i, const double *way, double h, struct arena *a)
{
    int64_t n = c->shape.tokens * c->shape.hidden;
    double *moved = arena_array(a, double, t.n[i]), *out = arena_array(a, double, n), loss = 0;
    for (int64_t k = 0; k < t.n[i]; k++)
        moved[k] = t.v[i][k] + h * way[k];
    t.v[i] = moved;
    oracle_out_of(c, &t, out);
    for (int64_t k = 0; k < n; k++)
        loss += out[k] * c->dy[k];
    return loss;
}

/* The derivative along a random direction, ours and by differences, relative to the size that it could have. */
static void check_gradient(const struct layer_case *c, const struct tensors *t, int i, const float *ours)
{
    struct arena a = {0};
    double *way = arena_array(&a, double, t->n[i]), got = 0, size = 0, h = 1e-5;
    for (int64_t k = 0; k < t->n[i]; k++) {
        way[k] = rnd_real();
        got += way[k] * ours[k];
        size += fabs(way[k] * ours[k]);
    }
    double want = (loss_at(c, *t, i, way, h, &a) - loss_at(c, *t, i, way, -h, &a)) / (2 * h);
    if (!(fabs(got - want) <= 1e-4 * size) || size == 0)
        fail_msg("%s, cp %d: derivative along %s is %.9g, want %.9g", c->mode->name, c->shape.cp, names[i], got, want);
    arena_free(&a);
}

static struct layer_case small_case(struct arena *a, struct param_init init)
{
    struct layer_case c = {.pack = pack_of(a, (const int64_t[]){8, 24, 8, 56}, 4)};
    struct param_layout l;
    c.shape =
        (struct cp_shape){.cp = 1, .tokens = 96, .hidden = 7, .kheads = 4, .vheads = 8, .dk = 5, .dv = 3, .conv = 4, .layers = 1, .microbatches = 1};
    param_layout(&l, &c.shape);
    float *params = arena_array(a, float, l.floats);
    param_draw(params, &l, &c.shape, init, 7);
    c.params = params;
    c.x = random_floats(a, 96 * 7);
    c.dy = random_floats(a, 96 * 7);
    return c;
}

static void check_layer(struct layer_case c, struct arena *a)
{
    struct tensors t = tensors_of(&c, a);
    int64_t n = c.shape.tokens * c.shape.hidden;
    double *want = arena_array(a, double, n);
    float *rounded = arena_array(a, float, n);
    struct layer_result got = layer_run(&c, a);
    struct param_layout l;
    param_layout(&l, &c.shape);
    oracle_out_of(&c, &t, want);
    for (int64_t i = 0; i < n; i++)
        rounded[i] = (float)want[i];
    double d = rel_l2(got.out, rounded, n);
    if (!(d <= 1e-5))
        fail_msg("%s, cp %d: output differs by %.3g", c.mode->name, c.shape.cp, d);
    for (int i = 0; i < TENSORS; i++)
        check_gradient(&c, &t, i, i ? got.grads[c.shape.cp - 1] + l.t[i - 1].offset : got.dx);
}

TEST(layer_is_its_definition)
{
    PROP(2)
    {
        struct arena a = {0};
        struct layer_case c = small_case(&a, prop_ ? (struct param_init){0.01, 0.1} : PARAM_INIT_DEFAULT);
        EACH_MODE(m, OP_GDN)
        for (c.shape.cp = 1; c.shape.cp <= 4; c.shape.cp *= 2) {
            c.mode = *m;
            check_layer(c, &a);
        }
        arena_free(&a);
    }
}

/* ---- the reference file, where the checkout has one beside it ---- */

static const char vectors_file[] = TEST_ROOT "/../shared/vectors/gdn_layer.json";

static void compare(const char *what, const struct layer_case *c, const float *got, const double *want, int64_t n)
{
    double num = 0, den = 0;
    for (int64_t i = 0; i < n; i++) {
        num += (got[i] - want[i]) * (got[i] - want[i]);
        den += want[i] * want[i];
    }
    if (!(sqrt(num / den) <= 1e-5))
        fail_msg("%s, cp %d: %s differs by %.3g from the reference", c->mode->name, c->shape.cp, what, sqrt(num / den));
}

static struct layer_case reference_case(const struct vec_layer *v, struct arena *a)
{
    struct layer_case c = {.pack = {.cu = v->cu, .sequences = v->nseg, .total = v->T}, .x = v->x, .dy = v->dy};
    struct param_layout l;
    c.shape = (struct cp_shape){.cp = 1,
                                .tokens = v->T,
                                .hidden = v->hidden,
                                .kheads = v->HK,
                                .vheads = v->HV,
                                .dk = v->dk,
                                .dv = v->dv,
                                .conv = v->conv,
                                .layers = 1,
                                .microbatches = 1,
                                .recompute = true};
    param_layout(&l, &c.shape);
    float *params = arena_array(a, float, l.floats);
    for (int i = 0; i < l.n; i++)
        memcpy(params + l.t[i].offset, v->param[i].value, (size_t)(l.t[i].rows * l.t[i].cols) * sizeof(float));
    c.params = params;
    return c;
}

/* All modes and cp sizes that the lengths and heads of the case allow; how many. */
static int run_reference(const struct vec_layer *v, struct arena *a)
{
    struct layer_case c = reference_case(v, a);
    struct param_layout l;
    int n = 0;
    param_layout(&l, &c.shape);
    EACH_MODE(m, OP_GDN)
    for (c.shape.cp = 1; c.shape.cp <= 4; c.shape.cp *= 2) {
        struct err e = {0};
        c.mode = *m;
        c.shape.packs = &c.pack;
        if (!(*m)->check(&c.shape, &e))
            continue;
        struct layer_result got = layer_run(&c, a);
        compare("out", &c, got.out, v->out, v->T * v->hidden);
        compare("dx", &c, got.dx, v->dx, v->T * v->hidden);
        for (int i = 0; i < l.n; i++)
            compare(l.t[i].name, &c, got.grads[0] + l.t[i].offset, v->param[i].grad, l.t[i].rows * l.t[i].cols);
        n++;
    }
    return n;
}

TEST(layer_is_the_reference)
{
    if (access(vectors_file, R_OK))
        skip_because("the reference vectors are not beside this checkout");
    struct err e = {0};
    struct arena a = {0};
    struct jtree *root = jtree_load(vectors_file, &e);
    assert_ok(root != NULL, &e);
    const struct jtree *cases = jtree_get(root, "cases");
    int n = 0;
    for (size_t i = 0; i < jtree_len(cases); i++) {
        struct vec_layer v;
        assert_ok(vec_layer_read(jtree_at(cases, i), &a, &v, &e), &e);
        n += run_reference(&v, &a);
    }
    printf("# %d combinations of case, mode and cp\n", n);
    assert_true(n >= 12); /* 2 cases x (chunkwise 1 2 [4], headwise 1, replicated 1 2 4) */
    jtree_free(root);
    arena_free(&a);
}

/* ---- boundaries that got past nobody's check ---- */

/* The failure of a layer over these lengths on two ranks: it ends, on all ranks, and says why. */
static struct err failure_of(const char *mode, enum route_kind route, const int64_t *lengths, struct arena *a)
{
    struct err e = {0};
    struct layer_result ignored;
    struct layer_case c = small_case(a, PARAM_INIT_DEFAULT);
    c.mode = mode_find(mode, &e);
    c.pack = pack_of(a, lengths, 2);
    c.shape.tokens = c.pack.total;
    c.shape.cp = 2;
    c.shape.route = route;
    if (layer_try(&c, &ignored, a, &e))
        fail_msg("%s took sequences of %d and %d tokens on two ranks", mode, (int)lengths[0], (int)lengths[1]);
    assert_int_equal(e.kind, ERR_USAGE);
    return e;
}

TEST(bad_boundaries_end_the_layer_on_every_rank)
{
    static const char *const others[] = {"gdn.headwise.per_seq", "gdn.replicated_allgather"};
    struct arena a = {0};
    const int64_t halves[] = {6, 10}, odd[] = {5, 11};
    struct err naive = failure_of("gdn.chunkwise", ROUTE_NAIVE, halves, &a), interval = failure_of("gdn.chunkwise", ROUTE_INTERVAL, halves, &a),
               prebuilt = failure_of("gdn.chunkwise", ROUTE_PREBUILT, halves, &a);
    assert_string_equal(naive.msg, interval.msg);
    assert_string_equal(naive.msg, prebuilt.msg);
    assert_true(strstr(naive.msg, "6 tokens") != NULL);
    for (int i = 0; i < 2; i++) {
        struct err half = failure_of(others[i], ROUTE_NAIVE, halves, &a), uneven = failure_of(others[i], ROUTE_NAIVE, odd, &a);
        assert_true(strstr(half.msg, "6 tokens") != NULL);
        assert_true(strlen(uneven.msg) > 0);
    }
    arena_free(&a);
}

UNIT_MAIN(UNIT(layer_is_its_definition), UNIT(layer_is_the_reference), UNIT(bad_boundaries_end_the_layer_on_every_rank))
