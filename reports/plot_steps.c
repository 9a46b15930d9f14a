/* plot_steps.c - how long each step took, and which ones stick out.
 *
 *     time |      [--] 21.4 ms      a dash a rank and step, boxed where the table says outlier;
 *          | - -        - - -       the dashed line is the median of the run
 *          |- - - - - - - - - -
 */
#include "reports/human.h"
#include "reports/plot.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LABEL = 60, SAMPLE = 100, TEXTS_MOST = 16 };

struct range {
    int64_t low, high, most; /* of steps and ns */
    size_t outliers;
};

static struct range range_of(const struct plot_steps_run *runs, size_t nruns)
{
    struct range x = {INT64_MAX, INT64_MIN, 1, 0};
    for (size_t r = 0; r < nruns; r++)
        for (size_t i = 0; i < runs[r].n; i++) {
            const struct plot_step *s = &runs[r].v[i];
            x.low = s->step < x.low ? s->step : x.low;
            x.high = s->step > x.high ? s->step : x.high;
            x.most = s->ns > x.most ? s->ns : x.most;
            x.outliers += s->outlier;
        }
    return x;
}

static void dashes(const struct plot_steps_run *run, const char *name, double unit, FILE *in)
{
    fprintf(in, "$%s << EOD\n-9 -9\n", name); /* never empty: gnuplot refuses a block without a row */
    for (size_t i = 0; run && i < run->n; i++)
        fprintf(in, "%" PRId64 " %.6f\n", run->v[i].step, (double)run->v[i].ns / unit);
    fputs("EOD\n", in);
}

static void median_line(const struct plot_steps_run *run, const char *name, const struct range *x, double unit, FILE *in)
{
    fprintf(in, "$line_%s << EOD\n-9 -9 -9\n", name);
    if (run)
        fprintf(in, "%.2f %.6f %.2f\n", (double)x->low - 0.6, (double)run->median_ns / unit, (double)x->high + 0.6);
    fputs("EOD\n", in);
}

/* Of outliers of one step the slowest has its time written, the first of equals. */
static bool slowest(const struct plot_steps_run *run, size_t at)
{
    for (size_t i = 0; i < run->n; i++)
        if (run->v[i].outlier && run->v[i].step == run->v[at].step && (run->v[i].ns > run->v[at].ns || (run->v[i].ns == run->v[at].ns && i < at)))
            return false;
    return true;
}

/* Without texts where there are so many that they would cover each other. */
static void outliers(const struct plot_steps_run *runs, size_t nruns, bool texts, double unit, FILE *in)
{
    fputs("$marked << EOD\n-9 -9 \"\"\n", in);
    for (size_t r = 0; r < nruns; r++)
        for (size_t i = 0; i < runs[r].n; i++) {
            char time[HUMAN_SIZE];
            const struct plot_step *s = &runs[r].v[i];
            if (s->outlier)
                fprintf(in, "%" PRId64 " %.6f \"%s\"\n", s->step, (double)s->ns / unit,
                        texts && slowest(&runs[r], i) ? human_brief(s->ns, time) : "");
        }
    fputs("EOD\n", in);
}

static void name(const struct plot_steps_run *run, const char *which, FILE *in)
{
    char time[HUMAN_SIZE], text[512];
    snprintf(text, sizeof text, "%.300s (median %s)", run ? run->label : "", run ? human_brief(run->median_ns, time) : "");
    fprintf(in, "name_%s = ", which);
    plot_label(text, LABEL, in);
    putc('\n', in);
}

bool plot_steps(const struct plot_steps_run *runs, size_t nruns, const char *sample, enum plot_format f, struct arena *a, struct plot *out,
                struct err *e)
{
    struct range x = range_of(runs, nruns);
    if (x.high < x.low)
        return fail(e, ERR_UNDECIDED, "steps: no step is in the trace");
    const struct plot_steps_run *before = nruns > 1 ? &runs[0] : NULL, *after = &runs[nruns - 1];
    struct human h = human_time(x.most);
    double unit = 1000.0 * (double)h.thousandth;
    char *text = NULL;
    size_t size = 0;
    FILE *in = open_memstream(&text, &size);
    double width = (double)(x.high - x.low + 1);
    fprintf(in, "pair = %d\nlow = %.2f\nhigh = %.2f\nevery = %" PRId64 "\nmost = %.6f\ndash = %d\ngap = %.4f\noutliers = %d\nunit = '%s'\nsample = ",
            nruns > 1, (double)x.low - 0.6, (double)x.high + 0.6, plot_tic(x.high - x.low), (double)x.most / unit, width > 100 ? 2 : 3, width / 300,
            x.outliers > 0, h.symbol);
    plot_label(sample, SAMPLE, in);
    putc('\n', in);
    name(before, "before", in);
    name(after, "after", in);
    dashes(before, "before", unit, in);
    dashes(after, "after", unit, in);
    median_line(before, "before", &x, unit, in);
    median_line(after, "after", &x, unit, in);
    outliers(runs, nruns, x.outliers <= TEXTS_MOST, unit, in);
    fclose(in);
    bool ok = plot_run("plot_steps.gp", text, size, 1120, 320, f, a, out, e);
    free(text);
    return ok;
}
