/* test_modes_agree.c - every mode on 1, 2, 4 and 8 ranks computes what one rank computes: outputs, input gradients and
 * every parameter gradient on every rank; packed, uneven, across rank cuts, with empty slots, with memory that lasts. */
#include "tests/unit/modes_run.h"

#include "kernels/model/seqs.h"

#define LIMIT 1e-5

static double worst;

static struct layer_case case_of(struct arena *a, const int64_t *lengths, int64_t n, struct param_init init)
{
    struct layer_case c = {.pack = pack_of(a, lengths, n)};
    c.shape = (struct cp_shape){.cp = 1,
                                .tokens = c.pack.total,
                                .hidden = 24,
                                .kheads = 8,
                                .vheads = 16,
                                .dk = 6,
                                .dv = 5,
                                .conv = 4,
                                .layers = 1,
                                .microbatches = 1,
                                .recompute = true,
                                .packs = NULL};
    struct param_layout l;
    param_layout(&l, &c.shape);
    float *params = arena_array(a, float, l.floats);
    param_draw(params, &l, &c.shape, init, rnd(1000));
    c.params = params;
    c.x = random_floats(a, c.shape.tokens * c.shape.hidden);
    c.dy = random_floats(a, c.shape.tokens * c.shape.hidden);
    return c;
}

static void near(const struct layer_case *c, const char *what, int rank, const float *got, const float *want, int64_t n)
{
    double d = rel_l2(got, want, n);
    worst = d > worst ? d : worst;
    if (!(d <= LIMIT))
        fail_msg("%s, cp %d, %lld sequences of %lld tokens: %s on rank %d differs by %.3g", c->mode->name, c->shape.cp, (long long)c->pack.sequences,
                 (long long)c->pack.total, what, rank, d);
}

static void compare(const struct layer_case *c, const struct layer_result *got, const struct layer_result *want)
{
    struct param_layout l;
    int64_t n = c->shape.tokens * c->shape.hidden;
    param_layout(&l, &c->shape);
    near(c, "output", -1, got->out, want->out, n);
    near(c, "input gradient", -1, got->dx, want->dx, n);
    for (int rank = 0; rank < c->shape.cp; rank++)
        for (int i = 0; i < l.n; i++)
            near(c, l.t[i].name, rank, got->grads[rank] + l.t[i].offset, want->grads[0] + l.t[i].offset, l.t[i].rows * l.t[i].cols);
}

/* All modes, the cp sizes that the lengths allow and, where it matters, routes against gdn.chunkwise alone. */
static void all_modes(struct layer_case c, struct arena *a)
{
    struct err e = {0};
    int ran = 0;
    c.mode = mode_find("gdn.chunkwise", &e);
    struct layer_result want = layer_run(&c, a);
    EACH_MODE(m, OP_GDN)
    for (int cp = 1; cp <= 8; cp *= 2) {
        c.mode = *m;
        c.shape.cp = cp;
        c.shape.route = (enum route_kind)rnd(4);
        c.shape.summary_kept = rnd(2);
        c.shape.boundaries_cached = rnd(2);
        c.shape.packs = &c.pack;
        struct err why = {0};
        if (!(*m)->check(&c.shape, &why))
            continue;
        struct layer_result got = layer_run(&c, a);
        compare(&c, &got, &want);
        ran += cp > 1;
    }
    assert_true(ran >= 6);
}

static void lengths_agree(const int64_t *lengths, int64_t n, struct param_init init)
{
    struct arena a = {0};
    all_modes(case_of(&a, lengths, n, init), &a);
    arena_free(&a);
}

#define SLOW ((struct param_init){0.005, 0.05})
#define AGREE(init, ...) lengths_agree((const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (init))

TEST(one_sequence_over_all_ranks)
{
    AGREE(SLOW, 256);
    AGREE(PARAM_INIT_DEFAULT, 256);
}

TEST(sequences_straddle_the_cuts)
{
    AGREE(SLOW, 48, 16, 128, 64);
    AGREE(SLOW, 240, 16);
    AGREE(PARAM_INIT_DEFAULT, 112, 32, 112);
}

/* A sequence that begins one or two tokens before a cut: the halo holds rows of its predecessor, which do not count. */
TEST(sequences_begin_just_before_a_cut)
{
    AGREE(SLOW, 16, 56);
    AGREE(SLOW, 32, 8, 32);
    AGREE(SLOW, 24, 32, 8, 32, 8);
}

TEST(many_short_sequences)
{
    AGREE(SLOW, 16, 16, 16, 16, 16, 16, 16, 16);
    AGREE(SLOW, 16, 32, 16, 48, 16);
}

TEST(empty_slots_change_nothing)
{
    AGREE(SLOW, 0, 64, 0, 0, 48, 144, 0);
}

TEST(drawn_sequences)
{
    PROP(4)
    {
        struct arena a = {0};
        struct seqs q;
        struct err e = {0};
        char text[32];
        snprintf(text, sizeof text, "random:%d", (int)rnd(6) + 1);
        assert_ok(seqs_parse(&q, text, 288, 8, false, &a, &e), &e);
        struct packing p = seqs_of(&q, rnd(1000), 0, 0, &a);
        int64_t lengths[8];
        for (int64_t i = 0; i < p.sequences; i++)
            lengths[i] = p.cu[i + 1] - p.cu[i];
        all_modes(case_of(&a, lengths, p.sequences, SLOW), &a);
        arena_free(&a);
    }
}

/* From 13 ranks on the replicated mode takes shards apart in blocks of all ranks. */
TEST(sixteen_ranks_scan_everything)
{
    struct arena a = {0};
    struct err e = {0};
    struct layer_case c = case_of(&a, (const int64_t[]){64, 0, 32, 96}, 4, SLOW);
    c.mode = mode_find("gdn.chunkwise", &e);
    struct layer_result want = layer_run(&c, &a);
    c.mode = mode_find("gdn.replicated_allgather", &e);
    c.shape.cp = 16;
    c.shape.packs = &c.pack;
    struct layer_result got = layer_run(&c, &a);
    compare(&c, &got, &want);
    arena_free(&a);
}

TEST(the_largest_difference)
{
    printf("# largest relative difference: %.2g, limit %g\n", worst, LIMIT);
    assert_true(worst > 0); /* 0 would mean that nothing was compared with anything else */
}

UNIT_MAIN(UNIT(one_sequence_over_all_ranks), UNIT(sequences_straddle_the_cuts), UNIT(sequences_begin_just_before_a_cut), UNIT(many_short_sequences),
          UNIT(empty_slots_change_nothing), UNIT(drawn_sequences), UNIT(sixteen_ranks_scan_everything), UNIT(the_largest_difference))
