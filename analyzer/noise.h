/* noise.h - does a difference of medians stand out of the noise? A percentile bootstrap with a fixed generator.
 *
 * d = median(measured) - (median(base) * mul + add), over 4,000 resamples of both sides with replacement; the interval
 * holds the middle 95 % of them. Runs are the samples, never steps: steps of one run are not independent. Fewer than
 * NOISE_RUNS runs a side give no verdict.
 */
#pragma once
#include "schemas/arena.h"

enum { NOISE_RUNS = 3 };

struct noise {
    double low, high; /* of d */
};

double median_of(double *v, size_t n); /* sorts v; n > 0; of an even number the mean of the middle two */

/* nb 0: against the fixed limit `add`. */
struct noise noise_of(const double *measured, size_t nm, const double *base, size_t nb, double mul, double add, struct arena *a);
