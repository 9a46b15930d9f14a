/* decimal.h - decimal text to integers, exactly: no double is on the way.
 *
 * At 1.7e15 us a double has a grid of 0.25 us, so a time that went through one is wrong by up to 125 ns.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* s[0 .. n-1] times 10^shift, rounded half to even. Takes "12", "12.345", "-1.5e+15", and what exporters print for a
 * negative time, "-0.-12": there the part behind ".-" counts thousandths. False: not a number, or beyond int64. */
bool decimal_scaled(const char *s, size_t n, int shift, int64_t *value);

/* A whole number within int64 and nothing else. */
bool decimal_int(const char *s, size_t n, int64_t *value);

/* The same, also as programs write it that know real numbers only: "7.0", "1e3". */
bool decimal_whole(const char *s, size_t n, int64_t *value);
