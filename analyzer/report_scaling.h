/* report_scaling.h - the plot of several recordings against their size. */
#pragma once
#include "analyzer/trace.h"
#include "reports/plot.h"

/* Each file or folder is a recording of its own. against: "ranks", "tokens", or NULL: ranks where they differ, else tokens.
 * ERR_UNDECIDED: no steps, another backend, or tokens that a trace does not have. */
bool report_plot_scaling(const struct opt_list *files, const char *against, const struct trace_opts *to, enum plot_format f, struct arena *a,
                         struct plot *out, struct err *e);
