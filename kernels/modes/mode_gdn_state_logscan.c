/* mode_gdn_state_logscan.c - maps doubled in reach, round by round: the prefix of all earlier ranks in log2(cp) rounds (spec B.2).
 *
 *   round 0   0 -> 1 -> 2 -> 3 -> 4       every rank sends its map (of ranks r-2^k+1 .. r) to rank r + 2^k
 *   round 1   0 ------> 2 ------> 4       and puts what it receives before its own
 *                  1 ------> 3
 *   round 2   0 ----------------> 4
 *
 * The prefix without its own rank is what the rank received, later rounds bringing older tokens: no shift round. A rank
 * at which a sequence ends has the map 0, so all ranks take part whatever the packing. Backward is the same with
 * [dSx | M^T] from later ranks; (dS, dM) go through the summary's derivative. Memory does not grow with cp.
 */
#include "kernels/modes/expect.h"
#include "kernels/modes/gdn_shard.h"
#include "kernels/ops/gdn_state.h"
#include "schemas/marker.h"

static float *compose(struct cp_rank *r, struct devpool *pool, const struct gdn_core *c, const float *later, const float *earlier)
{
    DEV_RANGE(r->device, RANGE_STATE_MERGE, -1);
    float *out = devpool_floats(pool, gdn_core_summary(c));
    op_gdn_map_compose(c->stream,
                       &(struct gdn_map_compose_args){
                           .later = later, .earlier = earlier, .out = out, .HV = (int32_t)c->vheads, .dk = (int32_t)c->dk, .dv = (int32_t)c->dv});
    return out;
}

/* A map from rank - way 2^k, mine to rank + way 2^k, where there are such ranks; NULL when none comes. */
static float *trade(struct cp_rank *r, struct devpool *pool, const struct gdn_core *c, const float *mine, int distance)
{
    DEV_RANGE(r->device, RANGE_STATE_EXCHANGE, -1);
    int to = r->rank + distance, from = r->rank - distance, cp = r->shape->cp;
    int64_t n = gdn_core_summary(c);
    bool sends = to >= 0 && to < cp, receives = from >= 0 && from < cp;
    float *x = receives ? devpool_floats(pool, n) : NULL;
    comm_send_recv(r->comm, c->stream, sends ? mine : NULL, sends ? to : -1, x, receives ? from : -1, (size_t)n * sizeof(float));
    return x;
}

/* The composition of all maps of earlier ranks (way 1) or later ones (way -1), applied to zero: a state, NULL where there is none. */
static float *prefix(struct cp_rank *r, struct devpool *pool, const struct gdn_core *c, const float *own, int way)
{
    const float *running = own, *received = NULL;
    for (int k = 1; k < r->shape->cp; k *= 2) {
        const float *x = trade(r, pool, c, running, way * k);
        if (!x)
            continue;
        received = received ? compose(r, pool, c, received, x) : x;
        if (2 * k < r->shape->cp)
            running = compose(r, pool, c, running, x);
    }
    return received ? gdn_shard_merge(r, pool, c, received, NULL, 0, 1, 1) : NULL;
}

static void enter(struct cp_rank *r, struct layer_state *st, struct gdn_shard *k)
{
    gdn_shard_summarise(r, st, k, true);
    k->h_in = prefix(r, k->core.pool, &k->core, k->sm, 1);
    if (r->batch->recurrent.is_first)
        k->h_in = NULL; /* it is zero: the rank before ends its sequence */
}

static void leave(struct cp_rank *r, struct gdn_shard *k, struct gdn_back *b)
{
    const struct gdn_core *c = &k->core;
    b->dh_in = devpool_floats(b->pool, gdn_shard_state(c));
    gdn_back_scan(c, b, k->h_in, NULL);
    float *turned = devpool_floats(b->pool, gdn_core_summary(c));
    op_gdn_map_turn(c->stream, &(struct gdn_map_turn_args){.s = r->batch->recurrent.is_first ? NULL : b->dh_in,
                                                           .map = k->sm,
                                                           .out = turned,
                                                           .HV = (int32_t)c->vheads,
                                                           .dk = (int32_t)c->dk,
                                                           .dv = (int32_t)c->dv});
    gdn_shard_differentiate_state(r, k, b, prefix(r, b->pool, c, turned, -1));
}

static const struct gdn_links links = {.halo_to_next = true, .enter = enter, .leave = leave};

GDN_SHARD_MODE(links)

static void expect(const struct cp_shape *s, int rank, struct expect *x)
{
    int64_t backwards = s->layers * s->microbatches, rounds = 0, forth = 0, back = 0;
    gdn_expect_flops(x, s, (double)shape_rows(s), (double)s->vheads);
    gdn_shard_expect_flops(x, s, rank, true);
    if (s->cp == 1)
        return;
    for (int k = 1; k < s->cp; k *= 2) {
        rounds++;
        forth += rank + k < s->cp;
        back += rank - k >= 0;
    }
    expect_comm(x, "send_recv", rounds * gdn_shard_calls(s), (forth * expect_forwards(s) + back * backwards) * gdn_shard_map_bytes(s));
    gdn_shard_expect_halo(x, s, rank, true);
}

const struct cp_mode mode_gdn_state_logscan = {
    .name = "gdn.state_logscan",
    .op = OP_GDN,
    .entry_layout = LAYOUT_CONTIGUOUS,
    .what = "contiguous shards: (S, M) composed over doubling distances, log2(cp) rounds",
    .check = gdn_shard_check,
    .forward = forward,
    .backward = backward,
    .expect = expect,
};
