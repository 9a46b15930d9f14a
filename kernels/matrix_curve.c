/* matrix_curve.c - see matrix_curve.h. */
#include "kernels/matrix_curve.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *x, const void *y)
{
    const double *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

double curve_median(double *v, size_t n)
{
    if (!n)
        return NAN;
    qsort(v, n, sizeof *v, ascending);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Least squares. */
static double slope_of(const double *v, size_t n)
{
    double x = 0, y = 0, xx = 0, xy = 0, count = (double)n;
    for (size_t i = 0; i < n; i++) {
        double at = (double)i;
        x += at, y += v[i], xx += at * at, xy += at * v[i];
    }
    return n > 1 ? (count * xy - x * y) / (count * xx - x * x) : NAN;
}

/* A value that is not there makes both so. */
static double largest(const double *v, size_t n, double *sum)
{
    double most = n ? 0 : NAN;
    *sum = 0;
    for (size_t i = 0; i < n; i++) {
        most = isnan(v[i]) || isnan(most) ? NAN : fmax(most, v[i]);
        *sum += v[i];
    }
    return most;
}

static double reduce(double *v, size_t n, enum curve_how how)
{
    double sum, most = largest(v, n, &sum);
    if (isnan(most))
        return NAN;
    switch (how) {
    case CURVE_ABS_MAX:
    case CURVE_REL_MAX:
        return most;
    case CURVE_ABS_MEAN:
        return sum / (double)n;
    case CURVE_ABS_MEDIAN:
        return curve_median(v, n);
    case CURVE_SLOPE:
        return slope_of(v, n);
    }
    return NAN;
}

double curve_distance(const struct matrix_csv *ours, const struct matrix_csv *base, const char *column, enum curve_how how)
{
    size_t n = ours->rows < base->rows ? ours->rows : base->rows;
    double *v = calloc(n + 1, sizeof *v);
    for (size_t i = 0; v && i < n; i++) {
        double want = matrix_csv_at(base, i, column), d = fabs(matrix_csv_at(ours, i, column) - want);
        v[i] = how == CURVE_REL_MAX || how == CURVE_SLOPE ? d / fabs(want) : d;
    }
    double out = v ? reduce(v, n, how) : NAN;
    free(v);
    return out;
}
