/* Decimal text to ns, against 128-bit arithmetic on numbers whose digits we choose. */
#include "analyzer/decimal.h"
#include "unit.h"

static int64_t scaled(const char *s, int shift)
{
    int64_t v = -777;
    if (!decimal_scaled(s, strlen(s), shift, &v))
        fail_msg("%s: refused", s);
    return v;
}

static void refused(const char *s, int shift)
{
    int64_t v;
    if (decimal_scaled(s, strlen(s), shift, &v))
        fail_msg("%s: taken as %lld", s, (long long)v);
}

TEST(times_of_real_traces)
{
    assert_int_equal(scaled("1700000000000000.125", 3), INT64_C(1700000000000000125)); /* a double would give ...000 */
    assert_int_equal(scaled("4212936085387.172", 3), INT64_C(4212936085387172));
    assert_int_equal(scaled("1661203462598738", 3), INT64_C(1661203462598738000));
    assert_int_equal(scaled("68.0", 3), 68000);
    assert_int_equal(scaled("0", 3), 0);
    assert_int_equal(scaled(".5", 3), 500);
    assert_int_equal(scaled("7.", 3), 7000);
    assert_int_equal(scaled("1.5e+15", 3), INT64_C(1500000000000000000));
    assert_int_equal(scaled("1682725898236567E0", 3), INT64_C(1682725898236567000));
    assert_int_equal(scaled("12345e-5", 3), 123);
    assert_int_equal(scaled("0e999999", 3), 0);
}

TEST(halves_go_to_the_even_neighbour)
{
    assert_int_equal(scaled("0.0005", 3), 0);
    assert_int_equal(scaled("0.0015", 3), 2);
    assert_int_equal(scaled("0.0025", 3), 2);
    assert_int_equal(scaled("0.00250000000000001", 3), 3);
    assert_int_equal(scaled("0.0024999999999999999999999999999999999999999", 3), 2);
    assert_int_equal(scaled("-0.0015", 3), -2);
    assert_int_equal(scaled("-0.0025", 3), -2);
    assert_int_equal(scaled("0.00005", 3), 0);
    assert_int_equal(scaled("5e-4", 3), 0);
    assert_int_equal(scaled("51e-5", 3), 1);
}

TEST(negative_times_as_exporters_print_them)
{
    assert_int_equal(scaled("-0.-12", 3), -12);
    assert_int_equal(scaled("-0.-05", 3), -5);
    assert_int_equal(scaled("0.-12", 3), -12);
    assert_int_equal(scaled("-7.-123", 3), -7123);
    assert_int_equal(scaled("-7.123", 3), -7123);
    refused("-7.-", 3);
    refused("1.-2", 6);
}

TEST(what_is_no_number_or_too_large)
{
    static const char *const bad[] = {"", "-", ".", "-.", "1.2.3", "1e", "1e+", "e5", "abc", "1a", "0x10", " 1", "1 ", "NaN", "--1", "1e9999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(bad[i], 3);
    assert_int_equal(scaled("9223372036854775.807", 3), INT64_MAX);
    refused("9223372036854775.808", 3);
    refused("9223372036854775.8075", 3); /* rounds to 2^63 */
    refused("18446744073709551617000", 0);
    refused("1e30", 3);
}

TEST(whole_numbers)
{
    int64_t v;
    assert_true(decimal_int("9223372036854775807", 19, &v) && v == INT64_MAX);
    assert_true(decimal_int("-12", 3, &v) && v == -12);
    assert_true(decimal_int("123456", 3, &v) && v == 123); /* only n bytes */
    assert_false(decimal_int("9223372036854775808", 19, &v));
    assert_false(decimal_int("12.0", 4, &v));
    assert_false(decimal_int("", 0, &v));
    assert_false(decimal_int("-", 1, &v));
    assert_true(decimal_whole("7.0", 3, &v) && v == 7);
    assert_true(decimal_whole("-12", 3, &v) && v == -12);
    assert_true(decimal_whole("1.25e3", 6, &v) && v == 1250);
    assert_true(decimal_whole("0.0", 3, &v) && v == 0);
    assert_true(decimal_whole("900e-2", 6, &v) && v == 9);
    assert_false(decimal_whole("7.5", 3, &v) || decimal_whole("1.25e1", 6, &v) || decimal_whole("1e-1", 4, &v) || decimal_whole("1e19", 4, &v));
    assert_false(decimal_whole("", 0, &v) || decimal_whole("7.0x", 4, &v) || decimal_whole("-0.-12", 6, &v));
}

/* A number of d digits with its point anywhere, times 10^shift: exact in 128 bits, where the half is seen at once. */
TEST(any_number_equals_wide_arithmetic)
{
    PROP(200000)
    {
        char s[64];
        int digits = 1 + (int)rnd(17), behind = (int)rnd(12), shift = (int)rnd(7);
        int64_t n = 0;
        for (int i = 0; i < digits; i++)
            n = n * 10 + (int64_t)(rnd(4) ? rnd(10) : rnd(2) * 5);
        int64_t scale = 1;
        for (int i = 0; i < behind; i++)
            scale *= 10;
        bool minus = rnd(2);
        snprintf(s, sizeof s, "%s%lld.%0*lld", minus ? "-" : "", (long long)(n / scale), behind, (long long)(n % scale));
        if (behind == 0)
            *strchr(s, '.') = '\0';
        __int128 wide = n;
        for (int i = 0; i < shift; i++)
            wide *= 10;
        __int128 whole = wide / scale, rest = wide % scale;
        if (2 * rest > scale || (2 * rest == scale && whole % 2))
            whole++;
        int64_t v = 0, want = (int64_t)(minus ? -whole : whole);
        bool fits = whole <= INT64_MAX;
        if (decimal_scaled(s, strlen(s), shift, &v) != fits || (fits && v != want))
            fail_msg("%s shifted by %d: %lld, want %lld", s, shift, (long long)v, (long long)want);
    }
}

UNIT_MAIN(UNIT(times_of_real_traces), UNIT(halves_go_to_the_even_neighbour), UNIT(negative_times_as_exporters_print_them),
          UNIT(what_is_no_number_or_too_large), UNIT(whole_numbers), UNIT(any_number_equals_wide_arithmetic))
