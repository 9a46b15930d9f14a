/* gemm.cu - the projections are one call of cuBLAS each, which counts by columns: c^T = op(b)^T op(a)^T, each matrix seen turned. */
#include "kernels/ops/gemm.h"

#include "kernels/device/cuda_kernel.h"

static void sgemm(struct cuda_call *c, const struct gemm_args *a, cublasOperation_t of_a, cublasOperation_t of_b)
{
    const float one = 1;
    if (a->m <= 0 || a->n <= 0)
        return;
    int lda = a->lda > 0 ? (int)a->lda : 1, ldb = a->ldb > 0 ? (int)a->ldb : 1;
    if (cublasSgemm(c->blas, of_b, of_a, (int)a->n, (int)a->m, (int)a->k, &one, a->b, ldb, a->a, lda, &a->beta, a->c, (int)a->ldc) !=
        CUBLAS_STATUS_SUCCESS)
        c->error = "cuBLAS cannot do a product of these sizes";
}

static void cuda_gemm_nt(struct cuda_call *c, const void *args)
{
    sgemm(c, (const struct gemm_args *)args, CUBLAS_OP_N, CUBLAS_OP_T);
}

static void cuda_gemm_nn(struct cuda_call *c, const void *args)
{
    sgemm(c, (const struct gemm_args *)args, CUBLAS_OP_N, CUBLAS_OP_N);
}

static void cuda_gemm_tn(struct cuda_call *c, const void *args)
{
    sgemm(c, (const struct gemm_args *)args, CUBLAS_OP_T, CUBLAS_OP_N);
}

CUDA_TABLE(gemm) = {CUDA_ROW(gemm_nt), CUDA_ROW(gemm_nn), CUDA_ROW(gemm_tn), {0}};
