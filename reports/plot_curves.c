/* plot_curves.c - a panel a quantity, a line a run: do two runs compute the same?
 *
 *     loss: largest difference 1.2e-07 at step 3       the first file is what the others are compared with;
 *        |--.__                                        two that lie on each other show one line, so the
 *        |     ''--..__                                difference is said in figures
 */
#include "reports/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TITLE = 110, NAME = 28, SAMPLE = 100, EACH = 190, AROUND = 50 };

static bool drawn(const struct plot_curves *c, double y)
{
    return isfinite(y) && (!c->logarithmic || y > 0);
}

struct extent {
    double low, high;
    size_t dropped; /* values that a logarithmic axis has no place for */
    bool any;
};

static struct extent extent_of(const struct plot_curves *c, size_t panel)
{
    struct extent x = {0};
    for (size_t f = 0; f < c->nfiles; f++) {
        const struct plot_curve *v = &c->v[panel * c->nfiles + f];
        for (size_t i = 0; i < v->n; i++) {
            x.dropped += isfinite(v->y[i]) && !drawn(c, v->y[i]);
            if (!drawn(c, v->y[i]))
                continue;
            x.low = !x.any || v->y[i] < x.low ? v->y[i] : x.low;
            x.high = !x.any || v->y[i] > x.high ? v->y[i] : x.high;
            x.any = true;
        }
    }
    double room = x.high > x.low ? 0.05 * (x.high - x.low) : x.high ? 0.1 * fabs(x.high) : 1;
    if (c->logarithmic)
        x.low /= 1.1, x.high *= 1.1;
    else
        x.low -= room, x.high += room;
    return x;
}

static bool value_at(const struct plot_curve *v, int64_t step, double *y)
{
    for (size_t lo = 0, hi = v->n; lo < hi;) {
        size_t mid = lo + (hi - lo) / 2;
        if (v->step[mid] == step) {
            *y = v->y[mid];
            return isfinite(*y);
        }
        if (v->step[mid] < step)
            lo = mid + 1;
        else
            hi = mid;
    }
    return false;
}

/* Of all files against the first, at steps that both have: " largest difference ..."; "" with one file. */
static const char *difference(const struct plot_curves *c, size_t panel, struct arena *a)
{
    const struct plot_curve *first = &c->v[panel * c->nfiles];
    double most = -1, y;
    int64_t where = 0;
    for (size_t f = 1; f < c->nfiles; f++)
        for (size_t i = 0; i < first->n; i++)
            if (isfinite(first->y[i]) && value_at(first + f, first->step[i], &y) && fabs(y - first->y[i]) > most) {
                most = fabs(y - first->y[i]);
                where = first->step[i];
            }
    if (c->nfiles == 1)
        return "";
    if (most < 0)
        return ": no step in common with the first file";
    if (most == 0)
        return ": equal in every step that the first file has in common with the others";
    return arena_printf(a, ": largest difference from the first file %.3g, at step %" PRId64, most, where);
}

static void curve(const struct plot_curves *c, const struct plot_curve *v, FILE *in)
{
    fputs("-9 NaN\n", in); /* never empty */
    for (size_t i = 0; i < v->n; i++) {
        bool alone = (!i || !drawn(c, v->y[i - 1])) && (i + 1 == v->n || !drawn(c, v->y[i + 1]));
        if (!drawn(c, v->y[i]))
            fprintf(in, "%" PRId64 " NaN\n", v->step[i]);
        else if (alone) /* a line of one point is not seen */
            fprintf(in, "%.2f %.17g\n%.2f %.17g\n", (double)v->step[i] - 0.15, v->y[i], (double)v->step[i] + 0.15, v->y[i]);
        else
            fprintf(in, "%" PRId64 " %.17g\n", v->step[i], v->y[i]);
    }
}

static void panels(const struct plot_curves *c, struct arena *a, FILE *in)
{
    fputs("$panels << EOD\n", in);
    for (size_t p = 0; p < c->npanels; p++) {
        struct extent x = extent_of(c, p);
        const char *more = x.dropped ? arena_printf(a, "; not drawn, at or under 0: %zu", x.dropped) : "";
        fprintf(in, "%.9g %.9g ", x.low, x.high);
        plot_label(arena_printf(a, "%.40s%s%s", c->panels[p], difference(c, p, a), more), TITLE, in);
        putc('\n', in);
    }
    fputs("EOD\n$names << EOD\n", in);
    for (size_t f = 0; f < c->nfiles; f++) {
        plot_label(c->files[f], NAME, in);
        putc(f + 1 < c->nfiles ? ' ' : '\n', in);
    }
    fputs("EOD\n$curves << EOD\n", in);
    for (size_t k = 0; k < c->npanels * c->nfiles; k++) {
        fputs(k ? "\n\n" : "", in);
        curve(c, &c->v[k], in);
    }
    fputs("EOD\n", in);
}

bool plot_curves(const struct plot_curves *c, const char *sample, enum plot_format f, struct arena *a, struct plot *out, struct err *e)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (size_t k = 0; k < c->npanels * c->nfiles; k++)
        if (c->v[k].n) {
            low = c->v[k].step[0] < low ? c->v[k].step[0] : low;
            high = c->v[k].step[c->v[k].n - 1] > high ? c->v[k].step[c->v[k].n - 1] : high;
        }
    for (size_t p = 0; p < c->npanels; p++)
        if (!extent_of(c, p).any)
            return fail(e, ERR_UNDECIDED, "curves: no value of %.60s %s", c->panels[p],
                        c->logarithmic ? "is over 0: leave out --log" : "is a number");
    if (high < low || !c->nfiles)
        return fail(e, ERR_UNDECIDED, "curves: no steps are in the files");
    char *text = NULL;
    size_t size = 0;
    FILE *in = open_memstream(&text, &size);
    int height = 2 * AROUND + EACH * (int)c->npanels;
    fprintf(in, "panels = %zu\nfiles = %zu\nlogarithmic = %d\nlow = %.2f\nhigh = %.2f\neach = %d\nevery = %" PRId64 "\npixels = %d\nsample = ",
            c->npanels, c->nfiles, c->logarithmic, (double)low - 0.3, (double)high + 0.3, EACH, plot_tic(high - low), height);
    plot_label(sample, SAMPLE, in);
    putc('\n', in);
    panels(c, a, in);
    fclose(in);
    bool ok = plot_run("plot_curves.gp", text, size, 1120, height, f, a, out, e);
    free(text);
    return ok;
}
