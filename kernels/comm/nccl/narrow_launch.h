/* narrow_launch.h - floats that hold values of a 16-bit type made narrow and wide again, on a stream: narrow.cu. */
#pragma once
#include "kernels/ops/round.h"

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
void narrow_launch(cudaStream_t stream, enum dtype t, uint16_t *to, const float *from, int64_t n);
/* to[i] = from[i] + from[n + i] + ... over `parts`, in that order, as floats. */
void widen_launch(cudaStream_t stream, enum dtype t, float *to, const uint16_t *from, int64_t n, int parts);
#ifdef __cplusplus
}
#endif
