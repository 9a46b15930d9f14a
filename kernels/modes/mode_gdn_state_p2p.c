/* mode_gdn_state_p2p.c - seeds/004 `p2p`: the state itself goes from rank to rank (spec C.4).
 *
 *   rank 0   [S | M]            S ->
 *   rank 1   [S | M]  wait X      M X + S ->
 *   rank 2   [S | M]                 wait X      M X + S ->        then every rank scans with its own X
 *
 * All ranks make their summaries at the same time; only the tiny chain of X is serial. Backward runs the chain the other
 * way with dH_in = M^T dH_out + dSx, and (dS, dM) = (dH_out, dH_out X^T) go through the summary's derivative. Every rank
 * makes two calls a pass, with nothing in them where nothing enters or leaves, so that the calls of all ranks correspond.
 */
#include "kernels/modes/expect.h"
#include "kernels/modes/gdn_shard.h"
#include "kernels/ops/gdn_state.h"
#include "schemas/marker.h"

/* A state from rank `from`, -1: none, then NULL. */
static float *receive(struct cp_rank *r, struct devpool *pool, const struct gdn_core *c, int from)
{
    DEV_RANGE(r->device, RANGE_STATE_EXCHANGE, -1);
    int64_t n = gdn_shard_state(c);
    float *x = from >= 0 ? devpool_floats(pool, n) : NULL;
    comm_send_recv(r->comm, c->stream, NULL, -1, x, from, (size_t)n * sizeof(float));
    return x;
}

static void send(struct cp_rank *r, const struct gdn_core *c, const float *x, int to)
{
    DEV_RANGE(r->device, RANGE_STATE_EXCHANGE, -1);
    comm_send_recv(r->comm, c->stream, x, to, NULL, -1, (size_t)gdn_shard_state(c) * sizeof(float));
}

static void enter(struct cp_rank *r, struct layer_state *st, struct gdn_shard *k)
{
    const struct recurrent *rec = &r->batch->recurrent;
    const struct gdn_core *c = &k->core;
    gdn_shard_summarise(r, st, k, true);
    k->h_in = receive(r, c->pool, c, rec->is_first ? -1 : r->rank - 1);
    const float *out = rec->is_last ? NULL : gdn_shard_merge(r, c->pool, c, k->sm, k->h_in, 0, 1, 1);
    send(r, c, out, rec->is_last ? -1 : r->rank + 1);
}

/* M^T dh_out + dSx, of the state that entered. */
static const float *hand_back(struct cp_rank *r, const struct gdn_shard *k, const struct gdn_back *b, const float *dh_out)
{
    const struct gdn_core *c = &k->core;
    if (!dh_out)
        return b->dh_in;
    float *turned = devpool_floats(b->pool, gdn_core_summary(c));
    op_gdn_map_turn(c->stream, &(struct gdn_map_turn_args){
                                   .s = b->dh_in, .map = k->sm, .out = turned, .HV = (int32_t)c->vheads, .dk = (int32_t)c->dk, .dv = (int32_t)c->dv});
    return gdn_shard_merge(r, b->pool, c, turned, dh_out, 0, 1, 1);
}

static void leave(struct cp_rank *r, struct gdn_shard *k, struct gdn_back *b)
{
    const struct recurrent *rec = &r->batch->recurrent;
    const struct gdn_core *c = &k->core;
    b->dh_in = devpool_floats(b->pool, gdn_shard_state(c));
    gdn_back_scan(c, b, k->h_in, NULL);
    const float *dh_out = receive(r, b->pool, c, rec->is_last ? -1 : r->rank + 1);
    send(r, c, rec->is_first ? NULL : hand_back(r, k, b, dh_out), rec->is_first ? -1 : r->rank - 1);
    gdn_shard_differentiate_state(r, k, b, dh_out);
}

static const struct gdn_links links = {.halo_to_next = true, .enter = enter, .leave = leave};

GDN_SHARD_MODE(links)

/* States that rank sends: where a sequence goes on across its end, in forward; across its start, in backward. */
static int64_t states_sent(const struct cp_shape *s, int rank)
{
    int64_t n = 0;
    for (int64_t b = 0; b < s->microbatches; b++) {
        struct arena a = {0};
        struct err e = {0};
        struct recurrent r = {0};
        if (recurrent_context(&a, s->packs[b].cu, s->packs[b].sequences + 1, s->cp, rank, 0, &r, &e))
            n += s->layers * ((r.is_last ? 0 : s->recompute ? 2 : 1) + (r.is_first ? 0 : 1));
        arena_free(&a);
    }
    return n;
}

static void expect(const struct cp_shape *s, int rank, struct expect *x)
{
    gdn_expect_flops(x, s, (double)shape_rows(s), (double)s->vheads);
    gdn_shard_expect_flops(x, s, rank, true);
    if (s->cp == 1)
        return;
    expect_comm(x, "send_recv", 2 * gdn_shard_calls(s), states_sent(s, rank) * s->vheads * s->dk * s->dv * (int64_t)sizeof(float));
    gdn_shard_expect_halo(x, s, rank, true);
}

const struct cp_mode mode_gdn_state_p2p = {
    .name = "gdn.state_p2p",
    .op = OP_GDN,
    .entry_layout = LAYOUT_CONTIGUOUS,
    .what = "contiguous shards: the state goes from rank to rank, its gradient back",
    .check = gdn_shard_check,
    .forward = forward,
    .backward = backward,
    .expect = expect,
};
