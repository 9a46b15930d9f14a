/* attention_bwd.cu - backward of attention in two launches, so that every sum belongs to one block and all are repeatable.
 *
 *   attention_bwd_q    64 queries of a head, over their keys          dQ += scale dS K
 *   attention_bwd_kv   64 rows of k of a key head, over all pieces,   dV += P^T dO    dK += scale dS^T Q
 *                      query heads and queries that see them,
 *                      in that order
 *
 * with P = exp(S - lse), dS = P o (dO V^T - D), D = rowsum(dO o O). Both compute the scores again: 7 products, not 5.
 */
#include "kernels/ops/attention.cuh"

namespace gpu
{
/* D and lse of the queries first .. first + rows - 1 of a piece, in shared memory, four threads a query; the caller puts a barrier
 * behind it. */
struct query_rows {
    float lse[TILE], delta[TILE];
};

static __device__ __forceinline__ void query_rows_load(struct query_rows *r, const struct attention_bwd_args &a, int64_t h, int64_t row, int rows)
{
    int i = (int)threadIdx.x / 4;
    double sum = 0;
    if (i < rows) {
        const float *o = a.o + (row + i) * a.ldo + h * a.in.e, *d_o = a.d_o + (row + i) * a.lddo + h * a.in.e;
        for (int k = (int)threadIdx.x % 4; k < a.in.e; k += 4)
            sum += (double)o[k] * d_o[k];
    }
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    if (threadIdx.x % 4 == 0) {
        r->delta[i] = (float)sum;
        r->lse[i] = i < rows ? a.lse[(row + i) * a.in.heads + h] : 0;
    }
}

/* ---- queries ---- */

template <int N>
static __device__ __forceinline__ void back_queries(const struct attention_bwd_args &a, const struct attn_head &head, const struct attn_piece &p,
                                                    int64_t first, struct query_rows *r, float *s, float *stage)
{
    const struct attn_inputs &in = a.in;
    int rows = attn_upto(p.qlen - first, TILE), at = (int)blockIdx.z * 16 * N, columns = attn_upto(in.d - at, 16 * N);
    int64_t end = attn_visible(&p, first + rows - 1);
    float acc[4][N];
    tile_clear(acc);
    __syncthreads();
    query_rows_load(r, a, head.h, p.q + first, rows);
    for (int64_t key = 0; key < end; key += TILE) {
        int keys = attn_upto(end - key, TILE);
        float score[4][4], dp[4][4];
        tile_clear(score), tile_clear(dp);
        tile_product<TILE_ROWS, TILE_ROWS>(score, stage, operand_of(attn_q(&head, p.q + first), in.ldq, rows, NULL),
                                           operand_of(attn_k(&head, p.k + key), in.ldk, keys, NULL), in.d);
        tile_product<TILE_ROWS, TILE_ROWS>(dp, stage, operand_of(a.d_o + (p.q + first) * a.lddo + head.h * in.e, a.lddo, rows, NULL),
                                           operand_of(attn_v(&head, p.k + key), in.ldv, keys, NULL), in.e);
        for (int x = 0; x < 4; x++)
            for (int y = 0; y < 4; y++) {
                int i = tile_y() + 16 * x, j = tile_x() + 16 * y;
                bool seen = i < rows && key + j < attn_visible(&p, first + i);
                s[i * TILE_SQUARE_LD + j] = seen ? exp_f(in.scale * score[x][y] - r->lse[i]) * (dp[x][y] - r->delta[i]) : 0;
            }
        tile_product<TILE_READY, TILE_COLUMNS>(acc, stage, operand_of(s, TILE_SQUARE_LD, TILE, NULL),
                                               operand_of(attn_k(&head, p.k + key) + at, in.ldk, columns, NULL), keys);
    }
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < N; y++) {
            int i = tile_y() + 16 * x, col = tile_x() + 16 * y;
            if (i < rows && col < columns)
                a.dq[(p.q + first + i) * a.lddq + head.h * in.d + at + col] += in.scale * acc[x][y];
        }
}

/* Block (every gridDim.x-th tile of queries, head, slice of the columns of dq). */
template <int N> static __global__ void __launch_bounds__(TILE_THREADS, 1) attention_bwd_q(const __grid_constant__ struct attention_bwd_args a)
{
    __shared__ __align__(16) float s[TILE_SQUARE], stage[TILE_STAGE + 16 * N * TILE_LD];
    __shared__ struct query_rows r;
    struct attn_head head = {&a.in, blockIdx.y, blockIdx.y / (a.in.heads / a.in.kv_heads)};
    struct attn_walk w = attn_walk_begin();
    while (attn_walk_next(a.in, &w))
        back_queries<N>(a, head, a.in.pieces[w.piece], w.first, &r, s, stage);
}

/* ---- keys ---- */

struct key_tile { /* rows row .. row + 63 of k and v */
    int64_t row;
    int count;    /* that exist */
    int at, e, d; /* the slice's first column; how many columns of dv and of dk it has */
};

/* What the queries first .. first + rows - 1 of a piece give to a tile of keys. Scores are turned: [key][query]. */
template <int N>
static __device__ __forceinline__ void back_keys(const struct attention_bwd_args &a, const struct attn_head &head, const struct attn_piece &p,
                                                 const struct key_tile &t, int64_t first, struct query_rows *r, float *s, float *stage,
                                                 float (&dk)[4][N], float (&dv)[4][N])
{
    const struct attn_inputs &in = a.in;
    int rows = attn_upto(p.qlen - first, TILE);
    const float *d_o = a.d_o + (p.q + first) * a.lddo + head.h * in.e;
    float weight[4][4], ds[4][4];
    tile_clear(weight), tile_clear(ds);
    __syncthreads();
    query_rows_load(r, a, head.h, p.q + first, rows);
    tile_product<TILE_ROWS, TILE_ROWS>(weight, stage, operand_of(attn_k(&head, t.row), in.ldk, t.count, NULL),
                                       operand_of(attn_q(&head, p.q + first), in.ldq, rows, NULL), in.d);
    tile_product<TILE_ROWS, TILE_ROWS>(ds, stage, operand_of(attn_v(&head, t.row), in.ldv, t.count, NULL), operand_of(d_o, a.lddo, rows, NULL), in.e);
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < 4; y++) {
            int i = tile_y() + 16 * x, j = tile_x() + 16 * y;
            int64_t key = t.row + i - p.k;
            bool seen = j < rows && key >= 0 && key < attn_visible(&p, first + j);
            float w = seen ? exp_f(in.scale * weight[x][y] - r->lse[j]) : 0;
            s[i * TILE_SQUARE_LD + j] = w;
            s[TILE_SQUARE + i * TILE_SQUARE_LD + j] = seen ? w * (ds[x][y] - r->delta[j]) : 0;
        }
    tile_product<TILE_READY, TILE_COLUMNS>(dv, stage, operand_of(s, TILE_SQUARE_LD, TILE, NULL), operand_of(d_o + t.at, a.lddo, t.e, NULL), rows);
    tile_product<TILE_READY, TILE_COLUMNS>(dk, stage, operand_of(s + TILE_SQUARE, TILE_SQUARE_LD, TILE, NULL),
                                           operand_of(attn_q(&head, p.q + first) + t.at, in.ldq, t.d, NULL), rows);
}

/* The first query of a piece that sees row `row` of k, or a later one. */
static __device__ __forceinline__ int64_t first_seeing(const struct attn_piece &p, int64_t row)
{
    int64_t key = row > p.k ? row - p.k : 0, query = p.causal ? key - (p.klen - p.qlen) : 0;
    return query < 0 ? 0 : query;
}

template <int N>
static __device__ __forceinline__ void back_key_tile(const struct attention_bwd_args &a, const struct key_tile &t, struct query_rows *r, float *s,
                                                     float *stage)
{
    const struct attn_inputs &in = a.in;
    int64_t group = in.heads / in.kv_heads, kv = blockIdx.y;
    float dk[4][N], dv[4][N];
    tile_clear(dk), tile_clear(dv);
    for (int64_t i = 0; i < in.npieces; i++) {
        const struct attn_piece &p = in.pieces[i];
        if (p.k >= t.row + t.count || p.k + p.klen <= t.row)
            continue;
        for (int64_t h = kv * group; h < (kv + 1) * group; h++) {
            struct attn_head head = {&in, h, kv};
            for (int64_t first = first_seeing(p, t.row) / TILE * TILE; first < p.qlen; first += TILE)
                back_keys<N>(a, head, p, t, first, r, s, stage, dk, dv);
        }
    }
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < N; y++) {
            int64_t row = t.row + tile_y() + 16 * x;
            int col = tile_x() + 16 * y;
            if (row >= t.row + t.count)
                continue;
            if (col < t.e)
                a.dv[row * a.lddv + kv * in.e + t.at + col] += dv[x][y];
            if (col < t.d)
                a.dk[row * a.lddk + kv * in.d + t.at + col] += in.scale * dk[x][y];
        }
}

/* Block (every gridDim.x-th tile of keys, key head, slice of the columns of dk and dv). */
template <int N> static __global__ void __launch_bounds__(TILE_THREADS, 1) attention_bwd_kv(const __grid_constant__ struct attention_bwd_args a)
{
    CUDA_SHARED(float, s);
    __shared__ struct query_rows r;
    float *stage = s + 2 * TILE_SQUARE;
    int64_t keys = 0;
    for (int64_t i = 0; i < a.in.npieces; i++)
        keys = a.in.pieces[i].klen > 0 && a.in.pieces[i].k + a.in.pieces[i].klen > keys ? a.in.pieces[i].k + a.in.pieces[i].klen : keys;
    for (int64_t row = blockIdx.x * (int64_t)TILE; row < keys; row += (int64_t)gridDim.x * TILE) {
        int at = (int)blockIdx.z * 16 * N;
        struct key_tile t = {row, attn_upto(keys - row, TILE), at, attn_upto(a.in.e - at, 16 * N), attn_upto(a.in.d - at, 16 * N)};
        back_key_tile<N>(a, t, &r, s, stage);
    }
}
} // namespace gpu

static void cuda_attention_bwd(struct cuda_call *c, const void *args)
{
    const struct attention_bwd_args *a = (const struct attention_bwd_args *)args;
    const struct attn_inputs *in = &a->in;
    int most = in->d > in->e ? in->d : in->e;
    dim3 queries(ATTN_GRID, (unsigned)in->heads, attn_slices(in->d)), keys(ATTN_GRID, (unsigned)in->kv_heads, attn_slices(most));
    if (in->npieces <= 0 || in->heads <= 0 || in->kv_heads <= 0)
        return;
    if (attn_narrow(in->d))
        CUDA_LAUNCH(gpu::attention_bwd_q<4>, queries, TILE_THREADS, 0, c, *a);
    else
        CUDA_LAUNCH(gpu::attention_bwd_q<ATTN_WIDE>, queries, TILE_THREADS, 0, c, *a);
    size_t shared = sizeof(float) * (2 * TILE_SQUARE + TILE_STAGE + 16 * ATTN_WIDE * TILE_LD);
    if (attn_narrow(most))
        CUDA_LAUNCH_LARGE(gpu::attention_bwd_kv<4>, keys, TILE_THREADS, shared, c, *a);
    else
        CUDA_LAUNCH_LARGE(gpu::attention_bwd_kv<ATTN_WIDE>, keys, TILE_THREADS, shared, c, *a);
}

CUDA_TABLE(attention_bwd) = {CUDA_ROW(attention_bwd), {0}};
