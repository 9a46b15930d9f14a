/* options.h - the options of cpbench commands that run or describe a mode, and the run that they ask for.
 *
 *     struct run_options o = run_options_default;
 *     struct opt_group groups[] = {{run_option_rows, &o, "Options"}, {0}};
 *     opt_parse(argc, argv, groups, ...) && run_config_of(&o, &config, &arena, e)
 */
#pragma once
#include "kernels/model/config.h"
#include "schemas/opt.h"

struct run_options {
    const char *mode, *route, *pack, *boundaries, *summary, *recompute, *seqs, *dtype, *device, *comm, *host_cost, *metadata, *machine;
    const char *attn_mode, *dynamic_cp, *padding, *causal, *kv_dtype, *kv_seqs, *reduction_order;
    double dropout;
    int64_t cp, tp, layers, microbatches, steps, warmup, repeat, tokens, hidden, kheads, vheads, dk, dv, conv, seed;
    int64_t qheads, kvheads, dqk, dv_attn, ulysses, window;
    int64_t vocab, ffn, rotary; /* of trainable models only: bench_train.c has their rows */
    bool attn_gate, one_batch;
};

extern const struct keyvalue_text config_files[]; /* models of `cpbench train`: those of kernels/configs */
extern const struct run_options run_options_default;
extern const struct opt run_option_rows[];

/* ERR_USAGE: a number that is out of its range. */
bool run_options_in_range(const struct run_options *o, struct err *e);

/* Everything that the user can get wrong is found here, before a rank starts: ERR_USAGE, one line that names the option,
 * the value and the rule. The packs of step 0 are set in config->shape; all lives in `a`. */
bool run_config_of(const struct run_options *o, struct run_config *config, struct arena *a, struct err *e);
