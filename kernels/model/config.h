/* config.h - one run of a stack of layers under a mode: everything about it that does not change while it runs. */
#pragma once
#include "kernels/model/seqs.h"
#include "kernels/modes/mode.h"

struct run_config {
    const struct cp_mode *mode;
    struct cp_shape shape; /* its packs are not set: see config_packs() */
    struct seqs seqs;
    const char *device, *comm; /* backends by name */
    int64_t host_cost_ns;      /* emulated dispatch cost of an op; 0 none */
    int64_t steps, warmup, repeat;
    uint64_t seed;
};

/* The packings of one step, a micro-batch each. Warm-up steps are numbered -warmup .. -1. Lives in `a`. */
struct packing *config_packs(const struct run_config *c, int64_t step, struct arena *a);

/* Announces the facts of the run for the trace's meta table; `host_cost` and `seqs` as the user gave them. */
void config_announce(const struct run_config *c, const char *host_cost, const char *seqs);
