/* options.c - the options of a run: rows, defaults, and what numbers may be. */
#include "kernels/options.h"
#include "kernels/ops/conv1d.h"

#include <inttypes.h>

const struct run_options run_options_default = {.route = "interval",
                                                .summary = "checkpoint",
                                                .recompute = "none",
                                                .seqs = "random:6",
                                                .dtype = "fp32",
                                                .device = "auto",
                                                .padding = "none",
                                                .causal = "yes",
                                                .host_cost = "none",
                                                .reduction_order = "fixed",
                                                .cp = 4,
                                                .tp = 1,
                                                .layers = 1,
                                                .microbatches = 1,
                                                .steps = 1,
                                                .repeat = 1,
                                                .tokens = 2048,
                                                .hidden = 64,
                                                .kheads = 4,
                                                .vheads = 8,
                                                .dk = 16,
                                                .dv = 16,
                                                .conv = 4,
                                                .metadata = "cached",
                                                .qheads = 8,
                                                .kvheads = 4,
                                                .dqk = 16,
                                                .dv_attn = 16,
                                                .ulysses = 2,
                                                .window = 2,
                                                .seed = 1234};

#define AT(field) offsetof(struct run_options, field)
const struct opt run_option_rows[] = {
    {OPT_TEXT, "mode", AT(mode), "the mode to run (cpbench list shows all)", "ID"},
    {OPT_INT, "cp", AT(cp), "ranks of the context-parallel group [4]", "C"},
    {OPT_INT, "tp", AT(tp), "ranks that share the heads of a layer and the rows between layers; the run has C x T ranks [1]", "T"},
    {OPT_TEXT, "attn-mode", AT(attn_mode), "every fourth layer is attention under this mode, the others GDN under --mode", "ID"},
    {OPT_TEXT, "dynamic-cp", AT(dynamic_cp),
     "cp sizes (1, 2, 4, 8, up to --cp) that micro-batches have in turn, CxN for N of one size; a step takes the list --microbatches times",
     "C1,C2,..."},
    {OPT_TEXT, "route", AT(route), "how layout routes are derived: naive, interval, prebuilt, encoded [interval]", "KIND"},
    {OPT_TEXT, "pack", AT(pack),
     "how a route is applied: joined, blocks (a gather and a scatter a peer, as the baseline does it): then only the route differs from naive "
     "[blocks "
     "with route naive, else joined]",
     "HOW"},
    {OPT_TEXT, "boundaries", AT(boundaries), "boundary resolution: per-layer, cached [per-layer with route naive, else cached]", "HOW"},
    {OPT_TEXT, "summary", AT(summary), "keep, checkpoint: states of the (S, M) scan kept for backward, or run again [checkpoint]", "HOW"},
    {OPT_INT, "layers", AT(layers), "layers of the stack [1]", "L"},
    {OPT_INT, "microbatches", AT(microbatches), "micro-batches of a step [1]", "B"},
    {OPT_INT, "steps", AT(steps), "measured steps [1]", "N"},
    {OPT_INT, "warmup", AT(warmup), "steps before them that are not printed [0]", "W"},
    {OPT_INT, "repeat", AT(repeat), "runs of every step; times are medians [1]", "R"},
    {OPT_TEXT, "recompute", AT(recompute), "none, full: run a layer's forward again before its backward [none]", "HOW"},
    {OPT_INT, "tokens", AT(tokens), "tokens of a micro-batch over the whole group [2048]", "T"},
    {OPT_TEXT, "seqs", AT(seqs),
     "packed sequences: lengths L,L,... or boundaries cu:0,L,... or equal:N or random:N, or random:N/M: N in M micro-batches [random:6]", "LIST"},
    {OPT_TEXT, "padding", AT(padding),
     "none; eod: --seqs are documents, filled up to multiples of 2 x cp, and the loss is without the filling [none]", "HOW"},
    {OPT_INT, "hidden", AT(hidden), "width of the model [64]", "H"},
    {OPT_INT, "kheads", AT(kheads), "key heads [4]", "N"},
    {OPT_INT, "vheads", AT(vheads), "value heads, a multiple of the key heads [8]", "N"},
    {OPT_INT, "dk", AT(dk), "width of a key head [16]", "N"},
    {OPT_INT, "dv", AT(dv), "width of a value head [16]", "N"},
    {OPT_INT, "conv", AT(conv), "taps of the convolution [4]", "W"},
    {OPT_INT, "qheads", AT(qheads), "query heads of attention, a multiple of the key heads [8]", "N"},
    {OPT_INT, "kvheads", AT(kvheads), "key and value heads of attention [4]", "N"},
    {OPT_INT, "dqk", AT(dqk), "width of a query or key head of attention [16]", "N"},
    {OPT_INT, "dv-attn", AT(dv_attn), "width of a value head of attention, at most --dqk [16]", "N"},
    {OPT_TEXT, "causal", AT(causal), "yes: a token sees those before it; nothing else is built [yes]", "HOW"},
    {OPT_REAL, "dropout", AT(dropout), "share of attention weights left out; only 0 is built [0]", "P"},
    {OPT_TEXT, "kv-dtype", AT(kv_dtype), "storage type of keys and values; only that of --dtype is built", "TYPE"},
    {OPT_TEXT, "kv-seqs", AT(kv_seqs), "packed sequences of keys and values; only those of --seqs are built: no cross-attention", "LIST"},
    {OPT_TEXT, "metadata", AT(metadata), "plans of attention: cached, hoisted, per-layer [cached]", "HOW"},
    {OPT_INT, "ulysses", AT(ulysses), "ranks of a Ulysses group in attn.usp [2]", "U"},
    {OPT_INT, "window", AT(window), "ranks of a window in attn.double_ring [2]", "W"},
    {OPT_TEXT, "dtype", AT(dtype),
     "fp32, bf16, fp16: what values are rounded to where they are stored, and travel as; on real devices memory stays 4 bytes wide [fp32]", "TYPE"},
    {OPT_TEXT, "device", AT(device), "auto: cuda where there is a GPU, else cpu; cpu; cuda; sim: a model of a machine, times are virtual [auto]",
     "NAME"},
    {OPT_TEXT, "machine", AT(machine), "of --device sim: the name of a shipped machine or a machine file [h200x8]", "FILE"},
    {OPT_TEXT, "comm", AT(comm),
     "threads: ranks are threads of this process; mpi: processes, started by mpirun -np C; nccl: a GPU each; sim: of --device sim [threads; sim on "
     "sim]",
     "NAME"},
    {OPT_TEXT, "host-cost", AT(host_cost),
     "emulated dispatch cost of an op: none, NS, framework (6000 ns; on sim the machine's), eager (of sim: the same, and scans are loops of small "
     "operators) [none]",
     "NS"},
    {OPT_TEXT, "reduction-order", AT(reduction_order),
     "how sums over ranks add: fixed (in rank order), random:SEED (an order drawn for each; --comm threads) [fixed]", "HOW"},
    {OPT_INT, "seed", AT(seed), "seed of parameters, lengths and inputs [1234]", "S"},
    {0},
};

/* What a number may be. Upper ends keep sizes within what kernels address with 32 bits, and far beyond any machine. */
static const struct range {
    const char *name;
    size_t offset;
    int64_t low, high;
} ranges[] = {
    {"cp", AT(cp), 1, 4096},
    {"tp", AT(tp), 1, 1024},
    {"layers", AT(layers), 1, 10000},
    {"microbatches", AT(microbatches), 1, 10000},
    {"steps", AT(steps), 1, 1000000},
    {"warmup", AT(warmup), 0, 100000},
    {"repeat", AT(repeat), 1, 10000},
    {"tokens", AT(tokens), 1, 1 << 24},
    {"hidden", AT(hidden), 1, 1 << 16},
    {"kheads", AT(kheads), 1, 1024},
    {"vheads", AT(vheads), 1, 1024},
    {"dk", AT(dk), 1, 1024},
    {"dv", AT(dv), 1, 1024},
    {"conv", AT(conv), 1, CONV1D_WIDTH_MAX},
    {"qheads", AT(qheads), 1, 1024},
    {"kvheads", AT(kvheads), 1, 1024},
    {"dqk", AT(dqk), 1, 1024},
    {"dv-attn", AT(dv_attn), 1, 1024},
    {"ulysses", AT(ulysses), 1, 4096},
    {"window", AT(window), 1, 4096},
};

bool run_options_in_range(const struct run_options *o, struct err *e)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const struct range *r = &ranges[i];
        int64_t v = *(const int64_t *)((const char *)o + r->offset);
        if (v < r->low || v > r->high)
            return fail(e, ERR_USAGE, "--%s %" PRId64 ": not in %" PRId64 " .. %" PRId64, r->name, v, r->low, r->high);
    }
    return true;
}
