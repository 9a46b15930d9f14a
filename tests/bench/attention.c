/* attention.c - rate of the attention kernels beside that of OpenBLAS sgemm, on one thread, in its CPU time (a loaded machine
 * slows wall clocks). One causal document of 2048 tokens; FLOPs are those of allowed pairs, so blocks that the diagonal cuts count
 * half. Best of some runs for each. */
#include "kernels/ops/attention.h"
#include "tests/bench/rate.h"

enum { TOKENS = 2048 };

static void forward(const void *args)
{
    attention_fwd_cpu(args);
}

static void backward(const void *args)
{
    attention_bwd_cpu(args);
}

static void measure(int32_t heads, int32_t kv_heads, int32_t d, int32_t e, double sgemm)
{
    struct attn_piece piece = {.qlen = TOKENS, .klen = TOKENS, .causal = true};
    int64_t q = (int64_t)heads * d, k = (int64_t)kv_heads * d, v = (int64_t)kv_heads * e, o = (int64_t)heads * e;
    struct attn_inputs in = {.q = rate_numbers(TOKENS * q), .k = rate_numbers(TOKENS * k), .v = rate_numbers(TOKENS * v), .pieces = &piece};
    in.ldq = q, in.ldk = k, in.ldv = v, in.npieces = 1, in.pairs = attn_piece_pairs(&piece);
    in.heads = heads, in.kv_heads = kv_heads, in.d = d, in.e = e, in.scale = 0.1f;
    struct attention_fwd_args f = {in, rate_numbers(TOKENS * o), rate_numbers((int64_t)TOKENS * heads), o};
    struct attention_bwd_args b = {
        .in = in, .o = f.o, .lse = f.lse, .d_o = rate_numbers(TOKENS * o), .ldo = o, .lddo = o, .lddq = q, .lddk = k, .lddv = v};
    b.dq = rate_numbers(TOKENS * q), b.dk = rate_numbers(TOKENS * k), b.dv = rate_numbers(TOKENS * v);
    double fwd = rate_of(&(struct rate_work){&f, attention_fwd_cost(&f).flops, forward}),
           bwd = rate_of(&(struct rate_work){&b, attention_bwd_cost(&b).flops, backward});
    printf("%2d/%d heads, dims %3d/%3d   forward %6.1f GFLOP/s %3.0f %% of sgemm   backward %6.1f GFLOP/s %3.0f %%\n", heads, kv_heads, d, e, fwd,
           100 * fwd / sgemm, bwd, 100 * bwd / sgemm);
}

int main(void)
{
    double sgemm = rate_sgemm();
    measure(4, 4, 128, 128, sgemm);
    measure(4, 1, 128, 128, sgemm);
    measure(4, 4, 192, 128, sgemm);
    measure(4, 4, 64, 64, sgemm);
    return 0;
}
