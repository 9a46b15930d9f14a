/* gdn_scan.cuh - the scan of a state over the chunks of a segment. The columns of a state never meet: a block takes some columns
 * of one head's state and walks along one segment, the state in shared memory all the way.
 *
 *   for every chunk   b  = beta (v - exp(gam) K x)          [n][columns]
 *                     vn = T b
 *                     o  = scale exp(gam) Q x + P vn        where outputs are wanted
 *                     x  = exp(gam_n) x + (exp(gam_n - gam) K)^T vn
 *
 * Matrices lie turned in shared memory, a column of the state a row, as tile.cuh reads them.
 */
#pragma once
#include "kernels/ops/gdn.cuh"

struct gdn_scan {
    struct gdn_inputs in;
    int64_t ldo;
    const float *h_in; /* [HV][dk][E]; NULL: zero. The state before the first segment */
    float *h_out;      /* [HV][dk][E]: after the last segment; NULL: not wanted */
    float *o;          /* [T][HV][dv]; NULL: not wanted */
    float *states;     /* [HV][numbers or chunks of the segment][dk][E]: before every chunk; NULL: not wanted */
    float *values;     /* [HV][T][E]: vn; NULL: not wanted */
    int E;             /* columns of the state; those from dv on have no values v */
    enum gdn_reach reach;
    bool affine; /* starts from [0 | I] */
    bool given;  /* states are there: every chunk on its own, for its vn */
};

namespace gpu
{
template <int N> struct scan_block { /* what a block is about */
    const struct gdn_scan *a;
    struct columns x;
    float *b, *p, *stage; /* [16N][TILE_SQUARE_LD], [64][TILE_SQUARE_LD], 2 TILE_STAGE */
    int h, at, seg;
};

template <int N> static __device__ float *scan_state(const struct scan_block<N> &s, int64_t j)
{
    const struct gdn_scan &a = *s.a;
    return a.states + gdn_kept(a.in, a.reach, s.seg, s.h, j) * a.in.dk * a.E + s.at;
}

/* b = T beta (v - exp(gam) K x). */
template <int N> static __device__ void scan_values(const struct scan_block<N> &s, const struct chunk &c, const struct decay *d)
{
    const struct gdn_inputs &in = s.a->in;
    const float *v = in.v + c.start * in.ldv + (int64_t)s.h * in.dv + s.at;
    float acc[4][N];
    tile_clear(acc);
    tile_product<TILE_ROWS, TILE_READY>(acc, s.stage, operand_of(gdn_keys(in, in.k, c, s.h), in.ldqk, c.n, NULL),
                                        operand_of(s.x.x, s.x.ld, 16 * N, NULL), in.dk);
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < N; y++) {
            int i = tile_y() + 16 * x, j = tile_x() + 16 * y;
            float value = i < c.n && j < s.x.count && s.at + j < in.dv ? v[i * in.ldv + j] : 0;
            s.b[j * TILE_SQUARE_LD + i] = i < c.n ? d->beta[i] * (value - d->begin[i] * acc[x][y]) : 0;
        }
    float *out = s.a->values ? s.a->values + (int64_t)s.h * in.T * s.a->E + s.at : NULL;
    gdn_apply_inverse<TILE_ROWS, N>(s.b, s.stage, in, c, s.h, out, s.a->E, s.x.count);
}

template <int N> static __device__ void scan_output(const struct scan_block<N> &s, const struct chunk &c, const struct decay *d)
{
    const struct gdn_inputs &in = s.a->in;
    float *o = s.a->o + c.start * s.a->ldo + (int64_t)s.h * in.dv + s.at, acc[4][N];
    gdn_scores(s.p, false, s.stage, in, c, s.h, d);
    tile_clear(acc);
    tile_product<TILE_ROWS, TILE_READY>(acc, s.stage, operand_of(gdn_keys(in, in.q, c, s.h), in.ldqk, c.n, NULL),
                                        operand_of(s.x.x, s.x.ld, 16 * N, NULL), in.dk);
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < N; y++)
            acc[x][y] *= in.scale * d->begin[tile_y() + 16 * x];
    tile_product<TILE_READY, TILE_READY>(acc, s.stage, operand_of(s.p, TILE_SQUARE_LD, TILE, NULL), operand_of(s.b, TILE_SQUARE_LD, 16 * N, NULL),
                                         c.n);
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < N; y++) {
            int i = tile_y() + 16 * x, j = tile_x() + 16 * y;
            if (i < c.n && j < s.x.count)
                o[i * s.a->ldo + j] = acc[x][y];
        }
}

template <int N> static __device__ void scan_next(const struct scan_block<N> &s, const struct chunk &c, const struct decay *d)
{
    const struct gdn_inputs &in = s.a->in;
    for (int from = 0; from < in.dk; from += TILE) {
        float acc[4][N];
        tile_clear(acc);
        tile_product<TILE_COLUMNS, TILE_READY>(
            acc, s.stage, operand_of(gdn_keys(in, in.k, c, s.h) + from, in.ldqk, in.dk - from < TILE ? in.dk - from : TILE, d->end),
            operand_of(s.b, TILE_SQUARE_LD, 16 * N, NULL), c.n);
        for (int x = 0; x < 4; x++)
            for (int y = 0; y < N; y++) {
                int k = from + tile_y() + 16 * x, j = tile_x() + 16 * y;
                if (k < in.dk)
                    s.x.x[j * s.x.ld + k] = d->whole * s.x.x[j * s.x.ld + k] + acc[x][y];
            }
    }
    __syncthreads();
}

/* Block (columns, head, segment; the chunk where states are given). */
template <int N> static __global__ void __launch_bounds__(TILE_THREADS, 1) gdn_scan(const __grid_constant__ struct ::gdn_scan a)
{
    __shared__ struct decay d;
    CUDA_SHARED(float, shared);
    struct scan_block<N> s;
    s.a = &a, s.h = (int)blockIdx.y, s.at = (int)blockIdx.x * 16 * N, s.seg = gdn_segment_of_block(a.in, a.given ? GDN_CLOSING : a.reach);
    s.x.x = shared, s.x.ld = gdn_state_ld(a.in.dk), s.x.width = 16 * N, s.x.count = a.E - s.at < 16 * N ? a.E - s.at : 16 * N, s.x.dk = a.in.dk;
    s.b = s.x.x + 16 * N * s.x.ld, s.p = s.b + 16 * N * TILE_SQUARE_LD, s.stage = s.p + TILE_SQUARE;
    int64_t chunks = gdn_chunks_in(a.in, s.seg), j = a.given ? blockIdx.z : 0, end = a.given && j + 1 < chunks ? j + 1 : chunks;
    int64_t head = (int64_t)s.h * a.in.dk * a.E + s.at;
    bool first = a.reach == GDN_EVERY && a.in.cu[s.seg] == 0, last = a.in.cu[s.seg + 1] == a.in.T;
    if (a.given ? j >= end : chunks == 0 && a.reach == GDN_EVERY)
        return;
    columns_load(s.x, a.given ? scan_state(s, j) : first && a.h_in ? a.h_in + head : NULL, a.E, a.affine ? a.in.dv - s.at : a.E + 1);
    __syncthreads();
    for (; j < end; j++) {
        struct chunk c = gdn_chunk_of(a.in, s.seg, j);
        gdn_decay_load(&d, a.in, c, s.h);
        if (a.states && !a.given)
            columns_store(s.x, scan_state(s, j), a.E);
        scan_values(s, c, &d);
        if (a.o)
            scan_output(s, c, &d);
        if (!a.given)
            scan_next(s, c, &d);
    }
    if (a.h_out && last)
        columns_store(s.x, a.h_out + head, a.E);
}
} // namespace gpu

/* Enqueues a scan; `segments` of them are walked at once, or chunks where states are given. */
static inline void gdn_scan_launch(struct cuda_call *c, const struct gdn_scan *a)
{
    bool narrow = gdn_narrow(&a->in, a->E);
    int columns = narrow ? 32 : 64;
    int64_t depth = a->given ? a->in.T / a->in.C + 1 : a->reach == GDN_EVERY ? a->in.nseg : 1;
    size_t shared = sizeof(float) * (size_t)(columns * (gdn_state_ld(a->in.dk) + TILE_SQUARE_LD) + TILE_SQUARE + 2 * TILE_STAGE);
    dim3 grid((unsigned)((a->E + columns - 1) / columns), (unsigned)a->in.HV, (unsigned)depth);
    if (grid.x == 0 || grid.y == 0 || grid.z == 0)
        return;
    if (narrow)
        CUDA_LAUNCH_LARGE(gpu::gdn_scan<2>, grid, TILE_THREADS, shared, c, *a);
    else
        CUDA_LAUNCH_LARGE(gpu::gdn_scan<4>, grid, TILE_THREADS, shared, c, *a);
}
