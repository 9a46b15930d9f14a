/* pack.c - rows moved by index, block or column section. */
#include "kernels/ops/pack.h"

#include <string.h>

struct rows_args {
    float *dst;
    const float *src;
    const int64_t *index;
    int64_t n, width, dst_stride, src_stride;
};

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

static void run_gather(const void *args)
{
    const struct rows_args *x = args;
    for (int64_t i = 0; i < x->n; i++)
        memcpy(x->dst + i * x->width, x->src + x->index[i] * x->width, (size_t)x->width * sizeof(float));
}

static void run_scatter(const void *args)
{
    const struct rows_args *x = args;
    for (int64_t i = 0; i < x->n; i++)
        memcpy(x->dst + x->index[i] * x->width, x->src + i * x->width, (size_t)x->width * sizeof(float));
}

static void run_scatter_add(const void *args)
{
    const struct rows_args *x = args;
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t k = 0; k < x->width; k++)
            x->dst[x->index[i] * x->width + k] += x->src[i * x->width + k];
}

static void run_copy(const void *args)
{
    const struct rows_args *x = args;
    for (int64_t i = 0; i < x->n; i++)
        memcpy(x->dst + i * x->dst_stride, x->src + i * x->src_stride, (size_t)x->width * sizeof(float));
}

static void run_add(const void *args)
{
    const struct rows_args *x = args;
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t k = 0; k < x->width; k++)
            x->dst[i * x->dst_stride + k] += x->src[i * x->src_stride + k];
}

static const struct kernel kernel_gather = {"rows_gather", run_gather, move_cost};
static const struct kernel kernel_scatter = {"rows_scatter", run_scatter, move_cost};
static const struct kernel kernel_scatter_add = {"rows_scatter_add", run_scatter_add, add_cost};
static const struct kernel kernel_copy = {"rows_copy", run_copy, move_cost};
static const struct kernel kernel_add = {"rows_add", run_add, add_cost};

static void launch(struct stream *s, const struct kernel *k, struct rows_args x)
{
    if (x.n > 0 && x.width > 0)
        dev_launch(s, k, &x, sizeof x);
}

void rows_gather(struct stream *s, float *dst, const float *src, const int64_t *index, int64_t n, int64_t width)
{
    launch(s, &kernel_gather, (struct rows_args){.dst = dst, .src = src, .index = index, .n = n, .width = width});
}

void rows_scatter(struct stream *s, float *dst, const float *src, const int64_t *index, int64_t n, int64_t width)
{
    launch(s, &kernel_scatter, (struct rows_args){.dst = dst, .src = src, .index = index, .n = n, .width = width});
}

void rows_scatter_add(struct stream *s, float *dst, const float *src, const int64_t *index, int64_t n, int64_t width)
{
    launch(s, &kernel_scatter_add, (struct rows_args){.dst = dst, .src = src, .index = index, .n = n, .width = width});
}

void rows_copy(struct stream *s, float *dst, int64_t dst_stride, const float *src, int64_t src_stride, int64_t n, int64_t width)
{
    launch(s, &kernel_copy, (struct rows_args){.dst = dst, .src = src, .n = n, .width = width, .dst_stride = dst_stride, .src_stride = src_stride});
}

void rows_accumulate(struct stream *s, float *dst, int64_t dst_stride, const float *src, int64_t src_stride, int64_t n, int64_t width)
{
    launch(s, &kernel_add, (struct rows_args){.dst = dst, .src = src, .n = n, .width = width, .dst_stride = dst_stride, .src_stride = src_stride});
}

enum { PARTS = 12 }; /* what fits the arguments of one launch */

struct concat_args {
    float *dst;
    int64_t width, n;
    struct rows_part part[PARTS];
};
_Static_assert(sizeof(struct concat_args) <= KERNEL_ARGS_MAX, "too many parts");

static void run_concat(const void *args)
{
    const struct concat_args *x = args;
    float *dst = x->dst;
    for (int64_t i = 0; i < x->n; dst += x->part[i++].rows * x->width)
        if (x->part[i].rows > 0)
            memcpy(dst, x->part[i].src, (size_t)(x->part[i].rows * x->width) * sizeof(float));
}

static struct cost concat_cost(const void *args)
{
    const struct concat_args *x = args;
    int64_t rows = 0;
    for (int64_t i = 0; i < x->n; i++)
        rows += x->part[i].rows;
    return (struct cost){.bytes = (double)(2 * rows * x->width) * sizeof(float)};
}

static const struct kernel kernel_concat = {"rows_concat", run_concat, concat_cost};

void rows_concat(struct stream *s, float *dst, const struct rows_part *parts, int64_t n, int64_t width)
{
    for (int64_t i = 0; i < n; i += PARTS) {
        struct concat_args x = {dst, width, n - i < PARTS ? n - i : PARTS};
        memcpy(x.part, parts + i, (size_t)x.n * sizeof *parts);
        for (int64_t k = 0; k < x.n; k++)
            dst += x.part[k].rows * width;
        DEV_LAUNCH(s, kernel_concat, x);
    }
}
