/* test_cuda_ops.c - the tests of test_ops.c, run on the kernels of .cu files. */
#include "cuda_launch.h"
#include "kernels/ops/elementwise.h"
#include "kernels/ops/gemm.h"

static void gemm_nn_cuda(const struct gemm_args *a)
{
    cuda_launch("gemm_nn", a);
}

static void gemm_nt_cuda(const struct gemm_args *a)
{
    cuda_launch("gemm_nt", a);
}

static void gemm_tn_cuda(const struct gemm_args *a)
{
    cuda_launch("gemm_tn", a);
}

#include "kernels/ops/gates.h"
#include "kernels/ops/l2norm.h"
#include "kernels/ops/norm.h"

#define gemm_nn_cpu gemm_nn_cuda
#define gemm_nt_cpu gemm_nt_cuda
#define gemm_tn_cpu gemm_tn_cuda
#define gate_fwd_cpu(...) cuda_launch("gate_fwd", (__VA_ARGS__))
#define gate_bwd_cpu(...) cuda_launch("gate_bwd", (__VA_ARGS__))
#define l2norm_fwd_cpu(...) cuda_launch("l2norm_fwd", (__VA_ARGS__))
#define l2norm_bwd_cpu(...) cuda_launch("l2norm_bwd", (__VA_ARGS__))
#define norm_fwd_cpu(...) cuda_launch("norm_fwd", (__VA_ARGS__))
#define norm_bwd_cpu(...) cuda_launch("norm_bwd", (__VA_ARGS__))
#define elementwise_add_cpu(...) cuda_launch("elementwise_add", (__VA_ARGS__))
#define elementwise_axpy_cpu(...) cuda_launch("elementwise_axpy", (__VA_ARGS__))
#define elementwise_fill_cpu(...) cuda_launch("elementwise_fill", (__VA_ARGS__))
#define elementwise_sumsq_cpu(...) cuda_launch("elementwise_sumsq", (__VA_ARGS__))
#define concat_blocks_cpu(...) cuda_launch("concat_blocks", (__VA_ARGS__))
#define concat_parts_cpu(...) cuda_launch("concat_parts", (__VA_ARGS__))

#include "test_ops.c"
