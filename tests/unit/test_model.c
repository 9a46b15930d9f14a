/* test_model.c - the stack and its steps: routes are bit-identical, repeats too, recompute changes nothing, modes and cp
 * sizes agree in loss and norm, the data does not depend on how it is spread. */
#include "run_options.h"

#include "kernels/model/batch.h"
#include "kernels/model/draw.h"
#include "kernels/model/groups.h"
#include "kernels/model/model_impl.h"

#include <math.h>

enum { STEPS = 2 };

static struct run_options options_of(const char *mode, int cp)
{
    struct run_options o = run_options_default;
    o.mode = mode;
    o.device = "cpu";
    o.cp = cp;
    o.layers = 2;
    o.microbatches = 2;
    o.steps = STEPS;
    o.tokens = 128;
    o.seqs = "random:3";
    o.recompute = "full";
    o.hidden = 16;
    o.kheads = o.vheads = 8;
    o.dk = o.dv = 8; /* narrower heads make gradients that fp32 cannot hold to 1e-5 */
    return o;
}

static void same_bits(const struct run_row *x, const struct run_row *y, const char *what)
{
    for (int i = 0; i < STEPS; i++)
        if (x[i].loss != y[i].loss || x[i].grad_norm != y[i].grad_norm || x[i].param_hash != y[i].param_hash || x[i].out_hash != y[i].out_hash ||
            x[i].grad_hash != y[i].grad_hash)
            fail_msg("%s: step %d differs: loss %.17g and %.17g, norm %.17g and %.17g", what, i, x[i].loss, y[i].loss, x[i].grad_norm,
                     y[i].grad_norm);
}

TEST(routes_are_bit_identical)
{
    static const char *const routes[] = {"naive", "interval", "prebuilt", "encoded"};
    for (int cp = 2; cp <= 8; cp *= 2) {
        struct run_row rows[4][STEPS];
        for (int i = 0; i < 4; i++) {
            struct run_options o = options_of("gdn.chunkwise", cp);
            o.route = routes[i];
            run_of(&o, rows[i]);
            same_bits(rows[0], rows[i], routes[i]);
        }
        assert_true(rows[0][0].out_hash != rows[0][1].out_hash); /* steps see other data */
        assert_true(rows[0][0].param_hash == rows[0][1].param_hash);
    }
}

TEST(repeats_are_bit_identical)
{
    for (const struct cp_mode *const *m = modes; *m; m++) {
        struct run_row x[STEPS], y[STEPS];
        struct run_options o = options_of((*m)->name, 4);
        run_of(&o, x);
        o.repeat = 3; /* run_steps() itself refuses repeats that differ */
        o.warmup = 1;
        run_of(&o, y);
        same_bits(x, y, (*m)->name);
    }
}

TEST(recompute_changes_no_bit)
{
    static const char *const names[] = {"gdn.chunkwise", "gdn.headwise.per_seq"};
    for (int i = 0; i < 2; i++) {
        struct run_row x[STEPS], y[STEPS];
        struct run_options o = options_of(names[i], 2);
        run_of(&o, x);
        o.recompute = "none";
        run_of(&o, y);
        same_bits(x, y, names[i]);
    }
}

static void rows_agree(const struct run_row *got, const struct run_row *want, const char *mode, int cp)
{
    for (int i = 0; i < STEPS; i++) {
        assert_true(isfinite(got[i].loss) && got[i].loss > 0 && got[i].grad_norm > 0);
        if (fabs(got[i].loss - want[i].loss) > 1e-6 * want[i].loss || fabs(got[i].grad_norm - want[i].grad_norm) > 1e-5 * want[i].grad_norm)
            fail_msg("%s, cp %d, step %d: loss %.9g, norm %.9g, want %.9g, %.9g", mode, cp, i, got[i].loss, got[i].grad_norm, want[i].loss,
                     want[i].grad_norm);
        assert_true(got[i].param_hash == want[i].param_hash);
        assert_int_equal(got[i].tokens, 256);
    }
}

/* Every mode against one rank of its operator. */
TEST(modes_and_cp_sizes_agree)
{
    struct run_row want[OP_COUNT][STEPS], got[STEPS];
    bool has[OP_COUNT] = {false};
    for (const struct cp_mode *const *m = modes; *m; m++)
        for (int cp = 1; cp <= 8; cp *= 2) {
            struct run_options o = options_of((*m)->name, cp);
            run_of(&o, has[(*m)->op] ? got : want[(*m)->op]);
            if (has[(*m)->op])
                rows_agree(got, want[(*m)->op], (*m)->name, cp);
            has[(*m)->op] = true;
        }
}

/* Loss and gradient norm of a stack again, from what the model gives out: nothing counted twice, nothing left out. */
TEST(loss_and_norm_are_what_they_say)
{
    struct arena a = {0};
    struct run_options o = options_of("gdn.chunkwise", 1);
    struct run_config c;
    struct err e = {0};
    struct step_times times;
    struct step_values v;
    assert_ok(run_config_of(&o, &c, &a, &e), &e);
    struct model *m = model_open(&c, NULL, 0, &e);
    assert_ok(m != NULL, &e);
    assert_ok(model_step(m, 0, "step", 0, &times, &e), &e);
    model_values(m, &v);
    int64_t n = 2 * 128 * 16, floats = m->stack.floats;
    float *out = arena_array(&a, float, n), *dx = arena_array(&a, float, n), *grads = arena_array(&a, float, floats);
    model_read(m, out, dx, grads);
    double loss = 0, norm = 0;
    for (int64_t i = 0; i < n; i++) {
        loss += (double)out[i] * out[i] / 2 / (double)n;
        norm += (double)dx[i] * dx[i];
    }
    for (int64_t i = 0; i < floats; i++)
        norm += (double)grads[i] * grads[i];
    assert_true(fabs(v.loss - loss) <= 1e-12 * loss);
    assert_true(fabs(v.grad_norm - sqrt(norm)) <= 1e-12 * sqrt(norm));
    assert_true(times.step_ns > 0 && times.fwd_ns > 0 && times.fwd_ns < times.step_ns && times.peak_bytes > 0);
    model_close(m);
    arena_free(&a);
}

/* The same tokens with the same values on any number of ranks, each token on one rank. */
TEST(inputs_do_not_depend_on_the_spread)
{
    for (int cp = 1; cp <= 8; cp *= 2) {
        struct arena a = {0};
        struct run_config one, c;
        struct err e = {0};
        struct run_options o = options_of("gdn.chunkwise", 1);
        assert_ok(run_config_of(&o, &one, &a, &e), &e);
        o.cp = cp;
        assert_ok(run_config_of(&o, &c, &a, &e), &e);
        float *whole = arena_array(&a, float, 128 * 16), *own = arena_array(&a, float, 128 / cp * 16);
        const int64_t *all = packing_numbers(&one.shape.packs[1], &a);
        bool *met = arena_array(&a, bool, 128);
        batch_inputs(whole, &one, all, 128, 1, 1);
        for (int rank = 0; rank < cp; rank++) {
            const int64_t *rows = batch_rows(&c.shape.packs[1], cp, rank, LAYOUT_ZIGZAG, &a);
            batch_inputs(own, &c, rows, 128 / cp, 1, 1);
            for (int i = 0; i < 128 / cp; i++) {
                assert_memory_equal(own + i * 16, whole + rows[i] * 16, 16 * sizeof(float));
                assert_false(met[rows[i]]);
                met[rows[i]] = true;
            }
        }
        arena_free(&a);
    }
}

TEST(drawn_lengths_add_up_and_vary)
{
    PROP(200)
    {
        struct arena a = {0};
        struct seqs q;
        struct err e = {0};
        int64_t units = 1 + (int64_t)rnd(40), n = 1 + (int64_t)rnd((uint64_t)units);
        assert_ok(seqs_parse(&q, arena_printf(&a, "random:%d", (int)n), units * 16, 1 << rnd(4), false, &a, &e), &e);
        uint64_t seed = rnd(100);
        struct packing p = seqs_of(&q, seed, 3, 4, &a), again = seqs_of(&q, seed, 3, 4, &a);
        assert_int_equal(p.sequences, n);
        assert_int_equal(p.cu[0], 0);
        assert_int_equal(p.cu[n], units * 16);
        for (int64_t i = 0; i < n; i++) {
            assert_true(p.cu[i + 1] > p.cu[i] && p.cu[i + 1] % 16 == 0);
            assert_int_equal(p.cu[i + 1], again.cu[i + 1]);
        }
        arena_free(&a);
    }
}

TEST(a_number_of_sequences_in_some_micro_batches_is_spread_evenly)
{
    PROP(100)
    {
        struct arena a = {0};
        struct seqs q;
        struct err e = {0};
        int64_t over = 1 + (int64_t)rnd(12), n = over + (int64_t)rnd(100), first = (int64_t)rnd(1000), sum = 0;
        assert_ok(seqs_parse(&q, arena_printf(&a, "random:%d/%d", (int)n, (int)over), 4096, 4, false, &a, &e), &e);
        for (int64_t b = first; b < first + over; b++) {
            struct packing p = seqs_of(&q, 7, 0, b, &a);
            assert_in_range(p.sequences, n / over, (n + over - 1) / over);
            assert_int_equal(p.cu[p.sequences], 4096);
            sum += p.sequences;
        }
        assert_int_equal(sum, n);
        arena_free(&a);
    }
}

TEST(fewer_sequences_than_micro_batches_are_refused)
{
    static const char *const wrong[] = {"random:3/4", "random:4/0", "random:4/x", "random:/4", "random:257/1", "random:513/2", "equal:4/2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct arena a = {0};
        struct seqs q;
        struct err e = {0};
        assert_false(seqs_parse(&q, wrong[i], 4096, 4, false, &a, &e));
        assert_int_equal(e.kind, ERR_USAGE);
        arena_free(&a);
    }
}

TEST(row_hashes_do_not_care_about_order)
{
    float x[] = {1, 2, 3, 4, 5, 6}, y[] = {5, 6, 1, 2, 3, 4};
    assert_true(rows_hash(x, (const int64_t[]){0, 1, 2}, 3, 2) == rows_hash(y, (const int64_t[]){2, 0, 1}, 3, 2));
    assert_true(rows_hash(x, (const int64_t[]){0, 1, 2}, 3, 2) != rows_hash(y, (const int64_t[]){0, 1, 2}, 3, 2));
}

UNIT_MAIN(UNIT(routes_are_bit_identical), UNIT(repeats_are_bit_identical), UNIT(recompute_changes_no_bit), UNIT(modes_and_cp_sizes_agree),
          UNIT(loss_and_norm_are_what_they_say), UNIT(inputs_do_not_depend_on_the_spread), UNIT(drawn_lengths_add_up_and_vary),
          UNIT(a_number_of_sequences_in_some_micro_batches_is_spread_evenly), UNIT(fewer_sequences_than_micro_batches_are_refused),
          UNIT(row_hashes_do_not_care_about_order))
