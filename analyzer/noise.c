/* noise.c - bootstrap of a difference of medians. */
#include "analyzer/noise.h"

#include <stdint.h>
#include <stdlib.h>

enum { RESAMPLES = 4000 };

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

double median_of(double *v, size_t n)
{
    qsort(v, n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static uint64_t next(uint64_t *state) /* splitmix64: the same input gives the same verdict */
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double resampled(const double *v, size_t n, double *room, uint64_t *state)
{
    for (size_t i = 0; i < n; i++)
        room[i] = v[next(state) % n];
    return median_of(room, n);
}

struct noise noise_of(const double *measured, size_t nm, const double *base, size_t nb, double mul, double add, struct arena *a)
{
    double *d = arena_array(a, double, RESAMPLES), *room = arena_array(a, double, nm > nb ? nm : nb);
    uint64_t state = 1;
    for (int i = 0; i < RESAMPLES; i++) {
        double m = resampled(measured, nm, room, &state);
        double b = nb ? resampled(base, nb, room, &state) : 0;
        d[i] = m - (b * mul + add);
    }
    qsort(d, RESAMPLES, sizeof *d, by_value);
    return (struct noise){d[RESAMPLES / 40], d[RESAMPLES - 1 - RESAMPLES / 40]};
}
