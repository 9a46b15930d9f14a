/* matrix_figure.h - figures of an experiment's tables, one by one, and what they say together: what text, csv and page share. */
#pragma once
#include "kernels/matrix_claim.h"

#include <stdio.h>

/* One figure of a run beside the seed's; NAN: there is none. */
struct figure {
    const struct matrix_measure *measure;
    const char *name;
    double ours, seed;
    double error;                 /* (ours - seed) / seed, percent; 0 when both are 0, NAN when only the seed is, and of distances */
    double left_out;              /* the same of a fit without it */
    double spread;                /* (largest - smallest) / smallest of the repeats, percent; NAN with one run */
    bool fitted, judged, outside; /* judged: predicted time with a seed where the experiment has a limit; outside: beyond it */
};

/* Calls `row` at the begin and end of every run of a table, and `figure` for each of its measures in between. */
void figures_each(const struct matrix_result *r, const struct matrix_table *t, void (*row)(void *ctx, const struct matrix_run *run, bool begins),
                  void (*figure)(void *ctx, const struct figure *f), void *ctx);

/* Does the table show the run? */
bool figure_shown(const struct matrix_table *t, const struct matrix_run *run);
/* The title of a run; where another table shows it too, with that of its own before: "S1 chunkwise". Lives in `a`. */
const char *figure_row_title(const struct matrix_table *t, const struct matrix_run *r, struct arena *a);
/* "resolve syncs" */
void figure_label(const char *measure, char *text, size_t size);
/* A value as the measure prints it; "-" when it is not there. */
void figure_number(const struct matrix_measure *is, double v, char *text, size_t size);
/* "fitted", "predicted", "measured": what one figure is. */
const char *figure_role(const struct matrix *m, const struct matrix_run *r, const char *measure);
/* What a row of a table is: "counted" where all its measures are exact, else the role, with the fitted measures named where others
 * are not, and whether a model gave it: "span s fitted, rest predicted, modelled". Lives in `a`. */
char *figure_row_role(const struct matrix *m, const struct matrix_table *t, const struct matrix_run *r, struct arena *a);

/* Closes what was written, NULL: could not be opened; ERR_FAIL when not all of it is there. */
bool matrix_close(FILE *f, const char *path, struct err *e);

/* How far repeats were apart; NULL with one of each. Lives in `a`. */
char *figures_repeats(const struct matrix_result *r, const struct matrix_table *t, struct arena *a);
/* The verdict on the whole experiment: its claims, then counts, predicted and fitted times against the seed's. Ends with a line
 * whose text is NULL. Lives in `a`. */
struct verdict *figures_verdict(const struct matrix_result *r, struct arena *a);
