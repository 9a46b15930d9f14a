/* rotary_body.h - a pair of a head of a row at a time. Angles are double: positions go beyond what a float's sine bears. */
#pragma once
#include "kernels/ops/rotary.h"
#include "kernels/ops/single.h"

SINGLE_EACH(rotary, rotary_args, a->rows * a->heads * (a->turned / 2))
{
    int64_t half = a->turned / 2, j = i % half, head = i / half, row = head / a->heads;
    float *x = a->x + head * a->dim, low = x[j], high = x[j + half];
    double angle = (double)a->positions[row] * pow((double)a->base, -2.0 * (double)j / a->turned);
    float c = (float)cos(angle), s = a->sign * (float)sin(angle);
    x[j] = low * c - high * s;
    x[j + half] = high * c + low * s;
}
