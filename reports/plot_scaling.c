/* plot_scaling.c - step time, exposed communication and the cost of syncs against the size of the job. */
#include "reports/human.h"
#include "reports/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { SAMPLE = 110, SPREAD = 20 }; /* SPREAD: from that factor on, the axis of times is logarithmic */

/* A number and its label; -1: not known, without one. */
static void known(int64_t ns, double unit, FILE *in)
{
    char text[HUMAN_SIZE];
    fprintf(in, " %.6f \"%s\"", ns < 0 ? -1 : (double)ns / unit, ns < 0 ? "" : human_brief(ns, text));
}

struct axis {
    double low, high, wide;
    bool logarithmic;
};

/* The share of the axis between recordings of one size, which stand beside each other; 0: every size is there once. */
static double apart(const struct plot_scale_point *v, size_t n)
{
    size_t sizes = 1, run = 1, most = 1;
    for (size_t i = 1; i < n; i++) {
        run = v[i].x == v[i - 1].x ? run + 1 : 1;
        most = run > most ? run : most;
        sizes += run == 1;
    }
    return most > 1 ? fmin(0.08, 0.8 / (double)(sizes * most)) : 0;
}

/* Where recording i stands on the axis: at its size, or around it. */
static double place(const struct plot_scale_point *v, size_t n, size_t i, const struct axis *x)
{
    size_t first = i, last = i;
    while (first > 0 && v[first - 1].x == v[i].x)
        first--;
    while (last + 1 < n && v[last + 1].x == v[i].x)
        last++;
    double off = apart(v, n) * ((double)(i - first) - (double)(last - first) / 2);
    return x->logarithmic ? (double)v[i].x * pow(x->high / x->low, off) : (double)v[i].x + (x->high - x->low) * off;
}

static void point(const struct plot_scale_point *p, double x, double unit, FILE *in)
{
    fprintf(in, "%.9g %.6f %.6f", x, (double)p->low_ns / unit, (double)p->high_ns / unit);
    known(p->median_ns, unit, in);
    known(p->exposed_ns, unit, in);
    known(p->sync_ns, unit, in);
    fputc('\n', in);
}

static void widen(int64_t ns, int64_t *least, int64_t *most)
{
    *most = ns > *most ? ns : *most;
    *least = ns > 0 && ns < *least ? ns : *least;
}

/* The axis of times: from the least that is not 0, where it is logarithmic, to the most. */
static double scale_times(const struct plot_scale_point *v, size_t n, FILE *in)
{
    int64_t least = INT64_MAX, most = 1;
    for (size_t i = 0; i < n; i++) {
        const int64_t times[] = {v[i].low_ns, v[i].high_ns, v[i].exposed_ns, v[i].sync_ns};
        for (size_t k = 0; k < sizeof times / sizeof *times; k++)
            widen(times[k], &least, &most);
    }
    struct human h = human_time(most);
    double unit = 1000.0 * (double)h.thousandth;
    bool logarithmic = least <= most / SPREAD;
    fprintf(in, "logy = %d\nleast = %.6f\nmost = %.6f\nunit = '%s'\n", logarithmic, logarithmic ? (double)least / unit : 0, (double)most / unit,
            h.symbol);
    return unit;
}

/* Each size once: its number stands on the axis. */
static void tics(const struct plot_scale_point *v, size_t n, FILE *in)
{
    fputs("set xtics nomirror out (", in);
    for (size_t i = 0; i < n; i++) {
        char count[HUMAN_SIZE];
        if (!i || v[i].x != v[i - 1].x)
            fprintf(in, "%s'%s' %" PRId64, i ? ", " : "", human_count(v[i].x, count), v[i].x);
    }
    fputs(")\n", in);
}

/* With room at both ends, more where recordings stand around their size. */
static struct axis axis_of(const struct plot_scale_point *v, size_t n)
{
    double first = (double)v[0].x, last = (double)v[n - 1].x, wide = last > first ? (last - first) / 60 : 0.1, room = 2 * apart(v, n);
    if (first > 0 && last >= 4 * first)
        return (struct axis){first / 1.25 / pow(last / first, room), last * 1.25 * pow(last / first, room), 1.04, true};
    double around = 6 * wide + room * (last - first);
    return (struct axis){first - around, last + around, wide, false};
}

bool plot_scaling(const struct plot_scale_point *v, size_t n, const char *axis, const char *sample, enum plot_format f, struct arena *a,
                  struct plot *out, struct err *e)
{
    if (!n)
        return fail(e, ERR_UNDECIDED, "scaling: no recording has steps");
    struct axis x = axis_of(v, n);
    char *text = NULL;
    size_t size = 0;
    FILE *in = open_memstream(&text, &size);
    double unit = scale_times(v, n, in);
    fprintf(in, "logx = %d\nlow = %.6f\nhigh = %.6f\nwide = %.6f\naxis = ", x.logarithmic, x.low, x.high, x.wide);
    plot_label(axis, SAMPLE, in);
    fputs("\nsample = ", in);
    plot_label(sample, SAMPLE, in);
    fputs("\n$points << EOD\n", in);
    for (size_t i = 0; i < n; i++) {
        point(&v[i], place(v, n, i, &x), unit, in);
        fputs(apart(v, n) > 0 ? "\n" : "", in); /* an empty line: not joined with the next */
    }
    fputs("EOD\n", in);
    tics(v, n, in);
    fclose(in);
    bool ok = plot_run("plot_scaling.gp", text, size, 1120, 420, f, a, out, e);
    free(text);
    return ok;
}
