/* draw.h - random numbers that any rank can make on its own: each stream is named by what it is for.
 *
 * A stream starts from (seed, purpose, two indices) and is splitmix64 from there (Steele, Lea, Flood 2014). The same
 * name gives the same numbers on every rank, for every cp size and layout.
 */
#pragma once
#include <stdint.h>

enum draw_purpose { DRAW_LENGTHS = 1, DRAW_PARAMS, DRAW_TOKENS, DRAW_SHORTER, DRAW_NET };

struct draw {
    uint64_t state;
};

static inline uint64_t draw_u64(struct draw *d)
{
    uint64_t z = (d->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline struct draw draw_from(uint64_t seed, enum draw_purpose purpose, int64_t i, int64_t j)
{
    struct draw d = {seed};
    const uint64_t name[] = {(uint64_t)purpose, (uint64_t)i, (uint64_t)j};
    for (int k = 0; k < 3; k++)
        d.state = draw_u64(&d) ^ (name[k] * UINT64_C(0xd6e8feb86659fd93));
    return d;
}

/* Uniform in [0, 1), 24 bits: the same value as a float and as a double. */
static inline double draw_unit(struct draw *d)
{
    return (double)(draw_u64(d) >> 40) / (double)(1 << 24);
}

/* Uniform in [-1, 1). */
static inline double draw_signed(struct draw *d)
{
    return 2 * draw_unit(d) - 1;
}
