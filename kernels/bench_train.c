/* bench_train.c - `cpbench train`: a model of kernels/configs or a file, trained under a mode, a log row a step. */
#include "kernels/bench.h"
#include "kernels/model/stack.h"
#include "kernels/model/tokens.h"
#include "kernels/model/train.h"
#include "kernels/options.h"
#include "schemas/keyvalue.h"
#include "schemas/launch.h"
#include "schemas/table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct column columns[] = {{"step", UNIT_ID},
                                        {"loss", UNIT_REAL},
                                        {"grad_norm", UNIT_REAL},
                                        {"tokens", UNIT_COUNT},
                                        {"step_ns", UNIT_NS},
                                        {"tok_per_s", UNIT_REAL},
                                        {"mfu", UNIT_REAL},
                                        {"peak_bytes", UNIT_BYTES},
                                        {"valid_tokens", UNIT_COUNT},
                                        {"param_hash", UNIT_TEXT},
                                        {0}};

struct train_options {
    struct run_options run;
    const char *config, *log, *data, *save, *load;
    struct optimizer_rates rates;
};

#define AT(field) offsetof(struct train_options, field)
static const struct opt train_rows[] = {
    {OPT_TEXT, "config", AT(config), "the model: tiny, s4-4layer, 9b, or a file of option = value lines", "NAME"},
    {OPT_TEXT, "log", AT(log), "the csv file that gets the rows; - is standard output", "FILE"},
    {OPT_TEXT, "data", AT(data), "token ids to read, 32-bit little-endian; else text from the seed", "FILE"},
    {OPT_TEXT, "load", AT(load), "checkpoint to start from, of any mode and number of ranks", "FILE"},
    {OPT_TEXT, "save", AT(save), "checkpoint to write at the end", "FILE"},
    {OPT_INT, "vocab", AT(run.vocab), "tokens of the vocabulary [256]", "N"},
    {OPT_INT, "ffn", AT(run.ffn), "columns of the MLP [128]", "N"},
    {OPT_INT, "rotary", AT(run.rotary), "dims of an attention head that turn with the position [0]", "N"},
    {OPT_FLAG, "attn-gate", AT(run.attn_gate), "attention's output is gated by a projection of its input"},
    {OPT_FLAG, "one-batch", AT(run.one_batch), "every step reads the batch of step 0"},
    {OPT_REAL, "rate", AT(rates.rate), "AdamW: the learning rate [1e-4]", "X"},
    {OPT_REAL, "decay", AT(rates.decay), "AdamW: the weight decay [0.01]", "X"},
    {OPT_REAL, "beta1", AT(rates.b1), "AdamW: of the first moments [0.9]", "X"},
    {OPT_REAL, "beta2", AT(rates.b2), "AdamW: of the second moments [0.95]", "X"},
    {OPT_REAL, "eps", AT(rates.eps), "AdamW: in the denominator [1e-8]", "X"},
    {0},
};

static const char doc[] =
    "Trains a model of GDN layers with gated attention in every fourth, and writes a row a step: csv "
    "step,loss,grad_norm,tokens,step_ns,tok_per_s,mfu,peak_bytes,valid_tokens,param_hash.\v"
    "The command line wins over --config. Without --attn-mode attention takes the mode of the same layout: attn.kvag.direct1 for zigzag rows, "
    "else attn.kvag.contiguous. loss is the mean cross-entropy over tokens that have a successor in their document; grad_norm is over parameter "
    "gradients, before the update; param_hash is of the parameters after it. mfu = (6 * parameters * tokens + 3 * (attention + recurrence)) / "
    "(step time * peak of all ranks), on sim, where the machine says the peak. Time and bytes are those of rank 0.\n\n"
    "  cpbench train --config tiny --mode gdn.chunkwise --steps 10 --log -\n"
    "  cpbench train --config tiny --mode gdn.ulysses --steps 10 --log - --save m";

/* ---- the configuration ---- */

static bool take(void *ctx, const struct keyvalue *kv, struct err *e)
{
    struct err why = {0};
    static const char *const own[] = {"config", "log", "load", "save", "mode"};
    for (size_t i = 0; kv->key && i < sizeof own / sizeof *own; i++)
        if (!strcmp(kv->key, own[i]))
            return fail(e, ERR_USAGE, "%s:%d: %s: belongs to the command line", kv->from, kv->line, kv->key);
    if (!kv->key)
        return fail(e, ERR_USAGE, "%s:%d: [%s]: a model has no sections", kv->from, kv->line, kv->section);
    char *value = strdup(kv->value); /* lives as long as the program */
    return (value && opt_set(ctx, kv->key, value, NULL, &why)) || fail(e, ERR_USAGE, "%s:%d: %s", kv->from, kv->line, why.msg);
}

static bool read_config(const struct opt_group *groups, const char *name, struct err *e)
{
    char *text = keyvalue_load(name, config_files, "model", e);
    bool ok = text && keyvalue_each(text, name, take, (void *)groups, e);
    free(text);
    return ok;
}

/* The attention mode that takes the rows of the GDN mode. */
static void choose_attention(struct run_options *o)
{
    const struct cp_mode *const *m = modes;
    if (o->attn_mode || !o->mode || o->layers < STACK_PERIOD)
        return;
    while (*m && strcmp((*m)->name, o->mode) != 0)
        m++;
    if (*m && (*m)->op == OP_GDN)
        o->attn_mode = (*m)->entry_layout == LAYOUT_ZIGZAG ? "attn.kvag.direct1" : "attn.kvag.contiguous";
}

static bool check_rates(const struct train_options *o, struct err *e)
{
    const struct {
        const char *name;
        double value, most;
    } rates[] = {
        {"rate", o->rates.rate, 10}, {"decay", o->rates.decay, 10}, {"beta1", o->rates.b1, 1}, {"beta2", o->rates.b2, 1}, {"eps", o->rates.eps, 1}};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (!(rates[i].value >= 0 && rates[i].value < rates[i].most))
            return fail(e, ERR_USAGE, "--%s %g: want 0 or more, below %g", rates[i].name, rates[i].value, rates[i].most);
    return true;
}

static bool check_sizes(const struct run_options *o, struct err *e)
{
    if (o->vocab < 2 || o->vocab > 1 << 24)
        return fail(e, ERR_USAGE, "--vocab %" PRId64 ": want 2 to 16777216 tokens", o->vocab);
    return (o->ffn >= 1 && o->ffn <= 1 << 20) || fail(e, ERR_USAGE, "--ffn %" PRId64 ": want 1 to 1048576 columns", o->ffn);
}

static bool check_checkpoints(const struct train_options *o, struct err *e)
{
    const struct run_options *r = &o->run;
    if (!strcmp(r->device, "sim") && (o->save || o->load))
        return fail(e, ERR_USAGE, "--device sim with --save or --load: a model of a machine computes no parameters");
    if (!o->save || r->tp == 1 || !r->comm || !strcmp(r->comm, "threads"))
        return true;
    return fail(e, ERR_USAGE, "--save with --tp %" PRId64 " --comm %s: the parts of a TP group are in several processes; use --comm threads", r->tp,
                r->comm);
}

/* The model's file first, then the command line once more over it. */
static bool read_options(struct train_options *o, const struct opt_group *groups, int argc, char **argv, struct arena *a, struct err *e)
{
    if (!opt_parse(argc, argv, groups, doc, a, e))
        return false;
    if (!o->config)
        return fail(e, ERR_USAGE, "--config is missing: tiny, s4-4layer, 9b, or a file");
    if (!o->log)
        return fail(e, ERR_USAGE, "--log is missing: the csv file that gets the rows, or -");
    if (!read_config(groups, o->config, e) || !opt_parse(argc, argv, groups, doc, a, e))
        return false;
    choose_attention(&o->run);
    return check_rates(o, e) && check_sizes(&o->run, e) && check_checkpoints(o, e);
}

/* ---- the log ---- */

struct log {
    FILE *f;
    const char *self;
    int64_t first, steps;
    bool bar;
};

static void write_row(void *ctx, const struct train_row *r)
{
    struct log *l = ctx;
    struct table t;
    table_init(&t, "train", "Steps", columns);
    struct cell *c = table_row(&t);
    double per_second = (double)r->tokens / ((double)r->step_ns * 1e-9);
    c[0] = cell_int(r->step);
    c[1] = cell_real(r->loss);
    c[2] = cell_real(r->grad_norm);
    c[3] = cell_int(r->tokens);
    c[4] = cell_int(r->step_ns);
    c[5] = cell_real(per_second);
    c[6] = cell_real(r->mfu);
    c[7] = cell_int(r->peak_bytes);
    c[8] = cell_int(r->tokens - r->padded);
    if (r->param_hash)
        c[9] = cell_text(table_text(&t, "%016" PRIx64, r->param_hash));
    table_csv_rows(&t, l->f, l->steps == 0);
    fflush(l->f);
    table_free(&t);
    l->first = l->steps == 0 ? r->step : l->first;
    l->steps++;
    if (l->bar)
        fprintf(stderr, "\r\033[Kstep %" PRId64 "  loss %.4f  grad norm %.4g  %.0f tok/s", r->step, r->loss, r->grad_norm, per_second);
}

static void train(struct train_options *o, struct run_config *run, const char *self, struct err *e)
{
    bool to_file = strcmp(o->log, "-") != 0;
    struct log l = {.f = to_file ? fopen(o->log, "w") : stdout, .self = self};
    struct train_config c = {.run = run, .rates = o->rates, .load = o->load, .save = o->save};
    uint64_t started = 0;
    if (!l.f) {
        fail(e, ERR_FAIL, "%s: cannot write: %s", o->log, strerror(errno));
        return;
    }
    l.bar = isatty(STDERR_FILENO);
    if (*run->machine.name) {
        const double peaks[] = {run->machine.peak_fp32_tflops, run->machine.peak_bf16_tflops, run->machine.peak_fp16_tflops};
        c.peak_flops = peaks[run->shape.dtype] * 1e12 * config_ranks(run);
    }
    config_announce(run, &(struct config_words){o->run.host_cost, o->run.seqs, o->run.dynamic_cp});
    train_run(&c, write_row, &l, &started, e);
    if (l.bar && l.steps)
        fputc('\n', stderr);
    if (!e->kind && started)
        fprintf(stderr, "%s: %" PRId64 " parameters, at the start %016" PRIx64 "\n", self, train_params(run), started);
    if (to_file && fclose(l.f) != 0)
        fail(e, ERR_FAIL, "%s: cannot write: %s", o->log, strerror(errno));
}

static enum status run(int argc, char **argv, struct err *e)
{
    struct train_options o = {.run = run_options_default, .rates = {1e-4, 0.01, 0.9, 0.95, 1e-8}};
    o.run.vocab = 256;
    o.run.ffn = 128;
    const struct opt_group groups[] = {{train_rows, &o, "Training (defaults in brackets):"}, {run_option_rows, &o.run, "The run:"}, {0}};
    struct arena a = {0};
    struct run_config c;
    struct tokens text;
    bool ok =
        read_options(&o, groups, argc, argv, &a, e) && run_config_of(&o.run, &c, &a, e) && (!o.data || tokens_load(&text, o.data, c.vocab, &a, e));
    if (ok) {
        c.text = o.data ? &text : NULL;
        train(&o, &c, argv[0], e);
    }
    arena_free(&a);
    return STATUS_OK;
}

const struct bench_cmd bench_train = {.name = "train", .what = "trains a model under a mode: loss, gradient norm and time a step", .run = run};
