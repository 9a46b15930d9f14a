/* test_cuda_attention.c - the tests of test_attention.c, run on the kernels of attention*.cu. */
#define CASES_A_CASE 4
#include "cuda_launch.h"
#include "kernels/ops/attention.h"

#define attention_fwd_cpu(...) cuda_launch("attention_fwd", (__VA_ARGS__))
#define attention_bwd_cpu(...) cuda_launch("attention_bwd", (__VA_ARGS__))
#define attention_merge_cpu(...) cuda_launch("attention_merge", (__VA_ARGS__))

#include "test_attention.c"
