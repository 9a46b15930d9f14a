/* gdn_grad.cuh - gradients of q, k, v, g and beta, chunk by chunk, once scan and sweep have left what joins the chunks: S0 and
 * Vn, D and dB. A block takes one chunk and key head and goes through its value heads in order; nothing is shared between
 * blocks. The formulas are those of gdn_bwd.c; G and N, the n x n matrices that are summed over the value heads, and the
 * scores QK^T and KK^T stay in registers, each thread its 4 x 4 elements (tile.cuh).
 *
 * SCAN: the whole of it. Else the scan of [S | M] alone: no queries, no outputs, E = dv + dk columns, and what comes out is
 * added to what scan left.
 */
#pragma once
#include "kernels/ops/gdn.cuh"
#include "kernels/ops/reduce.cuh"
#include "kernels/ops/single.h"

struct gdn_grad {
    struct gdn_inputs in;
    const float *d_o;            /* [T][HV][dv], lddo */
    const float *states, *after; /* S0, D: [HV][chunks, as in gdn_kept][dk][E] */
    const float *values, *db;    /* Vn, dB: [HV][T][E] */
    float *dq, *dk, *dv;         /* lddqk, lddqk, lddv */
    float *dg, *dbeta;           /* [T][HV] */
    int64_t lddo, lddqk, lddv;
    int E;
    enum gdn_reach reach;
};

namespace gpu
{
struct grad_sums { /* of a chunk's tokens: what exponents and beta get */
    double gam[TILE], beta[TILE], kd[TILE];
};

struct grad_block {
    const struct gdn_grad *a;
    struct chunk c;
    struct decay *d;
    struct grad_sums *sums;
    float *s, *stage;                  /* [64][TILE_SQUARE_LD], 2 TILE_STAGE */
    float *fade;                       /* [64]: beta exp(gam) */
    const float *s0, *after, *vn, *db; /* of head h */
    int h, hk, rep;
};

static __device__ __forceinline__ struct operand grad_d_o(const struct grad_block &b)
{
    return operand_of(b.a->d_o + b.c.start * b.a->lddo + (int64_t)b.h * b.a->in.dv, b.a->lddo, b.c.n, NULL);
}

/* Through dP = lower(dO Vn^T): G, and dgam by rows and columns of E = G o QK^T. */
static __device__ __forceinline__ void grad_outputs(const struct grad_block &b, const float (&qk)[4][4], float (&g)[4][4])
{
    float acc[4][4];
    tile_clear(acc);
    tile_product<TILE_ROWS, TILE_ROWS>(acc, b.stage, grad_d_o(b), operand_of(b.vn, b.a->E, b.c.n, NULL), b.a->E);
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < 4; y++) {
            int i = tile_y() + 16 * x, j = tile_x() + 16 * y;
            float v = j <= i && i < b.c.n ? b.a->in.scale * acc[x][y] * gdn_between(b.d, i, j) : 0;
            g[x][y] += v;
            b.s[i * TILE_SQUARE_LD + j] = v * qk[x][y];
        }
    __syncthreads();
    int t = (int)threadIdx.x;
    if (t < b.c.n) {
        double sum = 0;
        for (int j = 0; j <= t; j++)
            sum += b.s[t * TILE_SQUARE_LD + j];
        for (int i = t; i < b.c.n; i++)
            sum -= b.s[i * TILE_SQUARE_LD + t];
        b.sums->gam[t] += sum;
    }
    __syncthreads();
}

/* Through dA = -strictly_lower(dB Vn^T): N, and dgam and dbeta by rows and columns. */
static __device__ __forceinline__ void grad_couplings(const struct grad_block &b, const float (&kk)[4][4], float (&n)[4][4])
{
    float acc[4][4];
    tile_clear(acc);
    tile_product<TILE_ROWS, TILE_ROWS>(acc, b.stage, operand_of(b.db, b.a->E, b.c.n, NULL), operand_of(b.vn, b.a->E, b.c.n, NULL), b.a->E);
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < 4; y++) {
            int i = tile_y() + 16 * x, j = tile_x() + 16 * y;
            float v = j < i && i < b.c.n ? -acc[x][y] * gdn_between(b.d, i, j) : 0;
            n[x][y] += b.d->beta[i] * v;
            b.s[i * TILE_SQUARE_LD + j] = v * kk[x][y];
        }
    __syncthreads();
    int t = (int)threadIdx.x;
    if (t < b.c.n) {
        double to_beta = 0, away = 0;
        for (int j = 0; j < t; j++)
            to_beta += b.s[t * TILE_SQUARE_LD + j];
        for (int i = t + 1; i < b.c.n; i++)
            away += (double)(b.d->beta[i] * b.s[i * TILE_SQUARE_LD + t]);
        b.sums->beta[t] += to_beta;
        b.sums->gam[t] += b.d->beta[t] * to_beta - away;
    }
    __syncthreads();
}

/* Sums of a thread's rows, towards products of whole rows. */
struct row_sums {
    double kz[4], kd[4], qd[4];
};

/* to (+)= by[i] acc[i][j] at row i of the chunk and key from + j; sum += that row of x times acc. */
static __device__ __forceinline__ void grad_keys_add(const struct grad_block &b, int from, const float (&acc)[4][4], const float *by, float factor,
                                                     const float *x, float *to, bool add, double *sum)
{
    const struct gdn_grad &a = *b.a;
    for (int r = 0; r < 4; r++)
        for (int y = 0; y < 4; y++) {
            int i = tile_y() + 16 * r, col = from + tile_x() + 16 * y;
            if (i >= b.c.n || col >= a.in.dk)
                continue;
            float *at = to + (b.c.start + i) * a.lddqk + (int64_t)b.hk * a.in.dk + col;
            *at = (add ? *at : 0) + factor * by[i] * acc[r][y];
            sum[r] += (double)x[(b.c.start + i) * a.in.ldqk + (int64_t)b.hk * a.in.dk + col] * acc[r][y];
        }
}

/* Keys from .. from + 63 of: Vn D^T, Z = dB S0^T and dO S0^T. */
template <bool SCAN> static __device__ __forceinline__ void grad_keys(const struct grad_block &b, int from, struct row_sums *sum)
{
    const struct gdn_grad &a = *b.a;
    int rows = a.in.dk - from < TILE ? a.in.dk - from : TILE;
    bool add = !SCAN || b.h > b.hk * b.rep;
    struct operand s0 = operand_of(b.s0 + (int64_t)from * a.E, a.E, rows, NULL), after = operand_of(b.after + (int64_t)from * a.E, a.E, rows, NULL);
    float acc[4][4];
    tile_clear(acc);
    tile_product<TILE_ROWS, TILE_ROWS>(acc, b.stage, operand_of(b.vn, a.E, b.c.n, NULL), after, a.E);
    grad_keys_add(b, from, acc, b.d->end, 1, a.in.k, a.dk, add, sum->kd);
    tile_clear(acc);
    tile_product<TILE_ROWS, TILE_ROWS>(acc, b.stage, operand_of(b.db, a.E, b.c.n, NULL), s0, a.E);
    grad_keys_add(b, from, acc, b.fade, -1, a.in.k, a.dk, true, sum->kz);
    if (!SCAN)
        return;
    tile_clear(acc);
    tile_product<TILE_ROWS, TILE_ROWS>(acc, b.stage, grad_d_o(b), s0, a.E);
    grad_keys_add(b, from, acc, b.d->begin, a.in.scale, a.in.q, a.dq, add, sum->qd);
}

template <bool SCAN> static __device__ __forceinline__ void grad_rows(const struct grad_block &b)
{
    struct row_sums sum = {};
    for (int from = 0; from < b.a->in.dk; from += TILE)
        grad_keys<SCAN>(b, from, &sum);
    for (int x = 0; x < 4; x++) {
        int i = tile_y() + 16 * x;
        float begin = b.d->begin[i], beta = b.d->beta[i];
        double kz = tile_row_sum(sum.kz[x]), kd = b.d->end[i] * tile_row_sum(sum.kd[x]), qd = tile_row_sum(sum.qd[x]);
        if (tile_x() != 0 || i >= b.c.n)
            continue;
        b.sums->beta[i] -= begin * kz;
        b.sums->gam[i] += b.a->in.scale * begin * qd - kd - beta * begin * kz;
        b.sums->kd[i] = kd;
    }
    __syncthreads();
}

/* dV = diag(beta) dB, a warp a row; dbeta gets v . db. */
template <bool SCAN> static __device__ __forceinline__ void grad_values(const struct grad_block &b)
{
    const struct gdn_grad &a = *b.a;
    for (int i = (int)threadIdx.x / SINGLE_WARP; i < b.c.n; i += TILE_THREADS / SINGLE_WARP) {
        const float *v = a.in.v + (b.c.start + i) * a.in.ldv + (int64_t)b.h * a.in.dv, *db = b.db + (int64_t)i * a.E;
        float *to = a.dv + (b.c.start + i) * a.lddv + (int64_t)b.h * a.in.dv;
        ROW_EACH (j, a.in.dv)
            to[j] = (SCAN ? 0 : to[j]) + b.d->beta[i] * db[j];
        double dot = row_dot(v, db, a.in.dv);
        if (ROW_ONCE)
            b.sums->beta[i] += dot;
    }
}

/* The last token's exponent gets all kd and exp(gam_n) <S0, D>; then the running sums from the chunk's end are dg. */
template <bool SCAN> static __device__ __forceinline__ void grad_gates(const struct grad_block &b)
{
    const struct gdn_grad &a = *b.a;
    int t = (int)threadIdx.x, n = b.c.n;
    double part = 0;
    for (int i = t; i < a.in.dk * a.E; i += TILE_THREADS)
        part += (double)b.s0[i] * b.after[i];
    double whole = b.d->whole * block_sum<TILE_THREADS>(part);
    if (t == 0) {
        for (int i = 0; i < n; i++)
            whole += b.sums->kd[i];
        b.sums->gam[n - 1] += whole;
    }
    __syncthreads();
    if (t < n) {
        int64_t at = (b.c.start + t) * a.in.HV + b.h;
        double sum = 0;
        for (int i = n - 1; i >= t; i--)
            sum += b.sums->gam[i];
        a.dg[at] = (SCAN ? 0 : a.dg[at]) + (float)sum;
        a.dbeta[at] = (SCAN ? 0 : a.dbeta[at]) + (float)b.sums->beta[t];
    }
    __syncthreads();
}

template <bool SCAN>
static __device__ __forceinline__ void grad_head(struct grad_block &b, int64_t kept, const float (&qk)[4][4], const float (&kk)[4][4],
                                                 float (&g)[4][4], float (&n)[4][4])
{
    const struct gdn_grad &a = *b.a;
    b.s0 = a.states + kept * a.in.dk * a.E, b.after = a.after + kept * a.in.dk * a.E;
    b.vn = a.values + ((int64_t)b.h * a.in.T + b.c.start) * a.E, b.db = a.db + ((int64_t)b.h * a.in.T + b.c.start) * a.E;
    if (threadIdx.x < TILE)
        b.sums->gam[threadIdx.x] = b.sums->beta[threadIdx.x] = 0;
    gdn_decay_load(b.d, a.in, b.c, b.h);
    if (threadIdx.x < TILE) /* read behind the barriers of products */
        b.fade[threadIdx.x] = b.d->beta[threadIdx.x] * b.d->begin[threadIdx.x];
    if (SCAN)
        grad_outputs(b, qk, g);
    grad_couplings(b, kk, n);
    grad_rows<SCAN>(b);
    grad_values<SCAN>(b);
    grad_gates<SCAN>(b);
}

/* to += m x over the chunk: m [n][n] ready in b.s, x [n][dk]. */
static __device__ __forceinline__ void grad_add(const struct grad_block &b, float *to, const float *x)
{
    const struct gdn_grad &a = *b.a;
    for (int from = 0; from < a.in.dk; from += TILE) {
        float acc[4][4];
        tile_clear(acc);
        tile_product<TILE_READY, TILE_COLUMNS>(
            acc, b.stage, operand_of(b.s, TILE_SQUARE_LD, TILE, NULL),
            operand_of(gdn_keys(a.in, x, b.c, b.hk * b.rep) + from, a.in.ldqk, a.in.dk - from < TILE ? a.in.dk - from : TILE, NULL), b.c.n);
        for (int x4 = 0; x4 < 4; x4++)
            for (int y = 0; y < 4; y++) {
                int i = tile_y() + 16 * x4, col = from + tile_x() + 16 * y;
                if (i < b.c.n && col < a.in.dk)
                    to[(b.c.start + i) * a.lddqk + (int64_t)b.hk * a.in.dk + col] += acc[x4][y];
            }
    }
    __syncthreads();
}

/* b.s = m, its transpose, or (both) their sum; m is strictly lower in the last case. */
static __device__ __forceinline__ void grad_ready(const struct grad_block &b, const float (&m)[4][4], bool plain, bool turned)
{
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < 4; y++) {
            int i = tile_y() + 16 * x, j = tile_x() + 16 * y;
            if (!plain || !turned || j <= i) {
                if (plain)
                    b.s[i * TILE_SQUARE_LD + j] = m[x][y];
                if (turned)
                    b.s[j * TILE_SQUARE_LD + i] = m[x][y];
            }
        }
}

/* Block (chunk number, or chunk of the segment; key head). */
template <bool SCAN> static __global__ void __launch_bounds__(TILE_THREADS, 1) gdn_grad(const __grid_constant__ struct ::gdn_grad a)
{
    __shared__ struct decay d;
    __shared__ struct grad_sums sums;
    __shared__ float fade[TILE];
    __shared__ __align__(16) float shared[TILE_SQUARE + 2 * TILE_STAGE];
    struct grad_block b;
    b.a = &a, b.d = &d, b.sums = &sums, b.fade = fade, b.s = shared, b.stage = shared + TILE_SQUARE, b.hk = (int)blockIdx.y,
    b.rep = a.in.HV / a.in.HK;
    int seg = a.reach == GDN_EVERY ? gdn_segment_numbered(a.in, blockIdx.x) : segment_of(a.in.cu, a.in.nseg, a.in.T - 1);
    int64_t j = blockIdx.x - (a.reach == GDN_EVERY ? gdn_number(a.in, seg) : 0);
    b.c = gdn_chunk_of(a.in, seg, j);
    if (b.c.n == 0)
        return;
    float qk[4][4], kk[4][4], g[4][4], n[4][4];
    tile_clear(qk), tile_clear(kk), tile_clear(g), tile_clear(n);
    struct operand k = operand_of(gdn_keys(a.in, a.in.k, b.c, b.hk * b.rep), a.in.ldqk, b.c.n, NULL);
    tile_product<TILE_ROWS, TILE_ROWS>(kk, b.stage, k, k, a.in.dk);
    if (SCAN)
        tile_product<TILE_ROWS, TILE_ROWS>(qk, b.stage, operand_of(gdn_keys(a.in, a.in.q, b.c, b.hk * b.rep), a.in.ldqk, b.c.n, NULL), k, a.in.dk);
    for (b.h = b.hk * b.rep; b.h < (b.hk + 1) * b.rep; b.h++)
        grad_head<SCAN>(b, gdn_kept(a.in, a.reach, seg, b.h, j), qk, kk, g, n);
    grad_ready(b, n, true, true);
    grad_add(b, a.dk, a.in.k);
    if (SCAN) {
        grad_ready(b, g, true, false);
        grad_add(b, a.dq, a.in.k);
        grad_ready(b, g, false, true);
        grad_add(b, a.dk, a.in.q);
    }
}
} // namespace gpu
