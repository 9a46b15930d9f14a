/* plot_scaling.c - step time and exposed communication against the size of the job. */
#include "reports/human.h"
#include "reports/plot.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SAMPLE = 110 };

static void point(const struct plot_scale_point *p, double unit, FILE *in)
{
    char step[HUMAN_SIZE], exposed[HUMAN_SIZE];
    fprintf(in, "%" PRId64 " %.6f %.6f %.6f %.6f \"%s\" \"%s\"\n", p->x, (double)p->median_ns / unit, (double)p->low_ns / unit,
            (double)p->high_ns / unit, p->exposed_ns < 0 ? -1 : (double)p->exposed_ns / unit, human_brief(p->median_ns, step),
            p->exposed_ns < 0 ? "" : human_brief(p->exposed_ns, exposed));
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

bool plot_scaling(const struct plot_scale_point *v, size_t n, const char *axis, const char *sample, enum plot_format f, struct arena *a,
                  struct plot *out, struct err *e)
{
    int64_t most = 1;
    if (!n)
        return fail(e, ERR_UNDECIDED, "scaling: no recording has steps");
    for (size_t i = 0; i < n; i++)
        most = v[i].high_ns > most ? v[i].high_ns : v[i].exposed_ns > most ? v[i].exposed_ns : most;
    double first = (double)v[0].x, last = (double)v[n - 1].x, wide = last > first ? (last - first) / 60 : 0.1;
    bool logarithmic = first > 0 && last >= 4 * first;
    struct human h = human_time(most);
    double unit = 1000.0 * (double)h.thousandth;
    char *text = NULL;
    size_t size = 0;
    FILE *in = open_memstream(&text, &size);
    fprintf(in, "logarithmic = %d\nlow = %.6f\nhigh = %.6f\nwide = %.6f\nmost = %.6f\nunit = '%s'\naxis = ", logarithmic,
            logarithmic ? first / 1.25 : first - 6 * wide, logarithmic ? last * 1.25 : last + 6 * wide, logarithmic ? 1.04 : wide,
            (double)most / unit, h.symbol);
    plot_label(axis, SAMPLE, in);
    fputs("\nsample = ", in);
    plot_label(sample, SAMPLE, in);
    fputs("\n$points << EOD\n", in);
    for (size_t i = 0; i < n; i++)
        point(&v[i], unit, in);
    fputs("EOD\n", in);
    tics(v, n, in);
    fclose(in);
    bool ok = plot_run("plot_scaling.gp", text, size, 1120, 360, f, a, out, e);
    free(text);
    return ok;
}
