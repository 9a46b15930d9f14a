/* layout_oracle.h - which rank holds a token, one token at a time: too simple to be wrong (spec D.1). */
#pragma once
#include "kernels/layout/zigzag.h"

#include <assert.h>

enum { ORACLE_MAX_ENTRIES = 24, ORACLE_MAX_TOKENS = 4096 };

struct boundary_set {
    int64_t cu[ORACLE_MAX_ENTRIES], entries;
};

/* The rank that holds token t. */
static inline int oracle_rank(const struct boundary_set *b, int cp, int64_t t, enum layout l)
{
    int64_t total = b->cu[b->entries - 1], i = 0;
    if (l == LAYOUT_CONTIGUOUS)
        return (int)(t / (total / cp));
    while (!(b->cu[i] <= t && t < b->cu[i + 1]))
        i++;
    int64_t chunk = (t - b->cu[i]) / ((b->cu[i + 1] - b->cu[i]) / (2 * cp));
    return (int)(chunk < cp ? chunk : 2 * cp - 1 - chunk);
}

/* Tokens of a rank in ascending order; returns how many. */
static inline int64_t oracle_rows(const struct boundary_set *b, int cp, int rank, enum layout l, int64_t *rows)
{
    int64_t n = 0;
    for (int64_t t = 0; t < b->cu[b->entries - 1]; t++)
        if (oracle_rank(b, cp, t, l) == rank)
            rows[n++] = t;
    return n;
}

/* Boundaries of n lengths, each times `unit`. */
static inline struct boundary_set boundaries_of(const int64_t *lengths, int n, int64_t unit)
{
    struct boundary_set b = {.entries = n + 1};
    for (int i = 0; i < n; i++)
        b.cu[i + 1] = b.cu[i] + unit * lengths[i];
    assert(n < ORACLE_MAX_ENTRIES && b.cu[n] <= ORACLE_MAX_TOKENS);
    return b;
}

/* The packings that the upstream tests use, in units of 2 cp tokens: single, uneven, with empty slots. */
static const struct {
    int n;
    int64_t lengths[8];
} oracle_sets[] = {{1, {1}},       {1, {7}},          {3, {1, 2, 3}},          {4, {3, 1, 1, 2}},
                   {3, {3, 1, 2}}, {4, {2, 0, 1, 3}}, {6, {0, 4, 0, 1, 0, 0}}, {5, {9, 1, 1, 1, 1}}};
enum { ORACLE_SETS = sizeof oracle_sets / sizeof *oracle_sets };

static inline struct boundary_set oracle_set(int which, int cp)
{
    return boundaries_of(oracle_sets[which].lengths, oracle_sets[which].n, 2 * cp);
}

#define random_boundaries(cp)                                                                                                                        \
    __extension__({                                                                                                                                  \
        int64_t lengths_[8];                                                                                                                         \
        int n_ = 1 + (int)rnd(7);                                                                                                                    \
        for (int i_ = 0; i_ < n_; i_++)                                                                                                              \
            lengths_[i_] = (int64_t)(rnd(4) ? 1 + rnd(12) : 0);                                                                                      \
        boundaries_of(lengths_, n_, 2 * (cp));                                                                                                       \
    })
