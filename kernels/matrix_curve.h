/* matrix_curve.h - how far one run's curve is from another's, step by step. */
#pragma once
#include "kernels/matrix.h"

/* Of |ours - base|: the largest, the mean, the median; of |ours - base| / |base|: the largest, and its slope over steps. */
enum curve_how { CURVE_ABS_MAX, CURVE_ABS_MEAN, CURVE_ABS_MEDIAN, CURVE_REL_MAX, CURVE_SLOPE };

/* Over the steps that both have; NAN when there are none, or a value is not there. */
double curve_distance(const struct matrix_csv *ours, const struct matrix_csv *base, const char *column, enum curve_how how);
/* Sorts v; NAN when it is empty. */
double curve_median(double *v, size_t n);
