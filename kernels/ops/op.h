/* op.h - how an op family is written: a kernel body, its cost, and the call that enqueues it.
 *
 *   struct NAME_args          what one launch needs: pointers to device memory, sizes (at most KERNEL_ARGS_MAX bytes)
 *   void NAME_cpu(args)       the body: plain C, runs the whole kernel on the calling thread, needs no device
 *   struct cost NAME_cost()   flops and bytes of the launch, from the sizes alone
 *   void op_NAME(s, args)     enqueues one launch; the trace shows it as NAME
 *
 * Matrices are row-major [tokens][columns], heads lie side by side inside a row; `ld...` is the distance between rows in
 * floats, so that a column section of a wider matrix can be used in place. Sums run in a fixed order: a body gives the
 * same bits whenever it is called with the same sizes and values, whatever else the process does.
 *
 * Packed tokens: `cu` (device memory) holds nseg + 1 ascending row numbers, cu[0] = 0, cu[nseg] = tokens; segment i is
 * rows cu[i] .. cu[i+1]-1, equal neighbours are empty slots. "First" and "last" segment mean the first and last that are
 * not empty. Parameter gradients are added to (+=) what their buffer holds.
 */
#pragma once
#include "kernels/device/device.h"

/* Makes NAME_kernel out of NAME_cpu and what follows `cpu` in struct kernel: a cost function that several share ... */
#define OP_KERNEL_PRICED(NAME, ...)                                                                                                                  \
    static void NAME##_run(const void *args)                                                                                                         \
    {                                                                                                                                                \
        NAME##_cpu(args);                                                                                                                            \
    }                                                                                                                                                \
    static const struct kernel NAME##_kernel = {#NAME, NAME##_run, __VA_ARGS__}
/* Makes NAME_kernel out of NAME_cpu and NAME_cost, and op_NAME when nothing else must happen around the launch. */
#define OP_KERNEL(NAME)                                                                                                                              \
    static struct cost NAME##_price(const void *args)                                                                                                \
    {                                                                                                                                                \
        return NAME##_cost(args);                                                                                                                    \
    }                                                                                                                                                \
    OP_KERNEL_PRICED(NAME, NAME##_price);                                                                                                            \
    _Static_assert(sizeof(struct NAME##_args) <= KERNEL_ARGS_MAX, "arguments of " #NAME " are too large")
#define OP_DEFINE(NAME)                                                                                                                              \
    OP_KERNEL(NAME);                                                                                                                                 \
    void op_##NAME(struct stream *s, const struct NAME##_args *a)                                                                                    \
    {                                                                                                                                                \
        dev_launch(s, &NAME##_kernel, a, sizeof *a);                                                                                                 \
    }                                                                                                                                                \
    _Static_assert(1, "")

/* What every op declares. */
#define OP_DECLARE(NAME)                                                                                                                             \
    void NAME##_cpu(const struct NAME##_args *a);                                                                                                    \
    struct cost NAME##_cost(const struct NAME##_args *a);                                                                                            \
    void op_##NAME(struct stream *s, const struct NAME##_args *a)
