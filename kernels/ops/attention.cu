/* attention.cu - forward with a running maximum and sum per query row (Milakov and Gimelshein 2018), the accumulator in registers.
 *
 *   block: 64 queries of a head    keys | 64 | 64 | ..    S = Q K^T -> P in shared memory -> acc = shrink acc + P V
 */
#include "kernels/ops/attention.cuh"
#include "kernels/ops/attention_body.h"

namespace gpu
{
struct attn_rows { /* of a thread: its 4 rows; the 16 threads of a row agree */
    float max[4], sum[4];
};

/* Scores -> weights relative to the new maxima, ready in `s`; the accumulator and the sums follow. */
template <int N>
static __device__ __forceinline__ void soften(struct attn_rows *r, float *s, const float (&score)[4][4], float (&acc)[4][N], float scale,
                                              const struct attn_piece &p, int64_t first, int64_t key, int keys)
{
    for (int x = 0; x < 4; x++) {
        int64_t query = first + tile_y() + 16 * x, seen = query < p.qlen ? attn_visible(&p, query) - key : 0;
        int n = seen < 0 ? 0 : attn_upto(seen, keys);
        float top = r->max[x], total = 0;
        for (int y = 0; y < 4; y++)
            if (tile_x() + 16 * y < n && scale * score[x][y] > top)
                top = scale * score[x][y];
        top = tile_row_max(top);
        float shrink = n > 0 ? exp_f(r->max[x] - top) : 1;
        for (int y = 0; y < 4; y++) {
            int j = tile_x() + 16 * y;
            float weight = j < n ? exp_f(scale * score[x][y] - top) : 0;
            s[(tile_y() + 16 * x) * TILE_SQUARE_LD + j] = weight;
            total += weight;
        }
        r->max[x] = top;
        r->sum[x] = r->sum[x] * shrink + (float)tile_row_sum(total);
        for (int y = 0; y < N; y++)
            acc[x][y] *= shrink;
    }
}

template <int N>
static __device__ __forceinline__ void attend(const struct attention_fwd_args &a, const struct attn_head &head, const struct attn_piece &p,
                                              int64_t first, float *s, float *stage)
{
    const struct attn_inputs &in = a.in;
    int rows = attn_upto(p.qlen - first, TILE), at = (int)blockIdx.z * 16 * N, columns = attn_upto(in.e - at, 16 * N);
    int64_t end = attn_visible(&p, first + rows - 1);
    struct attn_rows r;
    float acc[4][N];
    tile_clear(acc);
    for (int x = 0; x < 4; x++)
        r.max[x] = -INFINITY, r.sum[x] = 0;
    for (int64_t key = 0; key < end; key += TILE) {
        int keys = attn_upto(end - key, TILE);
        float score[4][4];
        tile_clear(score);
        tile_product<TILE_ROWS, TILE_ROWS>(score, stage, operand_of(attn_q(&head, p.q + first), in.ldq, rows, NULL),
                                           operand_of(attn_k(&head, p.k + key), in.ldk, keys, NULL), in.d);
        soften(&r, s, score, acc, in.scale, p, first, key, keys);
        tile_product<TILE_READY, TILE_COLUMNS>(acc, stage, operand_of(s, TILE_SQUARE_LD, TILE, NULL),
                                               operand_of(attn_v(&head, p.k + key) + at, in.ldv, columns, NULL), keys);
    }
    for (int x = 0; x < 4; x++) {
        int i = tile_y() + 16 * x;
        float scale = r.sum[x] > 0 ? 1 / r.sum[x] : 0;
        for (int y = 0; y < N; y++)
            if (i < rows && tile_x() + 16 * y < columns)
                a.o[(p.q + first + i) * a.ldo + head.h * in.e + at + tile_x() + 16 * y] = acc[x][y] * scale;
        if (i < rows && tile_x() == 0 && at == 0)
            a.lse[(p.q + first + i) * in.heads + head.h] = r.sum[x] > 0 ? r.max[x] + logf(r.sum[x]) : -INFINITY;
    }
}

/* Block (every gridDim.x-th tile of queries, head, slice of the columns of o). */
template <int N> static __global__ void __launch_bounds__(TILE_THREADS, 1) attention_fwd(const __grid_constant__ struct attention_fwd_args a)
{
    __shared__ __align__(16) float s[TILE_SQUARE], stage[TILE_STAGE + 16 * N * TILE_LD];
    struct attn_head head = {&a.in, blockIdx.y, blockIdx.y / (a.in.heads / a.in.kv_heads)};
    struct attn_walk w = attn_walk_begin();
    while (attn_walk_next(a.in, &w))
        attend<N>(a, head, a.in.pieces[w.piece], w.first, s, stage);
}
} // namespace gpu

static void cuda_attention_fwd(struct cuda_call *c, const void *args)
{
    const struct attention_fwd_args *a = (const struct attention_fwd_args *)args;
    dim3 grid(ATTN_GRID, (unsigned)a->in.heads, attn_slices(a->in.e));
    if (a->in.npieces <= 0 || grid.y == 0 || grid.z == 0)
        return;
    if (attn_narrow(a->in.e))
        CUDA_LAUNCH(gpu::attention_fwd<4>, grid, TILE_THREADS, 0, c, *a);
    else
        CUDA_LAUNCH(gpu::attention_fwd<ATTN_WIDE>, grid, TILE_THREADS, 0, c, *a);
}

CUDA_TABLE(attention) = {CUDA_ROW(attention_fwd), CUDA_ROW(attention_merge), {0}};
