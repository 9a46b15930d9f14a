/* attn_ring.h - keys and values travel around a ring of ranks while queries stay (spec E.3, E.6).
 *
 *   forward   step k: my queries against the keys of ring_owner(k), merged into what I have     n - 1 exchanges
 *   backward  the keys once more, and their gradients along with them: who has used a block adds to its gradient and
 *             hands it to the rank that uses the block next, the last one home                   n - 1 and n exchanges
 *
 * The plan has a call per owner; an owner behind me may have none, its keys are still handed on. K and V of a rank are one
 * message. The ring may be a double ring (schedule.h), and its members any ranks at a fixed stride.
 */
#pragma once
#include "kernels/modes/attn_layer.h"

struct attn_ring {
    int n, me, window; /* ranks of the ring, my number in it, ranks of a window (n: plain ring) */
    int first, stride; /* member i is rank first + i * stride */
};

/* c->rows may be any rows that are as many on all members. n = 1 exchanges nothing. */
void attn_ring_forward(struct attn_core *c, const struct attn_ring *ring);
void attn_ring_backward(struct attn_core *c, const struct attn_ring *ring);
/* The plain ring of all ranks: a form's functions. */
void attn_ring_all_forward(struct attn_core *c);
void attn_ring_all_backward(struct attn_core *c);
void attn_ring_all_exchange(const struct cp_shape *s, bool backward, int64_t times, struct expect *x); /* of a double ring, too */
/* `floats`: of K and V of a member's rows, which travel as `t`; their gradients travel as floats. */
void attn_ring_exchange(int n, int64_t floats, enum dtype t, bool backward, int64_t times, struct expect *x);
