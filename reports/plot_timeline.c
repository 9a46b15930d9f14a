/* plot_timeline.c - a strip of time, bins as steps of a stack.
 *
 *     lane   .----.    .---.       each bin is (ns of the shade / ns of the bin) high, standing on the shades below it;
 *            |####|....|###|       bins of equal height share one line, so a quiet lane is a few points
 */
#include "reports/human.h"
#include "reports/plot.h"

#include <stdlib.h>

enum { LABEL = 30, ROW = 34 };
static const double high = 0.8; /* of a row */

/* The level of the top of `shade` (-1: the floor) in a bin, as a share of the bin, in ten thousandths. */
static int64_t level(const struct plot_strip *s, const struct plot_lane *l, int shade, size_t bin)
{
    int64_t sum = 0;
    for (int i = 0; i <= shade; i++)
        sum += l->ns[i] ? l->ns[i][bin] : 0;
    int64_t width = s->span_ns / (int64_t)s->bins;
    int64_t share = width > 0 ? (int64_t)(10000.0 * (double)sum / (double)width) : 0;
    return share > 10000 ? 10000 : share;
}

static void lane(const struct plot_strip *s, size_t row, int shade, double unit, FILE *in)
{
    const struct plot_lane *l = &s->lanes[row];
    double base = (double)row + high / 2, width = (double)s->span_ns / (double)s->bins / unit;
    for (size_t from = 0, to; from < s->bins; from = to) {
        int64_t low = level(s, l, shade - 1, from), top = level(s, l, shade, from);
        for (to = from + 1; to < s->bins && level(s, l, shade - 1, to) == low && level(s, l, shade, to) == top;)
            to++;
        if (low == top) { /* nothing of it here: the area ends */
            putc('\n', in);
            continue;
        }
        for (int end = 0; end < 2; end++)
            fprintf(in, "%.6g %.4f %.4f\n", width * (double)(end ? to : from), base - high * (double)low / 10000, base - high * (double)top / 10000);
    }
    putc('\n', in);
}

static void shade(const struct plot_strip *s, int which, const char *name, double unit, FILE *in)
{
    fprintf(in, "$%s << EOD\n-1 -1 -1\n\n", name); /* never empty */
    for (size_t row = 0; row < s->nlanes; row++)
        if (s->lanes[row].ns[which])
            lane(s, row, which, unit, in);
    fputs("EOD\n", in);
}

bool plot_timeline(const struct plot_strip *s, enum plot_format f, struct arena *a, struct plot *out, struct err *e)
{
    static const char *const names[PLOT_SHADES] = {"compute", "comm", "copy", "wait"};
    if (!s->nlanes || s->span_ns <= 0)
        return fail(e, ERR_UNDECIDED, "timeline: nothing is in the window");
    int64_t axis = s->axis_ns > s->span_ns ? s->axis_ns : s->span_ns;
    struct human h = human_time(axis);
    double unit = 1000.0 * (double)h.thousandth;
    int margin = 0;
    for (size_t row = 0; row < s->nlanes; row++)
        margin = plot_margin(margin, s->lanes[row].label, LABEL);
    char *text = NULL;
    size_t size = 0;
    FILE *in = open_memstream(&text, &size);
    fprintf(in, "rows = %zu\nlabel_columns = %d\nspan = %.9g\naxis = %.9g\nunit = '%s'\nwhat = ", s->nlanes, margin, (double)s->span_ns / unit,
            (double)axis / unit, h.symbol);
    plot_label(s->what, 60, in);
    putc('\n', in);
    for (int i = 0; i < PLOT_SHADES; i++)
        shade(s, i, names[i], unit, in);
    fputs("$floor << EOD\n", in);
    for (size_t row = 0; row < s->nlanes; row++) {
        fprintf(in, "%zu ", row);
        plot_label(s->lanes[row].label, LABEL, in);
        putc('\n', in);
    }
    fputs("EOD\n", in);
    fclose(in);
    bool ok = plot_run("plot_timeline.gp", text, size, 1120, 128 + ROW * (int)s->nlanes, f, a, out, e);
    free(text);
    return ok;
}
