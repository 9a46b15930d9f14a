/* test_noise.c - the bootstrap: its interval holds the true difference about as often as it says, and is repeatable. */
#include "tests/unit.h"
#include "analyzer/noise.h"

TEST(median_of_odd_and_even)
{
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2}, one[] = {7};
    assert_true(median_of(odd, 3) == 2 && median_of(even, 4) == 2.5 && median_of(one, 1) == 7);
}

TEST(equal_samples_have_no_width)
{
    struct arena a = {0};
    double m[] = {5, 5, 5, 5}, b[] = {4, 4, 4};
    struct noise d = noise_of(m, 4, b, 3, 1.25, 0, &a);
    assert_true(d.low == 0 && d.high == 0);
    d = noise_of(m, 4, NULL, 0, 1, 3, &a);
    assert_true(d.low == 2 && d.high == 2);
    arena_free(&a);
}

/* A/A: of 300 pairs of seven runs each, the interval excludes 0 in few; a shift far over the noise is always seen. */
TEST(false_alarms_are_few_and_real_shifts_are_seen)
{
    int alarms = 0, seen = 0;
    PROP(300)
    {
        struct arena a = {0};
        double m[7], b[7], s[7];
        for (int i = 0; i < 7; i++) {
            m[i] = 100 + rnd_real();
            b[i] = 100 + rnd_real();
            s[i] = m[i] + 5;
        }
        struct noise same = noise_of(m, 7, b, 7, 1, 0, &a), again = noise_of(m, 7, b, 7, 1, 0, &a), moved = noise_of(s, 7, b, 7, 1, 0, &a);
        assert_true(same.low == again.low && same.high == again.high && same.low <= same.high);
        alarms += same.low > 0 || same.high < 0;
        seen += moved.low > 0;
        arena_free(&a);
    }
    int cases = unit_cases(300);
    if (alarms * 10 > cases || seen != cases)
        fail_msg("%d false alarms, %d shifts seen, of %d", alarms, seen, cases);
}

UNIT_MAIN(UNIT(median_of_odd_and_even), UNIT(equal_samples_have_no_width), UNIT(false_alarms_are_few_and_real_shifts_are_seen))
