/* mode_gdn_summary_allgather.c - seeds/004 `all_gather`: summaries to everybody, their gradients summed back (spec B.4, C.4).
 *
 *   forward    [S | M] of every rank --all-gather--> each folds those before it
 *   backward   gradient of the gathered maps --reduce-scatter (sum)--> each rank's (dS, dM) --> k, v, g, beta
 *
 * The local scan hands back the gradient of its incoming state; the fold's derivative spreads it over the earlier ranks'
 * maps. Halo rows go to the next rank alone.
 */
#include "kernels/modes/expect.h"
#include "kernels/modes/gdn_shard.h"
#include "kernels/ops/gdn_state.h"
#include "schemas/marker.h"

static void enter(struct cp_rank *r, struct layer_state *st, struct gdn_shard *k)
{
    const struct recurrent *rec = &r->batch->recurrent;
    gdn_shard_summarise(r, st, k, true);
    k->all = gdn_shard_gather(r, k->core.pool, &k->core, k->sm);
    k->h_in = gdn_shard_merge(r, k->core.pool, &k->core, k->all, NULL, r->rank - rec->pre_ranks, rec->pre_ranks, 1);
}

/* The gradient of everybody's maps as this rank's fold sees it: zeros but for those that it folded. */
static float *fold_back(struct cp_rank *r, const struct gdn_shard *k, const struct gdn_back *b)
{
    DEV_RANGE(r->device, RANGE_STATE_MERGE, -1);
    const struct gdn_core *c = &k->core;
    const struct recurrent *rec = &r->batch->recurrent;
    size_t bytes = (size_t)(gdn_core_summary(c) * r->shape->cp) * sizeof(float);
    float *dall = devpool_bytes(b->pool, bytes);
    dev_set_async(c->stream, dall, 0, bytes);
    if (!rec->is_first)
        op_gdn_merge_grad(c->stream, &(struct gdn_merge_grad_args){.all = k->all,
                                                                   .dx = b->dh_in,
                                                                   .dall = dall,
                                                                   .HV = (int32_t)c->vheads,
                                                                   .dk = (int32_t)c->dk,
                                                                   .dv = (int32_t)c->dv,
                                                                   .first = r->rank - rec->pre_ranks,
                                                                   .count = rec->pre_ranks});
    return dall;
}

static void leave(struct cp_rank *r, struct gdn_shard *k, struct gdn_back *b)
{
    const struct gdn_core *c = &k->core;
    b->dh_in = devpool_floats(b->pool, gdn_shard_state(c));
    gdn_back_scan(c, b, k->h_in, NULL);
    const float *dall = fold_back(r, k, b);
    float *dsm = devpool_floats(b->pool, gdn_core_summary(c));
    dev_range_push(r->device, RANGE_STATE_EXCHANGE, -1);
    comm_reduce_scatter_f32(r->comm, c->stream, dall, dsm, gdn_core_summary(c));
    dev_range_pop(r->device);
    gdn_shard_differentiate(r, k, b, dsm);
}

static const struct gdn_links links = {.halo_to_next = true, .enter = enter, .leave = leave};

GDN_SHARD_MODE(links)

static void expect(const struct cp_shape *s, int rank, struct expect *x)
{
    int64_t backwards = s->layers * s->microbatches;
    gdn_expect_flops(x, s, (double)shape_rows(s), (double)s->vheads);
    gdn_shard_expect_flops(x, s, rank, true);
    if (s->cp == 1)
        return;
    expect_comm(x, "all_gather", expect_forwards(s), expect_forwards(s) * gdn_shard_map_bytes(s));
    expect_comm(x, "reduce_scatter", backwards, backwards * gdn_shard_map_bytes(s) * (s->cp - 1));
    gdn_shard_expect_halo(x, s, rank, true);
}

const struct cp_mode mode_gdn_summary_allgather = {
    .name = "gdn.summary_allgather",
    .op = OP_GDN,
    .entry_layout = LAYOUT_CONTIGUOUS,
    .what = "contiguous shards: all-gather of (S, M), reduce-scatter of their gradients",
    .check = gdn_shard_check,
    .forward = forward,
    .backward = backward,
    .expect = expect,
};
