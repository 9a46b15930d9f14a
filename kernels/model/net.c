/* net.c - see net.h. */
#include "kernels/model/net.h"
#include "kernels/model/draw.h"

#include <math.h>

void net_init(struct net *n, const struct run_config *c, const struct stack *s)
{
    int tp = shape_tp(&c->shape);
    int64_t H = c->shape.hidden, L = c->shape.layers, whole_stack = 0;
    *n = (struct net){.vocab = c->vocab, .ffn = c->ffn / tp, .hidden = H, .layers = L, .tp = tp, .tp_rank = s->tp_rank};
    for (int64_t l = 0; l < L; l++)
        whole_stack += s->whole[stack_mode(s, l)->op].layer_floats;
    n->mlp = n->shared = n->floats = s->floats;
    n->whole_shared = n->whole_floats = whole_stack;
    if (!n->vocab)
        return;
    int64_t shared = 2 * n->vocab * H + (NET_NORMS * L + 1) * H;
    n->shared += L * NET_MLPS * n->ffn * H;
    n->whole_shared += L * NET_MLPS * c->ffn * H;
    n->floats = n->shared + shared;
    n->whole_floats = n->whole_shared + shared;
}

float *net_mlp(const struct net *n, float *flat, int64_t layer, enum net_mlp which)
{
    return flat + n->mlp + (layer * NET_MLPS + which) * n->ffn * n->hidden;
}

float *net_embedding(const struct net *n, float *flat)
{
    return flat + n->shared;
}

float *net_norm(const struct net *n, float *flat, int64_t layer, enum net_norm which)
{
    return net_embedding(n, flat) + n->vocab * n->hidden + (layer * NET_NORMS + which) * n->hidden;
}

float *net_last_norm(const struct net *n, float *flat)
{
    return net_norm(n, flat, n->layers, NET_BEFORE_LAYER);
}

float *net_head(const struct net *n, float *flat)
{
    return net_last_norm(n, flat) + n->hidden;
}

/* ---- places ---- */

/* Where float i of an MLP tensor is in the tensor that has all columns. */
static int64_t mlp_place(const struct net *n, enum net_mlp which, int64_t i)
{
    if (which != NET_DOWN)
        return n->tp_rank * n->ffn * n->hidden + i;
    return i / n->ffn * (n->ffn * n->tp) + n->tp_rank * n->ffn + i % n->ffn;
}

void net_places(const struct net *n, const struct stack *s, void (*place)(void *ctx, int64_t here, int64_t whole, bool first), void *ctx)
{
    int64_t here = 0, whole = 0, tensor = n->ffn * n->hidden;
    for (int64_t l = 0; l < n->layers; l++) {
        enum cp_op op = stack_mode(s, l)->op;
        for (int64_t i = 0; i < s->part[op].layer_floats; i++)
            place(ctx, here++, whole + s->index[op][i], stack_counts(s, op, i));
        whole += s->whole[op].layer_floats;
    }
    for (int64_t t = 0; n->vocab && t < n->layers * NET_MLPS; t++, whole += tensor * n->tp)
        for (int64_t i = 0; i < tensor; i++)
            place(ctx, here++, whole + mlp_place(n, (enum net_mlp)(t % NET_MLPS), i), true);
    for (; here < n->floats; here++)
        place(ctx, here, whole++, n->tp_rank == 0);
}

struct hashing {
    const float *floats;
    uint64_t sum;
};

static void add_hash(void *ctx, int64_t here, int64_t whole, bool first)
{
    struct hashing *h = ctx;
    if (first)
        h->sum += stack_mix(h->floats[here], whole);
}

uint64_t net_hash(const struct net *n, const struct stack *s, const float *floats)
{
    struct hashing h = {floats, 0};
    net_places(n, s, add_hash, &h);
    return h.sum;
}

/* ---- first values ---- */

/* Uniform with a variance of 1 / fan_in; what writes to the residual stream is smaller in a deep stack, as params.c has it. */
static void draw_mlp(float *v, const struct net *n, uint64_t seed, int64_t t)
{
    enum net_mlp which = (enum net_mlp)(t % NET_MLPS);
    int64_t tensor = n->ffn * n->hidden, whole = tensor * n->tp, fan = which == NET_DOWN ? n->ffn * n->tp : n->hidden;
    double scale = sqrt(3.0 / ((double)fan * (which == NET_DOWN ? (double)n->layers : 1)));
    struct draw d = draw_from(seed, DRAW_NET, t, 0);
    struct arena a = {0};
    float *all = arena_array(&a, float, whole);
    for (int64_t i = 0; i < whole; i++)
        all[i] = (float)(draw_signed(&d) * scale);
    for (int64_t i = 0; i < tensor; i++)
        v[i] = all[mlp_place(n, which, i)];
    arena_free(&a);
}

void net_draw(float *host, const struct net *n, uint64_t seed)
{
    if (!n->vocab)
        return;
    for (int64_t t = 0; t < n->layers * NET_MLPS; t++)
        draw_mlp(host + n->mlp + t * n->ffn * n->hidden, n, seed, t);
    struct draw d = draw_from(seed, DRAW_NET, -1, 0);
    float *embedding = net_embedding(n, host), *norms = net_norm(n, host, 0, NET_BEFORE_LAYER), *head = net_head(n, host);
    for (float *v = embedding; v < norms; v++)
        *v = (float)draw_signed(&d);
    for (float *v = norms; v < head; v++)
        *v = 1;
    for (float *v = head; v < host + n->floats; v++)
        *v = (float)(draw_signed(&d) * sqrt(3.0 / (double)n->hidden));
}
