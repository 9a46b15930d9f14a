/* test_cuda_conv1d.c - the tests of test_ops_conv1d.c, run on the kernels of conv1d.cu. */
#include "cuda_launch.h"
#include "kernels/ops/conv1d.h"

#define conv1d_fwd_cpu(...) cuda_launch("conv1d_fwd", (__VA_ARGS__))
#define conv1d_bwd_cpu(...) cuda_launch("conv1d_bwd", (__VA_ARGS__))

#include "test_ops_conv1d.c"
