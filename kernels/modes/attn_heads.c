/* attn_heads.c - see attn_heads.h. */
#include "kernels/modes/attn_heads.h"
#include "kernels/ops/elementwise.h"
#include "kernels/ops/pack.h"
#include "schemas/marker.h"

#include <inttypes.h>

/* One tensor on its way: rows of a rank, all heads <-> rows of the group, a share of the heads. */
struct trip {
    const struct attn_core *c; /* of own rows, all heads */
    int ranks;
    int64_t heads, width; /* all heads; floats of one */
};

static int64_t share(const struct trip *t) /* heads on one rank */
{
    return attn_heads_kv(t->heads, t->ranks);
}

static int64_t copies(const struct trip *t) /* ranks that have the same head */
{
    return t->heads < t->ranks ? t->ranks / t->heads : 1;
}

static int64_t block(const struct trip *t) /* floats from one rank to another */
{
    return t->c->rows * share(t) * t->width;
}

int64_t attn_heads_kv(int64_t kvheads, int ranks)
{
    return kvheads < ranks ? 1 : kvheads / ranks;
}

static void exchange(const struct trip *t, const float *send, float *recv)
{
    struct cp_rank *r = t->c->r;
    struct arena a = {0};
    int cp = r->shape->cp, first = r->rank / t->ranks * t->ranks;
    int64_t n = block(t), *split = arena_array(&a, int64_t, cp);
    DEV_RANGE(r->device, RANGE_KV_EXCHANGE, -1);
    for (int i = 0; i < t->ranks; i++)
        split[first + i] = n;
    if (t->ranks == cp)
        comm_all_to_all_rows(r->comm, r->stream, send, recv, n);
    else
        comm_all_to_all_v_rows(r->comm, r->stream, send, (struct comm_split){split, n * t->ranks}, recv, (struct comm_split){split, n * t->ranks}, 1);
    arena_free(&a);
}

/* Column blocks of x (rows, all heads) -> blocks for the ranks below each other; a head for several ranks is copied. */
static void cut(const struct trip *t, const float *x, float *blocks)
{
    int64_t cols = share(t) * t->width, n = copies(t);
    for (int64_t i = 0; i < n; i++)
        op_concat_blocks(t->c->r->stream, &(struct concat_blocks_args){.src = x,
                                                                       .dst = blocks + i * block(t),
                                                                       .ld_src = t->heads * t->width,
                                                                       .ld_dst = cols,
                                                                       .src_step = cols,
                                                                       .dst_step = n * block(t),
                                                                       .rows = t->c->rows,
                                                                       .cols = cols,
                                                                       .nblocks = t->ranks / n});
}

/* The transpose of cut. */
static void join(const struct trip *t, const float *blocks, float *x)
{
    int64_t cols = share(t) * t->width, n = copies(t), ld = t->heads * t->width;
    op_concat_blocks(t->c->r->stream, &(struct concat_blocks_args){.src = blocks,
                                                                   .dst = x,
                                                                   .ld_src = cols,
                                                                   .ld_dst = ld,
                                                                   .src_step = n * block(t),
                                                                   .dst_step = cols,
                                                                   .rows = t->c->rows,
                                                                   .cols = cols,
                                                                   .nblocks = t->ranks / n});
    for (int64_t i = 0; i < t->ranks; i++)
        if (i % n)
            rows_accumulate(t->c->r->stream, x + i / n * cols, ld, blocks + i * block(t), cols, t->c->rows, cols);
}

/* Own rows, all heads -> the group's rows in the order of the plan, own heads; in `pool`. */
static float *to_heads(const struct trip *t, struct devpool *pool, const float *x)
{
    int64_t n = block(t) * t->ranks;
    float *send = attn_stored(t->c, n), *recv = devpool_rows(pool, n);
    cut(t, x, send);
    exchange(t, send, recv);
    if (!t->c->meta->index)
        return recv;
    float *ordered = devpool_rows(pool, n);
    rows_gather(t->c->r->stream, ordered, recv, t->c->meta->index, t->c->rows * t->ranks, share(t) * t->width);
    return ordered;
}

static void from_heads(const struct trip *t, const float *heads, float *x)
{
    int64_t n = block(t) * t->ranks;
    const float *send = heads;
    if (t->c->meta->index) {
        float *rank_major = attn_stored(t->c, n);
        rows_scatter(t->c->r->stream, rank_major, heads, t->c->meta->index, t->c->rows * t->ranks, share(t) * t->width);
        send = rank_major;
    }
    float *recv = attn_stored(t->c, n);
    exchange(t, send, recv);
    join(t, recv, x);
}

static struct trip trip_of(const struct attn_core *c, int ranks, int64_t heads, int64_t width)
{
    return (struct trip){c, ranks, heads, width};
}

/* The core of the group's rows with own heads: kept from forward to backward. */
static struct attn_core *heads_core(const struct attn_core *c, int ranks, struct arena *a)
{
    struct attn_core *h = arena_array(a, struct attn_core, 1);
    *h = *c;
    h->rows = c->rows * ranks;
    h->heads = c->heads / ranks;
    h->kv_heads = (int32_t)attn_heads_kv(c->kv_heads, ranks);
    return h;
}

void attn_heads_forward(struct attn_core *c, int ranks, attn_heads_fn *inner)
{
    struct devpool pool, *kept = c->pool;
    if (ranks == 1) {
        inner(c);
        return;
    }
    struct attn_core *h = c->shared = heads_core(c, ranks, c->arena);
    struct trip q = trip_of(c, ranks, c->heads, c->d), k = trip_of(c, ranks, c->kv_heads, c->d), v = trip_of(c, ranks, c->kv_heads, c->e);
    struct trip o = trip_of(c, ranks, c->heads, c->e);
    devpool_init(&pool, c->r->device);
    c->pool = &pool;
    h->q = to_heads(&q, kept, c->q);
    h->k = to_heads(&k, kept, c->k);
    h->v = to_heads(&v, kept, c->v);
    h->o = devpool_rows(kept, attn_o_size(h));
    h->lse = devpool_floats(kept, h->rows * h->heads);
    h->pool = &pool;
    inner(h);
    op_round(c->r->stream, c->r->shape->dtype, h->o, attn_o_size(h));
    from_heads(&o, h->o, c->o);
    c->pool = kept;
    devpool_free(&pool);
}

/* Gradients travel as they are stored. */
static void round_grads(const struct attn_core *h)
{
    enum dtype t = h->r->shape->dtype;
    op_round(h->stream, t, h->dq, attn_q_size(h));
    op_round(h->stream, t, h->dk, attn_k_size(h));
    op_round(h->stream, t, h->dv, attn_v_size(h));
}

void attn_heads_backward(struct attn_core *c, int ranks, attn_heads_fn *inner)
{
    if (ranks == 1) {
        inner(c);
        return;
    }
    struct attn_core h = *(const struct attn_core *)c->shared;
    struct trip q = trip_of(c, ranks, c->heads, c->d), k = trip_of(c, ranks, c->kv_heads, c->d), v = trip_of(c, ranks, c->kv_heads, c->e);
    struct trip o = trip_of(c, ranks, c->heads, c->e);
    h.pool = c->pool;
    h.d_o = to_heads(&o, c->pool, c->d_o);
    h.dq = attn_stored(c, attn_q_size(&h));
    h.dk = attn_stored(c, attn_k_size(&h));
    h.dv = attn_stored(c, attn_v_size(&h));
    inner(&h);
    round_grads(&h);
    from_heads(&q, h.dq, c->dq);
    from_heads(&k, h.dk, c->dk);
    from_heads(&v, h.dv, c->dv);
}

void attn_heads_exchange(const struct cp_shape *s, int ranks, int64_t times, struct expect *x)
{
    int64_t row = s->qheads / ranks * (s->dqk + s->dv_attn) + attn_heads_kv(s->kvheads, ranks) * (s->dqk + s->dv_attn);
    int64_t bytes = shape_rows(s) * row * (ranks - 1) * dtype_size(s->dtype);
    if (ranks > 1)
        expect_comm(x, ranks == s->cp ? "all_to_all" : "all_to_all_v", 4 * times, bytes * times);
}

bool attn_heads_check(const struct cp_shape *s, int ranks, const char *option, struct err *e)
{
    const char *of_one = shape_tp(s) > 1 ? " (of one --tp rank)" : "";
    if (s->qheads % ranks)
        return fail(e, ERR_USAGE, "--qheads %" PRId64 "%s is not divisible by %s %d: every rank takes its share of the heads", s->qheads, of_one,
                    option, ranks);
    if (s->kvheads % ranks && ranks % s->kvheads)
        return fail(e, ERR_USAGE, "--kvheads %" PRId64 "%s and %s %d: one must divide the other", s->kvheads, of_one, option, ranks);
    return true;
}
