/* attention_block.h - what the two directions of attention share: how a piece is walked in blocks.
 *
 *   keys  |  BLOCK  |  BLOCK  |  ..        a block of queries sees the keys before `end`; the blocks that the diagonal
 *   q     |#########|#####\   |            cuts are masked row by row: row i keeps its first `visible` keys
 */
#pragma once
#include "kernels/ops/attention.h"
#include "kernels/ops/hot.h"

enum { ATTN_BLOCK = 128 };

struct attn_head { /* one head of a call */
    const struct attn_inputs *in;
    int64_t h, kv; /* query head, key head */
};

HOT_INLINE int64_t attn_min(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

/* Number of keys that query i of the piece may see. */
HOT_INLINE int64_t attn_visible(const struct attn_piece *p, int64_t i)
{
    int64_t n = p->causal ? i + 1 + p->klen - p->qlen : p->klen;
    return n < 0 ? 0 : attn_min(n, p->klen);
}

HOT_INLINE const float *attn_q(const struct attn_head *x, int64_t row)
{
    return x->in->q + row * x->in->ldq + x->h * x->in->d;
}

HOT_INLINE const float *attn_k(const struct attn_head *x, int64_t row)
{
    return x->in->k + row * x->in->ldk + x->kv * x->in->d;
}

HOT_INLINE const float *attn_v(const struct attn_head *x, int64_t row)
{
    return x->in->v + row * x->in->ldv + x->kv * x->in->e;
}
