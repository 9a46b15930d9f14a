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
/* Zigzag rows, and shards that are wide enough. ERR_USAGE. */
bool gdn_swaps_check(const struct cp_shape *s, struct err *e);

/* What a shard between two conversions must show, of rows that are `in` and `out` wide, whose [S | M] goes to everybody. */
void gdn_swaps_expect(struct expect *x, const struct cp_shape *s, int rank, int64_t in, int64_t out);

/* Gradient of the conversion from `source`; in `pool`, or dy itself. */
float *gdn_swap_back(struct cp_rank *r, struct devpool *pool, const struct gdn_swaps *s, enum layout source, const float *dy, int64_t width);
