/* ivl.h - sets of half-open intervals [start, end) of nanoseconds.
 *
 * A set is sorted, disjoint, without touching neighbours and free of empty intervals; every function below takes sets
 * and gives sets. Results live in the arena given; inputs are not changed. Linear in the number of intervals.
 */
#pragma once
#include "schemas/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct ivl {
    int64_t start, end;
};

struct ivlset {
    struct ivl *v;
    size_t n;
};

/* Makes a set of any intervals: sorts and merges in place, no new memory. Empty and reversed ones go. */
struct ivlset ivl_from(struct ivl *v, size_t n);
struct ivlset ivl_one(struct arena *a, int64_t start, int64_t end); /* empty when end <= start */

int64_t ivl_len(struct ivlset x); /* ns covered */
struct ivlset ivl_and(struct arena *a, struct ivlset x, struct ivlset y);
struct ivlset ivl_or(struct arena *a, struct ivlset x, struct ivlset y);
struct ivlset ivl_sub(struct arena *a, struct ivlset x, struct ivlset y); /* x without y */

/* ns of x within [start, end); O(log n + hits). */
int64_t ivl_within(struct ivlset x, int64_t start, int64_t end);
/* Does [start, end) touch the set? A point (end == start) does when it lies in one of the set's closed intervals. */
bool ivl_touches(struct ivlset x, int64_t start, int64_t end);
/* The first interval whose end lies after t; x.n when none. */
size_t ivl_find(struct ivlset x, int64_t t);
