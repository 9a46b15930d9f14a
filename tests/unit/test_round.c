/* test_round.c - rounding to bf16 and fp16 against lists of all their values. */
#include "unit.h"

#include "kernels/comm/narrow.h"
#include "kernels/ops/round.h"

#include <math.h>

/* The value of a 16-bit pattern with `exponent` exponent bits. */
static double value_of(unsigned bits, int exponent)
{
    int fraction = 15 - exponent, bias = (1 << (exponent - 1)) - 1;
    int e = (int)(bits >> fraction) & ((1 << exponent) - 1), f = (int)bits & ((1 << fraction) - 1);
    if (e == (1 << exponent) - 1)
        return f ? NAN : INFINITY;
    return ldexp(e ? f + (1 << fraction) : f, (e ? e : 1) - bias - fraction);
}

/* Nearest of all positive patterns, ties to the even one; patterns ascend with their values. */
static double nearest(double x, int exponent)
{
    unsigned low = 0, high = (unsigned)((1 << exponent) - 1) << (15 - exponent); /* infinity */
    double most = value_of(high - 1, exponent), beyond = most + (most - value_of(high - 2, exponent)) / 2;
    if (x >= beyond)
        return INFINITY;
    high--;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        *(value_of(middle, exponent) <= x ? &low : &high) = middle;
    }
    double below = x - value_of(low, exponent), above = value_of(high, exponent) - x;
    return value_of(below < above || (below == above && low % 2 == 0) ? low : high, exponent);
}

static void check(enum dtype t, int exponent, float x)
{
    double want = copysign(nearest(fabs((double)x), exponent), (double)x);
    float got = dtype_round(t, x);
    if ((double)got != want || signbit(got) != signbit(x))
        fail_msg("%s of %a is %a, want %a", dtype_name(t), (double)x, (double)got, want);
    assert_true(dtype_round(t, got) == got);
}

TEST(nearest_of_all_values)
{
    PROP(20000)
    {
        float x = (float)ldexp(rnd_real(), (int)rnd(60) - 40);
        check(DTYPE_FP16, 5, x);
        check(DTYPE_BF16, 8, x);
    }
}

TEST(ties_and_ends)
{
    for (unsigned i = 0; i + 1 < 0x7c00; i += 7) {
        double x = value_of(i, 5), y = value_of(i + 1, 5);
        check(DTYPE_FP16, 5, (float)((x + y) / 2));
        check(DTYPE_FP16, 5, (float)-x);
    }
    for (unsigned i = 0x3000; i < 0x5000; i += 3)
        check(DTYPE_BF16, 8, (float)((value_of(i, 8) + value_of(i + 1, 8)) / 2));
    check(DTYPE_FP16, 5, 65519.0f);
    check(DTYPE_FP16, 5, 65520.0f);
    check(DTYPE_FP16, 5, 0x1p-25f);
    assert_true(isinf(dtype_round(DTYPE_FP16, INFINITY)) && isnan(dtype_round(DTYPE_BF16, NAN)));
    assert_true(dtype_round(DTYPE_FP32, 0.1f) == 0.1f);
}

/* What a narrow transfer sends is what comes. */
TEST(narrow_and_back)
{
    static const float edges[] = {0, -0.0f, 1, -1, 65504, 0x1p-24f, -0x1p-24f, 0x1.ff8p-15f, 0x1p-14f, INFINITY, -INFINITY};
    for (int t = DTYPE_BF16; t <= DTYPE_FP16; t++) {
        for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
            float x = dtype_round((enum dtype)t, edges[i]), y = widen_of((enum dtype)t, narrow_of((enum dtype)t, x));
            assert_memory_equal(&x, &y, sizeof x);
        }
        assert_true(isnan(widen_of((enum dtype)t, narrow_of((enum dtype)t, NAN))));
    }
    PROP(5000)
    {
        enum dtype t = rnd(2) ? DTYPE_BF16 : DTYPE_FP16;
        float x = dtype_round(t, ldexpf((float)rnd_real(), (int)rnd(50) - 30)), y = widen_of(t, narrow_of(t, x));
        assert_memory_equal(&x, &y, sizeof x);
    }
}

UNIT_MAIN(UNIT(narrow_and_back), UNIT(nearest_of_all_values), UNIT(ties_and_ends))
