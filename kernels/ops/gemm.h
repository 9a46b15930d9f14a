/* gemm.h - dense products through OpenBLAS, row-major, single precision: the projections.
 *
 *   | op      | computes                  | shapes                       | of a projection y = x W^T, W [out][in] |
 *   | gemm_nt | c = a b^T + beta c        | a [m][k], b [n][k], c [m][n] | forward: y = x W^T, m tokens, n out, k in |
 *   | gemm_nn | c = a b + beta c          | a [m][k], b [k][n], c [m][n] | dx = dy W: m tokens, n in, k out |
 *   | gemm_tn | c = a^T b + beta c        | a [k][m], b [k][n], c [m][n] | dW += dy^T x: m out, n in, k tokens, beta 1 |
 *
 * beta 0 overwrites c, whatever it holds. Any size may be 0; k = 0 leaves beta c.
 */
#pragma once
#include "kernels/ops/op.h"

/* Ranks are threads, so each call runs on the thread that makes it. Call once, before the first launch. */
void gemm_init(void);

struct gemm_args {
    const float *a, *b;
    float *c;
    int64_t m, n, k, lda, ldb, ldc;
    float beta;
};

void gemm_nt_cpu(const struct gemm_args *a);
void gemm_nn_cpu(const struct gemm_args *a);
void gemm_tn_cpu(const struct gemm_args *a);
struct cost gemm_cost(const struct gemm_args *a);
void op_gemm_nt(struct stream *s, const struct gemm_args *a);
void op_gemm_nn(struct stream *s, const struct gemm_args *a);
void op_gemm_tn(struct stream *s, const struct gemm_args *a);
