/* swap.c - a conversion by either route; interval and prebuilt differ only in who built the cached route. */
#include "kernels/layout/swap.h"
#include "kernels/layout/route_naive.h"

static float *by_interval(const struct swap_ctx *ctx, enum layout source, const float *x, int64_t rows, int64_t width, struct route **saved,
                          struct err *e)
{
    float *y = NULL;
    struct route *r = route_get(ctx->packed, ctx->stream, comm_size(ctx->comm), comm_rank(ctx->comm), source, e);
    if (!r)
        return NULL;
    if (route_check_rows(r->rows, r->rows, rows, e)) {
        if (ctx->blocks && !r->blocks)
            route_use_blocks(r, ctx->stream);
        if (ctx->kind == ROUTE_ENCODED)
            route_use_encoded(r, ctx->stream);
        y = route_apply(r, ctx->comm, ctx->stream, x, width);
        if (saved)
            *saved = route_retain(r);
    }
    route_release(r);
    return y;
}

float *swap_forward(const struct swap_ctx *ctx, enum layout source, const float *x, int64_t rows, int64_t width, struct route **saved, struct err *e)
{
    if (saved)
        *saved = NULL;
    if (comm_size(ctx->comm) == 1)
        return (float *)x;
    if (dev_capturing(ctx->stream)) {
        fail(e, ERR_USAGE, "layout conversion of packed sequences while the stream is being captured: the boundaries would be frozen into the graph");
        return NULL;
    }
    if (ctx->kind == ROUTE_NAIVE)
        return zigzag_contiguous_swap(ctx->comm, ctx->stream, packed_layout(ctx->packed), source, x, rows, width, saved, e);
    return by_interval(ctx, source, x, rows, width, saved, e);
}

float *swap_backward(const struct swap_ctx *ctx, const struct route *saved, const float *dy, int64_t width)
{
    if (!saved)
        return (float *)dy;
    return route_apply_transposed(saved, ctx->comm, ctx->stream, dy, width);
}
