/* rate.h - rates of kernels on one thread, in its CPU time: a loaded machine slows wall clocks. */
#pragma once
#include "kernels/ops/gemm.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RATE_RUNS = 5, RATE_SQUARE = 1024 };

static inline double rate_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline float *rate_numbers(int64_t n)
{
    float *v = malloc((size_t)n * sizeof *v);
    for (int64_t i = 0; v && i < n; i++)
        v[i] = (float)(i * 7919 % 1999) / 1999 - 0.5f;
    return v ? v : (perror("malloc"), exit(3), v);
}

struct rate_work {
    const void *args;
    double flops;
    void (*run)(const void *args);
};

/* GFLOP/s, the best of some runs. */
static inline double rate_of(const struct rate_work *w)
{
    double best = 0;
    for (int i = 0; i < RATE_RUNS; i++) {
        double start = rate_seconds(CLOCK_THREAD_CPUTIME_ID);
        w->run(w->args);
        double got = w->flops / (rate_seconds(CLOCK_THREAD_CPUTIME_ID) - start) / 1e9;
        best = got > best ? got : best;
    }
    return best;
}

static inline void rate_product(const void *args)
{
    gemm_nn_cpu(args);
}

/* OpenBLAS sgemm of a square; says so. */
static inline double rate_sgemm(void)
{
    gemm_init();
    struct gemm_args g = {rate_numbers(RATE_SQUARE * RATE_SQUARE),
                          rate_numbers(RATE_SQUARE * RATE_SQUARE),
                          rate_numbers(RATE_SQUARE * RATE_SQUARE),
                          RATE_SQUARE,
                          RATE_SQUARE,
                          RATE_SQUARE,
                          RATE_SQUARE,
                          RATE_SQUARE,
                          RATE_SQUARE,
                          0};
    double rate = rate_of(&(struct rate_work){&g, gemm_cost(&g).flops, rate_product});
    printf("sgemm of %d: %.1f GFLOP/s (one thread, CPU time)\n", RATE_SQUARE, rate);
    return rate;
}
