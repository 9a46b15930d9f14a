/* index_body.h - integer arithmetic on arrays: what one element does, and counts by a row of lanes. */
#pragma once
#include "kernels/ops/index.h"
#include "kernels/ops/single.h"

/* What every one of them takes; a body looks at what it needs. */
struct index_args {
    void *out;
    const void *a, *b, *c;
    int64_t n, m, value;
    int op;
    double moved; /* bytes read and written, for the cost */
};

#define INDEX_OUT ((int64_t *)a->out)[i]
#define INDEX_A ((const int64_t *)a->a)[i]
#define INDEX_B ((const int64_t *)a->b)[i]

SINGLE_EACH(index_arange, index_args, a->n)
{
    INDEX_OUT = a->value + i;
}

SINGLE_EACH(index_diff, index_args, a->n)
{
    const int64_t *in = (const int64_t *)a->a;
    INDEX_OUT = in[i + 1] - in[i];
}

/* One kernel an operation, with a number and with an array, for the trace shows which it was. */
#define INDEX_OP(NAME, RESULT)                                                                                                                       \
    HOT_INLINE int64_t index_##NAME##_of(int64_t x, int64_t y)                                                                                       \
    {                                                                                                                                                \
        return (RESULT);                                                                                                                             \
    }                                                                                                                                                \
    SINGLE_EACH(index_##NAME##_scalar, index_args, a->n)                                                                                             \
    {                                                                                                                                                \
        INDEX_OUT = index_##NAME##_of(INDEX_A, a->value);                                                                                            \
    }                                                                                                                                                \
    SINGLE_EACH(index_##NAME, index_args, a->n)                                                                                                      \
    {                                                                                                                                                \
        INDEX_OUT = index_##NAME##_of(INDEX_A, INDEX_B);                                                                                             \
    }

INDEX_OP(add, x + y)
INDEX_OP(sub, x - y)
INDEX_OP(rsub, y - x)
INDEX_OP(mul, x *y)
INDEX_OP(div, x / y)
INDEX_OP(mod, x % y)

HOT_INLINE bool index_holds(int cmp, int64_t x, int64_t y)
{
    return cmp == INDEX_EQ ? x == y : cmp == INDEX_NE ? x != y : cmp == INDEX_LT ? x < y : x > y;
}

SINGLE_EACH(index_compare, index_args, a->n)
{
    ((uint8_t *)a->out)[i] = index_holds(a->op, INDEX_A, a->value);
}

SINGLE_EACH(index_where, index_args, a->n)
{
    INDEX_OUT = ((const uint8_t *)a->a)[i] ? INDEX_B : ((const int64_t *)a->c)[i];
}

SINGLE_ROWS(index_any, index_args, 1)
{
    const uint8_t *mask = (const uint8_t *)a->a;
    int64_t found = 0;
    (void)row;
    ROW_EACH (i, a->n)
        found += mask[i] != 0;
    found = row_total(found);
    if (ROW_ONCE)
        *(uint8_t *)a->out = found > 0;
}

SINGLE_ROWS(index_differences, index_args, 1)
{
    int64_t found = 0;
    (void)row;
    ROW_EACH (i, a->n)
        found += INDEX_A != INDEX_B;
    found = row_total(found);
    if (ROW_ONCE)
        *(int64_t *)a->out = found;
}

SINGLE_EACH(index_bucketize, index_args, a->n)
{
    const int64_t *bounds = (const int64_t *)a->b, value = INDEX_A;
    int64_t low = 0, high = a->m;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (bounds[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    INDEX_OUT = low;
}

SINGLE_EACH(index_gather, index_args, a->n)
{
    INDEX_OUT = ((const int64_t *)a->a)[INDEX_B];
}

SINGLE_EACH(index_scatter, index_args, a->n)
{
    ((int64_t *)a->out)[INDEX_B] = INDEX_A;
}

SINGLE_EACH(index_scatter_value, index_args, a->n)
{
    ((int64_t *)a->out)[INDEX_B] = a->value;
}
