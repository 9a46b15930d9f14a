/* mode_gdn_chunkwise_native.c - gdn.chunkwise where tokens come cut evenly already: no conversion, lengths are free (spec C.2).
 *
 *   rank 0 [.......] rank 1 [.......] rank 2 [.......]      halo rows and (S, M) summaries to everybody
 */
#include "kernels/modes/expect.h"
#include "kernels/modes/gdn_shard.h"

static float *middle_forward(struct cp_rank *r, const struct layer_tensors *w, struct layer_state *st, const float *proj, void **kept, struct err *e)
{
    (void)e;
    return gdn_shard_forward(&gdn_links_all, r, w, st, proj, *kept = arena_array(&st->arena, struct gdn_shard, 1));
}

static float *middle_backward(struct cp_rank *r, const struct layer_tensors *grad, void *kept, struct devpool *pool, float *dm, struct err *e)
{
    (void)e;
    return gdn_shard_backward(&gdn_links_all, r, grad, kept, pool, dm);
}

static const struct gdn_middle middle = {middle_forward, middle_backward};

static bool forward(struct cp_rank *r, const struct layer_tensors *w, const float *x, float *y, struct layer_state *st, struct err *e)
{
    return gdn_layer_forward(gdn_middle_for(r, &middle), r, w, x, y, st, e);
}

static bool backward(struct cp_rank *r, const struct layer_tensors *w, const struct layer_tensors *grad, const float *x, const float *dy, float *dx,
                     struct layer_state *st, struct err *e)
{
    return gdn_layer_backward(gdn_middle_for(r, &middle), r, w, grad, x, dy, dx, st, e);
}

static void expect(const struct cp_shape *s, int rank, struct expect *x)
{
    gdn_expect_flops(x, s, (double)shape_rows(s), (double)s->vheads);
    gdn_shard_expect_flops(x, s, rank, false);
    if (s->cp == 1)
        return;
    expect_comm(x, "all_gather", gdn_shard_calls(s), gdn_shard_calls(s) * gdn_shard_map_bytes(s));
    gdn_shard_expect_halo(x, s, rank, false);
}

const struct cp_mode mode_gdn_chunkwise_native = {
    .name = "gdn.chunkwise.native",
    .op = OP_GDN,
    .entry_layout = LAYOUT_CONTIGUOUS,
    .what = "contiguous shards: exchange halo rows and (S, M) summaries, scan locally",
    .check = gdn_shard_check,
    .forward = forward,
    .backward = backward,
    .expect = expect,
};
