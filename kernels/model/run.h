/* run.h - all ranks of a run, all its steps: what `cpbench run` prints. */
#pragma once
#include "kernels/model/config.h"

struct run_row {
    int64_t step;
    int64_t step_ns, fwd_ns, pass_ns, peak_bytes; /* maximum over ranks; times are medians over the repeats */
    int64_t tokens, padded;                       /* of the step, over all ranks, padding included; padding */
    double loss, grad_norm;
    uint64_t param_hash, out_hash, grad_hash; /* out: all ranks' outputs; grad: parameter and input gradients */
};

/* Runs warm-up and steps, every step `repeat` times on the same data, and gives a row a step. Their ranges are warmup#N
 * and step#N, numbered as they run: repeats have numbers of their own. Repeats that differ in
 * any value, or ranks that disagree on parameters or their gradients, are ERR_FAIL. The config was checked. All processes of
 * the run get the rows; *rank0 (may be NULL): this is the one with rank 0. */
bool run_steps(const struct run_config *c, struct run_row *rows, bool *rank0, struct err *e); /* rows[c->steps] */
