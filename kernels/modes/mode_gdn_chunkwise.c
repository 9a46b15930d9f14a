/* mode_gdn_chunkwise.c - the sequence stays cut by time: only states, halo rows and layout conversions travel (spec C.2).
 *
 *   proj  zigzag -> contiguous    rank 0 [.......] rank 1 [.......] rank 2 [.......]
 *   conv                                      W-1 rows ->       W-1 rows ->
 *   scan                          (S, M)  -> all-gather, each folds those before it -> state that enters
 *   m     contiguous -> zigzag
 */
#include "kernels/modes/expect.h"
#include "kernels/modes/gdn_shard.h"
#include "kernels/modes/gdn_swaps.h"

struct kept {
    struct gdn_shard shard;
    struct gdn_swaps swaps;
};

static void drop(void *kept)
{
    const struct gdn_kept *g = kept;
    struct kept *k = g->middle;
    if (k)
        gdn_swaps_release(&k->swaps);
}

static float *middle_forward(struct cp_rank *r, const struct layer_tensors *w, struct layer_state *st, const float *proj, void **kept, struct err *e)
{
    struct kept *k = *kept = arena_array(&st->arena, struct kept, 1);
    st->drop = drop;
    const float *contiguous = gdn_swap(r, st, &k->swaps, LAYOUT_ZIGZAG, proj, gdn_in_width(r->shape), e);
    if (!contiguous)
        return NULL;
    const float *m = gdn_shard_forward(&gdn_links_all, r, w, st, contiguous, &k->shard);
    return gdn_swap(r, st, &k->swaps, LAYOUT_CONTIGUOUS, m, gdn_out_width(r->shape), e);
}

static float *middle_backward(struct cp_rank *r, const struct layer_tensors *grad, void *kept, struct devpool *pool, float *dm, struct err *e)
{
    (void)e;
    struct kept *k = kept;
    float *contiguous = gdn_swap_back(r, pool, &k->swaps, LAYOUT_CONTIGUOUS, dm, gdn_out_width(r->shape));
    const float *dproj = gdn_shard_backward(&gdn_links_all, r, grad, &k->shard, pool, contiguous);
    return gdn_swap_back(r, pool, &k->swaps, LAYOUT_ZIGZAG, dproj, gdn_in_width(r->shape));
}

static const struct gdn_middle middle = {middle_forward, middle_backward, .resolves = true};
GDN_MODE(middle)

static void expect(const struct cp_shape *s, int rank, struct expect *x)
{
    gdn_swaps_expect(x, s, rank, gdn_in_width(s), gdn_out_width(s));
}

const struct cp_mode mode_gdn_chunkwise = {
    .name = "gdn.chunkwise",
    .op = OP_GDN,
    .entry_layout = LAYOUT_ZIGZAG,
    .converts = true,
    .what = "swap to contiguous, exchange halo rows and (S, M) summaries, scan locally, swap back",
    .check = gdn_swaps_check,
    .forward = forward,
    .backward = backward,
    .expect = expect,
};
