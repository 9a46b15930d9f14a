/* explain.h - what the step waits for, in ten lines, the verdict first.
 */
#pragma once
#include "analyzer/trace.h"

#include <stdio.h>

enum { EXPLAIN_LINES = 10 };

/* Ten lines to `out`. False: nothing can be said (ERR_UNDECIDED). */
bool explain_trace(const struct trace *t, FILE *out, struct err *e);
