/* modes_run.h - what the tests of modes share: layers that must not fail, packings, random tensors. */
#pragma once
#include "tests/unit.h"

#include "kernels/model/layer_run.h"
#include "kernels/modes/gdn_core.h"

#include <math.h>

/* Walks the modes of one operator. */
#define EACH_MODE(m, which)                                                                                                                          \
    for (const struct cp_mode *const *m = modes; *m; m++)                                                                                            \
        if ((*m)->op == (which))

/* Fails the test when the mode does. */
static inline struct layer_result layer_run(const struct layer_case *c, struct arena *a)
{
    struct layer_result out;
    struct err e = {0};
    if (!layer_try(c, &out, a, &e))
        fail_msg("%s, cp %d: %s", c->mode->name, c->shape.cp, e.msg);
    return out;
}

/* |got - want|_2 / |want|_2; of two zeros 0. */
static inline double rel_l2(const float *got, const float *want, int64_t n)
{
    double num = 0, den = 0;
    for (int64_t i = 0; i < n; i++) {
        num += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
        den += (double)want[i] * want[i];
    }
    return num == 0 ? 0 : sqrt(num / den);
}

static inline struct packing pack_of(struct arena *a, const int64_t *lengths, int64_t n)
{
    struct packing p = {.cu = arena_array(a, int64_t, n + 1), .sequences = n};
    for (int64_t i = 0; i < n; i++)
        p.cu[i + 1] = p.cu[i] + lengths[i];
    p.total = p.cu[n];
    return p;
}

static inline float *random_floats(struct arena *a, int64_t n)
{
    float *v = arena_array(a, float, n);
    for (int64_t i = 0; i < n; i++)
        v[i] = (float)rnd_real();
    return v;
}
