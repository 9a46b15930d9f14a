/* gdn_swaps.c - swap.h with a layer's pools and ranges around it. */
#include "kernels/modes/gdn_swaps.h"
#include "kernels/modes/expect.h"
#include "kernels/modes/gdn_shard.h"
#include "schemas/marker.h"

void gdn_swaps_release(struct gdn_swaps *s)
{
    route_release(s->in);
    route_release(s->out);
    *s = (struct gdn_swaps){0};
}

static struct swap_ctx swap_of(struct cp_rank *r)
{
    const struct cp_shape *s = r->shape;
    return (struct swap_ctx){.comm = r->comm, .stream = r->stream, .packed = &r->batch->packed, .kind = s->route, .blocks = s->pack_blocks};
}

float *gdn_swap(struct cp_rank *r, struct layer_state *st, struct gdn_swaps *s, enum layout source, const float *x, int64_t width, struct err *e)
{
    DEV_RANGE(r->device, source == LAYOUT_ZIGZAG ? RANGE_ZIGZAG_TO_CONTIGUOUS : RANGE_CONTIGUOUS_TO_ZIGZAG, -1);
    struct swap_ctx ctx = swap_of(r);
    struct route **saved = source == LAYOUT_ZIGZAG ? &s->in : &s->out;
    float *y = swap_forward(&ctx, source, x, shape_rows(r->shape), width, st->for_backward ? saved : NULL, e);
    if (y != x)
        devpool_own(&st->pool, y);
    return y;
}

float *gdn_swap_back(struct cp_rank *r, struct devpool *pool, const struct gdn_swaps *s, enum layout source, const float *dy, int64_t width)
{
    DEV_RANGE(r->device, source == LAYOUT_ZIGZAG ? RANGE_ZIGZAG_TO_CONTIGUOUS : RANGE_CONTIGUOUS_TO_ZIGZAG, -1);
    struct swap_ctx ctx = swap_of(r);
    float *dx = swap_backward(&ctx, source == LAYOUT_ZIGZAG ? s->in : s->out, dy, width);
    if (dx != dy)
        devpool_own(pool, dx);
    return dx;
}

bool gdn_swaps_check(const struct cp_shape *s, struct err *e)
{
    return mode_check_zigzag(s, e) && gdn_shard_check(s, e);
}

void gdn_swaps_expect(struct expect *x, const struct cp_shape *s, int rank, int64_t in, int64_t out)
{
    expect_resolve(x, s);
    gdn_expect_flops(x, s, (double)shape_rows(s), (double)s->vheads);
    gdn_shard_expect_flops(x, s, rank, false);
    expect_swaps(x, s, rank, in, out);
    if (s->cp == 1)
        return;
    expect_comm(x, "all_gather", gdn_shard_calls(s), gdn_shard_calls(s) * gdn_shard_map_bytes(s));
    gdn_shard_expect_halo(x, s, rank, false);
}
