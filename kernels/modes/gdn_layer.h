/* gdn_layer.h - a GDN layer whose projections run on the local shard, around a middle that a mode provides.
 *
 *   x --in_proj--> proj (rows, in width) --middle--> m (rows, out width) --out_proj--> y
 *
 * Projections are token-wise and the same in every mode (spec C); the middle is where modes differ.
 */
#pragma once
#include "kernels/modes/gdn_core.h"

/* What a GDN mode keeps of a layer, first part. */
struct gdn_kept {
    float *proj; /* (rows, in width), entry layout */
    float *m;    /* (rows, out width), entry layout */
    void *middle;
};

struct gdn_middle {
    /* proj -> m, both (rows, ...) in the entry layout and in st->pool or not to be freed; NULL on failure. What backward
     * needs goes to *kept (in st->arena). */
    float *(*forward)(struct cp_rank *r, const struct layer_tensors *w, struct layer_state *st, const float *proj, void **kept, struct err *e);
    /* dm (may be overwritten) -> dproj, in `pool`; parameter gradients += . NULL on failure. */
    float *(*backward)(struct cp_rank *r, const struct layer_tensors *grad, void *kept, struct devpool *pool, float *dm, struct err *e);
    bool resolves; /* a layer's forward resolves the boundaries first (mode_resolve) */
};

bool gdn_layer_forward(const struct gdn_middle *middle, struct cp_rank *r, const struct layer_tensors *w, const float *x, float *y,
                       struct layer_state *st, struct err *e);
bool gdn_layer_backward(const struct gdn_middle *middle, struct cp_rank *r, const struct layer_tensors *w, const struct layer_tensors *grad,
                        const float *x, const float *dy, float *dx, struct layer_state *st, struct err *e);

/* The same of a mode that is its own middle, with cp 1 the one below. */
bool gdn_mode_forward(const struct gdn_middle *own, struct cp_rank *r, const struct layer_tensors *w, const float *x, float *y,
                      struct layer_state *st, struct err *e);
bool gdn_mode_backward(const struct gdn_middle *own, struct cp_rank *r, const struct layer_tensors *w, const struct layer_tensors *grad,
                       const float *x, const float *dy, float *dx, struct layer_state *st, struct err *e);
/* forward and backward of such a mode, for its descriptor. */
#define GDN_MODE(MIDDLE)                                                                                                                             \
    static bool forward(struct cp_rank *r, const struct layer_tensors *w, const float *x, float *y, struct layer_state *st, struct err *e)           \
    {                                                                                                                                                \
        return gdn_mode_forward(&MIDDLE, r, w, x, y, st, e);                                                                                         \
    }                                                                                                                                                \
    static bool backward(struct cp_rank *r, const struct layer_tensors *w, const struct layer_tensors *grad, const float *x, const float *dy,        \
                         float *dx, struct layer_state *st, struct err *e)                                                                           \
    {                                                                                                                                                \
        return gdn_mode_backward(&MIDDLE, r, w, grad, x, dy, dx, st, e);                                                                             \
    }

/* The middle on one rank: the packed sequences as they are, nothing exchanged. What every GDN mode is with cp 1. */
extern const struct gdn_middle gdn_middle_local;

struct expect;
/* Projections of the local shard and the core of `tokens` tokens with `vheads` heads, over a step. */
void gdn_expect_flops(struct expect *x, const struct cp_shape *s, double tokens, double vheads);
