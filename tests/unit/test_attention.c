/* test_attention.c - the attention kernels against pair-by-pair sums in double: random pieces, head groups, dims, strides;
 * splits of the keys merged again; extreme log-sum-exps; the exact count of pairs. */
#include "unit.h"

#include "attn_oracle.h"
#include "kernels/ops/gemm.h"
#include "schemas/arena.h"

enum { PIECES = 4 };

struct problem {
    struct arena a;
    struct attn_oracle want;
    struct attn_piece pieces[PIECES];
    struct attn_inputs in;
    float *q, *k, *v, *d_o, *o, *lse, *dq, *dk, *dv;
    int64_t pairs;
};

static float *floats(struct problem *x, int64_t n)
{
    float *v = arena_array(&x->a, float, n + 1);
    for (int64_t i = 0; i < n; i++)
        v[i] = (float)(2 * rnd_real());
    return v;
}

static double *reals(struct problem *x, int64_t n)
{
    return arena_array(&x->a, double, n + 1);
}

/* Pieces one behind the other in q, anywhere in k; some rows of both are in no piece. */
static void draw_pieces(struct problem *x, int64_t longest)
{
    struct attn_oracle *w = &x->want;
    x->in.npieces = 1 + (int64_t)rnd(PIECES);
    w->keys = longest + 3;
    for (int64_t i = 0; i < x->in.npieces; i++) {
        struct attn_piece *p = &x->pieces[i];
        *p = (struct attn_piece){
            .q = w->rows + (int64_t)rnd(2), .qlen = (int64_t)rnd((uint64_t)longest), .klen = (int64_t)rnd((uint64_t)longest), .causal = rnd(3)};
        p->k = (int64_t)rnd((uint64_t)(w->keys - p->klen));
        w->rows = p->q + p->qlen;
    }
    w->rows++;
    bool *see = arena_array(&x->a, bool, w->rows * w->keys);
    for (int64_t n = 0; n < x->in.npieces; n++)
        for (int64_t i = 0; i < x->pieces[n].qlen; i++)
            for (int64_t j = 0; j < x->pieces[n].klen; j++)
                if (!x->pieces[n].causal || j <= i + x->pieces[n].klen - x->pieces[n].qlen)
                    see[(x->pieces[n].q + i) * w->keys + x->pieces[n].k + j] = true, x->pairs++;
    w->see = see;
}

static void draw_sizes(struct problem *x)
{
    static const int dims[][4] = {{4, 4, 8, 8},   {8, 2, 5, 5},   {2, 2, 12, 7},   {6, 3, 1, 1},
                                  {1, 1, 33, 17}, {4, 1, 16, 16}, {2, 1, 70, 140}, {2, 1, 130, 66}};
    const int *s = dims[rnd(sizeof dims / sizeof *dims)];
    struct attn_oracle *w = &x->want;
    w->H = s[0], w->Hk = s[1], w->d = s[2], w->e = s[3];
    w->scale = 1 / sqrt(w->d);
}

static struct problem *draw_problem(int64_t longest)
{
    struct problem *x = calloc(1, sizeof *x);
    gemm_init();
    struct attn_oracle *w = &x->want;
    draw_sizes(x);
    draw_pieces(x, longest);
    w->q = x->q = floats(x, w->rows * w->H * w->d);
    w->k = x->k = floats(x, w->keys * w->Hk * w->d);
    w->v = x->v = floats(x, w->keys * w->Hk * w->e);
    w->d_o = x->d_o = floats(x, w->rows * w->H * w->e);
    w->o = reals(x, w->rows * w->H * w->e), w->lse = reals(x, w->rows * w->H);
    w->dq = reals(x, w->rows * w->H * w->d), w->dk = reals(x, w->keys * w->Hk * w->d), w->dv = reals(x, w->keys * w->Hk * w->e);
    attn_oracle(w);
    x->o = arena_array(&x->a, float, w->rows * w->H * w->e), x->lse = arena_array(&x->a, float, w->rows * w->H);
    x->dq = arena_array(&x->a, float, w->rows * w->H * w->d), x->dk = arena_array(&x->a, float, w->keys * w->Hk * w->d);
    x->dv = arena_array(&x->a, float, w->keys * w->Hk * w->e);
    x->in = (struct attn_inputs){.q = x->q,
                                 .k = x->k,
                                 .v = x->v,
                                 .pieces = x->pieces,
                                 .ldq = w->H * w->d,
                                 .ldk = w->Hk * w->d,
                                 .ldv = w->Hk * w->e,
                                 .npieces = x->in.npieces,
                                 .heads = w->H,
                                 .kv_heads = w->Hk,
                                 .d = w->d,
                                 .e = w->e,
                                 .scale = (float)w->scale};
    return x;
}

static void drop(struct problem *x)
{
    arena_free(&x->a);
    free(x);
}

static void near(const char *what, const float *got, const double *want, int64_t n)
{
    double num = 0, den = 0;
    for (int64_t i = 0; i < n; i++) {
        if (isinf(want[i]) && got[i] == want[i])
            continue;
        num += (got[i] - want[i]) * (got[i] - want[i]);
        den += want[i] * want[i];
    }
    if (!(sqrt(num) <= 3e-6 * sqrt(den) + 1e-5))
        fail_msg("%s: differs by %.3g of %.3g", what, sqrt(num), sqrt(den));
}

static void forward(const struct problem *x, struct attn_inputs in, float *o, float *lse)
{
    attention_fwd_cpu(&(struct attention_fwd_args){in, o, lse, x->want.H * x->want.e});
}

static void backward(struct problem *x, struct attn_inputs in)
{
    const struct attn_oracle *w = &x->want;
    attention_bwd_cpu(&(struct attention_bwd_args){.in = in,
                                                   .o = x->o,
                                                   .lse = x->lse,
                                                   .d_o = x->d_o,
                                                   .dq = x->dq,
                                                   .dk = x->dk,
                                                   .dv = x->dv,
                                                   .ldo = w->H * w->e,
                                                   .lddo = w->H * w->e,
                                                   .lddq = w->H * w->d,
                                                   .lddk = w->Hk * w->d,
                                                   .lddv = w->Hk * w->e});
}

static void compare(const struct problem *x)
{
    const struct attn_oracle *w = &x->want;
    near("o", x->o, w->o, w->rows * w->H * w->e);
    near("lse", x->lse, w->lse, w->rows * w->H);
    near("dq", x->dq, w->dq, w->rows * w->H * w->d);
    near("dk", x->dk, w->dk, w->keys * w->Hk * w->d);
    near("dv", x->dv, w->dv, w->keys * w->Hk * w->e);
}

static void all_unseen(struct problem *x)
{
    for (int64_t i = 0; i < x->want.rows * x->want.H; i++)
        x->lse[i] = -INFINITY;
}

static void whole(int64_t longest)
{
    struct problem *x = draw_problem(longest);
    all_unseen(x); /* rows in no piece stay as they are */
    forward(x, x->in, x->o, x->lse);
    backward(x, x->in);
    compare(x);
    drop(x);
}

TEST(pieces_agree_with_the_definition)
{
    PROP(150)
    whole(2 + (int64_t)rnd(40));
}

TEST(pieces_over_several_blocks_agree)
{
    PROP(12)
    whole(120 + (int64_t)rnd(280));
}

/* The keys of one unmasked run cut in three, in an order of its own: merged outputs, added gradients. */
static void split(void)
{
    struct problem *x = draw_problem(30);
    struct attn_oracle *w = &x->want;
    int64_t no = w->rows * w->H * w->e, nl = w->rows * w->H, cut[] = {0, 0, 0, w->keys};
    bool *see = arena_array(&x->a, bool, w->rows * w->keys);
    float *o = arena_array(&x->a, float, no), *lse = arena_array(&x->a, float, nl);
    cut[1] = (int64_t)rnd((uint64_t)w->keys + 1);
    cut[2] = cut[1] + (int64_t)rnd((uint64_t)(w->keys - cut[1]) + 1);
    memset(see, 1, (size_t)(w->rows * w->keys));
    w->see = see;
    attn_oracle(w);
    all_unseen(x);
    struct attn_piece third[3];
    for (int i = 0; i < 3; i++) {
        int at = (i + 2) % 3;
        third[i] = (struct attn_piece){0, w->rows, cut[at], cut[at + 1] - cut[at], false};
        x->in.pieces = &third[i];
        x->in.npieces = 1;
        forward(x, x->in, o, lse);
        attention_merge_cpu(&(struct attention_merge_args){x->o, x->lse, o, lse, w->rows, w->H, w->e});
    }
    for (int i = 0; i < 3; i++) {
        x->in.pieces = &third[i];
        backward(x, x->in);
    }
    compare(x);
    drop(x);
}

TEST(splits_merge_to_the_whole)
{
    PROP(100)
    split();
}

static void merge_one(double x, double y)
{
    float o[1] = {1}, a[1] = {(float)x}, ob[1] = {3}, b[1] = {(float)y};
    bool none = fmax(x, y) == -INFINITY;
    double top = none ? 0 : fmax(x, y), wx = exp(x - top), wy = exp(y - top), lse = top + log(wx + wy);
    attention_merge_cpu(&(struct attention_merge_args){o, a, ob, b, 1, 1, 1});
    double want = none ? 1 : (wx * 1 + wy * 3) / (wx + wy);
    if (!(fabs(o[0] - want) < 1e-5) || !(a[0] == lse || fabs(a[0] - lse) <= 1e-6 * (1 + fabs(lse))))
        fail_msg("merging lse %g and %g: o %g, want %g; lse %g, want %g", x, y, o[0], want, a[0], lse);
}

/* Where log(1 + exp(difference)) would overflow, where a side has seen no key, where one is lost beside the other. */
TEST(merge_of_extremes)
{
    static const double v[] = {-INFINITY, -1e30, -1e4, -200, -88, -1, 0, 1e-3, 3, 88, 90, 200, 1e4, 1e30};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        for (size_t j = 0; j < sizeof v / sizeof *v; j++)
            merge_one(v[i], v[j]);
    float o = NAN, lse = -INFINITY, b = 2, lse_b = 5;
    attention_merge_cpu(&(struct attention_merge_args){&o, &lse, &b, &lse_b, 1, 1, 1});
    assert_true(o == 2 && lse == 5); /* what a row that saw nothing holds does not matter */
}

TEST(costs_count_allowed_pairs)
{
    PROP(100)
    {
        struct problem *x = draw_problem(2 + (int64_t)rnd(20));
        const struct attn_oracle *w = &x->want;
        int64_t pairs = 0;
        for (int64_t i = 0; i < x->in.npieces; i++)
            pairs += attn_piece_pairs(&x->pieces[i]);
        assert_int_equal(pairs, x->pairs);
        x->in.pairs = pairs;
        double each = 2.0 * (double)pairs * w->H;
        assert_true(attention_fwd_cost(&(struct attention_fwd_args){.in = x->in}).flops == each * (w->d + w->e));
        assert_true(attention_bwd_cost(&(struct attention_bwd_args){.in = x->in}).flops == each * (3 * w->d + 2 * w->e));
        drop(x);
    }
}

/* The same call twice gives the same bits. */
TEST(repeats_are_identical)
{
    struct problem *x = draw_problem(300);
    int64_t n = x->want.rows * x->want.H * x->want.e;
    float *o = arena_array(&x->a, float, n);
    forward(x, x->in, x->o, x->lse);
    forward(x, x->in, o, x->lse);
    assert_memory_equal(o, x->o, (size_t)n * sizeof *o);
    drop(x);
}

UNIT_MAIN(UNIT(pieces_agree_with_the_definition), UNIT(pieces_over_several_blocks_agree), UNIT(splits_merge_to_the_whole), UNIT(merge_of_extremes),
          UNIT(costs_count_allowed_pairs), UNIT(repeats_are_identical))
