/* gdn.c - what the GDN modes are held to, in one run and in CPU time (a loaded machine slows wall clocks):
 *
 *   core      rate of the chunk core beside OpenBLAS sgemm, by the formulas' FLOPs (spec A.5, A.6), d 128 and chunks of 64
 *   linear    forward and backward of gdn.chunkwise over 1 to 8 ranks with equal rows a rank: CPU time of all ranks a token
 *   route     the interval route of one rank: 64 ranks and 1,000 sequences, halves of each, and 8 ranks with 64 sequences
 */
#include "kernels/layout/route.h"
#include "kernels/model/trial.h"
#include "kernels/modes/gdn_core.h"
#include "kernels/options.h"
#include "tests/bench/rate.h"

enum { TOKENS = 2048, HEADS = 4, DIM = 128 };

static void fail_with(const struct err *e)
{
    fprintf(stderr, "gdn: %s\n", e->msg);
    exit(3);
}

static void prepare(const void *args)
{
    gdn_scan_prepare_cpu(args);
}

static void forward(const void *args)
{
    gdn_scan_fwd_cpu(args);
}

static void backward(const void *args)
{
    gdn_scan_bwd_cpu(args);
}

static void unit_keys(float *k, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        k[i] *= 0.3f;
}

/* prepare and forward are one pass of the core; the formulas count them together. */
static void core(double sgemm)
{
    static const int64_t cu[] = {0, TOKENS};
    int64_t n = (int64_t)TOKENS * HEADS * DIM, gates = (int64_t)TOKENS * HEADS;
    struct gdn_inputs in = {.q = rate_numbers(n), .v = rate_numbers(n), .cu = cu, .ldqk = HEADS * DIM, .ldv = HEADS * DIM, .T = TOKENS};
    in.HK = in.HV = HEADS, in.dk = in.dv = DIM, in.C = GDN_CHUNK, in.nseg = 1, in.scale = 0.088f;
    float *k = rate_numbers(n), *g = rate_numbers(gates), *beta = rate_numbers(gates);
    unit_keys(k, n);
    for (int64_t i = 0; i < gates; i++)
        g[i] = -0.1f - 0.1f * g[i], beta[i] = 0.5f + 0.5f * beta[i];
    in.k = k, in.g = g, in.beta = beta, in.tm = rate_numbers(gates * GDN_CHUNK);
    struct gdn_scan_prepare_args p = {in, malloc(gdn_scan_prepare_work(&in))};
    struct gdn_scan_fwd_args f = {.in = in, .o = rate_numbers(n), .work = malloc(gdn_scan_fwd_work(&in)), .ldo = HEADS * DIM};
    struct gdn_scan_bwd_args b = {.in = in, .d_o = rate_numbers(n), .work = malloc(gdn_scan_bwd_work(&in)), .lddo = HEADS * DIM};
    b.dq = rate_numbers(n), b.dk = rate_numbers(n), b.dv = rate_numbers(n), b.dg = rate_numbers(gates), b.dbeta = rate_numbers(gates);
    b.lddqk = b.lddv = HEADS * DIM;
    struct cp_shape s = {.cp = 1, .tokens = TOKENS, .kheads = HEADS, .vheads = HEADS, .dk = DIM, .dv = DIM};
    double fwd = gdn_core_flops(&s, TOKENS, HEADS, 1) - gdn_core_flops(&s, TOKENS, HEADS, 0), bwd = gdn_core_flops(&s, TOKENS, HEADS, 0);
    double first = 1 / rate_of(&(struct rate_work){&p, fwd, prepare}), second = 1 / rate_of(&(struct rate_work){&f, fwd, forward});
    double rate = 1 / (first + second), back = rate_of(&(struct rate_work){&b, bwd, backward});
    printf("core, %d heads of %d, chunks of %d   forward %6.1f GFLOP/s %3.0f %% of sgemm   backward %6.1f GFLOP/s %3.0f %%\n", HEADS, DIM, GDN_CHUNK,
           rate, 100 * rate / sgemm, back, 100 * back / sgemm);
}

/* CPU seconds of one forward and backward on `cp` ranks, all of them together; the best of some. */
static double layer_seconds(int cp, int64_t rows)
{
    struct arena a = {0};
    struct run_options o = run_options_default;
    struct run_config c;
    struct err e = {0};
    struct layer_result result;
    double best = 1e9;
    o.mode = "gdn.chunkwise", o.device = "cpu", o.cp = cp, o.tokens = rows * cp, o.seqs = "equal:1", o.dk = o.dv = 64;
    if (!run_config_of(&o, &c, &a, &e))
        fail_with(&e);
    struct layer_case x = trial_make(c.mode, &c.shape, c.shape.packs, PARAM_INIT_DEFAULT, 1, &a);
    for (int i = 0; i < RATE_RUNS; i++) {
        double start = rate_seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (!layer_try(&x, &result, &a, &e))
            fail_with(&e);
        double took = rate_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
        best = took < best ? took : best;
    }
    arena_free(&a);
    return best;
}

static void linear(void)
{
    enum { ROWS = 1024 };
    for (int cp = 1; cp <= 8; cp *= 2)
        printf("gdn.chunkwise, %d rank%s, %5d tokens   %6.2f us of CPU a token, forward and backward\n", cp, cp == 1 ? " " : "s", ROWS * cp,
               1e6 * layer_seconds(cp, ROWS) / (ROWS * cp));
}

/* us of one micro-batch on one rank: both directions, from the lengths to the row lists. */
static double route_us(int cp, int64_t sequences, int64_t length)
{
    struct arena a = {0};
    int64_t *cu = arena_array(&a, int64_t, sequences + 1);
    double best = 1e9;
    for (int64_t i = 0; i < sequences; i++)
        cu[i + 1] = cu[i] + length * (1 + i % 3);
    for (int i = 0; i < 4 * RATE_RUNS; i++) {
        struct arena scratch = {0};
        struct err e = {0};
        struct route_plan plan;
        double start = rate_seconds(CLOCK_THREAD_CPUTIME_ID);
        for (int source = 0; source < LAYOUT_COUNT; source++)
            if (!route_plan(&scratch, cu, sequences + 1, cp, cp / 2, (enum layout)source, (enum layout)(1 - source), &plan, &e))
                fail_with(&e);
        double took = 1e6 * (rate_seconds(CLOCK_THREAD_CPUTIME_ID) - start);
        best = took < best ? took : best;
        arena_free(&scratch);
    }
    arena_free(&a);
    return best;
}

static void routes(void)
{
    static const struct {
        int cp;
        int64_t sequences;
    } cases[] = {{64, 1000}, {32, 1000}, {64, 500}, {32, 500}, {8, 64}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double us = route_us(cases[i].cp, cases[i].sequences, 128);
        printf("interval route, %2d ranks, %4d sequences   %8.1f us a micro-batch, %5.1f ns a rank and sequence\n", cases[i].cp,
               (int)cases[i].sequences, us, 1e3 * us / cases[i].cp / (double)cases[i].sequences);
    }
}

int main(void)
{
    core(rate_sgemm());
    linear();
    routes();
    return 0;
}
