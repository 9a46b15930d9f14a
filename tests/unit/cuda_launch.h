/* cuda_launch.h - kernels of .cu files called as though they were the cpu's bodies, on the stand-in for a GPU (tests/fake/cuda):
 * the tests of the bodies then are tests of the kernels. Half of the launches let the last thread of a block come first, so
 * that what depends on the order of threads shows.
 *
 *   #define attention_fwd_cpu(...) cuda_launch("attention_fwd", (__VA_ARGS__))
 */
#pragma once
#include "kernels/device/cuda_kernel.h"
#include "unit.h"

extern const struct cuda_kernel *const cuda_tables[];

static void *cuda_scratch_last; /* of the launch that runs */

void *cuda_scratch(struct cuda_call *c, size_t bytes)
{
    (void)c;
    cuda_scratch_last = malloc(bytes + 1);
    memset(cuda_scratch_last, 0xff, bytes + 1); /* NaN: what was not written is found */
    return cuda_scratch_last;
}

static inline const struct cuda_kernel *cuda_find(const char *name)
{
    for (int i = 0; cuda_tables[i]; i++)
        for (const struct cuda_kernel *k = cuda_tables[i]; k->name; k++)
            if (strcmp(k->name, name) == 0)
                return k;
    fail_msg("no launcher %s", name);
    return NULL;
}

static inline void cuda_launch(const char *name, const void *args)
{
    struct cuda_call c = {0};
    cublasCreate(&c.blas);
    cuda_find(name)->launch(&c, args);
    cublasDestroy(c.blas);
    free(cuda_scratch_last);
    cuda_scratch_last = NULL;
    if (c.error)
        fail_msg("%s: %s", name, c.error);
}

/* A thread of a block is a coroutine here: where that takes long, a test defines how many cases are one. */
#ifndef CASES_A_CASE
#define CASES_A_CASE 1
#endif
#undef PROP
#define PROP(n) for (int prop_ = unit_prop(__func__), cases_ = unit_cases(((n) + CASES_A_CASE - 1) / CASES_A_CASE); prop_ < cases_; prop_++)
