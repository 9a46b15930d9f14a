/* xent.h - cross-entropy of rows of logits with a target each: losses[row] = log sum exp - logit of the target.
 *
 * The logits become their gradient, factor * (softmax - one-hot). A negative target is masked: loss and gradient 0. */
#pragma once
#include "kernels/ops/op.h"

struct xent_args {
    float *logits;          /* [rows][classes] dense, in place */
    const int64_t *targets; /* [rows] */
    double *losses;         /* [rows], overwritten */
    int64_t rows, classes;
    float factor;
};
OP_DECLARE(xent);

/* *sum += factor * sum of v[0 .. n-1], in order. */
struct xent_total_args {
    const double *v;
    double *sum;
    int64_t n;
    double factor;
};
OP_DECLARE(xent_total);
