/* swap.h - one layout conversion of a layer, whatever the route (--route): what modes call.
 *
 *   forward   y = swap_forward(&ctx, LAYOUT_ZIGZAG, x, rows, width, &saved, e)
 *   backward  dx = swap_backward(&ctx, saved, dy, width), then route_release(saved)
 *
 * The caller's own range (RANGE_ZIGZAG_TO_CONTIGUOUS ...) encloses the call; thd_route and the five layout ranges are
 * inside. With cp 1 both return their argument itself, which is not to be freed twice.
 */
#pragma once
#include "kernels/layout/cache.h"

enum route_kind { ROUTE_NAIVE, ROUTE_INTERVAL, ROUTE_PREBUILT, ROUTE_ENCODED };

struct swap_ctx {
    struct comm *comm; /* the CP group: cp and rank come from it */
    struct stream *stream;
    struct packed_seqs *packed;
    /* PREBUILT: as interval; the data side calls route_prebuild() when the object is made. ENCODED: as interval, but kept as
     * one flat device tensor and decoded at every forward conversion (route_use_encoded). */
    enum route_kind kind;
    bool blocks; /* applied block by block as the naive route always is (route_use_blocks) */
};

/* x [rows][width] in layout `source` -> the other layout: new device memory, or x itself for cp 1. *saved, when asked for
 * (not NULL), is what backward needs, NULL for cp 1; a first forward that will be recomputed asks for none. NULL when
 * rejected, before any communication; with cp > 1 always while the stream is being captured: what a conversion does
 * depends on boundaries that a captured graph would freeze. */
float *swap_forward(const struct swap_ctx *ctx, enum layout source, const float *x, int64_t rows, int64_t width, struct route **saved, struct err *e);
/* Gradient of the forward that gave `saved`. Reads nothing. */
float *swap_backward(const struct swap_ctx *ctx, const struct route *saved, const float *dy, int64_t width);
