/* gdn_state.cu - maps [S | M] put together, turned round and differentiated: a block a head and 64 x 64 elements. */
#include "kernels/ops/gdn_fold.cuh"
#include "kernels/ops/gdn_state_body.h"

namespace gpu
{
/* out = [M2 S1 + S2 | M2 M1]. Block (columns, rows, head). */
static __global__ void __launch_bounds__(TILE_THREADS, 1) gdn_map_compose(const __grid_constant__ struct gdn_map_compose_args a)
{
    __shared__ __align__(16) float stage[2 * TILE_STAGE];
    int E = a.dv + a.dk, at = (int)blockIdx.x * TILE, from = (int)blockIdx.y * TILE;
    int64_t head = (int64_t)blockIdx.z * a.dk * E;
    float acc[4][4];
    tile_clear(acc);
    tile_product<TILE_ROWS, TILE_COLUMNS>(acc, stage, operand_of(a.later + head + (int64_t)from * E + a.dv, E, a.dk - from, NULL),
                                          operand_of(a.earlier + head + at, E, E - at, NULL), a.dk);
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < 4; y++) {
            int i = from + tile_y() + 16 * x, j = at + tile_x() + 16 * y;
            if (i < a.dk && j < E)
                a.out[head + (int64_t)i * E + j] = acc[x][y] + (j < a.dv ? a.later[head + (int64_t)i * E + j] : 0);
        }
}

/* [dh | dh h^T] for `count` states; the i-th dh lies at the (count - 1 - i)-th place, as a walk from the end has left them. */
struct outer {
    const float *dh, *h; /* [count][HV][dk][dv] */
    float *out;          /* [count][HV][dk][dv+dk] */
    int HV, dk, dv, count;
    bool zero; /* the first h is zero, whatever lies there */
};

/* Block (columns of both parts, rows, state and head). */
static __global__ void __launch_bounds__(TILE_THREADS, 1) gdn_map_outer(const __grid_constant__ struct outer a)
{
    __shared__ __align__(16) float stage[2 * TILE_STAGE];
    int tiles = (a.dv + TILE - 1) / TILE, at = (int)blockIdx.x * TILE, from = (int)blockIdx.y * TILE, n = (int)blockIdx.z / a.HV;
    int64_t head = blockIdx.z % a.HV, state = (int64_t)a.dk * a.dv, E = a.dv + a.dk;
    const float *dh = a.dh + ((int64_t)(a.count - 1 - n) * a.HV + head) * state, *h = a.h + (int64_t)blockIdx.z * state;
    float *out = a.out + (int64_t)blockIdx.z * a.dk * E, acc[4][4];
    bool copy = (int)blockIdx.x < tiles;
    tile_clear(acc);
    at -= copy ? 0 : tiles * TILE;
    if (!copy && !(a.zero && n == 0))
        tile_product<TILE_ROWS, TILE_ROWS>(acc, stage, operand_of(dh + (int64_t)from * a.dv, a.dv, a.dk - from, NULL),
                                           operand_of(h + (int64_t)at * a.dv, a.dv, a.dk - at, NULL), a.dv);
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < 4; y++) {
            int i = from + tile_y() + 16 * x, j = at + tile_x() + 16 * y;
            if (i < a.dk && j < (copy ? a.dv : a.dk))
                out[i * E + (copy ? j : a.dv + j)] = copy ? dh[(int64_t)i * a.dv + j] : acc[x][y];
        }
}
} // namespace gpu

static unsigned tiles_of(int n)
{
    return (unsigned)((n + TILE - 1) / TILE);
}

static void cuda_gdn_map_compose(struct cuda_call *c, const void *args)
{
    const struct gdn_map_compose_args *a = (const struct gdn_map_compose_args *)args;
    if (a->HV > 0)
        CUDA_LAUNCH(gpu::gdn_map_compose, dim3(tiles_of(a->dv + a->dk), tiles_of(a->dk), (unsigned)a->HV), TILE_THREADS, 0, c, *a);
}

static void outer_launch(struct cuda_call *c, const struct gpu::outer *o)
{
    if (o->HV > 0 && o->count > 0)
        CUDA_LAUNCH(gpu::gdn_map_outer, dim3(tiles_of(o->dv) + tiles_of(o->dk), tiles_of(o->dk), (unsigned)(o->count * o->HV)), TILE_THREADS, 0, c,
                    *o);
}

static void cuda_gdn_map_outer(struct cuda_call *c, const void *args)
{
    const struct gdn_map_outer_args *a = (const struct gdn_map_outer_args *)args;
    struct gpu::outer o = {a->dh, a->h, a->out, a->HV, a->dk, a->dv, 1, a->h == NULL};
    outer_launch(c, &o);
}

/* The states before every block, then the gradients after every block, then their products. */
static void cuda_gdn_merge_grad(struct cuda_call *c, const void *args)
{
    const struct gdn_merge_grad_args *a = (const struct gdn_merge_grad_args *)args;
    int64_t states = (int64_t)a->count * a->HV * a->dk * a->dv;
    float *kept = a->count > 0 ? (float *)cuda_scratch(c, sizeof(float) * (size_t)(2 * states)) : NULL;
    if (!kept)
        return;
    struct gdn_fold f = {};
    f.all = a->all, f.kept = kept, f.HV = a->HV, f.dk = a->dk, f.dv = a->dv, f.first = a->first, f.count = a->count, f.step = 1;
    gdn_fold_launch(c, &f);
    f.x0 = a->dx, f.kept = kept + states, f.first = a->first + a->count - 1, f.step = -1, f.turned = true;
    gdn_fold_launch(c, &f);
    float *out = a->dall + (int64_t)a->first * a->HV * a->dk * (a->dv + a->dk);
    struct gpu::outer o = {kept + states, kept, out, a->HV, a->dk, a->dv, a->count, true};
    outer_launch(c, &o);
}

CUDA_TABLE(gdn_state) = {CUDA_ROW(gdn_map_compose), CUDA_ROW(gdn_map_turn), CUDA_ROW(gdn_map_outer), CUDA_ROW(gdn_merge_grad), {0}};
