/* pack.c - rows moved by index, block or column section: the bodies are in pack_body.h. */
#include "kernels/ops/op.h"
#include "kernels/ops/pack_body.h"

static struct cost move_cost(const void *args)
{
    const struct rows_args *x = args;
    return (struct cost){.bytes = (double)x->n * ((double)(2 * x->width) * sizeof(float) + (x->index ? sizeof(int64_t) : 0))};
}

static struct cost add_cost(const void *args)
{
    const struct rows_args *x = args;
    return (struct cost){.flops = (double)x->n * (double)x->width, .bytes = (double)(x->n * x->width) * 3 * sizeof(float)};
}

/* Rows may be named twice: in order, so that sums are repeatable. */
static void rows_scatter_add_cpu(const struct rows_args *x)
{
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t k = 0; k < x->width; k++)
            x->dst[x->index[i] * x->width + k] += x->src[i * x->width + k];
}

OP_KERNEL_PRICED(rows_gather, move_cost);
OP_KERNEL_PRICED(rows_scatter, move_cost);
OP_KERNEL_PRICED(rows_scatter_add, add_cost);
OP_KERNEL_PRICED(rows_copy, move_cost);
OP_KERNEL_PRICED(rows_add, add_cost);

static void launch(struct stream *s, const struct kernel *k, struct rows_args x)
{
    if (x.n > 0 && x.width > 0)
        dev_launch(s, k, &x, sizeof x);
}

void rows_gather(struct stream *s, float *dst, const float *src, const int64_t *index, int64_t n, int64_t width)
{
    launch(s, &rows_gather_kernel, (struct rows_args){.dst = dst, .src = src, .index = index, .n = n, .width = width});
}

void rows_scatter(struct stream *s, float *dst, const float *src, const int64_t *index, int64_t n, int64_t width)
{
    launch(s, &rows_scatter_kernel, (struct rows_args){.dst = dst, .src = src, .index = index, .n = n, .width = width});
}

void rows_scatter_add(struct stream *s, float *dst, const float *src, const int64_t *index, int64_t n, int64_t width)
{
    launch(s, &rows_scatter_add_kernel, (struct rows_args){.dst = dst, .src = src, .index = index, .n = n, .width = width});
}

void rows_copy(struct stream *s, float *dst, int64_t dst_stride, const float *src, int64_t src_stride, int64_t n, int64_t width)
{
    launch(s, &rows_copy_kernel,
           (struct rows_args){.dst = dst, .src = src, .n = n, .width = width, .dst_stride = dst_stride, .src_stride = src_stride});
}

void rows_accumulate(struct stream *s, float *dst, int64_t dst_stride, const float *src, int64_t src_stride, int64_t n, int64_t width)
{
    launch(s, &rows_add_kernel,
           (struct rows_args){.dst = dst, .src = src, .n = n, .width = width, .dst_stride = dst_stride, .src_stride = src_stride});
}

static struct cost concat_cost(const void *args)
{
    const struct rows_concat_args *x = args;
    int64_t rows = 0;
    for (int64_t i = 0; i < x->n; i++)
        rows += x->part[i].rows;
    return (struct cost){.bytes = (double)(2 * rows * x->width) * sizeof(float)};
}

OP_KERNEL_PRICED(rows_concat, concat_cost);
_Static_assert(sizeof(struct rows_concat_args) <= KERNEL_ARGS_MAX, "too many parts");

void rows_concat(struct stream *s, float *dst, const struct rows_part *parts, int64_t n, int64_t width)
{
    for (int64_t i = 0; i < n; i += CONCAT_PARTS) {
        struct rows_concat_args x = {dst, width, n - i < CONCAT_PARTS ? n - i : CONCAT_PARTS};
        memcpy(x.part, parts + i, (size_t)x.n * sizeof *parts);
        for (int64_t k = 0; k < x.n; k++) {
            x.runs += (x.part[k].rows * width + CONCAT_RUN - 1) / CONCAT_RUN;
            dst += x.part[k].rows * width;
        }
        DEV_LAUNCH(s, rows_concat_kernel, x);
    }
}
