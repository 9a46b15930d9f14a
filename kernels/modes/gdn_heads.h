/* gdn_heads.h - a share of the heads: which columns and weights belong to a rank that works on all tokens with some heads.
 *
 *   w_conv rows   | q0 q1 | k0 k1 | v0 v1 |      rank 0 takes | q0 | k0 | v0 |: every section is cut by itself (spec C.1)
 */
#pragma once
#include "kernels/modes/gdn_core.h"

enum gdn_section { GDN_Q, GDN_K, GDN_V, GDN_Z, GDN_B, GDN_A, GDN_SECTIONS };

/* Columns of a projected row, section by section, all heads. */
void gdn_section_widths(const struct cp_shape *s, int64_t widths[GDN_SECTIONS]);

/* Key heads divide over the ranks (then so do value heads). ERR_USAGE. */
bool gdn_heads_check(const struct cp_shape *s, struct err *e);

/* Turns a core of all heads into one of the rank's share: head counts, conv weights (copied), gate parameters. */
void gdn_heads_weights(struct cp_rank *r, struct gdn_core *c);
/* Points the gradients at the share's places in `grad`, those of the conv at a cleared buffer in `pool`, which
 * gdn_heads_add() adds to its rows of `grad` once backward is enqueued. */
void gdn_heads_grads(struct cp_rank *r, struct gdn_core *c, const struct layer_tensors *grad, struct devpool *pool);
void gdn_heads_add(struct cp_rank *r, const struct gdn_core *c, const struct layer_tensors *grad);

/* What a layer of shared heads must show whose rows travel once to the heads and once back, `width` floats in all. */
void gdn_heads_expect(struct expect *x, const struct cp_shape *s, int64_t width);
