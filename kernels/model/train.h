/* train.h - training: steps of a net with an update at the end of each, logged as they end.
 *
 * Gradients are sums over the CP groups' ranks of parts of one mean loss, so that a run has the same values for every mode,
 * cp and tp up to rounding; the same run gives the same bits. Resuming from a checkpoint continues the run bit for bit.
 */
#pragma once
#include "kernels/model/optimizer.h"
#include "kernels/model/run.h"

struct train_config {
    const struct run_config *run; /* vocab over 0; steps to make */
    struct optimizer_rates rates;
    const char *load, *save; /* checkpoints; NULL: none */
    double peak_flops;       /* of all ranks' devices together, a second, for MFU; 0: not known */
};

struct train_row {
    int64_t step, tokens, padded, step_ns, peak_bytes; /* time and bytes of rank 0 */
    double loss, grad_norm;                            /* mean over tokens with a target; over parameter gradients. NAN on sim */
    double mfu;                                        /* train_flops() over the peak; NAN where that is not known */
    uint64_t param_hash;                               /* after the update; 0 on sim, and with tp over 1: rank 0 has a part only */
};

/* Runs them. Rows come one by one while it runs, on the process that has rank 0. *started (may be NULL): hash of the
 * parameters at the start, over the parts of this process. */
bool train_run(const struct train_config *c, void (*row)(void *ctx, const struct train_row *r), void *ctx, uint64_t *started, struct err *e);

/* Floating point operations of a step that a model of this shape asks for, recomputation left out: 6 a parameter and token,
 * and three times the forward pass of attention (pairs that see each other) and of the recurrence (chunks of 64, spec A.5). */
double train_flops(const struct run_config *c, int64_t step);
int64_t train_params(const struct run_config *c); /* of the whole model */
