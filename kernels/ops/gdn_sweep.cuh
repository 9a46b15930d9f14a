/* gdn_sweep.cuh - the scan's transpose: the gradient D of the state walks back over the chunks of a segment. Its columns never
 * meet either: a block takes some columns of one head.
 *
 *   for every chunk, last first   dvn = P^T dO + exp(gam_n - gam) K D         [n][columns]
 *                                 db  = T^T dvn
 *                                 D   = exp(gam_n) D + (scale exp(gam) Q)^T dO - (beta exp(gam) K)^T db
 *
 * Without outputs (d_o NULL) their terms are not there.
 */
#pragma once
#include "kernels/ops/gdn.cuh"

struct gdn_sweep {
    struct gdn_inputs in;
    const float *d_o; /* [T][HV][dv], lddo */
    const float *dh;  /* [HV][dk][E]: D after the last segment; NULL: zero */
    float *out;       /* [HV][dk][ldout]: D before the first segment; NULL: not wanted */
    float *after;     /* [HV][chunks, as in gdn_kept][dk][E]: D after every chunk; NULL: not wanted */
    float *db;        /* [HV][T][E]; NULL: not wanted */
    int64_t lddo, ldout;
    int E;
    enum gdn_reach reach; /* the opening segment alone starts from zero */
};

namespace gpu
{
template <int N> struct sweep_block {
    const struct gdn_sweep *a;
    struct columns d;
    float *d_o, *b, *p, *stage; /* [16N][TILE_SQUARE_LD] twice, [64][TILE_SQUARE_LD], 2 TILE_STAGE */
    float *fk, *fq;             /* [64]: what keys and queries are weighted with on their way into D */
    int h, at;
};

template <int N> static __device__ void sweep_load(const struct sweep_block<N> &s, const struct chunk &c, const struct decay *d)
{
    int i = (int)threadIdx.x;
    if (i < TILE) {
        s.fk[i] = -d->beta[i] * d->begin[i];
        s.fq[i] = s.a->in.scale * d->begin[i];
    }
    const float *d_o = s.a->d_o + c.start * s.a->lddo + (int64_t)s.h * s.a->in.dv + s.at;
    for (int at = i; s.a->d_o && at < TILE * 16 * N; at += TILE_THREADS) {
        int j = at % (16 * N), t = at / (16 * N);
        s.d_o[j * TILE_SQUARE_LD + t] = t < c.n && j < s.d.count ? d_o[t * s.a->lddo + j] : 0;
    }
}

/* b = T^T (P^T dO + end K D). */
template <int N> static __device__ void sweep_values(const struct sweep_block<N> &s, const struct chunk &c, const struct decay *d)
{
    const struct gdn_inputs &in = s.a->in;
    float acc[4][N];
    tile_clear(acc);
    tile_product<TILE_ROWS, TILE_READY>(acc, s.stage, operand_of(gdn_keys(in, in.k, c, s.h), in.ldqk, c.n, NULL),
                                        operand_of(s.d.x, s.d.ld, 16 * N, NULL), in.dk);
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < N; y++)
            acc[x][y] *= d->end[tile_y() + 16 * x];
    if (s.a->d_o)
        tile_product<TILE_READY, TILE_READY>(acc, s.stage, operand_of(s.p, TILE_SQUARE_LD, TILE, NULL),
                                             operand_of(s.d_o, TILE_SQUARE_LD, 16 * N, NULL), c.n);
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < N; y++) {
            int i = tile_y() + 16 * x, j = tile_x() + 16 * y;
            s.b[j * TILE_SQUARE_LD + i] = i < c.n ? acc[x][y] : 0;
        }
    float *out = s.a->db ? s.a->db + (int64_t)s.h * in.T * s.a->E + s.at : NULL;
    gdn_apply_inverse<TILE_COLUMNS, N>(s.b, s.stage, in, c, s.h, out, s.a->E, s.d.count);
}

template <int N> static __device__ void sweep_next(const struct sweep_block<N> &s, const struct chunk &c, const struct decay *d)
{
    const struct gdn_inputs &in = s.a->in;
    for (int from = 0; from < in.dk; from += TILE) {
        int rows = in.dk - from < TILE ? in.dk - from : TILE;
        float acc[4][N];
        tile_clear(acc);
        tile_product<TILE_COLUMNS, TILE_READY>(acc, s.stage, operand_of(gdn_keys(in, in.k, c, s.h) + from, in.ldqk, rows, s.fk),
                                               operand_of(s.b, TILE_SQUARE_LD, 16 * N, NULL), c.n);
        if (s.a->d_o)
            tile_product<TILE_COLUMNS, TILE_READY>(acc, s.stage, operand_of(gdn_keys(in, in.q, c, s.h) + from, in.ldqk, rows, s.fq),
                                                   operand_of(s.d_o, TILE_SQUARE_LD, 16 * N, NULL), c.n);
        for (int x = 0; x < 4; x++)
            for (int y = 0; y < N; y++) {
                int k = from + tile_y() + 16 * x, j = tile_x() + 16 * y;
                if (k < in.dk)
                    s.d.x[j * s.d.ld + k] = d->whole * s.d.x[j * s.d.ld + k] + acc[x][y];
            }
    }
    __syncthreads();
}

/* Block (columns, head, segment). */
template <int N> static __global__ void __launch_bounds__(TILE_THREADS, 1) gdn_sweep(const __grid_constant__ struct ::gdn_sweep a)
{
    __shared__ struct decay d;
    __shared__ float factors[2][TILE];
    CUDA_SHARED(float, shared);
    struct sweep_block<N> s;
    int seg = gdn_segment_of_block(a.in, a.reach);
    s.a = &a, s.h = (int)blockIdx.y, s.at = (int)blockIdx.x * 16 * N, s.fk = factors[0], s.fq = factors[1];
    s.d.x = shared, s.d.ld = gdn_state_ld(a.in.dk), s.d.width = 16 * N, s.d.count = a.E - s.at < 16 * N ? a.E - s.at : 16 * N, s.d.dk = a.in.dk;
    s.d_o = s.d.x + 16 * N * s.d.ld, s.b = s.d_o + 16 * N * TILE_SQUARE_LD, s.p = s.b + 16 * N * TILE_SQUARE_LD, s.stage = s.p + TILE_SQUARE;
    int64_t chunks = gdn_chunks_in(a.in, seg), head = (int64_t)s.h * a.in.dk;
    bool first = a.in.cu[seg] == 0, last = a.reach != GDN_OPENING && a.in.cu[seg + 1] == a.in.T;
    if (chunks == 0 && a.reach == GDN_EVERY)
        return;
    columns_load(s.d, last && a.dh ? a.dh + head * a.E + s.at : NULL, a.E, a.E + 1);
    __syncthreads();
    for (int64_t j = chunks - 1; j >= 0; j--) {
        struct chunk c = gdn_chunk_of(a.in, seg, j);
        gdn_decay_load(&d, a.in, c, s.h);
        if (a.after)
            columns_store(s.d, a.after + gdn_kept(a.in, a.reach, seg, s.h, j) * a.in.dk * a.E + s.at, a.E);
        sweep_load(s, c, &d);
        if (a.d_o)
            gdn_scores(s.p, true, s.stage, a.in, c, s.h, &d);
        sweep_values(s, c, &d);
        sweep_next(s, c, &d);
    }
    if (a.out && first)
        columns_store(s.d, a.out + head * a.ldout + s.at, a.ldout);
}
} // namespace gpu

static inline void gdn_sweep_launch(struct cuda_call *c, const struct gdn_sweep *a)
{
    bool narrow = gdn_narrow(&a->in, a->E);
    int columns = narrow ? 32 : 64;
    size_t shared = sizeof(float) * (size_t)(columns * (gdn_state_ld(a->in.dk) + 2 * TILE_SQUARE_LD) + TILE_SQUARE + 2 * TILE_STAGE);
    dim3 grid((unsigned)((a->E + columns - 1) / columns), (unsigned)a->in.HV, (unsigned)(a->reach == GDN_EVERY ? a->in.nseg : 1));
    if (grid.x == 0 || grid.y == 0 || grid.z == 0)
        return;
    if (narrow)
        CUDA_LAUNCH_LARGE(gpu::gdn_sweep<2>, grid, TILE_THREADS, shared, c, *a);
    else
        CUDA_LAUNCH_LARGE(gpu::gdn_sweep<4>, grid, TILE_THREADS, shared, c, *a);
}
