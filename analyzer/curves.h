/* curves.h - logs of runs as curves: csv files with a column `step`, as cpbench run and cpbench train --log write them. */
#pragma once
#include "reports/plot.h"
#include "schemas/opt.h"

/* Plots `columns` of the files; none given: those of loss, grad_norm and reward* that any file has. ERR_FAIL: a file cannot be
 * read or is no such csv; ERR_USAGE: too many files, or no file has a column; ERR_UNDECIDED: nothing is there to be drawn. */
bool curves_plot(const struct opt_list *files, const struct opt_list *columns, bool logarithmic, enum plot_format f, struct arena *a,
                 struct plot *out, struct err *e);
