/* hot.h - for the inner loops of kernel bodies: compiled per vector width, and the few functions they share.
 *
 * HOT compiles a function for AVX-512, AVX2 and the baseline; the loader picks one. No contraction and no reordering is
 * allowed, so all of them give the same bits. It is nothing under sanitizers, whose code cannot run before the loader has
 * picked, with clang, whose clones cannot be called from other files, and with nvcc.
 */
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && !defined(__SANITIZE_ADDRESS__) &&                     \
    !defined(__SANITIZE_THREAD__)
/* gcc's -O2 leaves loops of unknown length alone, unless it is told to count the cost. */
#define HOT __attribute__((target_clones("avx512f", "avx2", "default"), optimize("vect-cost-model=dynamic")))
#else
#define HOT
#endif

/* Must become part of the HOT function around it: a call would be to baseline code. On a GPU it is device code. */
#ifdef __CUDACC__
#define HOT_INLINE static __device__ __forceinline__
#else
#define HOT_INLINE static inline __attribute__((always_inline))
#endif

/* e^x within 2 ulp for -87 <= x <= 88; 0 below, e^88 above. Branch-free: x = n ln 2 + r with |r| <= ln 2 / 2, the series
 * of e^r to r^7 (the rest is under 6e-9), times 2^n by its exponent bits. */
HOT_INLINE float exp_f(float x)
{
    float low = x < -87.0f ? -87.0f : x, y = low > 88.0f ? 88.0f : low;
    float shifted = y * 1.44269504f + 12582912.0f; /* 1.5 * 2^23: the fraction is rounded away, n stands in the low bits */
    float n = shifted - 12582912.0f;
    float r = (y - n * 0.693145752f) - n * 1.42860677e-6f; /* ln 2 in two parts: the first has few bits, n times it is exact */
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * (r * r) + r + 1.0f;
    uint32_t bits, power;
    memcpy(&power, &shifted, 4);
    memcpy(&bits, &p, 4);
    bits += power << 23;
    memcpy(&p, &bits, 4);
    return x < -87.0f ? 0.0f : p;
}

HOT_INLINE float sigmoid_f(float x)
{
    return 1.0f / (1.0f + exp_f(-x));
}

/* Sum of x[i] y[i] in double, in eight interleaved parts: a fixed order that vectors can follow. */
HOT_INLINE double dot_f(const float *x, const float *y, int64_t n)
{
    double part[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++)
            part[l] += (double)x[i + l] * y[i + l];
    for (int l = 0; i < n; i++, l++)
        part[l] += (double)x[i] * y[i];
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

HOT_INLINE double sum_f(const float *x, int64_t n)
{
    double part[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++)
            part[l] += x[i + l];
    for (int l = 0; i < n; i++, l++)
        part[l] += x[i];
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}
