/* net.h - what a trainable model has around the layers of its stack, and where the parameters of that lie.
 *
 *   tokens --embedding--> x --[ norm, layer, +, norm, MLP, + ] per layer--> norm --head--> logits --cross-entropy--> loss
 *
 *   flat parameters   | stack: the layers | MLPs, layer by layer: w_gate, w_up, w_down | embedding | norms, layer by layer | last norm | head |
 *                     \--------- a TP rank's part: heads, columns of the MLP ----------/ \------- whole on every rank: shared ------------/
 *
 * Norms are RMSNorm; the MLP is w_down (silu(w_gate x) * (w_up x)). Embedding and head are two tensors. The shape of the
 * Qwen3.5 family (spec A.1).
 */
#pragma once
#include "kernels/model/stack.h"

#define NET_EPS 1e-6f /* of the norms */

enum net_mlp { NET_GATE, NET_UP, NET_DOWN, NET_MLPS };
enum net_norm { NET_BEFORE_LAYER, NET_BEFORE_MLP, NET_NORMS };

struct net {
    int64_t vocab; /* 0: there is none, the model is its layers */
    int64_t ffn;   /* columns of the MLP on this rank */
    int64_t hidden, layers;
    int tp, tp_rank;
    /* In floats of the flat buffer: where the MLPs and the shared tensors begin, and how long all of it is. */
    int64_t mlp, shared, floats;
    int64_t whole_shared, whole_floats; /* the same two of one rank that has all heads and columns */
};

/* After the stack's; config.vocab 0 makes an empty one, whose floats are the stack's. */
void net_init(struct net *n, const struct run_config *c, const struct stack *s);

/* Tensors in a flat buffer: gate and up (ffn, hidden), down (hidden, ffn); norms (hidden); embedding and head (vocab, hidden). */
float *net_mlp(const struct net *n, float *flat, int64_t layer, enum net_mlp which);
float *net_norm(const struct net *n, float *flat, int64_t layer, enum net_norm which);
float *net_embedding(const struct net *n, float *flat);
float *net_last_norm(const struct net *n, float *flat);
float *net_head(const struct net *n, float *flat);

/* Fills host[mlp .. floats) from the seed: every part of what one rank alone would have. Not rounded. */
void net_draw(float *host, const struct net *n, uint64_t seed);

/* stack_hash() over all of it. */
uint64_t net_hash(const struct net *n, const struct stack *s, const float *floats);

/* For every float of a rank's flat buffer, the stack's too: where it is in the whole model's; `first`: is this the TP rank
 * that counts and saves it? Called in order of places on this rank. */
void net_places(const struct net *n, const struct stack *s, void (*place)(void *ctx, int64_t here, int64_t whole, bool first), void *ctx);
