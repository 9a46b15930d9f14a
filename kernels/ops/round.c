/* round.c - rounding on the host and as a kernel: the body is in round_body.h. */
#include "kernels/ops/op.h"
#include "kernels/ops/round_body.h"

const char *dtype_name(enum dtype t)
{
    static const char *const names[] = {[DTYPE_FP32] = "fp32", [DTYPE_BF16] = "bf16", [DTYPE_FP16] = "fp16"};
    return names[t];
}

float dtype_round(enum dtype t, float x)
{
    return round_to(t, x);
}

void dtype_round_host(enum dtype t, float *v, int64_t n)
{
    for (int64_t i = 0; t != DTYPE_FP32 && i < n; i++)
        v[i] = dtype_round(t, v[i]);
}

static struct cost round_cost(const struct round_args *a)
{
    return (struct cost){0, 8.0 * (double)a->n};
}

OP_KERNEL(round);

void op_round(struct stream *s, enum dtype t, float *v, int64_t n)
{
    if (t != DTYPE_FP32 && n > 0 && !device_stores_narrow(stream_device(s)))
        DEV_LAUNCH(s, round_kernel, (struct round_args){v, n, t});
}
