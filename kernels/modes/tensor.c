/* tensor.c - see tensor.h. */
#include "kernels/modes/tensor.h"
#include "kernels/modes/expect.h"
#include "schemas/marker.h"

#include <inttypes.h>

/* Floats of x, y, dx, dy on one rank, and on the whole TP group. */
static int64_t own(const struct cp_shape *s)
{
    return shape_own_rows(s) * s->hidden;
}

static int64_t all(const struct cp_shape *s)
{
    return shape_rows(s) * s->hidden;
}

const float *tensor_gather(struct cp_rank *r, struct devpool *pool, const float *x)
{
    if (!r->tp)
        return x;
    DEV_RANGE(r->device, RANGE_TP_EXCHANGE, -1);
    float *whole = devpool_rows(pool, all(r->shape));
    comm_all_gather_rows(r->tp, r->stream, x, whole, own(r->shape));
    return whole;
}

float *tensor_part(struct cp_rank *r, struct devpool *pool, float *y)
{
    return r->tp ? devpool_rows(pool, all(r->shape)) : y;
}

void tensor_scatter(struct cp_rank *r, const float *part, float *y)
{
    if (r->tp) {
        DEV_RANGE(r->device, RANGE_TP_EXCHANGE, -1);
        comm_reduce_scatter_rows(r->tp, r->stream, part, y, own(r->shape));
    }
    op_round(r->stream, r->shape->dtype, y, own(r->shape));
}

/* Without a group a mode rounds its own results. */
bool tensor_forward(const struct cp_mode *mode, struct cp_rank *r, const struct layer_tensors *w, const float *x, float *y, struct layer_state *st,
                    struct err *e)
{
    struct devpool pool;
    if (!r->tp)
        return mode->forward(r, w, x, y, st, e);
    devpool_init(&pool, r->device);
    float *part = tensor_part(r, &pool, y);
    bool ok = mode->forward(r, w, tensor_gather(r, &pool, x), part, st, e);
    if (ok)
        tensor_scatter(r, part, y);
    devpool_free(&pool);
    return ok;
}

bool tensor_backward(const struct cp_mode *mode, struct cp_rank *r, const struct layer_tensors *w, const struct layer_tensors *grad, const float *x,
                     const float *dy, float *dx, struct layer_state *st, struct err *e)
{
    struct devpool pool;
    if (!r->tp)
        return mode->backward(r, w, grad, x, dy, dx, st, e);
    devpool_init(&pool, r->device);
    float *part = tensor_part(r, &pool, dx);
    const float *whole_x = tensor_gather(r, &pool, x), *whole_dy = tensor_gather(r, &pool, dy);
    bool ok = mode->backward(r, w, grad, whole_x, whole_dy, part, st, e);
    if (ok)
        tensor_scatter(r, part, dx);
    devpool_free(&pool);
    return ok;
}

/* ---- shapes ---- */

static const struct heads {
    enum cp_op op;
    const char *option;
    size_t at;
} heads[] = {{OP_GDN, "kheads", offsetof(struct cp_shape, kheads)},
             {OP_GDN, "vheads", offsetof(struct cp_shape, vheads)},
             {OP_ATTN, "qheads", offsetof(struct cp_shape, qheads)},
             {OP_ATTN, "kvheads", offsetof(struct cp_shape, kvheads)}};

bool tensor_split(struct cp_shape *s, enum cp_op op, int64_t tp, struct err *e)
{
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        int64_t *n = (int64_t *)((char *)s + heads[i].at);
        if (heads[i].op != op)
            continue;
        if (*n % tp)
            return fail(e, ERR_USAGE, "--%s %" PRId64 " is not divisible by --tp %" PRId64 ": every rank of a TP group takes its share of the heads",
                        heads[i].option, *n, tp);
        *n /= tp;
    }
    return true;
}

bool tensor_check_rows(const struct cp_shape *s, int64_t tp, struct err *e)
{
    return shape_rows(s) % tp == 0 || fail(e, ERR_USAGE,
                                           "--tokens %" PRId64 " over --cp %d gives %" PRId64 " rows, not divisible by --tp %" PRId64
                                           ": every rank of a TP group holds its share of the rows",
                                           s->tokens, s->cp, shape_rows(s), tp);
}

/* A gather and a scatter forward; backward two gathers and a scatter. */
void tensor_expect(const struct cp_shape *s, struct expect *x)
{
    int64_t forwards = expect_forwards(s), backwards = s->layers * s->microbatches, bytes = own(s) * dtype_size(s->dtype);
    if (shape_tp(s) == 1)
        return;
    expect_tp(x, "all_gather", forwards + 2 * backwards, (forwards + 2 * backwards) * bytes);
    expect_tp(x, "reduce_scatter", forwards + backwards, (forwards + backwards) * (s->tp - 1) * bytes);
}
