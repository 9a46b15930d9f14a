/* gdn_swaps.h - layout conversions of a layer: into its pools, with the routes that backward needs. */
#pragma once
#include "kernels/modes/mode.h"

struct gdn_swaps {
    struct route *in, *out; /* of the conversion to contiguous, and back */
};

void gdn_swaps_release(struct gdn_swaps *s);

/* x (rows, width) in layout `source` -> the other layout, in st->pool; NULL when rejected. The route is kept in *s when a
 * backward follows. In the range of the direction. */
float *gdn_swap(struct cp_rank *r, struct layer_state *st, struct gdn_swaps *s, enum layout source, const float *x, int64_t width, struct err *e);
/* Gradient of the conversion from `source`; in `pool`, or dy itself. */
float *gdn_swap_back(struct cp_rank *r, struct devpool *pool, const struct gdn_swaps *s, enum layout source, const float *dy, int64_t width);
