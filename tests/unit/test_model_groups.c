/* test_model_groups.c - runs whose ranks do not all do the same: cp sizes that change by micro-batch, heads split over TP
 * groups, padded documents, stacks of both operators. Each against one rank alone on the same tokens. */
#include "run_options.h"

#include "kernels/model/groups.h"
#include "kernels/model/stack.h"
#include "kernels/modes/expect.h"
#include "kernels/modes/gdn_core.h"
#include "kernels/modes/tensor.h"

#include <math.h>

enum { STEPS = 2 };

static struct run_options options_of(const char *mode)
{
    struct run_options o = run_options_default;
    o.mode = mode;
    o.device = "cpu";
    o.cp = 1;
    o.layers = 2;
    o.steps = STEPS;
    o.tokens = 256;
    o.seqs = "equal:8";
    o.recompute = "full";
    o.hidden = 16;
    o.kheads = o.vheads = o.kvheads = 8;
    o.dk = o.dv = o.dqk = o.dv_attn = 8; /* narrower heads make gradients that fp32 cannot hold to 1e-5 */
    return o;
}

static void agree(const struct run_options *o, const struct run_row *want)
{
    struct run_row got[STEPS];
    run_of(o, got);
    for (int i = 0; i < STEPS; i++) {
        if (fabs(got[i].loss - want[i].loss) > 1e-6 * want[i].loss || fabs(got[i].grad_norm - want[i].grad_norm) > 1e-5 * want[i].grad_norm)
            fail_msg("%s, cp %d, tp %d, step %d: loss %.9g, norm %.9g, want %.9g, %.9g", o->mode, (int)o->cp, (int)o->tp, i, got[i].loss,
                     got[i].grad_norm, want[i].loss, want[i].grad_norm);
        assert_true(got[i].param_hash == want[i].param_hash);
        assert_int_equal(got[i].tokens - got[i].padded, want[i].tokens - want[i].padded);
    }
}

/* One rank, with as many micro-batches of its own. */
TEST(cp_sizes_may_change)
{
    static const char *const lists[] = {"1,2,4,8", "8x2,1,4", "2"};
    for (const struct cp_mode *const *m = modes; *m; m++)
        for (int i = 0; i < 3; i++) {
            struct run_options o = options_of((*m)->name);
            struct run_row want[STEPS];
            o.microbatches = i == 2 ? 1 : 4;
            run_of(&o, want);
            o.microbatches = 1;
            o.cp = 8;
            o.dynamic_cp = lists[i];
            agree(&o, want);
        }
}

/* The loss of drawn lengths does not depend on how the groups are formed when they are cut alike. */
TEST(drawn_lengths_are_cut_between_groups)
{
    struct arena a = {0};
    struct run_options o = options_of("gdn.chunkwise");
    struct run_config c;
    struct err e = {0};
    o.cp = 4, o.seqs = "random:3", o.dynamic_cp = "1,2,4", o.padding = "eod";
    assert_ok(run_config_of(&o, &c, &a, &e), &e);
    assert_int_equal(c.shape.microbatches, 3);
    for (int b = 0; b < 3; b++) {
        const struct packing *p = &c.shape.packs[b];
        int64_t tokens = 0, part = 64 << b, padded = packing_padded(p);
        for (int rank = 0; rank < 4; rank++) {
            struct place at = place_of(&c, b, rank);
            struct packing own = place_pack(p, &at, 64, &a);
            assert_int_equal(at.cp, 1 << b);
            assert_int_equal(at.group, rank >> b);
            assert_int_equal(own.cu[own.sequences], part);
            padded -= at.rank ? 0 : packing_padded(&own);
            tokens += at.rank ? 0 : own.total;
        }
        assert_int_equal(tokens, 256);
        assert_int_equal(padded, 0);
    }
    arena_free(&a);
}

/* The seed's step: 8 micro-batches of one rank, 41 of two, 7 of four (seeds/000 4.5). */
TEST(the_seeds_schedule)
{
    struct arena a = {0};
    struct run_options o = options_of("gdn.chunkwise");
    struct run_config c;
    struct err e = {0};
    o.cp = 4, o.dynamic_cp = "1x8,2x41,4x7";
    assert_ok(run_config_of(&o, &c, &a, &e), &e);
    for (int rank = 0; rank < 4; rank++) {
        struct expect x = {0};
        int64_t n[3] = {0};
        groups_expect(&c, rank, &x);
        for (int i = 0; i < x.n; i++)
            if (!strcmp(x.rows[i].what, "schedule"))
                n[x.rows[i].kind[2] / 2 % 3] = x.rows[i].count; /* '1', '2', '4' -> 0, 1, 2 */
        assert_int_equal(n[0], 8);
        assert_int_equal(n[1], 41);
        assert_int_equal(n[2], 7);
    }
    arena_free(&a);
}

/* Every mode with its heads over two and four ranks, alone and over two CP ranks. */
TEST(heads_may_be_split)
{
    for (const struct cp_mode *const *m = modes; *m; m++) {
        struct run_options o = options_of((*m)->name);
        struct run_row want[STEPS];
        o.seqs = "32,160,64";
        run_of(&o, want);
        for (o.tp = 2; o.tp <= 4; o.tp *= 2)
            for (o.cp = 1; o.cp <= 2; o.cp++)
                agree(&o, want);
    }
}

TEST(split_and_changing_together)
{
    struct run_options o = options_of("gdn.headwise.fused");
    struct run_row want[STEPS];
    o.layers = 4, o.attn_mode = "attn.kvag.direct1", o.microbatches = 3;
    run_of(&o, want);
    o.microbatches = 1, o.cp = 4, o.tp = 2, o.dynamic_cp = "4,1,2";
    agree(&o, want);
}

/* Parts of a tensor are disjoint, and all of it; what is shared is whole. */
TEST(parts_make_up_the_whole)
{
    struct err e = {0};
    const struct cp_mode *gdn = mode_find("gdn.chunkwise", &e), *attn = mode_find("attn.ulysses", &e);
    PROP(50)
    {
        struct arena a = {0};
        int tp = 1 << rnd(3);
        struct cp_shape s = {.cp = 1, .tokens = 64, .hidden = 1 + (int64_t)rnd(5), .layers = 5};
        s.kheads = tp * (1 + (int64_t)rnd(2)), s.vheads = s.kheads * (1 + (int64_t)rnd(2)), s.dk = 1 + (int64_t)rnd(3), s.dv = 1 + (int64_t)rnd(3);
        s.kvheads = tp * (1 + (int64_t)rnd(2)), s.qheads = s.kvheads * 2, s.dqk = 1 + (int64_t)rnd(3), s.dv_attn = 1, s.conv = 4;
        struct run_config c = {.mode = gdn, .attn = attn, .shape = s, .whole = s}, one = c;
        c.shape.tp = tp;
        assert_ok(tensor_split(&c.shape, OP_GDN, tp, &e) && tensor_split(&c.shape, OP_ATTN, tp, &e), &e);
        uint64_t hash = 0;
        int *seen = NULL;
        for (int rank = 0; rank < tp; rank++) {
            struct stack st;
            stack_init(&st, &c, rank, true, &a);
            const struct param_layout *whole = &st.whole[OP_GDN];
            seen = seen ? seen : arena_array(&a, int, whole->layer_floats);
            for (int64_t i = 0; i < st.part[OP_GDN].layer_floats; i++)
                seen[st.index[OP_GDN][i]]++;
            float *v = arena_array(&a, float, st.floats);
            stack_draw(v, &st, 7);
            hash += stack_hash(&st, v);
            for (int64_t i = 0; rank + 1 == tp && i < whole->layer_floats; i++) {
                bool norm = i >= whole->t[GDN_W_NORM].offset && i < whole->t[GDN_W_NORM].offset + s.dv;
                assert_int_equal(seen[i], norm ? tp : 1);
            }
        }
        struct stack alone;
        stack_init(&alone, &one, 0, true, &a);
        float *v = arena_array(&a, float, alone.floats);
        stack_draw(v, &alone, 7);
        assert_true(hash == stack_hash(&alone, v));
        v[rnd((uint64_t)alone.floats)] += 1;
        assert_true(hash != stack_hash(&alone, v));
        arena_free(&a);
    }
}

/* Documents of any length, padded: as one rank sees them without padding. */
TEST(padding_changes_no_value)
{
    for (const struct cp_mode *const *m = modes; *m; m++) {
        struct run_options o = options_of((*m)->name);
        struct run_row want[STEPS], got[STEPS];
        o.tokens = 150, o.seqs = "50,71,29";
        run_of(&o, want);
        assert_int_equal(want[0].padded, 0);
        o.padding = "eod", o.tokens = 208;
        for (o.cp = 1; o.cp <= 8; o.cp *= 2) {
            agree(&o, want);
            run_of(&o, got);
            assert_int_equal(got[0].tokens, 208);
            assert_int_equal(got[0].padded, 58);
        }
    }
}

/* Drawn documents are the same ones for every cp size. */
TEST(drawn_documents_do_not_depend_on_cp)
{
    struct run_row want[STEPS];
    struct run_options o = options_of("gdn.chunkwise");
    o.padding = "eod", o.seqs = "random:5", o.microbatches = 2;
    run_of(&o, want);
    assert_true(want[0].padded > 0);
    for (o.cp = 2; o.cp <= 8; o.cp *= 2)
        agree(&o, want);
}

TEST(stacks_of_both_operators)
{
    static const char *const pairs[][2] = {
        {"gdn.chunkwise", "attn.kvag.direct1"}, {"gdn.headwise.fused", "attn.ring.zigzag"}, {"gdn.ulysses", "attn.ring.contiguous"}};
    struct run_row want[STEPS];
    struct run_options o = options_of("gdn.chunkwise");
    o.layers = 9, o.attn_mode = "attn.kvag.direct2", o.seqs = "random:3";
    run_of(&o, want);
    for (int i = 0; i < 3; i++) {
        o.mode = pairs[i][0], o.attn_mode = pairs[i][1];
        for (o.cp = 2; o.cp <= 4; o.cp *= 2)
            agree(&o, want);
    }
}

/* A modelled machine counts rows at their type's size; sums and states stay float. */
TEST(modelled_memory_follows_the_type)
{
    for (const struct cp_mode *const *m = modes; *m; m++) {
        struct run_row all[STEPS], half[STEPS];
        struct run_options o = options_of((*m)->name);
        o.device = "sim", o.cp = 4, o.tokens = 4096, o.hidden = 256, o.seqs = "equal:4";
        run_of(&o, all);
        o.dtype = "bf16";
        run_of(&o, half);
        if (half[0].peak_bytes * 2 < all[0].peak_bytes || half[0].peak_bytes * 10 > all[0].peak_bytes * 8)
            fail_msg("%s: peak of %lld bytes, in bf16 %lld", o.mode, (long long)all[0].peak_bytes, (long long)half[0].peak_bytes);
    }
}

static void refused(const struct run_options *o, const char *want)
{
    struct arena a = {0};
    struct run_config c;
    struct err e = {0};
    if (run_config_of(o, &c, &a, &e) || e.kind != ERR_USAGE || !strstr(e.msg, want))
        fail_msg("'%s' does not say '%s'", e.msg, want);
    arena_free(&a);
}

TEST(refusals)
{
    struct run_options o = options_of("gdn.chunkwise");
    o.cp = 4;
    o.dynamic_cp = "3", refused(&o, "3 is not one of 1, 2, 4, 8 that divide --cp 4");
    o.dynamic_cp = "8", refused(&o, "8 is not one of 1, 2, 4, 8 that divide --cp 4");
    o.dynamic_cp = "2xx", refused(&o, "'2xx' is no cp size");
    o.dynamic_cp = "2,", refused(&o, "'' is no cp size");
    o.dynamic_cp = "2x0", refused(&o, "'2x0' is no cp size");
    o.dynamic_cp = "2x99999", refused(&o, "more than 10000 micro-batches");
    o.dynamic_cp = "4,2", o.seqs = "96,160", refused(&o, "sequence 1 (tokens 96 to 255) reaches over the cuts every 128 tokens");
    o = options_of("gdn.chunkwise");
    o.tp = 3, refused(&o, "--kheads 8 is not divisible by --tp 3");
    o.tp = 8, o.cp = 8, o.tokens = 224, o.seqs = "224", refused(&o, "gives 28 rows, not divisible by --tp 8");
    o = options_of("gdn.headwise.per_seq");
    o.cp = 8, o.tp = 2, refused(&o, "--kheads");
    o = options_of("gdn.chunkwise");
    o.attn_mode = "attn.ulysses", refused(&o, "--layers 2 has none");
    o.layers = 4, o.attn_mode = "gdn.ulysses", refused(&o, "want a gdn mode and an attn mode");
    o.attn_mode = "attn.ulyses", refused(&o, "--attn-mode attn.ulyses: no such mode; the nearest is attn.ulysses");
    o.attn_mode = "attn.ring.contiguous", o.cp = 2,
    refused(&o, "--mode gdn.chunkwise takes zigzag rows, --attn-mode attn.ring.contiguous contiguous ones");
    o = options_of("gdn.chunkwise");
    o.padding = "eod", o.cp = 4, o.tokens = 152, o.seqs = "50,71,29", refused(&o, "take 160 tokens, more than --tokens 152");
    o.tokens = 172, refused(&o, "--tokens 172 is not a multiple of 2 x cp = 8");
    o.padding = "left", refused(&o, "--padding left: want none, eod");
}

UNIT_MAIN(UNIT(cp_sizes_may_change), UNIT(drawn_lengths_are_cut_between_groups), UNIT(the_seeds_schedule), UNIT(heads_may_be_split),
          UNIT(split_and_changing_together), UNIT(parts_make_up_the_whole), UNIT(padding_changes_no_value), UNIT(drawn_documents_do_not_depend_on_cp),
          UNIT(stacks_of_both_operators), UNIT(modelled_memory_follows_the_type), UNIT(refusals))
