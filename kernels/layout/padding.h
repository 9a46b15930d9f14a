/* padding.h - documents padded at their end, so that a zigzag split cuts every one evenly (spec E.3).
 *
 *   a document of 7 at cp 2   | 0 1 | 2 3 | 4 5 | 6 . |     padded to a multiple of 2 cp = 4
 *   rank 0 holds chunks 0 3   valid rows 2 and 1            chunk j has clamp(7 - 2 j, 0, 2) of them
 *
 * The same number for every rank (7 / 2 = 3) would be wrong.
 */
#pragma once
#include "schemas/arena.h"
#include "schemas/err.h"

#include <stdint.h>

struct padding {
    int64_t divisor;         /* 2 cp */
    int64_t *cu, *cu_padded; /* [n + 1], leading 0 */
    int64_t padding;         /* rows added in all */
};

/* Lengths >= 0; ERR_USAGE names what is not. Lives in `a`. */
bool padding_make(struct arena *a, const int64_t *lengths, int64_t n, int cp, struct padding *out, struct err *e);
/* Valid rows of chunk j (0 .. 2 cp - 1) of document i. */
int64_t padding_valid(const struct padding *p, int64_t i, int64_t j);
