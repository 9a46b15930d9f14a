/* conv1d.cu - a thread a channel, walking along a run of tokens.
 *
 * Backward, tokens t0 .. t0 + RUN - 1: the gradients dc of those tokens and of the W - 1 after them (their taps reach back
 * into the run) are computed once into a column of shared memory that only this thread uses; dx gathers from it, in the
 * order in which the cpu's loop scatters. Sums of dw: in single precision over a run, in double over a block's runs, a part
 * a block over all.
 */
#include "kernels/ops/conv1d_body.h"
#include "kernels/ops/reduce.cuh"
#include "kernels/ops/segment.cuh"

enum { CHANNELS = 128, RUN = 32, FWD_TOKENS = 64, BWD_PARTS = 64 };

namespace gpu
{
/* A token's place: its segment, and how many rows of the halo lie before that. */
struct place {
    const int64_t *cu;
    int nseg, seg, halo_rows;
};

static __device__ struct place find(const int64_t *cu, int nseg, int halo_rows, int64_t t)
{
    struct place p = {cu, nseg, segment_of(cu, nseg, t), halo_rows};
    return p;
}

/* On to token t, not before the last one. */
static __device__ __forceinline__ void advance(struct place *p, int64_t t)
{
    while (t >= p->cu[p->seg + 1])
        p->seg++;
}

static __device__ __forceinline__ int rows_before(const struct place *p)
{
    return p->cu[p->seg] == 0 ? p->halo_rows : 0;
}

static __device__ __forceinline__ int first_tap(const struct place *p, int64_t t, int W)
{
    return conv1d_first_tap(t - p->cu[p->seg], rows_before(p), W);
}

/* c_t of one channel; A: the arguments of either direction. */
template <typename A> static __device__ float convolve(const A &a, const struct place *p, int64_t t, int ch)
{
    const float *w = a.w + (int64_t)ch * a.W;
    float c = 0;
    for (int j = first_tap(p, t, a.W); j < a.W; j++)
        c += w[j] * conv1d_row(a.x, a.ldx, a.halo, a.W, a.D, p->cu[p->seg], t - (a.W - 1) + j)[ch];
    return c;
}

static __global__ void conv1d_fwd(const __grid_constant__ struct conv1d_fwd_args a)
{
    int ch = (int)(blockIdx.x * CHANNELS + threadIdx.x);
    int64_t from = blockIdx.y * (int64_t)FWD_TOKENS, to = from + FWD_TOKENS < a.T ? from + FWD_TOKENS : a.T;
    struct place p = find(a.cu, a.nseg, a.halo ? a.halo_valid : 0, from);
    for (int64_t t = from; t < to && ch < a.D; t++) {
        advance(&p, t);
        float c = convolve(a, &p, t, ch);
        a.y[t * a.ldy + ch] = c * sigmoid_f(c);
    }
}

/* dc of tokens from .. to - 1, token t at dc[(t - from) * CHANNELS]. */
static __device__ void gradients(const struct conv1d_bwd_args &a, struct place p, int64_t from, int64_t to, int ch, float *dc)
{
    for (int64_t t = from; t < to; t++) {
        advance(&p, t);
        dc[(t - from) * CHANNELS] = a.dy[t * a.lddy + ch] * conv1d_slope(convolve(a, &p, t, ch));
    }
}

static __device__ void gather_dx(const struct conv1d_bwd_args &a, struct place p, int64_t from, int64_t to, int ch, const float *dc)
{
    const float *w = a.w + (int64_t)ch * a.W;
    for (int64_t s = from; s < to; s++) {
        advance(&p, s);
        int64_t end = s + a.W < p.cu[p.seg + 1] ? s + a.W : p.cu[p.seg + 1];
        float sum = 0;
        for (int64_t t = s; t < end; t++)
            sum += w[a.W - 1 - (t - s)] * dc[(t - from) * CHANNELS];
        a.dx[s * a.lddx + ch] = sum;
    }
}

static __device__ void add_dw(const struct conv1d_bwd_args &a, const struct place &start, int64_t from, int64_t to, int ch, const float *dc,
                              double *part)
{
    for (int j = 0; j < a.W; j++) {
        struct place p = start;
        float sum = 0;
        for (int64_t t = from; t < to; t++) {
            advance(&p, t);
            if (j >= first_tap(&p, t, a.W))
                sum += dc[(t - from) * CHANNELS] * conv1d_row(a.x, a.ldx, a.halo, a.W, a.D, p.cu[p.seg], t - (a.W - 1) + j)[ch];
        }
        part[j] += sum;
    }
}

/* What the halo's rows get of the first segment's first tokens; row r is met by tap r - t of token t. */
static __device__ void halo_gradient(const struct conv1d_bwd_args &a, const struct place &p, int ch, const float *dc)
{
    const float *w = a.w + (int64_t)ch * a.W;
    int64_t end = a.T > 0 ? p.cu[p.seg + 1] : 0;
    for (int r = 0; r < a.W - 1; r++) {
        float sum = 0;
        for (int t = 0; r >= a.W - 1 - p.halo_rows && t <= r && t < end; t++)
            sum += w[r - t] * dc[t * CHANNELS];
        a.d_halo[(int64_t)r * a.D + ch] = sum;
    }
}

static __global__ void conv1d_bwd(const __grid_constant__ struct conv1d_bwd_args a, double *parts, int64_t tokens)
{
    __shared__ float columns[RUN + CONV1D_WIDTH_MAX][CHANNELS];
    float *dc = &columns[0][threadIdx.x];
    int ch = (int)(blockIdx.x * CHANNELS + threadIdx.x);
    if (ch >= a.D)
        return;
    int64_t from = blockIdx.y * tokens, to = from + tokens < a.T ? from + tokens : a.T;
    double *part = parts + ((int64_t)blockIdx.y * a.D + ch) * a.W;
    for (int j = 0; j < a.W; j++)
        part[j] = 0;
    for (int64_t t = from; t < to || (t == 0 && blockIdx.y == 0); t += RUN) {
        int64_t end = t + RUN < to ? t + RUN : to, reach = end + a.W - 1 < a.T ? end + a.W - 1 : a.T;
        struct place p = find(a.cu, a.nseg, a.halo ? a.halo_valid : 0, t);
        gradients(a, p, t, reach, ch, dc);
        gather_dx(a, p, t, end, ch, dc);
        add_dw(a, p, t, end, ch, dc, part);
        if (t == 0 && a.d_halo)
            halo_gradient(a, p, ch, dc);
    }
}
} // namespace gpu

static void cuda_conv1d_fwd(struct cuda_call *c, const void *args)
{
    const struct conv1d_fwd_args *a = (const struct conv1d_fwd_args *)args;
    dim3 grid((unsigned)((a->D + CHANNELS - 1) / CHANNELS), (unsigned)((a->T + FWD_TOKENS - 1) / FWD_TOKENS));
    if (a->T > 0 && a->D > 0)
        CUDA_LAUNCH(gpu::conv1d_fwd, grid, CHANNELS, 0, c, *a);
}

static void cuda_conv1d_bwd(struct cuda_call *c, const void *args)
{
    const struct conv1d_bwd_args *a = (const struct conv1d_bwd_args *)args;
    int64_t each = (a->T + BWD_PARTS - 1) / BWD_PARTS, tokens = (each + RUN - 1) / RUN * RUN;
    int64_t count = a->T > 0 ? (a->T + tokens - 1) / tokens : 1;
    double *parts = (double *)cuda_scratch(c, sizeof *parts * (size_t)(count * a->D * a->W));
    if (!parts || a->D <= 0)
        return;
    CUDA_LAUNCH(gpu::conv1d_bwd, dim3((unsigned)((a->D + CHANNELS - 1) / CHANNELS), (unsigned)count), CHANNELS, 0, c, *a, parts, tokens);
    cuda_add_parts(c, a->dw, parts, (int64_t)a->D * a->W, count);
}

CUDA_TABLE(conv1d) = {CUDA_ROW(conv1d_fwd), CUDA_ROW(conv1d_bwd), {0}};
