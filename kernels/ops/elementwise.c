/* elementwise.c - bodies of one line (elementwise_body.h) and a sum. */
#include "kernels/ops/elementwise_body.h"

/* FLOPS and BYTES are per element. */
#define ELEMENTWISE(NAME, FLOPS, BYTES)                                                                                                              \
    static struct cost NAME##_price(const void *args)                                                                                                \
    {                                                                                                                                                \
        double n = (double)((const struct elementwise_args *)args)->n;                                                                               \
        return (struct cost){(FLOPS)*n, (BYTES)*n};                                                                                                  \
    }                                                                                                                                                \
    OP_KERNEL_PRICED(elementwise_##NAME, NAME##_price)

ELEMENTWISE(add, 1, 12);
ELEMENTWISE(axpy, 2, 12);
ELEMENTWISE(fill, 0, 4);

void op_elementwise_add(struct stream *s, const float *x, const float *z, float *y, int64_t n)
{
    DEV_LAUNCH(s, elementwise_add_kernel, (struct elementwise_args){.x = x, .z = z, .y = y, .n = n});
}

void op_elementwise_axpy(struct stream *s, float alpha, const float *x, float *y, int64_t n)
{
    DEV_LAUNCH(s, elementwise_axpy_kernel, (struct elementwise_args){.x = x, .y = y, .n = n, .alpha = alpha});
}

void op_elementwise_fill(struct stream *s, float alpha, float *y, int64_t n)
{
    DEV_LAUNCH(s, elementwise_fill_kernel, (struct elementwise_args){.y = y, .n = n, .alpha = alpha});
}

HOT void elementwise_sumsq_cpu(const struct elementwise_sumsq_args *a)
{
    float slope = (float)(2 * a->factor);
    *a->sum += a->factor * dot_f(a->x, a->x, a->n);
    if (a->dx)
        for (int64_t i = 0; i < a->n; i++)
            a->dx[i] = slope * a->x[i];
}

struct cost elementwise_sumsq_cost(const struct elementwise_sumsq_args *a)
{
    double n = (double)a->n;
    return (struct cost){(a->dx ? 3 : 2) * n, (a->dx ? 8 : 4) * n + 16};
}

OP_DEFINE(elementwise_sumsq);
