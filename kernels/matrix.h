/* matrix.h - experiments: files under kernels/matrices that say what to run, what the seed measured, and how to lay it out.
 *
 *     title = ...            intro = ...           machine = h200x8        fit = gemm_share framework_op_ns   cells = step_s
 *     [defaults]             args = train --config 9b --device sim
 *     [table S1]             title = ...   measures = step_s tok_per_s ratio   base = s1-headwise
 *     [run s1-chunkwise]     table = S1   title = chunkwise   args = --mode gdn.chunkwise ...   role = predicted
 *                            seed.step_s = 6.70            record = yes           refuses = what the refusal says
 *                            left_out.step_s = 3.1         (percent: the error of a fit without this cell: matrix_left_out.h)
 *
 *     [claim all-agree]      title = losses agree   holds = S1/loss_rel <= 1e-4       (matrix_claim.h)
 *
 * A table that says `also = s1-chunkwise ...` shows these runs of other tables too; `curve = linear log`: losses and gradient norms
 * are drawn on these axes. `limit = 15` in the head: the page says which predicted times are farther than so many percent from the
 * seed's.
 *
 * A run's arguments follow those of the defaults, unless it gives a whole `command`; a run without a table is a help for others (the base of a ratio).
 * role: what the numbers of a run are to the seed's. `fitted`: the machine's constants were chosen for those that `cells` names
 * (step_s, and what follows from it, when it is not given), its others were not looked at; `predicted`: none was; `measured`:
 * run for real here; counts are exact whatever the role.
 */
#pragma once
#include "schemas/arena.h"
#include "schemas/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum matrix_role { ROLE_MEASURED, ROLE_FITTED, ROLE_PREDICTED };

struct matrix_value { /* a figure of the seed, or what a fit without it makes of it */
    const char *measure;
    double value;
};
struct matrix_values {
    struct matrix_value *v;
    size_t n, cap;
};

struct matrix_run {
    const char *name, *title, *table, *args, *command, *refuses;
    enum matrix_role role;
    bool record;
    struct matrix_values seed, left_out;
    int line;
};

struct matrix_table {
    const char *name, *title, *measures, *base, *note, *curve, *also;
    int line;
};

struct matrix_claim {
    const char *name, *title, *holds;
    int line;
};

struct matrix {
    const char *from, *title, *intro, *machine, *fit, *cells, *left_out_of, *defaults;
    int cells_line;
    double limit; /* percent within which predicted times should lie; 0: they are not judged */
    struct matrix_run *runs;
    struct matrix_table *tables;
    struct matrix_claim *claims;
    size_t nruns, runs_cap, ntables, tables_cap, nclaims, claims_cap;
};

/* A shipped experiment by name, or a file. Lives in `a`. ERR_USAGE with file:line: unknown keys, sections, roles, measures;
 * tables and bases that are not there. */
bool matrix_load(struct matrix *m, const char *name_or_file, struct arena *a, struct err *e);
void matrix_free(struct matrix *m);
const struct matrix_run *matrix_find(const struct matrix *m, const char *name);
double matrix_seed(const struct matrix_run *r, const char *measure);     /* the seed's figure of a run; NAN when it has none */
double matrix_left_out(const struct matrix_run *r, const char *measure); /* error in percent of a fit without it; NAN: not said */
/* Is it, or what it follows from, one of the `cells` of a fitted run? */
bool matrix_fitted(const struct matrix *m, const struct matrix_run *r, const char *measure);
bool matrix_listed(const char *list, const char *word);                   /* is it one of the words of a list that blanks part? */
bool matrix_modelled(const struct matrix *m, const struct matrix_run *r); /* does it run on sim? */

/* ---- runs ---- */

/* Rows of csv files that these programs wrote: no field has a comma or a quote. */
struct matrix_csv {
    char *text, **cells; /* [rows + 1][columns], the header first */
    size_t rows, columns;
};
bool matrix_csv_read(struct matrix_csv *c, const char *path, struct err *e);
void matrix_csv_free(struct matrix_csv *c);
/* Number in a row (0 .. rows-1); NAN when the column is not there or empty. */
double matrix_csv_at(const struct matrix_csv *c, size_t row, const char *column);
const char *matrix_csv_text(const struct matrix_csv *c, size_t row, const char *column); /* "" when it is not there */

struct matrix_job {
    const char *folder;   /* where outputs go: RUN.csv, RUN.err, RUN.sqlite, RUN.TABLE.csv */
    const char *machine;  /* a file or name for --machine of sim runs; NULL: what the arguments say */
    const char *programs; /* folder of cpbench and cpscope */
    const char *extra;    /* arguments behind the run's own; NULL: none */
    bool plain;           /* nothing is recorded, whatever the runs say */
    bool brief;           /* of a recording, the summary alone is made */
};

/* Runs it, recorded when it says so, and the tables of its recording. A run that `refuses` must end with status 2 and those
 * words. ERR_FAIL with the last line that it wrote to standard error otherwise. `copy`: number of a repeat, part of file names. */
bool matrix_run_one(const struct matrix *m, const struct matrix_run *r, const struct matrix_job *job, int copy, struct err *e);
/* Path of an output of a run: RUN[.copy].WHAT in the folder. Lives in `a`. */
char *matrix_path(const struct matrix_job *job, const struct matrix_run *r, int copy, const char *what, struct arena *a);

/* ---- measures ---- */

struct matrix_measure {
    const char *name, *label, *format; /* printf of a double */
    bool exact;                        /* a count: follows from code that ran, on any backend */
    bool recorded;                     /* read off a recording */
    const char *extra;                 /* read off a table that is made for those alone who ask: ranks, waits */
    double slack;                      /* percent: what follows from a formula on both sides agrees within it; 0: equal, or a time */
    bool distance;                     /* the seed's is a bound: ours is not wrong by being smaller */
    const char *follows;               /* the measure that it is only another form of; NULL: none */
};
/* NULL: there is none of that name. "sync:FUNCTION", "wait:FUNCTION" and "calls:CLASS" are families. */
const struct matrix_measure *matrix_measure_find(const char *name);
/* Of a run that was made, against its table's base; NAN: not in this run. */
double matrix_measure(const struct matrix *m, const struct matrix_run *r, const char *name, const struct matrix_job *job, int copy);

/* ---- results ---- */

struct matrix_result {
    const struct matrix *m;
    const struct matrix_job *job;
    int repeats;
};
void matrix_print(const struct matrix_result *r); /* text, on standard output */
bool matrix_write_csv(const struct matrix_result *r,
                      struct err *e); /* NAME.csv: table,run,measure,ours,seed,error_pct,role,kind,spread_pct,left_out_error_pct */
bool matrix_write_page(const struct matrix_result *r, struct err *e); /* index.html, with plots of curves */
