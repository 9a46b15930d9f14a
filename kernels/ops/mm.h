/* mm.h - products of the size of a chunk: c = a b + beta c, row-major; OpenBLAS when large, a loop of our own when small.
 *
 * Which one is decided by the sizes alone, so equal calls give equal bits.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct mm {
    const float *a, *b;
    float *c;
    int m, n, k, lda, ldb, ldc;
    float beta; /* 0 overwrites c, whatever it holds */
};

void mm_nn(const struct mm *x); /* a [m][k], b [k][n] */
void mm_nt(const struct mm *x); /* a [m][k], b [n][k] */
void mm_tn(const struct mm *x); /* a [k][m], b [k][n] */

#define MM_NN(c_, ldc_, beta_, a_, lda_, b_, ldb_, m_, n_, k_)                                                                                       \
    mm_nn(&(struct mm){                                                                                                                              \
        .a = (a_), .b = (b_), .c = (c_), .m = (m_), .n = (n_), .k = (k_), .lda = (lda_), .ldb = (ldb_), .ldc = (ldc_), .beta = (beta_)})
#define MM_NT(c_, ldc_, beta_, a_, lda_, b_, ldb_, m_, n_, k_)                                                                                       \
    mm_nt(&(struct mm){                                                                                                                              \
        .a = (a_), .b = (b_), .c = (c_), .m = (m_), .n = (n_), .k = (k_), .lda = (lda_), .ldb = (ldb_), .ldc = (ldc_), .beta = (beta_)})
#define MM_TN(c_, ldc_, beta_, a_, lda_, b_, ldb_, m_, n_, k_)                                                                                       \
    mm_tn(&(struct mm){                                                                                                                              \
        .a = (a_), .b = (b_), .c = (c_), .m = (m_), .n = (n_), .k = (k_), .lda = (lda_), .ldb = (ldb_), .ldc = (ldc_), .beta = (beta_)})
