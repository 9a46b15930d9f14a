/* mm.c - the small products. Tiles of 4 rows by 16 columns stay in registers while k runs; a is read as single numbers,
 * so its transpose is a matter of two strides; b is transposed into a buffer first where it must be.
 */
#include "kernels/ops/mm.h"
#include "kernels/ops/hot.h"

#include <cblas.h>

enum { ROWS = 4, COLS = 16, SMALL_MNK = 24 * 24 * 24, SMALL_B = 64 * 64 };

struct small { /* a(i, l) = a[i * a_row + l * a_col] */
    const float *a, *b;
    float *c;
    int m, n, k;
    int64_t a_row, a_col, ldb, ldc;
    float beta;
};

HOT_INLINE void store(float *c, const float *acc, int n, float beta)
{
    if (beta == 0)
        for (int j = 0; j < n; j++)
            c[j] = acc[j];
    else
        for (int j = 0; j < n; j++)
            c[j] = beta * c[j] + acc[j];
}

HOT_INLINE void tile(const struct small *x, int i, int j)
{
    float acc[ROWS][COLS] = {{0}};
    const float *a = x->a + i * x->a_row, *b = x->b + j;
    for (int l = 0; l < x->k; l++, a += x->a_col, b += x->ldb)
        for (int r = 0; r < ROWS; r++) {
            float f = a[r * x->a_row];
            for (int q = 0; q < COLS; q++)
                acc[r][q] += f * b[q];
        }
    for (int r = 0; r < ROWS; r++)
        store(x->c + (i + r) * x->ldc + j, acc[r], COLS, x->beta);
}

/* What whole tiles leave over: one row, any number of columns under 16. */
HOT_INLINE void edge(const struct small *x, int i, int j, int n)
{
    float acc[COLS] = {0};
    const float *a = x->a + i * x->a_row, *b = x->b + j;
    for (int l = 0; l < x->k; l++, a += x->a_col, b += x->ldb)
        for (int q = 0; q < n; q++)
            acc[q] += *a * b[q];
    store(x->c + i * x->ldc + j, acc, n, x->beta);
}

HOT static void small_mm(const struct small *x)
{
    for (int j = 0; j < x->n; j += COLS) {
        int n = x->n - j < COLS ? x->n - j : COLS, i = 0;
        if (n == COLS)
            for (; i + ROWS <= x->m; i += ROWS)
                tile(x, i, j);
        for (; i < x->m; i++)
            edge(x, i, j, n);
    }
}

static bool is_small(const struct mm *x)
{
    return (int64_t)x->m * x->n * x->k <= SMALL_MNK;
}

static void large(const struct mm *x, enum CBLAS_TRANSPOSE ta, enum CBLAS_TRANSPOSE tb)
{
    cblas_sgemm(CblasRowMajor, ta, tb, x->m, x->n, x->k, 1, x->a, x->lda, x->b, x->ldb, x->beta, x->c, x->ldc);
}

void mm_nn(const struct mm *x)
{
    if (is_small(x))
        small_mm(&(struct small){x->a, x->b, x->c, x->m, x->n, x->k, x->lda, 1, x->ldb, x->ldc, x->beta});
    else
        large(x, CblasNoTrans, CblasNoTrans);
}

void mm_tn(const struct mm *x)
{
    if (is_small(x))
        small_mm(&(struct small){x->a, x->b, x->c, x->m, x->n, x->k, 1, x->lda, x->ldb, x->ldc, x->beta});
    else
        large(x, CblasTrans, CblasNoTrans);
}

void mm_nt(const struct mm *x)
{
    if (!is_small(x) || (int64_t)x->n * x->k > SMALL_B) {
        large(x, CblasNoTrans, CblasTrans);
        return;
    }
    float bt[SMALL_B];
    for (int j = 0; j < x->n; j++)
        for (int l = 0; l < x->k; l++)
            bt[l * x->n + j] = x->b[(int64_t)j * x->ldb + l];
    small_mm(&(struct small){x->a, bt, x->c, x->m, x->n, x->k, x->lda, 1, x->n, x->ldc, x->beta});
}
