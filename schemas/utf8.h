/* utf8.h - characters as bytes and back (RFC 3629); names of foreign traces made into text: what is not UTF-8, and NUL, become
 * U+FFFD. */
#pragma once
#include "schemas/intern.h"

enum { UTF8_MAX = 4 };

/* The code point at p (p < end), 0 when the bytes are none (cut, not the shortest form, a surrogate); *n its bytes, at least 1. */
uint32_t utf8_get(const unsigned char *p, const unsigned char *end, int *n);

/* The bytes of code point c, which must be one, at `to` (no NUL); how many: up to UTF8_MAX. */
size_t utf8_bytes(uint32_t c, char *to);

/* Writes c, or U+FFFD where c is no character; gives the byte behind it. *bad counts the latter. */
char *utf8_put(char *to, uint32_t c, int64_t *bad);

/* s[0 .. n-1] interned as text; *bad counts what was replaced. */
uint32_t utf8_intern(struct intern *t, const char *s, size_t n, struct arena *scratch, int64_t *bad);
