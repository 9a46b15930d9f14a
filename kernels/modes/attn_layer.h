/* attn_layer.h - a softmax attention layer around what a mode does between the projections.
 *
 *   x --w_q, w_k, w_v--> q, k, v (own rows, all heads) --form--> o (own rows, all heads) --w_out--> y
 *
 * With shape.rotary q and k turn with their positions before the form; with shape.attn_gate o is multiplied by
 * sigmoid(x w_gate) before w_out. Both are token-wise, as the projections are.
 * With a narrow storage type q, k, v, o, y and the gradients of all of them are rounded where they are complete; partial
 * results of a ring, sums of gradients and log-sum-exps stay float. Projections are token-wise and the same in every mode. With one rank every mode is the plain packed attention.
 */
#pragma once
#include "kernels/modes/attn_core.h"
#include "kernels/modes/expect.h"

enum attn_param { ATTN_W_Q, ATTN_W_K, ATTN_W_V, ATTN_W_OUT, ATTN_W_GATE, ATTN_PARAMS };
_Static_assert((int)ATTN_PARAMS <= (int)PARAM_MAX, "an attention layer has too many parameters");

#define ROTARY_BASE 1e7f

/* [out][in] of a parameter. */
void attn_param_size(const struct cp_shape *s, enum attn_param i, int64_t *out, int64_t *in);

/* What a mode adds: its split, and both directions of a core of the rank's own rows with all heads (cp over 1 only). */
struct attn_form {
    enum attn_split split;
    void (*forward)(struct attn_core *c);
    void (*backward)(struct attn_core *c);
    /* Collectives of one forward or backward, added `times` times. */
    void (*exchange)(const struct cp_shape *s, bool backward, int64_t times, struct expect *x);
    /* Heads that a rank computes, of --qheads; NULL: all. */
    int64_t (*own_heads)(const struct cp_shape *s);
};

/* Head counts and dims, lengths as the split wants them. ERR_USAGE names the option, the value and the rule. */
bool attn_check(const struct attn_form *f, const struct cp_shape *s, struct err *e);
bool attn_forward(const struct attn_form *f, struct cp_rank *r, const struct layer_tensors *w, const float *x, float *y, struct layer_state *st,
                  struct err *e);
bool attn_backward(struct cp_rank *r, const struct attn_form *f, const struct layer_tensors *w, const struct layer_tensors *grad, const float *x,
                   const float *dy, float *dx, struct layer_state *st);
/* Builds the plan of the micro-batch ahead (--metadata hoisted) into batch->hoisted. */
bool attn_hoist(const struct attn_form *f, struct cp_rank *r, struct err *e);
void attn_expect(const struct attn_form *f, const struct cp_shape *s, int rank, struct expect *x);

/* Floats of K and V of a rank's rows. */
int64_t attn_kv_floats(const struct cp_shape *s);

/* A file mode_attn_NAME.c is its form and this. */
#define ATTN_MODE(NAME, ID, LAYOUT, FORM, CHECK, WHAT)                                                                                               \
    static bool forward(struct cp_rank *r, const struct layer_tensors *w, const float *x, float *y, struct layer_state *st, struct err *e)           \
    {                                                                                                                                                \
        return attn_forward(&FORM, r, w, x, y, st, e);                                                                                               \
    }                                                                                                                                                \
    static bool backward(struct cp_rank *r, const struct layer_tensors *w, const struct layer_tensors *grad, const float *x, const float *dy,        \
                         float *dx, struct layer_state *st, struct err *e)                                                                           \
    {                                                                                                                                                \
        (void)e;                                                                                                                                     \
        return attn_backward(r, &FORM, w, grad, x, dy, dx, st);                                                                                      \
    }                                                                                                                                                \
    static bool hoist(struct cp_rank *r, struct err *e)                                                                                              \
    {                                                                                                                                                \
        return attn_hoist(&FORM, r, e);                                                                                                              \
    }                                                                                                                                                \
    static void expect(const struct cp_shape *s, int rank, struct expect *x)                                                                         \
    {                                                                                                                                                \
        attn_expect(&FORM, s, rank, x);                                                                                                              \
    }                                                                                                                                                \
    const struct cp_mode NAME = {.name = ID,                                                                                                         \
                                 .op = OP_ATTN,                                                                                                      \
                                 .entry_layout = LAYOUT,                                                                                             \
                                 .what = WHAT,                                                                                                       \
                                 .check = CHECK,                                                                                                     \
                                 .forward = forward,                                                                                                 \
                                 .backward = backward,                                                                                               \
                                 .hoist = hoist,                                                                                                     \
                                 .expect = expect}
