/* unit.h - what every unit test includes: cmocka, random numbers with a printed seed, small helpers.
 *
 *     TEST(ivl_union_is_sorted) { ... assert_int_equal(...); }
 *     UNIT_MAIN(UNIT(ivl_union_is_sorted), UNIT(ivl_matches_bitmap))
 *
 * PROP (n) runs its block n times; rnd(k) inside draws from a generator whose seed is printed once (SEED=... repeats it).
 * CASES=K in the environment: one of K cases where there are many; a sanitizer looks at code, not at numbers.
 */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#undef fail
#undef fail_msg
#include "schemas/err.h"

#define fail_msg(...)                                                                                                                                \
    do {                                                                                                                                             \
        print_error(__VA_ARGS__);                                                                                                                    \
        print_error("\n");                                                                                                                           \
        _fail(__FILE__, __LINE__);                                                                                                                   \
    } while (0)

/* Ends the test as skipped; tests/run.sh shows the reason: something that this machine or build cannot have. */
#define skip_because(...)                                                                                                                            \
    do {                                                                                                                                             \
        printf("# skipped: ");                                                                                                                       \
        printf(__VA_ARGS__);                                                                                                                         \
        printf("\n");                                                                                                                                \
        skip();                                                                                                                                      \
    } while (0)

#define TEST(name) static void name(void **state_ __attribute__((unused)))
#define UNIT(name) cmocka_unit_test(name)
#define UNIT_MAIN(...)                                                                                                                               \
    int main(void)                                                                                                                                   \
    {                                                                                                                                                \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                                                                             \
        cmocka_set_message_output(CM_OUTPUT_TAP);                                                                                                    \
        return cmocka_run_group_tests(tests, NULL, NULL) != 0;                                                                                       \
    }

static uint64_t unit_random;

/* A number in 0 .. n-1 (splitmix64). */
static inline uint64_t rnd(uint64_t n)
{
    uint64_t z = (unit_random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % n;
}

static inline double rnd_real(void) /* in [-1, 1) */
{
    return (double)rnd(UINT64_C(1) << 52) / (double)(UINT64_C(1) << 51) - 1.0;
}

static inline int unit_prop(const char *test)
{
    const char *s = getenv("SEED"), *k = getenv("CASES");
    unit_random = s ? strtoull(s, NULL, 10) : 1;
    printf("# %s: SEED=%llu%s%s\n", test, (unsigned long long)unit_random, k ? " CASES=" : "", k ? k : "");
    return 0;
}

/* How many of n cases are run. */
static inline int unit_cases(int n)
{
    enum { FEW = 8 };
    const char *s = getenv("CASES");
    int k = s ? atoi(s) : 1, some = k > 1 ? (n + k - 1) / k : n;
    return some < FEW ? (n < FEW ? n : FEW) : some;
}

#define PROP(n) for (int prop_ = unit_prop(__func__), cases_ = unit_cases(n); prop_ < cases_; prop_++)

/* Fails the test with the message of *e when the call did not succeed. */
#define assert_ok(call, e)                                                                                                                           \
    do {                                                                                                                                             \
        if (!(call))                                                                                                                                 \
            fail_msg("%s: %s", #call, (e)->msg);                                                                                                     \
    } while (0)
