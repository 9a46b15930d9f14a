/* test_modes_attn.c - attention layers of every mode on 1, 2, 4 and 8 ranks against a layer in double: outputs, input gradients
 * and every parameter gradient on every rank; MHA, grouped heads and expanded MLA; documents do not see each other; what is
 * refused; repeats are bit-identical. */
#include "modes_run.h"

#include "attn_oracle.h"
#include "kernels/modes/attn_layer.h"

#define LIMIT 1e-5

static double worst;

/* ---- the layer in double ---- */

struct oracle {
    double *out, *dx, *grad[ATTN_PARAMS];
    double *gate, *d_gate; /* sigmoid(x w_gate), 1 without a gate; the gradient of its argument */
};

/* y [rows][out] = x W^T, rounded to float for the attention oracle's inputs when `f` is given. */
static void linear(const float *x, const float *w, int64_t rows, int64_t in, int64_t out, float *f)
{
    for (int64_t t = 0; t < rows; t++)
        for (int64_t i = 0; i < out; i++) {
            double s = 0;
            for (int64_t j = 0; j < in; j++)
                s += (double)x[t * in + j] * w[i * in + j];
            f[t * out + i] = (float)s;
        }
}

/* dx += dy W, dW += dy^T x. */
static void linear_back(const float *x, const float *w, const double *dy, int64_t rows, int64_t in, int64_t out, double *dx, double *dw)
{
    for (int64_t t = 0; t < rows; t++)
        for (int64_t i = 0; i < out; i++)
            for (int64_t j = 0; j < in; j++) {
                dx[t * in + j] += dy[t * out + i] * w[i * in + j];
                dw[i * in + j] += dy[t * out + i] * x[t * in + j];
            }
}

static bool *causal_mask(struct arena *a, const struct packing *p)
{
    bool *see = arena_array(a, bool, p->total * p->total);
    for (int64_t n = 0; n < p->sequences; n++)
        for (int64_t i = p->cu[n]; i < p->cu[n + 1]; i++)
            for (int64_t j = p->cu[n]; j <= i; j++)
                see[i * p->total + j] = true;
    return see;
}

/* The first `turned` dims of every head of v [rows][heads][dim] turned by the place in the sequence; sign -1: back. */
#define DEFINE_TURN(NAME, TYPE)                                                                                                                      \
    static void NAME(const struct packing *p, TYPE *v, int64_t heads, int64_t dim, int64_t turned, double sign)                                      \
    {                                                                                                                                                \
        for (int64_t n = 0; n < p->sequences; n++)                                                                                                   \
            for (int64_t t = p->cu[n]; t < p->cu[n + 1]; t++)                                                                                        \
                for (int64_t h = 0; h < heads; h++)                                                                                                  \
                    for (int64_t j = 0; j < turned / 2; j++) {                                                                                       \
                        TYPE *x = v + (t * heads + h) * dim + j, low = x[0], high = x[turned / 2];                                                   \
                        double angle = sign * (double)(t - p->cu[n]) * pow(1e7, -2.0 * (double)j / (double)turned);                                  \
                        x[0] = (TYPE)(low * cos(angle) - high * sin(angle));                                                                         \
                        x[turned / 2] = (TYPE)(high * cos(angle) + low * sin(angle));                                                                \
                    }                                                                                                                                \
    }
DEFINE_TURN(turn_f, float)
DEFINE_TURN(turn_d, double)

/* Backward of the output projection and gate: d_o as floats, dW_out; and out = (o gate) W_out^T. */
static void output_projection(const struct layer_case *c, struct arena *a, const struct attn_oracle *x, const float *w, float *d_o, struct oracle *y)
{
    const struct cp_shape *s = &c->shape;
    int64_t T = s->tokens, wide = s->qheads * s->dv_attn;
    float *o = arena_array(a, float, T *wide);
    double *dy = arena_array(a, double, T * s->hidden), *sum = arena_array(a, double, T *wide);
    for (int64_t i = 0; i < T * wide; i++)
        o[i] = (float)(x->o[i] * y->gate[i]);
    for (int64_t i = 0; i < T * s->hidden; i++)
        dy[i] = c->dy[i];
    linear_back(o, w, dy, T, wide, s->hidden, sum, y->grad[ATTN_W_OUT]);
    for (int64_t i = 0; i < T * wide; i++) {
        d_o[i] = (float)(sum[i] * y->gate[i]);
        y->d_gate[i] = sum[i] * x->o[i] * y->gate[i] * (1 - y->gate[i]);
    }
    for (int64_t t = 0; t < T; t++)
        for (int64_t i = 0; i < s->hidden; i++)
            for (int64_t j = 0; j < wide; j++)
                y->out[t * s->hidden + i] += x->o[t * wide + j] * y->gate[t * wide + j] * w[i * wide + j];
}

static struct oracle oracle_of(const struct layer_case *c, const struct param_layout *l, struct arena *a)
{
    const struct cp_shape *s = &c->shape;
    int64_t wide = s->qheads * s->dv_attn;
    struct oracle y = {.out = arena_array(a, double, s->tokens * s->hidden),
                       .dx = arena_array(a, double, s->tokens * s->hidden),
                       .gate = arena_array(a, double, s->tokens *wide),
                       .d_gate = arena_array(a, double, s->tokens *wide)};
    const float *w[ATTN_PARAMS];
    float *in[3], *d_o = arena_array(a, float, s->tokens * s->qheads * s->dv_attn);
    for (int i = 0; i < ATTN_PARAMS; i++) {
        w[i] = c->params + l->t[i].offset;
        y.grad[i] = arena_array(a, double, l->t[i].rows * l->t[i].cols);
    }
    for (int i = 0; i < 3; i++) {
        in[i] = arena_array(a, float, s->tokens * l->t[i].rows);
        linear(c->x, w[i], s->tokens, s->hidden, l->t[i].rows, in[i]);
    }
    turn_f(&c->pack, in[0], s->qheads, s->dqk, s->rotary, 1);
    turn_f(&c->pack, in[1], s->kvheads, s->dqk, s->rotary, 1);
    float *g = arena_array(a, float, s->tokens *wide);
    linear(c->x, w[ATTN_W_GATE], s->tokens, s->hidden, s->attn_gate ? wide : 0, g);
    for (int64_t i = 0; i < s->tokens * wide; i++)
        y.gate[i] = s->attn_gate ? 1 / (1 + exp(-(double)g[i])) : 1;
    struct attn_oracle x = {.rows = s->tokens, .keys = s->tokens, .H = (int)s->qheads, .Hk = (int)s->kvheads, .d = (int)s->dqk, .e = (int)s->dv_attn};
    x.see = causal_mask(a, &c->pack);
    x.scale = 1 / sqrt((double)s->dqk);
    x.q = in[0], x.k = in[1], x.v = in[2], x.d_o = d_o;
    x.o = arena_array(a, double, s->tokens * s->qheads * s->dv_attn), x.lse = arena_array(a, double, s->tokens * s->qheads);
    x.dq = arena_array(a, double, s->tokens * l->t[0].rows), x.dk = arena_array(a, double, s->tokens * l->t[1].rows);
    x.dv = arena_array(a, double, s->tokens * l->t[2].rows);
    attn_oracle(&x);
    output_projection(c, a, &x, w[ATTN_W_OUT], d_o, &y);
    attn_oracle(&x);
    const double *back[] = {x.dq, x.dk, x.dv};
    turn_d(&c->pack, x.dq, s->qheads, s->dqk, s->rotary, -1);
    turn_d(&c->pack, x.dk, s->kvheads, s->dqk, s->rotary, -1);
    if (s->attn_gate)
        linear_back(c->x, w[ATTN_W_GATE], y.d_gate, s->tokens, s->hidden, wide, y.dx, y.grad[ATTN_W_GATE]);
    for (int i = 0; i < 3; i++)
        linear_back(c->x, w[i], back[i], s->tokens, s->hidden, l->t[i].rows, y.dx, y.grad[i]);
    return y;
}

/* ---- agreement ---- */

static struct layer_case case_of(struct arena *a, struct packing pack, const int heads[4])
{
    struct layer_case c = {.pack = pack};
    struct param_layout l;
    c.shape = (struct cp_shape){.cp = 1,
                                .op = OP_ATTN,
                                .tokens = pack.total,
                                .hidden = 12,
                                .qheads = heads[0],
                                .kvheads = heads[1],
                                .dqk = heads[2],
                                .dv_attn = heads[3],
                                .layers = 1,
                                .microbatches = 1,
                                .rotary = heads[2] / 2 * 2 * (int64_t)rnd(2),
                                .attn_gate = rnd(2),
                                .recompute = rnd(2)};
    param_layout(&l, &c.shape);
    float *params = arena_array(a, float, l.floats);
    param_draw(params, &l, &c.shape, PARAM_INIT_DEFAULT, rnd(1000));
    c.params = params;
    c.x = random_floats(a, pack.total * c.shape.hidden);
    c.dy = random_floats(a, pack.total * c.shape.hidden);
    return c;
}

static void near(const struct layer_case *c, const char *what, int rank, const float *got, const double *want, int64_t n)
{
    double num = 0, den = 0;
    for (int64_t i = 0; i < n; i++) {
        num += (got[i] - want[i]) * (got[i] - want[i]);
        den += want[i] * want[i];
    }
    double d = num > 0 ? sqrt(num / den) : 0;
    worst = d > worst ? d : worst;
    if (!(d <= LIMIT))
        fail_msg("%s, cp %d, %lld sequences of %lld tokens, heads %lld/%lld dims %lld/%lld: %s on rank %d differs by %.3g", c->mode->name,
                 c->shape.cp, (long long)c->pack.sequences, (long long)c->pack.total, (long long)c->shape.qheads, (long long)c->shape.kvheads,
                 (long long)c->shape.dqk, (long long)c->shape.dv_attn, what, rank, d);
}

static void compare(const struct layer_case *c, const struct oracle *want, const struct param_layout *l, struct arena *a)
{
    struct layer_result got = layer_run(c, a);
    int64_t n = c->shape.tokens * c->shape.hidden;
    near(c, "output", -1, got.out, want->out, n);
    near(c, "input gradient", -1, got.dx, want->dx, n);
    for (int rank = 0; rank < c->shape.cp; rank++)
        for (int i = 0; i < l->n; i++)
            near(c, l->t[i].name, rank, got.grads[rank] + l->t[i].offset, want->grad[i], l->t[i].rows * l->t[i].cols);
}

static int all_modes(struct layer_case *c, struct arena *a)
{
    struct param_layout l;
    int ran = 0;
    param_layout(&l, &c->shape);
    struct oracle want = oracle_of(c, &l, a);
    EACH_MODE(m, OP_ATTN)
    for (int cp = 1; cp <= 8; cp *= 2) {
        struct err why = {0};
        c->mode = *m;
        c->shape.cp = cp;
        c->shape.packs = &c->pack;
        c->shape.ulysses = INT64_C(1) << rnd(4);
        c->shape.window = INT64_C(1) << rnd(4);
        c->shape.metadata = (enum metadata_kind)rnd(3);
        if (!(*m)->check(&c->shape, &why))
            continue;
        compare(c, &want, &l, a);
        ran += cp > 1;
    }
    c->shape.cp = 1;
    return ran;
}

/* heads: query, key; dims: of q and k, of v. */
static const int shapes[][4] = {{8, 8, 4, 4}, {8, 2, 5, 5}, {4, 4, 6, 4}, {8, 1, 3, 2}, {2, 2, 4, 4}};

static void agree(const int64_t *lengths, int64_t n, int least)
{
    int ran = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct arena a = {0};
        struct layer_case c = case_of(&a, pack_of(&a, lengths, n), shapes[i]);
        ran += all_modes(&c, &a);
        arena_free(&a);
    }
    assert_true(ran >= least); /* else most combinations were refused */
}

#define AGREE(least, ...) agree((const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), least)

TEST(one_document_over_all_ranks)
{
    AGREE(90, 64);
}

TEST(documents_across_the_cuts)
{
    AGREE(90, 16, 48, 32);
    AGREE(90, 80, 16);
}

TEST(empty_slots_change_nothing)
{
    AGREE(90, 0, 32, 0, 0, 64, 0);
}

/* Lengths that no zigzag allows: the modes that cut evenly take them. */
TEST(documents_of_any_length)
{
    AGREE(20, 7, 7, 2, 25, 23);
}

TEST(drawn_documents)
{
    PROP(3)
    {
        int64_t lengths[4];
        int n = 1 + (int)rnd(4);
        for (int i = 0; i < n; i++)
            lengths[i] = 16 * (1 + (int64_t)rnd(3));
        agree(lengths, n, 90);
    }
}

TEST(the_largest_difference)
{
    printf("# largest relative difference: %.2g, limit %g\n", worst, LIMIT);
    assert_true(worst > 0);
}

/* ---- narrow storage types: several ranks against one, within the limits of seeds/003 ---- */

static void narrow(enum dtype type, double limit)
{
    EACH_MODE(m, OP_ATTN)
    {
        struct arena a = {0};
        struct layer_case c = case_of(&a, pack_of(&a, (const int64_t[]){16, 48, 32}, 3), shapes[2]);
        int64_t n = c.shape.tokens * c.shape.hidden;
        c.mode = *m;
        struct layer_result exact = layer_run(&c, &a);
        c.shape.dtype = type;
        struct layer_result want = layer_run(&c, &a);
        c.shape.cp = 4;
        c.shape.ulysses = c.shape.window = 2;
        struct layer_result got = layer_run(&c, &a);
        assert_true(distance_of(got.out, want.out, n).max_rel_ref <= limit && distance_of(got.dx, want.dx, n).max_rel_ref <= limit);
        double lost = rel_l2(want.out, exact.out, n); /* something is rounded, and not everything is lost */
        assert_true(lost > limit / 100 && lost <= limit);
        arena_free(&a);
    }
}

TEST(narrow_types_stay_close)
{
    narrow(DTYPE_FP16, 5e-3);
    narrow(DTYPE_BF16, 2.5e-2);
}

/* ---- isolation ---- */

static bool same_rows(const struct layer_case *c, const float *x, const float *y, int64_t from, int64_t to)
{
    int64_t h = c->shape.hidden;
    return !memcmp(x + from * h, y + from * h, (size_t)((to - from) * h) * sizeof *x);
}

/* Document d moves as a whole: nothing else may change by a bit. Its first token is felt by its last, across all ranks. */
static void isolated(struct layer_case *c, struct arena *a, int d)
{
    const int64_t *cu = c->pack.cu, h = c->shape.hidden;
    float *x = arena_array(a, float, cu[3] * h), *dy = arena_array(a, float, cu[3] * h);
    struct layer_case moved = *c, first = *c;
    struct layer_result before = layer_run(c, a);
    memcpy(x, c->x, (size_t)(cu[3] * h) * sizeof *x);
    memcpy(dy, c->dy, (size_t)(cu[3] * h) * sizeof *dy);
    for (int64_t i = cu[d] * h; i < cu[d + 1] * h; i++)
        x[i] += 0.5f, dy[i] -= 0.25f;
    moved.x = x;
    moved.dy = dy;
    struct layer_result after = layer_run(&moved, a);
    for (int i = 0; i < 3; i++)
        if (same_rows(c, before.out, after.out, cu[i], cu[i + 1]) != (i != d) || same_rows(c, before.dx, after.dx, cu[i], cu[i + 1]) != (i != d))
            fail_msg("%s, cp %d: moving document %d, document %d %s", c->mode->name, c->shape.cp, d, i, i == d ? "did not change" : "changed");
    memcpy(x, c->x, (size_t)(cu[3] * h) * sizeof *x);
    x[cu[d] * h] += 1;
    first.x = x;
    after = layer_run(&first, a);
    assert_false(same_rows(c, before.out, after.out, cu[d + 1] - 1, cu[d + 1]));
}

TEST(documents_are_isolated)
{
    EACH_MODE(m, OP_ATTN)
    for (int cp = 1; cp <= 8; cp *= 2) {
        struct arena a = {0};
        struct layer_case c = case_of(&a, pack_of(&a, (const int64_t[]){16, 48, 32}, 3), shapes[0]);
        c.mode = *m;
        c.shape.cp = cp;
        c.shape.ulysses = c.shape.window = cp > 2 ? 2 : 1;
        for (int d = 0; d < 3; d++)
            isolated(&c, &a, d);
        arena_free(&a);
    }
}

TEST(repeats_are_bit_identical)
{
    EACH_MODE(m, OP_ATTN)
    {
        struct arena a = {0};
        struct layer_case c = case_of(&a, pack_of(&a, (const int64_t[]){16, 48, 32}, 3), shapes[1]);
        c.mode = *m;
        c.shape.cp = 4;
        c.shape.ulysses = c.shape.window = 2;
        struct layer_result x = layer_run(&c, &a), y = layer_run(&c, &a);
        assert_memory_equal(x.out, y.out, sizeof(float) * (size_t)(c.shape.tokens * c.shape.hidden));
        assert_memory_equal(x.dx, y.dx, sizeof(float) * (size_t)(c.shape.tokens * c.shape.hidden));
        arena_free(&a);
    }
}

/* ---- what is refused ---- */

static void refused(const char *mode, struct cp_shape s, int64_t length, const char *message)
{
    struct err e = {0};
    struct packing p = {.cu = (int64_t[]){0, length}, .sequences = 1, .total = length};
    const struct cp_mode *m = mode_find(mode, &e);
    assert_non_null(m);
    s.op = OP_ATTN;
    s.tokens = length;
    s.hidden = 8;
    s.layers = s.microbatches = 1;
    s.packs = &p;
    assert_false(m->check(&s, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg, message);
}

TEST(shapes_that_do_not_fit)
{
    struct cp_shape s = {.cp = 4, .qheads = 8, .kvheads = 4, .dqk = 8, .dv_attn = 8, .ulysses = 2, .window = 2}, t = s;
    t.kvheads = 3;
    refused("attn.kvag.direct1", t, 64, "--qheads 8 is not a multiple of --kvheads 3");
    t = s, t.dv_attn = 9;
    refused("attn.ring.zigzag", t, 64, "--dqk 8, --dv-attn 9: want value heads no wider than key heads, up to 1024");
    t = s, t.cp = 3;
    refused("attn.ring.zigzag", t, 512, "a sequence of 512 tokens is not divisible by 2 x cp = 6 (zigzag layout): see --seqs, --cp");
    refused("attn.ring.contiguous", t, 512, "--tokens 512 is not divisible by --cp 3");
    refused("attn.ulysses", t, 513, "--qheads 8 is not divisible by --cp 3: every rank takes its share of the heads");
    t = s, t.qheads = 12, t.kvheads = 6;
    refused("attn.ulysses", t, 64, "--kvheads 6 and --cp 4: one must divide the other");
    t = s, t.ulysses = 3;
    refused("attn.usp", t, 64, "--ulysses 3 does not divide --cp 4");
    t = s, t.ulysses = 4, t.qheads = 6, t.kvheads = 6;
    refused("attn.usp", t, 64, "--qheads 6 is not divisible by --ulysses 4: every rank takes its share of the heads");
    t = s, t.window = 3;
    refused("attn.double_ring", t, 64, "--window 3 does not divide --cp 4");
}

UNIT_MAIN(UNIT(one_document_over_all_ranks), UNIT(documents_across_the_cuts), UNIT(empty_slots_change_nothing), UNIT(documents_of_any_length),
          UNIT(drawn_documents), UNIT(the_largest_difference), UNIT(narrow_types_stay_close), UNIT(documents_are_isolated),
          UNIT(repeats_are_bit_identical), UNIT(shapes_that_do_not_fit))
