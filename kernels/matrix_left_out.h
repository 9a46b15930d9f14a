/* matrix_left_out.h - left-out errors of an experiment, which `cpbench calibrate` prints and the file keeps, and the fit they are of.
 *
 *     left_out_of = 5f0c...        in the head: a hash of the machine's constants, of the fitted cells and of these errors
 *
 * A machine fitted anew, another figure of the seed or an error changed by hand gives another hash.
 */
#pragma once
#include "kernels/matrix.h"

#include <stdio.h>

/* NULL: there are no left-out errors, or they are of this fit. Else what a page says of them. Lives in `a`. */
char *left_out_stale(const struct matrix *m, struct arena *a);
/* The text of the experiment with the errors that calibrate printed into `fit`, and their hash. ERR_USAGE when that is no such
 * csv, or is of other constants or cells than those of the experiment and its machine. */
bool left_out_write(const struct matrix *m, const char *fit, FILE *out, struct err *e);
