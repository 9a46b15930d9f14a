/* gemm.c - the projections are one call of OpenBLAS each. */
#include "kernels/ops/gemm.h"

#include <cblas.h>

void gemm_init(void)
{
    openblas_set_num_threads(1);
}

static void sgemm(const struct gemm_args *a, enum CBLAS_TRANSPOSE ta, enum CBLAS_TRANSPOSE tb)
{
    cblas_sgemm(CblasRowMajor, ta, tb, (int)a->m, (int)a->n, (int)a->k, 1, a->a, (int)a->lda, a->b, (int)a->ldb, a->beta, a->c, (int)a->ldc);
}

void gemm_nt_cpu(const struct gemm_args *a)
{
    sgemm(a, CblasNoTrans, CblasTrans);
}

void gemm_nn_cpu(const struct gemm_args *a)
{
    sgemm(a, CblasNoTrans, CblasNoTrans);
}

void gemm_tn_cpu(const struct gemm_args *a)
{
    sgemm(a, CblasTrans, CblasNoTrans);
}

struct cost gemm_cost(const struct gemm_args *a)
{
    double m = (double)a->m, n = (double)a->n, k = (double)a->k;
    return (struct cost){2 * m * n * k, 4 * (m * k + n * k + m * n * (a->beta != 0 ? 2 : 1))};
}

static struct cost price(const void *args)
{
    return gemm_cost(args);
}

/* One struct of arguments serves three kernels. */
#define GEMM_OP(NAME)                                                                                                                                \
    OP_KERNEL_PRICED(NAME, price);                                                                                                                   \
    void op_##NAME(struct stream *s, const struct gemm_args *a)                                                                                      \
    {                                                                                                                                                \
        dev_launch(s, &NAME##_kernel, a, sizeof *a);                                                                                                 \
    }                                                                                                                                                \
    _Static_assert(1, "")

GEMM_OP(gemm_nt);
GEMM_OP(gemm_nn);
GEMM_OP(gemm_tn);
