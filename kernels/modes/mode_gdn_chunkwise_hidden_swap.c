/* mode_gdn_chunkwise_hidden_swap.c - gdn.chunkwise converted outside the projections, where rows are narrower (spec C.2).
 *
 *   x (hidden) --swap--> contiguous --in_proj, middle, out_proj--> y --swap--> zigzag
 */
#include "kernels/modes/expect.h"
#include "kernels/modes/gdn_shard.h"
#include "kernels/modes/gdn_swaps.h"

struct kept {
    struct gdn_shard shard;
    struct gdn_swaps swaps;
    const float *x; /* contiguous */
};

static void drop(void *kept)
{
    const struct gdn_kept *g = kept;
    struct kept *k = g->middle;
    gdn_swaps_release(&k->swaps);
}

static float *middle_forward(struct cp_rank *r, const struct layer_tensors *w, struct layer_state *st, const float *proj, void **kept, struct err *e)
{
    (void)e;
    struct kept *k = *kept = arena_array(&st->arena, struct kept, 1);
    return gdn_shard_forward(&gdn_links_all, r, w, st, proj, &k->shard);
}

static float *middle_backward(struct cp_rank *r, const struct layer_tensors *grad, void *kept, struct devpool *pool, float *dm, struct err *e)
{
    (void)e;
    struct kept *k = kept;
    return gdn_shard_backward(&gdn_links_all, r, grad, &k->shard, pool, dm);
}

static const struct gdn_middle middle = {middle_forward, middle_backward};

/* The layer between the two conversions; its output goes to y. */
static bool swapped(struct cp_rank *r, const struct layer_tensors *w, const float *x, float *y, struct layer_state *st, struct gdn_swaps *swaps,
                    struct err *e)
{
    int64_t hidden = r->shape->hidden, n = shape_rows(r->shape) * hidden;
    const float *in = gdn_swap(r, st, swaps, LAYOUT_ZIGZAG, x, hidden, e);
    float *out = devpool_rows(&st->pool, n);
    if (!in || !gdn_layer_forward(&middle, r, w, in, out, st, e))
        return false;
    const struct gdn_kept *g = st->kept;
    ((struct kept *)g->middle)->x = in;
    const float *zigzag = gdn_swap(r, st, swaps, LAYOUT_CONTIGUOUS, out, hidden, e);
    if (zigzag)
        dev_copy_rows(r->stream, y, zigzag, n);
    return zigzag != NULL;
}

static bool forward(struct cp_rank *r, const struct layer_tensors *w, const float *x, float *y, struct layer_state *st, struct err *e)
{
    struct gdn_swaps swaps = {0};
    if (!mode_resolve(r, e))
        return false;
    if (r->shape->cp == 1)
        return gdn_layer_forward(&gdn_middle_local, r, w, x, y, st, e);
    if (!swapped(r, w, x, y, st, &swaps, e)) {
        gdn_swaps_release(&swaps);
        return false;
    }
    const struct gdn_kept *g = st->kept;
    ((struct kept *)g->middle)->swaps = swaps;
    st->drop = drop;
    return true;
}

static bool backward(struct cp_rank *r, const struct layer_tensors *w, const struct layer_tensors *grad, const float *x, const float *dy, float *dx,
                     struct layer_state *st, struct err *e)
{
    int64_t hidden = r->shape->hidden, n = shape_rows(r->shape) * hidden;
    if (r->shape->cp == 1)
        return gdn_layer_backward(&gdn_middle_local, r, w, grad, x, dy, dx, st, e);
    const struct gdn_kept *g = st->kept;
    const struct kept *k = g->middle;
    struct devpool pool;
    devpool_init(&pool, r->device);
    const float *in = gdn_swap_back(r, &pool, &k->swaps, LAYOUT_CONTIGUOUS, dy, hidden);
    float *out = devpool_rows(&pool, n);
    bool ok = gdn_layer_backward(&middle, r, w, grad, k->x, in, out, st, e);
    if (ok)
        dev_copy_rows(r->stream, dx, gdn_swap_back(r, &pool, &k->swaps, LAYOUT_ZIGZAG, out, hidden), n);
    devpool_free(&pool);
    return ok;
}

static void expect(const struct cp_shape *s, int rank, struct expect *x)
{
    gdn_swaps_expect(x, s, rank, s->hidden, s->hidden);
}

const struct cp_mode mode_gdn_chunkwise_hidden_swap = {
    .name = "gdn.chunkwise.hidden_swap",
    .op = OP_GDN,
    .entry_layout = LAYOUT_ZIGZAG,
    .converts = true,
    .what = "gdn.chunkwise with the layout swaps at hidden width, outside the projections",
    .check = gdn_swaps_check,
    .forward = forward,
    .backward = backward,
    .expect = expect,
};
