/* attention.cuh - what both directions share on a GPU: tiles of 64 queries found by walking the pieces, and columns of results.
 *
 * The host does not know how long the pieces are. The tiles of all pieces are counted through; block x takes every
 * gridDim.x-th of them.
 *
 *   piece      0: 100 queries    1: 30    2: 64      block 0: tiles 0, 2    block 1: tiles 1, 3    (gridDim.x = 2)
 *   tiles      0, 1              2        3
 */
#pragma once
#include "kernels/ops/attention_block.h"
#include "kernels/ops/tile.cuh"

enum { ATTN_GRID = 128, ATTN_WIDE = 8 }; /* blocks that share the tiles of a head; tiles are 16 ATTN_WIDE columns wide at most */

namespace gpu
{
struct attn_walk {
    int64_t piece, before, tile; /* tiles before the piece; the tile to find */
    int64_t first;               /* its first query in the piece */
};

static inline __device__ struct attn_walk attn_walk_begin(void)
{
    struct attn_walk w = {0, 0, blockIdx.x, 0};
    return w;
}

/* Finds the block's next tile. */
static inline __device__ bool attn_walk_next(const struct attn_inputs &in, struct attn_walk *w)
{
    for (; w->piece < in.npieces; w->piece++) {
        int64_t tiles = (in.pieces[w->piece].qlen + TILE - 1) / TILE;
        if (w->tile < w->before + tiles)
            break;
        w->before += tiles;
    }
    if (w->piece >= in.npieces)
        return false;
    w->first = (w->tile - w->before) * TILE;
    w->tile += gridDim.x;
    return true;
}

static inline __device__ int attn_upto(int64_t left, int most)
{
    return left < most ? (int)left : most;
}

/* The largest of the 16 threads of a tile's row, on all of them. */
static inline __device__ float tile_row_max(float x)
{
    for (int other = 8; other > 0; other /= 2) {
        float y = __shfl_xor_sync(0xffffffffu, x, other);
        x = y > x ? y : x;
    }
    return x;
}
} // namespace gpu

/* Columns of results that a block makes: 64 where that is enough, else 128; more are other blocks'. */
static inline bool attn_narrow(int columns)
{
    return columns <= 64;
}

static inline unsigned attn_slices(int columns)
{
    return (unsigned)((columns + 16 * ATTN_WIDE - 1) / (16 * ATTN_WIDE));
}
