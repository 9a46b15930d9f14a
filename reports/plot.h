/* plot.h - plots by gnuplot, as text of an SVG or bytes of a PNG.
 *
 * gnuplot runs as a child with pipes: script and data go in on its stdin, the picture comes out of its stdout; there are no
 * files. Names are data there, never commands, and are made harmless first. The SVG is cleaned: no titles, ids, versions or
 * unused definitions, so the same data gives the same bytes and several fit on one page. Text in it is text.
 */
#pragma once
#include "schemas/arena.h"
#include "schemas/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum plot_format {
    PLOT_INLINE, /* SVG to stand in a page: no XML head, transparent, text in the page's colour */
    PLOT_SVG,    /* SVG file on white */
    PLOT_PNG,
};

struct plot {
    char *data; /* of the arena given; NUL-terminated beyond n */
    size_t n;
};

/* ---- the kinds ---- */

/* One bar: where the window of one device went. The four parts add up to the window. */
struct plot_bar {
    const char *label;
    int64_t compute_ns, comm_ns, copy_ns, idle_ns; /* comm, copy: only where nothing of the left runs */
};

/* "share of the window (%)", one row a bar. sample: how much was measured, in words, for the axis ("1 step of 4 ranks"). */
bool plot_breakdown(const struct plot_bar *bars, size_t n, const char *sample, enum plot_format f, struct arena *a, struct plot *out, struct err *e);

/* A sync site, in both runs; -1: not in that run. */
struct plot_site {
    const char *label;
    int64_t before_ns, after_ns;
    double before_count, after_count;
};

/* Host time blocked, by site; with `pair` false only the after values are shown, as "this run". */
bool plot_syncs(const struct plot_site *sites, size_t n, bool pair, const char *sample, enum plot_format f, struct arena *a, struct plot *out,
                struct err *e);

enum { PLOT_SHADES = 4 };
enum plot_shade { SHADE_COMPUTE, SHADE_COMM, SHADE_COPY, SHADE_WAIT };

/* A strip of time: per bin the ns of each shade. Shades stack, so a full lane is a fully used stream. */
struct plot_lane {
    const char *label;
    int64_t *ns[PLOT_SHADES]; /* `bins` numbers each; NULL: none */
};

struct plot_strip {
    const struct plot_lane *lanes;
    size_t nlanes, bins;
    int64_t span_ns;  /* of all bins together */
    int64_t axis_ns;  /* length of the axis; 0: the span */
    const char *what; /* words for the time axis: "step 0 of rank 0" */
};

bool plot_timeline(const struct plot_strip *s, enum plot_format f, struct arena *a, struct plot *out, struct err *e);

/* Step times of a run. outlier: as the table steps says. Sorted by nothing in particular; ranks of a run lie on each other. */
struct plot_step {
    int64_t step, ns;
    bool outlier;
};

struct plot_steps_run {
    const char *label;
    const struct plot_step *v;
    size_t n;
    int64_t median_ns;
};

/* One run or two; of two the first is drawn as "before". */
bool plot_steps(const struct plot_steps_run *runs, size_t nruns, const char *sample, enum plot_format f, struct arena *a, struct plot *out,
                struct err *e);

/* Sums over the collectives of a rank. known false: its calls do not match those of the other ranks. */
struct plot_wait_bar {
    const char *label;
    bool known;
    int64_t wait_ns, transfer_ns;
};

bool plot_wait(const struct plot_wait_bar *bars, size_t n, const char *sample, enum plot_format f, struct arena *a, struct plot *out, struct err *e);

/* One quantity of one file: n values by step, ascending; one that is not finite is not there. */
struct plot_curve {
    const int64_t *step;
    const double *y;
    size_t n;
};

struct plot_curves {
    const char *const *panels, *const *files; /* names of the quantities, and of the files */
    size_t npanels, nfiles;
    const struct plot_curve *v; /* [panel * nfiles + file] */
    bool logarithmic;           /* the axis of the values; values at or under 0 are then left out, and counted */
};

bool plot_curves(const struct plot_curves *c, const char *sample, enum plot_format f, struct arena *a, struct plot *out, struct err *e);

/* One recording: x ranks or tokens; times of a step, over all steps of all ranks; exposed communication and the device's idle
 * time after host syncs, of a step of a device; -1: not known. */
struct plot_scale_point {
    int64_t x, median_ns, low_ns, high_ns, exposed_ns, sync_ns;
};

/* Points by x, ascending; those of one size stand beside each other and are not joined. Axes are logarithmic where the values
 * spread far. */
bool plot_scaling(const struct plot_scale_point *v, size_t n, const char *axis, const char *sample, enum plot_format f, struct arena *a,
                  struct plot *out, struct err *e);

/* ---- for the files plot_*.c ---- */

/* Runs reports/SCRIPT after `data` (datablocks and settings in gnuplot's language). */
bool plot_run(const char *script, const char *data, size_t n, int width, int height, enum plot_format f, struct arena *a, struct plot *out,
              struct err *e);

/* A quoted gnuplot datum of at most `columns` columns; what is too long loses its beginning (a site's function is last). */
void plot_label(const char *s, int columns, FILE *out);

/* Columns of the left margin for s, cut to `columns` as above; the larger of that and `so_far`. */
int plot_margin(int so_far, const char *s, int columns);

/* A step between whole numbers on an axis that is `range` long: 1, 2, 5, 10, 20 ..., so that there are at most 13 of them. */
int64_t plot_tic(int64_t range);
