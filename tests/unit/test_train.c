/* test_train.c - a trainable model: gradients of every tensor against differences of the loss; the same values for every mode,
 * cp and tp; resuming; what it reads. */
#include "run_options.h"

#include "kernels/model/model_impl.h"
#include "kernels/model/tokens.h"
#include "kernels/model/train.h"
#include "kernels/ops/gemm.h"

#include <math.h>
#include <unistd.h>

static struct run_options small_options(const char *mode, const char *attn, int cp)
{
    struct run_options o = run_options_default;
    o.mode = mode;
    o.attn_mode = attn;
    o.cp = cp;
    o.device = "cpu";
    o.layers = 4;
    o.microbatches = 2;
    o.tokens = 64;
    o.seqs = "32,32";
    o.hidden = 16;
    o.ffn = 24;
    o.vocab = 19;
    o.kheads = o.vheads = o.qheads = o.kvheads = 4;
    o.dk = o.dv = o.dqk = o.dv_attn = 4;
    o.rotary = 2;
    o.attn_gate = true;
    o.steps = 3;
    return o;
}

/* ---- gradients ---- */

static double loss_with(struct model *m, float *params, int64_t at, float value)
{
    struct err e = {0};
    struct step_times t;
    double sums[SUMS];
    float kept = params[at];
    params[at] = value;
    dev_upload(m->rank.stream, m->params, params, (size_t)m->net.floats * sizeof *params, SITE_HERE);
    params[at] = kept;
    assert_ok(model_step(m, 0, "step", 0, &t, &e), &e);
    dev_download(m->rank.stream, sums, m->sums, sizeof sums, SITE_HERE);
    return sums[SUM_LOSS];
}

static double difference(struct model *m, float *params, int64_t at, float h)
{
    float up = params[at] + h, down = params[at] - h;
    return (loss_with(m, params, at, up) - loss_with(m, params, at, down)) / ((double)up - down);
}

/* Of two differences, so that what is cubic falls out (Richardson): small heads bend the loss sharply. */
static double slope_at(struct model *m, float *params, int64_t at)
{
    return (4 * difference(m, params, at, 1e-3f) - difference(m, params, at, 2e-3f)) / 3;
}

struct part {
    const char *name;
    int64_t at, floats;
};

TEST(every_gradient_is_the_slope_of_the_loss)
{
    struct arena a = {0};
    struct run_options o = small_options("gdn.chunkwise", "attn.ring.zigzag", 1);
    o.recompute = "full";
    o.hidden = o.dk = o.dv = 16; /* heads of four bend the loss too sharply for differences */
    struct run_config c = config_of(&o, &a);
    struct err e = {0};
    gemm_init();
    struct model *m = model_open(&c, NULL, 0, &e);
    assert_ok(m != NULL, &e);
    const struct net *n = &m->net;
    int64_t tensor = n->ffn * n->hidden, last = n->layers - 1;
    float *params = arena_array(&a, float, n->floats), *grads = arena_array(&a, float, n->floats);
    dev_download(m->rank.stream, params, m->params, (size_t)n->floats * sizeof *params, SITE_HERE);
    for (float *w = net_norm(n, params, 0, NET_BEFORE_LAYER); w < net_head(n, params); w++)
        *w = 1 + 0.2f * (float)rnd_real(); /* ones would hide what a norm's weight does */
    loss_with(m, params, 0, params[0]);
    dev_download(m->rank.stream, grads, m->grads, (size_t)n->floats * sizeof *grads, SITE_HERE);
    const struct part parts[] = {{"layer 0", 0, stack_offset(&m->stack, 1)},
                                 {"attention", stack_offset(&m->stack, last), n->mlp - stack_offset(&m->stack, last)},
                                 {"gate", n->mlp, tensor},
                                 {"up", n->mlp + tensor, tensor},
                                 {"down", n->mlp + (last * NET_MLPS + NET_DOWN) * tensor, tensor},
                                 {"embedding", n->shared, n->vocab * n->hidden},
                                 {"norm before a layer", net_norm(n, params, 1, NET_BEFORE_LAYER) - params, n->hidden},
                                 {"norm before an MLP", net_norm(n, params, last, NET_BEFORE_MLP) - params, n->hidden},
                                 {"last norm", net_last_norm(n, params) - params, n->hidden},
                                 {"head", net_head(n, params) - params, n->vocab * n->hidden}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        PROP(6)
        {
            int64_t at = parts[i].at + (int64_t)rnd((uint64_t)parts[i].floats);
            double slope = slope_at(m, params, at);
            if (!(fabs(slope - grads[at]) <= 5e-3 * fabs(slope) + 1e-3))
                fail_msg("%s, float %lld: gradient %.6g, slope %.6g", parts[i].name, (long long)(at - parts[i].at), grads[at], slope);
        }
    model_close(m);
    arena_free(&a);
}

/* ---- runs ---- */

struct log {
    struct train_row rows[16];
    int n;
    uint64_t started;
};

static void take(void *ctx, const struct train_row *r)
{
    struct log *l = ctx;
    assert_true(l->n < 16);
    l->rows[l->n++] = *r;
}

static struct log train(const struct run_options *o, const char *load, const char *save)
{
    struct arena a = {0};
    struct run_config c = config_of(o, &a);
    struct log l = {.n = 0};
    struct err e = {0};
    const struct train_config t = {.run = &c, .rates = {1e-3, 0.01, 0.9, 0.95, 1e-8}, .load = load, .save = save};
    assert_ok(train_run(&t, take, &l, &l.started, &e), &e);
    arena_free(&a);
    return l;
}

static void near(const struct log *got, const struct log *want, double loss, double norm, const char *what)
{
    assert_int_equal(got->n, want->n);
    assert_true(got->started == want->started);
    for (int i = 0; i < want->n; i++)
        if (!(fabs(got->rows[i].loss / want->rows[i].loss - 1) <= loss && fabs(got->rows[i].grad_norm / want->rows[i].grad_norm - 1) <= norm))
            fail_msg("%s, step %d: loss %.9g, norm %.9g; want %.9g, %.9g", what, i, got->rows[i].loss, got->rows[i].grad_norm, want->rows[i].loss,
                     want->rows[i].grad_norm);
}

TEST(modes_and_groups_train_alike)
{
    static const struct {
        const char *mode, *attn;
        int cp, tp;
        const char *route;
    } runs[] = {{"gdn.chunkwise", "attn.ring.zigzag", 4, 1, "interval"},
                {"gdn.headwise.fused", "attn.kvag.direct1", 2, 1, "interval"},
                {"gdn.summary_allgather", "attn.kvag.contiguous", 4, 1, "interval"},
                {"gdn.state_p2p", "attn.ring.contiguous", 2, 1, "interval"},
                {"gdn.ulysses", "attn.kvag.contiguous", 4, 1, "interval"},
                {"gdn.replicated_allgather", "attn.kvag.direct1", 4, 1, "interval"},
                {"gdn.chunkwise", "attn.kvag.direct1", 4, 1, "naive"},
                {"gdn.headwise.fused", "attn.kvag.direct1", 4, 1, "naive"},
                {"gdn.headwise.per_seq", "attn.kvag.direct1", 4, 1, "interval"},
                {"gdn.chunkwise", "attn.kvag.direct1", 2, 2, "interval"},
                {"gdn.headwise.per_seq", "attn.ring.zigzag", 2, 2, "interval"},
                {"gdn.chunkwise", "attn.ring.zigzag", 1, 4, "interval"}};
    struct run_options alone = small_options("gdn.chunkwise", "attn.ring.zigzag", 1);
    struct log want = train(&alone, NULL, NULL);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct run_options o = small_options(runs[i].mode, runs[i].attn, runs[i].cp);
        o.tp = runs[i].tp;
        o.route = runs[i].route;
        o.recompute = i % 2 ? "full" : "none"; /* the replicated mode wants full */
        struct log got = train(&o, NULL, NULL);
        near(&got, &want, 1e-5, 1e-4, runs[i].mode);
    }
}

TEST(the_loss_goes_down_and_repeats_are_bit_identical)
{
    struct run_options o = small_options("gdn.chunkwise", "attn.kvag.direct1", 2);
    o.steps = 8;
    o.one_batch = true;
    struct log first = train(&o, NULL, NULL), again = train(&o, NULL, NULL);
    assert_true(first.rows[7].loss < first.rows[0].loss - 0.1);
    for (int i = 0; i < 8; i++) {
        assert_memory_equal(&first.rows[i].loss, &again.rows[i].loss, sizeof(double));
        assert_true(first.rows[i].param_hash == again.rows[i].param_hash);
    }
}

TEST(narrow_types_train_and_keep_parameters_in_float)
{
    struct run_options o = small_options("gdn.chunkwise", "attn.kvag.direct1", 2);
    struct log exact = train(&o, NULL, NULL);
    o.dtype = "bf16";
    struct log narrow = train(&o, NULL, NULL);
    for (int i = 0; i < narrow.n; i++)
        assert_true(fabs(narrow.rows[i].loss / exact.rows[i].loss - 1) < 2e-2);
    assert_true(narrow.rows[0].param_hash != narrow.rows[1].param_hash); /* updates below bf16's step are not lost */
}

/* ---- checkpoints ---- */

TEST(a_resumed_run_is_the_unbroken_one_and_any_ranks_load_it)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/test_train.%d.ckpt", (int)getpid());
    struct run_options o = small_options("gdn.chunkwise", "attn.kvag.direct1", 4);
    o.steps = 4;
    struct log whole = train(&o, NULL, NULL);
    o.steps = 2;
    struct log half = train(&o, NULL, path), rest = train(&o, path, NULL);
    assert_int_equal(rest.rows[0].step, 2);
    for (int i = 0; i < 2; i++) {
        assert_true(half.rows[i].param_hash == whole.rows[i].param_hash);
        assert_true(rest.rows[i].param_hash == whole.rows[2 + i].param_hash);
        assert_memory_equal(&rest.rows[i].loss, &whole.rows[2 + i].loss, sizeof(double));
    }
    struct run_options other = small_options("gdn.headwise.per_seq", "attn.ring.zigzag", 1);
    other.steps = 1;
    struct log alone = train(&other, path, NULL);
    assert_true(alone.started == half.rows[1].param_hash); /* bit-equal parameters */
    other.cp = 2;
    other.tp = 2;
    struct log parts = train(&other, path, path); /* in parts, and back */
    assert_true(parts.started == alone.started);
    other.tp = other.cp = 1;
    struct log again = train(&other, path, NULL);
    assert_int_equal(again.rows[0].step, 3);
    assert_true(fabs(again.rows[0].loss / rest.rows[1].loss - 1) < 1e-4);
    unlink(path);
}

static void refused(const char *path, enum err_kind kind, const char *message)
{
    struct arena a = {0};
    struct run_options o = small_options("gdn.chunkwise", NULL, 1);
    o.layers = 1;
    struct run_config c = config_of(&o, &a);
    struct err e = {0};
    const struct train_config t = {.run = &c, .load = path};
    struct log l = {.n = 0};
    assert_false(train_run(&t, take, &l, NULL, &e));
    assert_int_equal(e.kind, kind);
    if (!strstr(e.msg, message))
        fail_msg("'%s' has no '%s'", e.msg, message);
    arena_free(&a);
}

TEST(checkpoints_that_do_not_fit_are_refused)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/test_train.%d.ckpt", (int)getpid());
    struct run_options o = small_options("gdn.chunkwise", NULL, 1);
    o.layers = 1;
    o.steps = 1;
    train(&o, NULL, path);
    FILE *f = fopen(path, "r+b");
    fseek(f, 400, SEEK_SET);
    fputc(77, f);
    fclose(f);
    refused(path, ERR_FAIL, "its check does not hold");
    assert_int_equal(truncate(path, 500), 0);
    refused(path, ERR_FAIL, "cut");
    assert_int_equal(truncate(path, 3), 0);
    refused(path, ERR_FAIL, "not a checkpoint");
    unlink(path);
    refused(path, ERR_FAIL, "No such file");
    o.vocab = 20;
    train(&o, NULL, path);
    refused(path, ERR_USAGE, "another shape");
    unlink(path);
}

/* ---- tokens ---- */

TEST(targets_are_the_next_token_of_the_document)
{
    static const uint32_t text[] = {3, 1, 4, 1, 5, 9, 2};
    const struct tokens file = {text, 7};
    struct run_config c = {.vocab = 10, .seed = 5, .shape = {.tokens = 8, .microbatches = 2}};
    static const int64_t ends[] = {3, 4, 8};
    int64_t ids[8], targets[8], more[8], next[8];
    tokens_of(&file, &c, 1, 1, ends, 8, ids, targets); /* micro-batch 3 of 8 tokens: from token 24 on */
    for (int i = 0; i < 8; i++) {
        assert_int_equal(ids[i], text[(24 + i) % 7]);
        assert_int_equal(targets[i], i == 2 || i == 3 || i == 7 ? -1 : (int)text[(25 + i) % 7]);
    }
    tokens_of(NULL, &c, 1, 1, ends, 8, ids, targets);
    tokens_of(NULL, &c, 1, 1, ends, 8, more, next);
    assert_memory_equal(ids, more, sizeof ids);
    tokens_of(NULL, &c, 2, 1, ends, 8, more, next);
    assert_memory_not_equal(ids, more, sizeof ids);
    for (int i = 0; i < 8; i++)
        assert_true(ids[i] >= 0 && ids[i] < 10 && targets[i] == (i == 2 || i == 3 || i == 7 ? -1 : ids[i + 1]));
}

TEST(token_files_are_checked)
{
    char path[64];
    struct arena a = {0};
    struct tokens t;
    snprintf(path, sizeof path, "/tmp/test_train.%d.tok", (int)getpid());
    static const struct {
        unsigned char bytes[8];
        size_t n;
        const char *message;
    } files[] = {
        {{1, 0, 0, 0, 9, 0, 0, 0}, 8, NULL}, {{0}, 0, "0 bytes"}, {{1, 0, 0}, 3, "3 bytes"}, {{1, 0, 0, 0, 10, 0, 0, 0}, 8, "token 1 is 10"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct err e = {0};
        FILE *f = fopen(path, "wb");
        fwrite(files[i].bytes, 1, files[i].n, f);
        fclose(f);
        assert_int_equal(tokens_load(&t, path, 10, &a, &e), files[i].message == NULL);
        if (files[i].message && !strstr(e.msg, files[i].message))
            fail_msg("'%s' has no '%s'", e.msg, files[i].message);
    }
    unlink(path);
    arena_free(&a);
}

UNIT_MAIN(UNIT(every_gradient_is_the_slope_of_the_loss), UNIT(modes_and_groups_train_alike), UNIT(the_loss_goes_down_and_repeats_are_bit_identical),
          UNIT(narrow_types_train_and_keep_parameters_in_float), UNIT(a_resumed_run_is_the_unbroken_one_and_any_ranks_load_it),
          UNIT(checkpoints_that_do_not_fit_are_refused), UNIT(targets_are_the_next_token_of_the_document), UNIT(token_files_are_checked))
