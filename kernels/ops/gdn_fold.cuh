/* gdn_fold.cuh - maps applied to a state one after the other: x <- M_j x + S_j, or (turned) x <- M_j^T x. A block takes 32 columns
 * of one head's state. */
#pragma once
#include "kernels/ops/gdn.cuh"

struct gdn_fold {
    const float *all; /* [blocks][HV][dk][dv+dk] */
    const float *x0;  /* [HV][dk][dv]; NULL: zero */
    float *x;         /* the result; NULL: not wanted. May be x0 */
    float *kept;      /* [count][HV][dk][dv]: x before every map; NULL: not wanted */
    int HV, dk, dv, first, count, step;
    bool turned;
};

enum { FOLD_COLUMNS = 32 };

namespace gpu
{
static inline __device__ void fold_one(const struct gdn_fold &a, float *stage, const float *map, const struct columns &x, const struct columns &y,
                                       int at, bool zero)
{
    int E = a.dv + a.dk;
    for (int from = 0; from < a.dk; from += TILE) {
        int rows = a.dk - from < TILE ? a.dk - from : TILE;
        float acc[4][2];
        struct operand state = operand_of(x.x, x.ld, FOLD_COLUMNS, NULL);
        tile_clear(acc);
        if (!zero && a.turned)
            tile_product<TILE_COLUMNS, TILE_READY>(acc, stage, operand_of(map + a.dv + from, E, rows, NULL), state, a.dk);
        else if (!zero)
            tile_product<TILE_ROWS, TILE_READY>(acc, stage, operand_of(map + (int64_t)from * E + a.dv, E, rows, NULL), state, a.dk);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 2; j++) {
                int k = from + tile_y() + 16 * i, c = tile_x() + 16 * j;
                if (k < a.dk && c < x.count)
                    y.x[c * y.ld + k] = acc[i][j] + (a.turned ? 0 : map[(int64_t)k * E + at + c]);
            }
    }
    __syncthreads();
}

/* Block (columns, head). */
static __global__ void __launch_bounds__(TILE_THREADS, 1) gdn_fold(const __grid_constant__ struct ::gdn_fold a)
{
    CUDA_SHARED(float, shared);
    int h = (int)blockIdx.y, at = (int)blockIdx.x * FOLD_COLUMNS, ld = gdn_state_ld(a.dk);
    struct columns x = {shared, ld, FOLD_COLUMNS, a.dv - at < FOLD_COLUMNS ? a.dv - at : (int)FOLD_COLUMNS, a.dk}, y = x;
    y.x += FOLD_COLUMNS * ld;
    float *stage = y.x + FOLD_COLUMNS * ld;
    int64_t state = (int64_t)a.dk * a.dv, head = h * state + at;
    columns_load(x, a.x0 ? a.x0 + head : NULL, a.dv, a.dv + 1);
    columns_load(y, NULL, a.dv, a.dv + 1);
    __syncthreads();
    for (int i = 0; i < a.count; i++) {
        const float *map = a.all + ((int64_t)(a.first + i * a.step) * a.HV + h) * a.dk * (a.dv + a.dk);
        if (a.kept)
            columns_store(x, a.kept + i * a.HV * state + head, a.dv);
        fold_one(a, stage, map, x, y, at, i == 0 && !a.x0);
        struct columns swap = x;
        x = y, y = swap;
    }
    if (a.x)
        columns_store(x, a.x + head, a.dv);
}
} // namespace gpu

static inline void gdn_fold_launch(struct cuda_call *c, const struct gdn_fold *a)
{
    size_t shared = sizeof(float) * (size_t)(2 * FOLD_COLUMNS * gdn_state_ld(a->dk) + 2 * TILE_STAGE);
    if (a->dk > GDN_KEYS_MAX)
        c->error = "key heads of the gated delta rule are at most 512 wide on cuda";
    else if (a->HV > 0 && a->dv > 0)
        CUDA_LAUNCH_LARGE(gpu::gdn_fold, dim3((unsigned)((a->dv + FOLD_COLUMNS - 1) / FOLD_COLUMNS), (unsigned)a->HV), TILE_THREADS, shared, c, *a);
}
