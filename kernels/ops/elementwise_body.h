/* elementwise_body.h - one element each. */
#pragma once
#include "kernels/ops/elementwise.h"
#include "kernels/ops/single.h"

SINGLE_EACH(elementwise_add, elementwise_args, a->n)
{
    a->y[i] = a->x[i] + a->z[i];
}

SINGLE_EACH(elementwise_axpy, elementwise_args, a->n)
{
    a->y[i] += a->alpha * a->x[i];
}

SINGLE_EACH(elementwise_fill, elementwise_args, a->n)
{
    a->y[i] = a->alpha;
}
