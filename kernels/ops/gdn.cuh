/* gdn.cuh - what the passes of the gated delta rule share on a GPU: where a block finds its chunk, and its decays.
 *
 * Chunks are numbered so that a block finds its own without a list: chunk j of segment i is number cu[i] / C + i + j. No two
 * have the same number, some numbers have no chunk, and all are below T / C + nseg (a segment of n tokens has at most one
 * chunk more than n / C, and the next segment's first number is at least n / C + 1 further).
 *
 *   segment       0: 70 tokens    1: 10    2: none   3: 128      C = 64
 *   numbers       0, 1            2        3 (-)     4, 5
 */
#pragma once
#include "kernels/ops/gdn.h"
#include "kernels/ops/hot.h"
#include "kernels/ops/segment.cuh"
#include "kernels/ops/tile.cuh"

enum { GDN_CHUNK_MAX = TILE, GDN_KEYS_MAX = 512 };

/* Which segments a launch walks: all, or one of them. */
enum gdn_reach { GDN_EVERY, GDN_OPENING, GDN_CLOSING };

namespace gpu
{
static __device__ __forceinline__ int64_t gdn_number(const struct gdn_inputs &in, int seg)
{
    return in.cu[seg] / in.C + seg;
}

struct chunk {
    int64_t start;
    int n; /* tokens; 0: no such chunk */
};

/* Chunk j of a segment. */
static inline __device__ struct chunk gdn_chunk_of(const struct gdn_inputs &in, int seg, int64_t j)
{
    int64_t start = in.cu[seg] + j * in.C, left = in.cu[seg + 1] - start;
    struct chunk c = {start, left <= 0 ? 0 : left < in.C ? (int)left : in.C};
    return c;
}

/* The segment that a number belongs to, should it have a chunk. */
static inline __device__ int gdn_segment_numbered(const struct gdn_inputs &in, int64_t number)
{
    int low = 0, high = in.nseg;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (gdn_number(in, middle) <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static __device__ __forceinline__ int64_t gdn_chunks_in(const struct gdn_inputs &in, int seg)
{
    return (in.cu[seg + 1] - in.cu[seg] + in.C - 1) / in.C;
}

static __device__ __forceinline__ int gdn_segment_of_block(const struct gdn_inputs &in, enum gdn_reach reach)
{
    return reach == GDN_EVERY ? (int)blockIdx.z : segment_of(in.cu, in.nseg, reach == GDN_OPENING ? 0 : in.T - 1);
}

/* Place of head h, chunk j in what is kept by chunk: [HV][numbers], or [HV][chunks of the segment] of one segment alone. */
static __device__ __forceinline__ int64_t gdn_kept(const struct gdn_inputs &in, enum gdn_reach reach, int seg, int h, int64_t j)
{
    return reach == GDN_EVERY ? h * (in.T / in.C + in.nseg) + gdn_number(in, seg) + j : h * gdn_chunks_in(in, seg) + j;
}

/* Decays of one value head over one chunk, in shared memory; zero from the chunk's end on. */
struct decay {
    double gam[TILE];                                  /* running sum of g; differences must stay exact */
    float g[TILE], beta[TILE], begin[TILE], end[TILE]; /* exp(gam_i), exp(gam_n - gam_i) */
    float whole;                                       /* exp(gam_n) */
};

/* By the whole block; ends with a barrier. */
static inline __device__ void gdn_decay_load(struct decay *d, const struct gdn_inputs &in, const struct chunk &c, int h)
{
    int i = (int)threadIdx.x;
    if (i < TILE) {
        int64_t at = (c.start + i) * in.HV + h;
        d->g[i] = i < c.n ? in.g[at] : 0;
        d->beta[i] = i < c.n ? in.beta[at] : 0;
    }
    __syncthreads();
    if (i < TILE) {
        double sum = 0;
        for (int j = 0; j <= i && j < c.n; j++)
            sum += d->g[j];
        d->gam[i] = sum;
    }
    __syncthreads();
    if (i < TILE) {
        d->begin[i] = i < c.n ? exp_f((float)d->gam[i]) : 0;
        d->end[i] = i < c.n ? exp_f((float)(d->gam[c.n - 1] - d->gam[i])) : 0;
    }
    if (i == 0)
        d->whole = exp_f((float)d->gam[c.n - 1]);
    __syncthreads();
}

/* exp(gam_i - gam_j). */
static __device__ __forceinline__ float gdn_between(const struct decay *d, int i, int j)
{
    return exp_f((float)(d->gam[i] - d->gam[j]));
}

/* A block's columns of a state in shared memory, turned: x[column][key], rows `ld` apart, zero outside of the state. */
struct columns {
    float *x;
    int ld, width, count, dk; /* columns that there is room for; that exist; keys */
};

/* from, to: [dk][...], rows `ldm` apart, at the first of the columns. from NULL: zero, but 1 where column - diagonal == key. */
static inline __device__ void columns_load(const struct columns &s, const float *from, int64_t ldm, int diagonal)
{
    for (int i = (int)threadIdx.x; i < s.width * s.ld; i += TILE_THREADS) {
        int c = i % s.width, k = i / s.width;
        float start = c - diagonal == k ? 1 : 0;
        s.x[c * s.ld + k] = k < s.dk && c < s.count ? (from ? from[k * ldm + c] : start) : 0;
    }
}

static inline __device__ void columns_store(const struct columns &s, float *to, int64_t ldm)
{
    for (int i = (int)threadIdx.x; i < s.width * s.dk; i += TILE_THREADS) {
        int c = i % s.width, k = i / s.width;
        if (c < s.count)
            to[k * ldm + c] = s.x[c * s.ld + k];
    }
}

/* Rows of a chunk as operands: n rows of dk columns from `at` on. */
static __device__ __forceinline__ const float *gdn_keys(const struct gdn_inputs &in, const float *x, const struct chunk &c, int h)
{
    return x + c.start * in.ldqk + (int64_t)(h / (in.HV / in.HK)) * in.dk;
}

static __device__ __forceinline__ float *gdn_inverse(const struct gdn_inputs &in, const struct chunk &c, int h)
{
    return in.tm + ((int64_t)h * in.T + c.start) * in.C;
}

/* b = T b, by KIND TILE_COLUMNS T^T b: `count` columns of up to 16 N, turned as tile.cuh reads them, zero from token n on. They also
 * go to `out` [T][ld], from the block's first column on; NULL: not wanted. */
template <int KIND, int N>
static __device__ __forceinline__ void gdn_apply_inverse(float *b, float *stage, const struct gdn_inputs &in, const struct chunk &c, int h, float *out,
                                                         int64_t ld, int count)
{
    float acc[4][N];
    tile_clear(acc);
    tile_product<KIND, TILE_READY>(acc, stage, operand_of(gdn_inverse(in, c, h), in.C, c.n, NULL), operand_of(b, TILE_SQUARE_LD, 16 * N, NULL), c.n);
    __syncthreads();
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < N; y++) {
            int i = tile_y() + 16 * x, j = tile_x() + 16 * y;
            b[j * TILE_SQUARE_LD + i] = i < c.n ? acc[x][y] : 0;
            if (out && i < c.n && j < count)
                out[(c.start + i) * ld + j] = acc[x][y];
        }
}

/* p[i][j] = scale q_i . k_j exp(gam_i - gam_j) for j <= i < n, else 0, as a ready matrix; turned: p[j][i]. */
static inline __device__ void gdn_scores(float *p, bool turned, float *stage, const struct gdn_inputs &in, const struct chunk &c, int h,
                                         const struct decay *d)
{
    float acc[4][4];
    tile_clear(acc);
    tile_product<TILE_ROWS, TILE_ROWS>(acc, stage, operand_of(gdn_keys(in, in.q, c, h), in.ldqk, c.n, NULL),
                                       operand_of(gdn_keys(in, in.k, c, h), in.ldqk, c.n, NULL), in.dk);
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < 4; y++) {
            int i = tile_y() + 16 * x, j = tile_x() + 16 * y;
            float value = j <= i && i < c.n ? in.scale * acc[x][y] * gdn_between(d, i, j) : 0;
            p[turned ? j * TILE_SQUARE_LD + i : i * TILE_SQUARE_LD + j] = value;
        }
}
} // namespace gpu

/* The rows of a state's columns in shared memory: a multiple of 4 floats, 4 more than one of 32 where dk is one. */
static __host__ __device__ __forceinline__ int gdn_state_ld(int dk)
{
    return (dk + 3) / 4 * 4 + 4;
}

static inline int64_t gdn_numbers(const struct gdn_inputs *in)
{
    return in->T / in->C + in->nseg;
}

/* Can the kernels do these sizes? Else c->error says why. */
static inline bool gdn_fits(struct cuda_call *c, const struct gdn_inputs *in)
{
    if (in->C > GDN_CHUNK_MAX)
        c->error = "chunks of the gated delta rule are at most 64 tokens on cuda";
    else if (in->dk > GDN_KEYS_MAX)
        c->error = "key heads of the gated delta rule are at most 512 wide on cuda";
    return in->C <= GDN_CHUNK_MAX && in->dk <= GDN_KEYS_MAX;
}

/* Columns of a state that a block takes: 64, or 32 when that fills the device better or the state is tall. A column's sums are
 * the same either way. */
static inline bool gdn_narrow(const struct gdn_inputs *in, int columns)
{
    enum { PROCESSORS = 132 };
    return in->dk > 256 || (int64_t)((columns + 63) / 64) * in->HV < PROCESSORS;
}
