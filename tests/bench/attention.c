/* attention.c - rate of the attention kernels beside that of OpenBLAS sgemm, on one thread, in its CPU time (a loaded machine
 * slows wall clocks). One causal document of 2048 tokens; FLOPs are those of allowed pairs, so blocks that the diagonal cuts count
 * half. Best of RUNS for each. */
#include "kernels/ops/attention.h"
#include "kernels/ops/gemm.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TOKENS = 2048, SQUARE = 1024, RUNS = 5 };

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float *numbers(int64_t n)
{
    float *v = malloc((size_t)n * sizeof *v);
    for (int64_t i = 0; v && i < n; i++)
        v[i] = (float)(i * 7919 % 1999) / 1999 - 0.5f;
    return v ? v : (perror("malloc"), exit(3), v);
}

struct work {
    const void *args;
    double flops;
    void (*run)(const void *args);
};

static void forward(const void *args)
{
    attention_fwd_cpu(args);
}

static void backward(const void *args)
{
    attention_bwd_cpu(args);
}

static void product(const void *args)
{
    gemm_nn_cpu(args);
}

/* GFLOP/s. */
static double rate(const struct work *w)
{
    double best = 0;
    for (int i = 0; i < RUNS; i++) {
        double start = cpu_seconds();
        w->run(w->args);
        double got = w->flops / (cpu_seconds() - start) / 1e9;
        best = got > best ? got : best;
    }
    return best;
}

static void measure(int32_t heads, int32_t kv_heads, int32_t d, int32_t e, double sgemm)
{
    struct attn_piece piece = {.qlen = TOKENS, .klen = TOKENS, .causal = true};
    int64_t q = (int64_t)heads * d, k = (int64_t)kv_heads * d, v = (int64_t)kv_heads * e, o = (int64_t)heads * e;
    struct attn_inputs in = {.q = numbers(TOKENS * q), .k = numbers(TOKENS * k), .v = numbers(TOKENS * v), .pieces = &piece};
    in.ldq = q, in.ldk = k, in.ldv = v, in.npieces = 1, in.pairs = attn_piece_pairs(&piece);
    in.heads = heads, in.kv_heads = kv_heads, in.d = d, in.e = e, in.scale = 0.1f;
    struct attention_fwd_args f = {in, numbers(TOKENS * o), numbers((int64_t)TOKENS * heads), o};
    struct attention_bwd_args b = {
        .in = in, .o = f.o, .lse = f.lse, .d_o = numbers(TOKENS * o), .ldo = o, .lddo = o, .lddq = q, .lddk = k, .lddv = v};
    b.dq = numbers(TOKENS * q), b.dk = numbers(TOKENS * k), b.dv = numbers(TOKENS * v);
    double fwd = rate(&(struct work){&f, attention_fwd_cost(&f).flops, forward}),
           bwd = rate(&(struct work){&b, attention_bwd_cost(&b).flops, backward});
    printf("%2d/%d heads, dims %3d/%3d   forward %6.1f GFLOP/s %3.0f %% of sgemm   backward %6.1f GFLOP/s %3.0f %%\n", heads, kv_heads, d, e, fwd,
           100 * fwd / sgemm, bwd, 100 * bwd / sgemm);
}

int main(void)
{
    gemm_init();
    struct gemm_args g = {
        numbers(SQUARE * SQUARE), numbers(SQUARE * SQUARE), numbers(SQUARE * SQUARE), SQUARE, SQUARE, SQUARE, SQUARE, SQUARE, SQUARE, 0};
    double sgemm = rate(&(struct work){&g, gemm_cost(&g).flops, product});
    printf("sgemm of %d: %.1f GFLOP/s (one thread, CPU time)\n", SQUARE, sgemm);
    measure(4, 4, 128, 128, sgemm);
    measure(4, 1, 128, 128, sgemm);
    measure(4, 4, 192, 128, sgemm);
    measure(4, 4, 64, 64, sgemm);
    return 0;
}
