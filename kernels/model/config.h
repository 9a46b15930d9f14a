/* config.h - one run of a stack of layers under a mode: everything about it that does not change while it runs. */
#pragma once
#include "kernels/device/machine.h"
#include "kernels/model/seqs.h"
#include "kernels/modes/mode.h"

enum { DYNAMIC_MAX = 4 }; /* cp sizes that a run may change between: 1, 2, 4, 8 */

struct tokens; /* tokens.h */

struct run_config {
    const struct cp_mode *mode, *attn; /* attn: of every fourth layer (stack.h); NULL: of none */
    struct cp_shape shape;             /* of all --cp ranks; heads of one TP rank; packs of step 0, see config_packs() */
    struct cp_shape whole;             /* the same with all heads, tp 1 */
    const int *sizes;                  /* cp size of micro-batch b: sizes[b % nsizes]; NULL: always shape.cp */
    int64_t nsizes;
    struct seqs seqs;
    bool eod;                  /* documents are padded */
    int64_t vocab, ffn;        /* of a trainable model (net.h); vocab 0: the model is its layers */
    const struct tokens *text; /* what it reads; NULL: the generator */
    bool one_batch;            /* every step reads the batch of step 0 */
    const char *device, *comm; /* backends by name */
    struct machine machine;    /* of the sim device; no name: another device */
    int64_t host_cost_ns;      /* emulated dispatch cost of an op; 0 none */
    int64_t host_nograd_ns;    /* the same in the forward before a recompute */
    int64_t host_layer_ns;     /* on sim: of a layer's pass beyond its ops; 0 none */
    int64_t host_step_ns;      /* on sim: of a training step outside its micro-batches; 0 none */
    bool eager;                /* on sim: scans are loops of small operators */
    int64_t steps, warmup, repeat;
    uint64_t seed;
    uint64_t order_seed; /* of comm_reduction_order() */
    int64_t extra_item;  /* a fault to test gates with: the host reads one value more in each forward of layer extra_item - 1; 0 none */
};

int config_ranks(const struct run_config *c); /* of the run: cp times tp */
/* The packings of one step, a micro-batch each; with cp sizes that change, cut between the groups' parts. Warm-up steps are numbered -warmup .. -1. Lives in `a`. */
struct packing *config_packs(const struct run_config *c, int64_t step, struct arena *a);

/* What only the user's own words say. */
struct config_words {
    const char *host_cost, *seqs, *dynamic_cp; /* NULL: not given */
};
/* Announces the facts of the run for the trace's meta table. */
void config_announce(const struct run_config *c, const struct config_words *words);
